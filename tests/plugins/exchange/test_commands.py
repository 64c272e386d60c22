"""``export``, and the proofs of ``prove`` for other checkers, through the command line."""

import json
import os
import subprocess
import sys

import pytest

from cchybrid.cli.app import run
from cchybrid.model import Collective, Instance, Message, Network, Schedule, Transfer
from cchybrid.plugin.registry import MODULES_VARIABLE, load_registry
from cchybrid.referee.verify import verify_schedule
from tests.cli import test_completion
from tests.cli.test_commands import Completed, call
from tests.cli.test_proving import solved
from tests.plugins.exchange.foreign_texts import ring_allgather
from tests.plugins.exchange.fuzz_readers import IMPORTERS
from tests.plugins.exchange.schedules import schedule


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("export nothing.json --to csv", "cannot be read"),
        ("export nothing.json --to cvs", "did you mean csv?"),
        ("export nothing.json --to csv --size 8", "the format csv has no sizes; leave it out"),
        ("export nothing.json --to goal --size 0", "0 bytes; use at least 1"),
        ("audit absent", "absent: no such file"),
        ("audit . --bound-time 0", "--bound-time: 0 seconds; use a number above 0"),
        ("audit empty", "empty: no files; name a folder"),
        ("audit file -o out", "-o: a report of one file; name a folder"),
        ("audit file --from nothing", "no import format is called nothing"),
        ("audit file --topology nowhere-3", "unknown network 'nowhere-3'"),
        ("import file", "Missing option '-o'"),
        ("audit ring.xml --time-limit 9", "--time-limit: there is no --improve; leave it out"),
        ("audit ring.xml --seed 3", "--seed: there is no --improve; leave it out"),
        ("audit ring.csv --unit 2", "--unit: its own network is no graph file with attributes"),
        ("import ring.csv -o s.json --topology ring-bi-4 --ignore-attributes",
         "--ignore-attributes: ring-bi-4 is no graph file with attributes; leave it out"),
        ("audit ring.csv --collective AAS", "a collective without a network; set --topology"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_status_2(words, line, tmp_path):
    (tmp_path / "file").write_text(ring_allgather(3))
    (tmp_path / "empty").mkdir()
    done = call(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert line in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"file", "empty"}


def test_transfers_of_a_tick_that_share_a_channel_are_exported_in_steps(tmp_path, capsys):
    """Both begin in tick 1; one uses 1->2 in tick 1, the other in tick 2."""
    line = Network("line", 3, ((0, 1, 1), (1, 2, 1)), times=((1, 1), (1, 1)))
    messages = (Message(0, (2,)), Message(1, (2,)))
    both = (Transfer(0, (0, 1, 2)), Transfer(1, (1, 2)))
    ticks = Schedule(Instance(line, Collective("two", messages)), (both, (), ()))
    assert not verify_schedule(ticks)
    (tmp_path / "s.json").write_text(json.dumps(ticks.to_json()))
    assert run(["export", str(tmp_path / "s.json"), "--to", "csv"]) == 0
    done = capsys.readouterr()
    assert "transfers stand in 2 steps" in done.err
    assert [row.split(",")[0] for row in done.out.splitlines()] == ["step", "1", "2"]


def test_a_graph_file_is_read_as_by_solve(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = "a b {'bandwidth': 23.7, 'colour': 3}\nb c {'bandwidth': 300, 'colour': 4}\n"
    (tmp_path / "n.edges").write_text(graph)
    (tmp_path / "s.csv").write_text("step,source,destination,path\n1,a,b,a b\n1,b,c,b c\n")
    for words in (["audit", "s.csv"], ["import", "s.csv", "-o", "s.json"]):
        on = ["--topology", "n.edges"]
        for option in (["--ignore-attributes"], ["--unit", "23.7"]):
            assert run([*words, *on]) == 2
            assert " ".join(option) in capsys.readouterr().err
            on += option
        assert run([*words, *on]) == 0
    capsys.readouterr()
    assert run(["audit", "n.edges"]) == 2
    shown = capsys.readouterr().out
    assert shown.startswith("n.edges: not judged: edge a b: the attribute 'colour' has no meaning")
    assert "--" not in shown


def test_every_transfer_is_exported(tmp_path):
    found = schedule("ring-bi-4", "alltoall")
    found.save(tmp_path / "s.json")
    count = sum(map(len, found.steps))
    for words, mark, marks in (
        (["csv"], "\n", count + 1), (["text"], "->", count),
        (["goal", "--size", "96"], "send 96b", count),
    ):  # fmt: skip
        done = call("export", "s.json", "--to", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout.count(mark)) == (0, marks)


def test_an_invalid_schedule_is_not_exported(tmp_path):
    Schedule(schedule("ring-bi-4", "alltoall").instance, ()).save(tmp_path / "bad.json")
    done = call("export", "bad.json", "--to", "csv", "-o", "bad.csv", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "bad.csv").exists()) == (2, False)


def test_formats_are_completed(monkeypatch):
    test_completion.test_names_are_completed("export s.json --to c", "csv", "text", monkeypatch)


def test_every_importer_is_a_reader_of_the_fuzzer():
    assert set(IMPORTERS) == set(load_registry().importers)


@pytest.mark.slow
def test_files_for_checkers_of_others(tmp_path):
    solved(tmp_path / "s.json", "spidergon-8", "AAS")
    done = call("prove", "s.json", "--dimacs", "sat", "--opb", "pb", "--json", cwd=tmp_path)
    names = json.loads(done.stdout)["files"]
    assert names == [
        "sat/formula.cnf", "sat/proof.lrat", "sat/proof.drat", "pb/formula.opb", "pb/proof.pbp",
    ]  # fmt: skip
    assert all((tmp_path / name).stat().st_size for name in names)
    (tmp_path / "file").write_text("")
    done = call("prove", "s.json", "--dimacs", "file", cwd=tmp_path)
    assert (done.returncode, "file is no folder" in done.stderr) == (2, True)


def test_a_bound_of_one_step_has_no_formula(tmp_path):
    solved(tmp_path / "s.json", "complete-4", "OAB")
    done = call("prove", "s.json", "--opb", "pb", cwd=tmp_path)
    assert done.returncode == 2
    assert "valid, 1 step, optimal (certified)" in done.stdout
    assert "nothing to refute" in done.stderr


@pytest.mark.long
def test_formats_of_a_strangers_plugin(tmp_path):
    def command(words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "cchybrid", *words.split()], capture_output=True, text=True,
            check=True, timeout=60, cwd=tmp_path,
            env={**os.environ, MODULES_VARIABLE: "tests.full_plugin"},
        ).stdout  # fmt: skip

    command("solve double-star-3 swap --engine plain -o s.json")
    exported = command("export s.json --to arrows")
    steps, arrows = zip(*(line.split(": ") for line in exported.splitlines()), strict=True)
    assert (len(steps), {*steps}) == (8, {"1", "2", "3", "4"})
    assert {"0->4", "4->0"} <= {*arrows}
    (tmp_path / "arrows.txt").write_text(exported)
    audited = command("audit arrows.txt --topology double-star-3 --collective swap")
    assert "read as arrows" in audited
    assert "8 arrows" in audited


