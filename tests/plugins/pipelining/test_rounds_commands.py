"""``rounds``, ``pareto``, and ``check`` of their files."""

import json

import pytest

import cchybrid
from tests.cli.test_commands import call

PATIENT = ("--time-limit", "600")


@pytest.mark.slow
def test_the_front_in_words_and_files(tmp_path):
    done = call("pareto", "ring-bi-4", "AAB", "-o", "front", *PATIENT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["2", "2", "3", "3/2", "3/2"] in [row[:5] for row in rows]
    assert "complete (certified)" in done.stdout
    assert "switches" not in done.stdout
    names = ["front/steps-2-chunks-2.json", "front/steps-2-chunks-2.certificate.json"]
    checked = call("check", *names, cwd=tmp_path)
    assert checked.returncode == 0
    assert "3 rounds, optimal (certified)" in checked.stdout
    record = json.loads(call("check", *names, "--json", cwd=tmp_path).stdout)
    assert (record["holds"], record["ratio"], record["bound"]) == (True, "3/2", "3/2")
    assert call("verify", names[0], cwd=tmp_path).returncode == 0
    assert call("check", "front/throughput.json", cwd=tmp_path).returncode == 0
    # The name of a front is shown last, as the words of its files.
    for path in (tmp_path / "front").glob("*.json"):
        path.write_text(path.read_text().replace("ring-bi-4", "hypercube-64"))
    done = call("check", "front", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *inner, last = done.stdout.splitlines()
    assert first == "front: every file holds"
    assert last.startswith("  names in the file: 'hypercube-64 AAB")
    assert "  network: 4 nodes, counted from 0, 8 channels of capacity 1" in "\n".join(inner)
    assert not any("hypercube" in line for line in inner)


@pytest.mark.slow
def test_the_front_for_programs(tmp_path):
    words = ("pareto", "ring-bi-4", "allgather", "--json", "--alpha", "1e-6", "--beta", "4e-11")
    record = json.loads(call(*words, "--plot", "front.svg", *PATIENT, cwd=tmp_path).stdout)
    assert (record["complete"], record["throughput"]) == (True, "3/2")
    for point in record["points"]:
        assert point["certified"] is True
        assert call("check", point["schedule"], point["certificate"], cwd=tmp_path).returncode == 0
    first = {"chunks": 1, "steps": 2, "rounds": 2, "ratio": "2"}
    assert record["points"][0].items() >= first.items()
    assert (record["choices"][0]["from"], record["choices"][-1]["to"]) == (1 << 10, 1 << 30)
    assert (tmp_path / "front.svg").read_text().startswith("<?xml")


@pytest.mark.slow
def test_a_plot_without_points_is_not_written(tmp_path):
    words = ("pareto", "torus-4x4", "alltoall", "--time-limit", "0.01", "-o", "f")
    done = call(*words, "--plot", "p.svg", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.endswith("written to f\n")
    assert "p.svg is not written: there is no point to plot" in done.stderr
    assert not (tmp_path / "p.svg").exists()


@pytest.mark.slow
def test_fewest_rounds_of_a_number_of_steps(tmp_path):
    words = ("rounds", "dgx-1", "allgather", "--chunks", "2", "--steps", "2")
    done = call(*words, "-o", "s.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 rounds in 2 steps" in done.stdout
    assert "optimal (certified)" in done.stdout
    assert call("check", "s.json", "s.certificate.json", cwd=tmp_path).returncode == 0
    record = json.loads(call(*words, "--json", cwd=tmp_path).stdout)
    assert (record["rounds"], record["ratio"], record["certified"]) == (3, "3/2", True)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("pareto dgx-1 allgather --chunks 2", "--chunks; did you mean --max-chunks?"),
        ("pareto dgx-1 allgather --rounds 2", "No such option: --rounds"),
        ("pareto dgx-1 allgather --alpha 1", "--beta: alpha and beta belong together"),
        ("pareto dgx-1 allgather --alpha x --beta 1", "'x' is no number of seconds"),
        ("pareto dgx-1 allgather --plot f.xyz", "the file type '.xyz' is not known"),
        ("pareto dgx-1 allgather --time-limit 0", "--time-limit: 0 seconds"),
        ("pareto dgx-1 allgather --max-steps 1", "a message has 2 hops to go"),
        ("pareto spidergon-8 allreduce", "use the halves of an allreduce"),
        ("check . --explain", "--explain: a front has an argument per certificate; name a"),
        ("pareto i.json", "i: the numbers of chunks and rounds are what is sought"),
        ("rounds i.json --steps 2", "i: the rounds are what is minimised"),
        ("rounds dgx-1 allgather", "Missing option '--steps'"),
        ("rounds dgx-1 allgather --steps 2 --time-limit 0", "--time-limit: 0 seconds"),
        ("rounds dgx-1 allgather --steps 2 --rounds 2", "No such option: --rounds"),
        ("solve dgx-1 allgather --chunks 0", "chunks: 0 chunks; use 1 to 10000"),
        ("solve dgx-1 allgather --rounds 1,,2", "'1,,2' are no rounds per step"),
    ],
)
def test_wrong_words(words, line, tmp_path):
    cchybrid.instance("dgx-1", "AAB", rounds=[2], name="i").save(tmp_path / "i.json")
    (tmp_path / "front.json").write_text('{"format": "cchybrid-front/1"}')
    done = call(*words.split(), cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert line in done.stderr


@pytest.mark.long
def test_steps_of_several_rounds_are_solved(tmp_path):
    done = call(
        "solve", "dgx-1", "allgather", "--chunks", "2", "--rounds", "1,2", "--json", "-o", "s.json",
        cwd=tmp_path,
    )  # fmt: skip
    record = json.loads(done.stdout)
    assert (record["steps"], record["status"]) == (2, "optimal")
    assert call("verify", "s.json", cwd=tmp_path).returncode == 0
    written = json.loads((tmp_path / "s.json").read_text())
    written["instance"]["model"]["rounds"] = [1, 1]
    (tmp_path / "narrow.json").write_text(json.dumps(written))
    refused = call("verify", "narrow.json", cwd=tmp_path)
    assert refused.returncode == 1
    assert "channel-overload" in refused.stdout


@pytest.mark.slow
def test_a_front_says_that_switches_store(tmp_path):
    links = [(leaf, 4) for leaf in range(4)]
    star = cchybrid.Network.from_links("star", 5, links, switches=(4,))
    cchybrid.instance(star, "broadcast").save(tmp_path / "star.json")
    done = call("pareto", "star.json", "--max-steps", "2", cwd=tmp_path)
    assert "switches store and forward here" in done.stdout
