"""``rounds``, ``pareto``, and ``check`` of their files."""

import json
from dataclasses import replace

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
    words = ("pareto", "ring-bi-4", "allgather", "--json", "--latency", "1", "--bandwidth", "25")
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
        ("pareto ring-4 allgather --latency 1", "--bandwidth: the bandwidth is not known; give"),
        ("pareto dgx-1 allgather --latency x --bandwidth 1", "--latency: 'x' is no time"),
        ("pareto dgx-a100-x2 alltoall --switching wormhole", "no path over switches alone leads"),
        ("pareto mesh-2x2 alltoall --switching tdm", "tdm"),
        ("pareto xy.json --switching wormhole", "no bound on rounds is proved for a routing table"),
        ("best dgx-1 allgather --size 1K --bandwidth 25", "Missing option '--latency'"),
        ("best ring-4 allgather --size 1K --latency 1", "--bandwidth: the bandwidth is not known"),
        ("best dgx-1 allgather --size 1X --latency 1", "--size: '1X' is no size"),
        ("best dgx-1 AAB --size 1 --size 2 --latency 1 -o f", "-o: one file for several sizes"),
        ("best dgx-1 AAB --size 1 --latency 1 --to csv", "--to: no file to write"),
        ("best dgx-1 scan --size 1 --latency 1 --bandwidth 1", "scan is not a set of broadcasts"),
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
        (
            "best dgx-1 AAB --latency 1 --size 1 --max-steps 1",
            "name 2 or more, as fewer are imposs",
        ),
        ("best dgx-1 allgather --latency 1 --size 0", "--size: '0' is no size"),
        ("best dgx-1 allgather --latency 0 --size 1", "'0' is no time; use a number above 0"),
        ("best dgx-1 allgather --latency 1 --size 1 --plot .", "--plot: . is a folder"),
        ("best ring-4 allgather --latency 1 --size 1M", "--bandwidth: the bandwidth is not known"),
        ("rounds group.json --steps 2", "rounds: not for groups of channels"),
        ("throughput group.json", "throughput: not for groups of channels"),
        ("solve dgx-1 allgather --chunks 0", "chunks: 0 chunks; use 1 to 10000"),
        ("solve dgx-1 allgather --rounds 1,,2", "'1,,2' are no rounds per step"),
    ],
)
def test_wrong_words(words, line, tmp_path):
    cchybrid.instance("dgx-1", "AAB", rounds=[2], name="i").save(tmp_path / "i.json")
    cchybrid.instance("mesh-2x3", "AAB", routing="xy").save(tmp_path / "xy.json")
    network = replace(cchybrid.network("ring-bi-4"), groups=(((0, 1), (0, 3)),))
    cchybrid.instance(network, "AAB").save(tmp_path / "group.json")
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
def test_a_front_says_what_switches_do(tmp_path):
    links = [(leaf, 4) for leaf in range(4)]
    star = cchybrid.Network.from_links("star", 5, links, switches=(4,))
    cchybrid.instance(star, "allgather").save(tmp_path / "star.json")
    done = call("pareto", "star.json", cwd=tmp_path)
    assert (done.returncode, "switches cut through and copy nothing" in done.stdout) == (0, True)
    assert "star AAB, wormhole switching" in done.stdout
    assert call("check", "star-AAB-front", cwd=tmp_path).returncode == 0
    words = ("--switching", "store-and-forward", "--max-steps", "2", "-o", "hops")
    done = call("pareto", "star.json", *words, cwd=tmp_path)
    assert "switches store and copy here" in done.stdout


