"""Narrow, colourless, ASCII and piped output; lists as JSON; hints for what is misspelt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cchybrid.cli.app import run
from cchybrid.plugin.registry import load_registry
from cchybrid.view.screen import wrapped

LISTS = ("topologies", "collectives", "engines", "plugins")
ENGINE = min(load_registry().engines)
SOLVE = "solve mesh-2x3 AAS"
COMMANDS = (
    *LISTS, "topologies mesh-4x4", f"engines {ENGINE}", "verify s.json",
    "bound ring-bi-4 AAS", "--help", "solve --help", "prove --help", SOLVE,
)  # fmt: skip
PLAIN = {name: value for name, value in os.environ.items() if name not in (
    "LANG", "LC_ALL", "LC_CTYPE", "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "PYTHONUTF8"
)}  # fmt: skip
ENCODINGS = (
    {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LANG": "C", "TERM": "dumb"},
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder with a schedule."""
    path = tmp_path_factory.mktemp("terminal")
    assert run(["solve", "ring-bi-4", "AAS", "-o", str(path / "s.json"), "--json"]) == 0
    return path


def piped(words: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cchybrid", *words.split()],
        capture_output=True, cwd=folder, env={**PLAIN, **variables}, timeout=100, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_sixty_columns_are_enough_and_there_are_no_colours(words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "60")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    assert run(words.split()) == 0
    text = capsys.readouterr().out
    assert text
    assert "\x1b" not in text
    for line in text.splitlines():
        assert len(line) <= 60 or len(line.split()) == 1, line


@pytest.mark.long
@pytest.mark.parametrize("variables", ENCODINGS, ids=str)
@pytest.mark.parametrize("words", ["solve --help", SOLVE])
def test_ascii_terminals_get_ascii(words, variables, folder):
    done = piped(words, folder, **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert done.stderr.isascii()
    assert b"\\u2" not in done.stdout
    assert b"Error" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("variables", ENCODINGS[:2], ids=str)
def test_names_that_are_not_ascii_do_not_end_a_command(variables, folder):
    record = json.loads((folder / "s.json").read_text())
    record["instance"]["name"] = "Jaroš 4"
    (folder / "named.json").write_text(json.dumps(record))
    done = piped("verify named.json", folder, **variables)
    assert done.returncode == 0, done.stderr
    # Names of files are escaped in any encoding, so that they do not look like other words.
    assert b"names in the file: 'Jaro\\u0161 4'" in done.stdout


@pytest.mark.parametrize("name", LISTS)
def test_every_list_is_there_as_json(name, capsys):
    assert run([name, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    rows = record[name]
    assert len(rows) > 2
    assert all(row["name"] for row in rows)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("engines umda", {"name": "umda", "population": 80}),
        ("topologies mesh-4x4", {"nodes": 16, "channels": 48, "diameter": 6, "out_degree": [2, 4]}),
        ("topologies dgx-h100", {"terminals": 8, "links": [{"bandwidth": 450, "latency": 0.35}]}),
    ],
)
def test_details_are_there_as_json(words, expected, capsys):
    assert run([*words.split(), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    record |= record.get("options", {})
    assert expected.items() <= record.items()


def test_machines_show_their_rates_and_where_these_are_from(capsys):
    assert run(["topologies", "ndv2-x4"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "links: 12.5 GB/s, 1.3 us links: 25 GB/s, 0.7 us links: 50 GB/s, 0.7 us" in shown
    assert "source: 12.5 GB/s and 1.3 us of a hop over InfiniBand: TE-CCL, ndv2.py" in shown


def test_long_words_stay_whole():
    path = "/a/" + "long/" * 20 + "path.json"
    assert wrapped(f"written to {path}", 30).splitlines() == ["written to", f"  {path}"]
    assert wrapped("  a b c", 4).splitlines() == ["  a", "    b", "    c"]
    assert wrapped("one two", None) == "one two"
