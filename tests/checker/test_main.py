"""``python -m cchybrid.checker``: what it prints, where, and its exit status."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from cchybrid.checker import check
from cchybrid.checker.__main__ import main
from cchybrid.checker.description import describe

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
USAGE = "usage: python -m cchybrid.checker SCHEDULE CERTIFICATE, or THROUGHPUT alone\n"


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["a.json", "b.json", "c.json"]):
        assert main(arguments) == 2
        assert capsys.readouterr() == ("", USAGE)


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"{arguments[0]} {arguments[1]}: cannot be read: ")


def test_a_check_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.json"
    file.write_text("{}")
    assert main([str(file)]) == 1
    assert capsys.readouterr() == ("FAILED: this is no cchybrid-throughput/1\n", "")
    assert main([str(file), str(file)]) == 1
    out, error = capsys.readouterr()
    assert out.startswith("FAILED: this is no cchybrid-schedule/1 or ")
    assert error == ""


def test_a_check_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schedule, record = json.loads((CORPUS / "certificate-8-linear.json").read_bytes())
    schedule["instance"]["name"] = "größer"
    files = tmp_path / "s.json", tmp_path / "c.json"
    for file, content in zip(files, (schedule, record), strict=True):
        file.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    assert main([str(file) for file in files]) == 0
    lines = [check(schedule, record).sentence, *describe(schedule["instance"])]
    assert capsys.readouterr() == ("\n  ".join(lines) + "\n", "")


def test_files_are_in_utf_8_whatever_the_locale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"format": "größer"}', "utf-8")
    monkeypatch.setattr(io, "text_encoding", lambda encoding, _=2: encoding or "ascii")
    assert main([str(file)]) == 1
    assert capsys.readouterr() == ("FAILED: this is no cchybrid-throughput/1\n", "")


def test_a_file_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (CORPUS / "throughput-trees.json").read_text()
    file = tmp_path / "throughput.json"
    file.write_text(text)
    assert main([str(file)]) == 0
    line, *about = capsys.readouterr().out.splitlines()
    assert line == "7/6 rounds per chunk, optimal (linear)"
    assert about[0].startswith("  network: 8 nodes, counted from 0, 32 channels")
    file.write_text(text.replace('"7/6"', '"8/7"'))
    assert main([str(file)]) == 1