@pytest.mark.slow
def test_a_box_of_gpus_takes_one_step(tmp_path):
    done = call("pareto", "dgx-a100", "allgather", "--bandwidth", "25", "-o", "f", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["12", "1", "7", "7/12", "7/12", "7"] in rows
    assert "complete (certified)" in done.stdout
    assert "algorithm bandwidth 342.857 GB/s, bus bandwidth 300.000 GB/s" in done.stdout
    assert "every file holds" in call("check", "f", cwd=tmp_path).stdout
    files = ("f/steps-1-chunks-12.json", "f/steps-1-chunks-12.certificate.json")
    assert "optimal (certified)" in call("check", *files, cwd=tmp_path).stdout
    words = ("rounds", "dgx-a100", "reduce-scatter", "--chunks", "12", "--steps", "1")
    done = call(*words, "--bandwidth", "25", cwd=tmp_path)
    assert "7 rounds in 1 step (7), optimal (certified)" in done.stdout
    assert "bus bandwidth 300.000 GB/s" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collective", "times", "bus"),
    [
        # One step of 1.5 us; 7/12 of an eighth of the size at 25 GB/s.
        ("allgather", 1.5 + (1 << 26) / 8 * 7 / 12 / 25e3, 7 / 8),
        ("alltoall", 1.5 + (1 << 26) / 8 * 7 / 12 / 25e3, 7 / 8),
        ("allreduce", 3 + (1 << 26) / 8 * 7 / 6 / 25e3, 7 / 4),
    ],
)
def test_the_best_for_a_size(collective, times, bus, tmp_path):
    words = ("best", "dgx-a100", collective, "--latency", "1.5", "--bandwidth", "25")
    done = call(*words, "--size", "64MiB", "--json", "-o", "s.json", cwd=tmp_path)
    [found] = json.loads(done.stdout)["best"]
    assert found["microseconds"] == found["bound"] == pytest.approx(times)
    assert found["algbw"] == pytest.approx((1 << 26) / times / 1e3)
    assert found["busbw"] == pytest.approx(bus * found["algbw"])
    assert call("verify", "s.json", cwd=tmp_path).returncode == 0
    sizes = ("--size", "64M", "--size", "8192", "--plot", "times.svg")
    table = call(*words, *sizes, cwd=tmp_path).stdout.splitlines()
    assert table[-1] == "written to times.svg"
    assert "takes less (certified)" in (tmp_path / "times.svg").read_text()
    assert [line.split()[:2] for line in table[2:4]] == [["8", "KiB"], ["64", "MiB"]]


@pytest.mark.slow
def test_numbers_of_one_have_no_plural(tmp_path):
    done = call("rounds", "complete-3", "allgather", "--steps", "1", "-o", "s.json", cwd=tmp_path)
    assert "1 round in 1 step (1), optimal (certified)" in done.stdout
    done = call("check", "s.json", "s.certificate.json", cwd=tmp_path)
    assert "valid, 1 step, 1 round, optimal (certified): at most 1 step need" in done.stdout
    done = call("pareto", "complete-3", "allgather", cwd=tmp_path)
    assert "found 1 chunk, 1 step, 1 round" in done.stderr


@pytest.mark.slow
def test_the_best_of_an_allreduce_names_it_and_its_folder_is_checked(tmp_path):
    words = ("best", "ring-bi-4", "allreduce", "--latency", "1", "--bandwidth", "1")
    more = ("--size", "1T", "--max-chunks", "1", "--folder", "f")
    first, *_, line = call(*words, *more, cwd=tmp_path).stdout.splitlines()
    assert first.startswith("ring-bi-4 allreduce, store-and-forward, hop by hop; 1 GB/s")
    assert line == "bound us: no reduce-scatter and then allgather takes less (certified)"
    shown = call(*words, *more, "--time-limit", "1e-9", cwd=tmp_path).stdout.splitlines()
    assert shown[2].split()[:2] == ["1", "TiB"]
    assert shown[-1] == "remark: 1.33 times the bound; more --time-limit may help"
    done = call("check", "f", cwd=tmp_path)
    assert (done.returncode, done.stdout.count("every file holds")) == (0, 2)
    assert "name f/allgather" in call("check", "f", "--json", cwd=tmp_path)[2]
    (tmp_path / "f" / "allgather" / "throughput.json").unlink()
    done = call("check", "f", cwd=tmp_path)
    assert (done.returncode, done.stdout.count("every file holds")) == (1, 1)


@pytest.mark.slow
def test_the_best_of_a_front_that_is_there_already(tmp_path):
    words = ("best", "ring-bi-4", "AAB", "--latency", "1", "--bandwidth", "1", "--folder", "f")
    found = json.loads(call(*words, "--size", "4K", "--json", cwd=tmp_path).stdout)["best"]
    assert json.loads(call(*words, "--size", "4K", "--json", cwd=tmp_path).stdout)["best"] == found
    assert call("check", "f", cwd=tmp_path).returncode == 0
