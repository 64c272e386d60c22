"""``export``, and the proofs of ``prove`` for other checkers, through the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cchybrid.cli.app import run
from cchybrid.model import Schedule
from cchybrid.plugin.registry import MODULES_VARIABLE, load_registry
from tests.cli import test_completion
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
        ("audit ring.csv --collective AAS", "a collective without a network; set --topology"),
    ],
)
def test_bad_input_is_one_line_and_status_2(words, line, capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text(ring_allgather(3))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert line in shown.err
    assert {path.name for path in tmp_path.iterdir()} == {"file", "empty"}


def test_every_transfer_is_exported(capsys, tmp_path):
    found = schedule("ring-bi-4", "alltoall")
    found.save(tmp_path / "s.json")
    transfers = sum(map(len, found.steps))
    for words, mark, count in (
        (["csv"], "\n", transfers + 1), (["text"], "->", transfers),
        (["goal", "--size", "96"], "send 96b", transfers),
    ):  # fmt: skip
        assert run(["export", str(tmp_path / "s.json"), "--to", *words]) == 0
        assert capsys.readouterr().out.count(mark) == count


def test_an_invalid_schedule_is_not_exported(tmp_path):
    Schedule(schedule("ring-bi-4", "alltoall").instance, ()).save(tmp_path / "bad.json")
    words = ["export", str(tmp_path / "bad.json"), "--to", "csv", "-o", str(tmp_path / "bad.csv")]
    assert run(words) == 2
    assert not (tmp_path / "bad.csv").exists()


def test_formats_are_completed(monkeypatch):
    test_completion.test_names_are_completed("export s.json --to c", "csv", "text", monkeypatch)


def test_every_importer_is_a_reader_of_the_fuzzer():
    assert set(IMPORTERS) == set(load_registry().importers)


def test_files_for_checkers_of_others(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solved(tmp_path / "s.json", "spidergon-8", "AAS")
    assert run(["prove", "s.json", "--dimacs", "sat", "--opb", "pb", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)["files"]
    assert names == [
        "sat/formula.cnf", "sat/proof.lrat", "sat/proof.drat", "pb/formula.opb", "pb/proof.pbp",
    ]  # fmt: skip
    assert all(Path(name).stat().st_size for name in names)
    (tmp_path / "file").write_text("")
    assert run(["prove", "s.json", "--dimacs", "file"]) == 2
    assert "file is no folder" in capsys.readouterr().err


def test_a_bound_of_one_step_has_no_formula(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    solved(tmp_path / "s.json", "complete-4", "OAB")
    assert run(["prove", "s.json", "--opb", "pb"]) == 2
    captured = capsys.readouterr()
    assert "valid, 1 steps, optimal (certified)" in captured.out
    assert "nothing to refute" in captured.err


@pytest.mark.long
def test_formats_of_a_strangers_plugin(tmp_path):
    file = tmp_path / "s.json"

    def cchybrid_command(*words):
        return subprocess.run(
            [sys.executable, "-m", "cchybrid", *words], capture_output=True, text=True, check=False,
            timeout=60, cwd=Path(__file__).parents[3],
            env={**os.environ, MODULES_VARIABLE: "tests.full_plugin"},
        )  # fmt: skip

    words = ("solve", "double-star-3", "swap", "--engine", "plain", "-o", str(file))
    assert cchybrid_command(*words).returncode == 0
    exported = cchybrid_command("export", str(file), "--to", "arrows")
    lines = exported.stdout.splitlines()
    assert len(lines) == 8
    assert {"0->4", "4->0"} <= {line.split(": ")[1] for line in lines}
    assert {line.split(": ")[0] for line in lines} == {"1", "2", "3", "4"}
    (tmp_path / "arrows.txt").write_text(exported.stdout)
    imported = cchybrid_command(
        "audit", str(tmp_path / "arrows.txt"), "--topology", "double-star-3", "--collective",
        "swap",
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    assert "read as arrows" in imported.stdout
    assert "8 arrows" in imported.stdout


def test_a_schedule_is_judged_on_the_collective_that_solve_has_of_the_file(
    capsys, tmp_path, monkeypatch
):
    """The node 3 takes no part, so an all-to-all of the others is all that is asked for."""
    monkeypatch.chdir(tmp_path)
    modes = "4 2\n0 T 1 3\n1 B 0 2\n2 R 1 3\n3 N 0 2\n"
    Path("ring.txt").write_text(modes)
    Path("all.txt").write_text(modes.replace("N", "B"))
    assert run(["solve", "ring.txt", "AAS", "-o", "s.json", "--time-limit", "20"]) == 0
    line = "by which 0-1 send and 1-2 receive, are no part of a network"
    for first in (["audit", "s.json"], ["import", "s.json", "-o", "again.json"]):
        capsys.readouterr()
        assert run([*first, "--topology", "ring.txt", "--collective", "AAS"]) == 0
        shown = capsys.readouterr()
        assert "valid" in shown.out
        assert "in which 0-2 send and 0-2 receive" in shown.err
        assert run([*first, "--topology", "ring.txt"]) == 0
        assert f"the modes of the file, {line}" in capsys.readouterr().err
        assert run([*first, "--topology", "all.txt", "--collective", "AAS"]) > 0
    assert run(["audit", "ring.txt"]) == 0
    assert line.split(",")[0] in capsys.readouterr().out


def test_nodes_of_a_file_that_neither_send_nor_receive_are_switches_of_programs(capsys, tmp_path):
    """Four GPUs around a switch, which stands first, so that the numbers of GPUs are others."""
    star = tmp_path / "star.txt"
    star.write_text("5 4\n0 N 1 2 3 4\n1 B 0\n2 B 0\n3 B 0\n4 B 0\n")
    program = tmp_path / "ring.xml"
    program.write_text(ring_allgather(4))
    words = ["audit", str(program), "--topology", str(star), "--collective", "allgather"]
    assert run(words) == 0
    assert "valid, 3 steps, at most 0 % above a certified" in capsys.readouterr().out
