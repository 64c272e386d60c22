"""``export``, and the proofs of ``prove`` for other checkers, through the command line."""

import json
from pathlib import Path

import pytest

from cchybrid.cli.app import run
from cchybrid.model import Schedule
from cchybrid.plugin.registry import MODULES_VARIABLE, load_registry
from tests.cli import test_completion
from tests.cli.test_proving import solved
from tests.plugin.test_registry import cchybrid_command
from tests.plugins.exchange.fuzz_readers import IMPORTERS
from tests.plugins.exchange.schedules import schedule


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("export nothing.json --to csv", "cannot be read"),
        ("export nothing.json --to cvs", "did you mean csv?"),
        ("export nothing.json --to csv --size 8", "the format csv has no sizes; leave it out"),
        ("export nothing.json --to goal --size 0", "0 bytes; use at least 1"),
        ("audit ring.xml --time-limit 9", "--time-limit: there is no --improve; leave it out"),
        ("audit ring.xml --seed 3", "--seed: there is no --improve; leave it out"),
        ("audit ring.csv --collective AAS", "a collective without a network; set --topology"),
    ],
)
def test_bad_input_is_one_line_and_status_2(words, line, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert line in shown.err
    assert list(tmp_path.iterdir()) == []


def test_every_transfer_is_exported(capsys, tmp_path):
    found = schedule("ring-bi-4", "alltoall")
    found.save(tmp_path / "s.json")
    transfers = sum(map(len, found.steps))
    assert run(["export", str(tmp_path / "s.json"), "--to", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") == transfers + 1
    assert run(["export", str(tmp_path / "s.json"), "--to", "text"]) == 0
    assert capsys.readouterr().out.count("->") == transfers


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
    plugin = {MODULES_VARIABLE: "tests.full_plugin"}
    file = tmp_path / "s.json"
    words = ("solve", "double-star-3", "swap", "--engine", "plain", "-o", str(file))
    assert cchybrid_command(*words, **plugin).returncode == 0
    exported = cchybrid_command("export", str(file), "--to", "arrows", **plugin)
    lines = exported.stdout.splitlines()
    assert len(lines) == 8
    assert {"0->4", "4->0"} <= {line.split(": ")[1] for line in lines}
    assert {line.split(": ")[0] for line in lines} == {"1", "2", "3", "4"}
    (tmp_path / "arrows.txt").write_text(exported.stdout)
    imported = cchybrid_command(
        "audit", str(tmp_path / "arrows.txt"), "--topology", "double-star-3", "--collective",
        "swap", **plugin,
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    assert "read as arrows" in imported.stdout
    assert "8 arrows" in imported.stdout