@pytest.mark.slow
def test_a_schedule_is_judged_on_the_collective_of_the_file(tmp_path):
    """The node 3 takes no part, so an all-to-all of the others is all that is asked for."""
    modes = "4 2\n0 T 1 3\n1 B 0 2\n2 R 1 3\n3 N 0 2\n"
    (tmp_path / "ring.txt").write_text(modes)
    (tmp_path / "all.txt").write_text(modes.replace("N", "B"))

    def command(words: str) -> Completed:
        return call(*words.split(), cwd=tmp_path)

    assert command("solve ring.txt AAS -o s.json --time-limit 20").returncode == 0
    line = "by which 0-1 send and 1-2 receive"
    for first in ("audit s.json", "import s.json -o again.json"):
        judged = command(f"{first} --topology ring.txt --collective AAS")
        assert (judged.returncode, "valid" in judged.stdout) == (0, True)
        assert "in which 0-2 send and 0-2 receive" in judged.stderr
        alone = command(f"{first} --topology ring.txt")
        assert alone.returncode == 0
        assert f"the modes of the file, {line}, are no part of a network" in alone.stderr
        assert command(f"{first} --topology all.txt --collective AAS").returncode > 0
    audited = command("audit ring.txt")
    assert (audited.returncode, line in audited.stdout) == (0, True)


def test_nodes_of_a_file_that_neither_send_nor_receive_are_switches_of_programs(tmp_path):
    """Four GPUs around a switch, which stands first, so that the numbers of GPUs are others."""
    (tmp_path / "star.txt").write_text("5 4\n0 N 1 2 3 4\n1 B 0\n2 B 0\n3 B 0\n4 B 0\n")
    (tmp_path / "ring.xml").write_text(ring_allgather(4))
    words = "audit ring.xml --topology star.txt --collective allgather"
    done = call(*words.split(), cwd=tmp_path)
    assert "valid, 3 steps, at most 0 % above a certified" in done.stdout
