"""``python -m cchybrid.design_checker``: network files, alone with the two checkers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cchybrid
from cchybrid.design_checker.__main__ import main

LINKS = [[0, 1], [1, 2], [2, 3], [0, 3]]
RECORD: dict[str, Any] = {
    "format": "cchybrid-network/1",
    "network": {"nodes": 4, "channels": [*LINKS, *([b, a] for a, b in LINKS)]},
    "design": {
        "format": "cchybrid-design/1", "nodes": 4, "degree": 2, "links": LINKS,
        "claims": {"diameter": 2},
    },
}  # fmt: skip


def test_the_copied_checkers_suffice(tmp_path: Path) -> None:
    """In a folder with copies of the two checkers and of nothing else."""
    for name in ("checker", "design_checker"):
        shutil.copytree(Path(cchybrid.__file__).parent / name, tmp_path / "cchybrid" / name)
    (tmp_path / "net.json").write_text(json.dumps(RECORD))
    words = [sys.executable, "-S", "-m", "cchybrid.design_checker"]
    for files, status, said in (
        (["net.json"], 0, "diameter 2 (at least 2), mean distance 4/3 (at least 4/3)"),
        ([], 2, "usage: python -m cchybrid.design_checker NETWORK"),
    ):
        done = subprocess.run([*words, *files], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == status
        assert (done.stdout + done.stderr).startswith(said)
        assert (done.stderr == "") == (status == 0)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("net.json")


Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "network",
    [
        {"nodes": 4, "channels": [*LINKS, *([b, a] for a, b in LINKS[1:])]},
        {"nodes": 4, "channels": [*LINKS, *([b, a, 2] for a, b in LINKS)]},
        {"nodes": 5, "channels": RECORD["network"]["channels"]},
        {**RECORD["network"], "half_duplex": [[0, 1]]},
        {**RECORD["network"], "endpoints": [0, 1]},
        {**RECORD["network"], "switches": [1]},
        {**RECORD["network"], "nodes": 4.0},
        {**RECORD["network"], "other": 1},
        {"nodes": 4, "channels": [[0, 1, 99], *RECORD["network"]["channels"]]},
        {"nodes": 4, "channels": [[0]]},
        {},
        None,
    ],
    ids=["one-way", "capacity", "nodes", "half-duplex", "endpoints", "switches", "float",
         "other", "twice", "channels", "empty", "none"],
)  # fmt: skip
def test_a_network_that_is_not_its_design_is_refused(
    file: Path, network: Any, capsys: Capture
) -> None:
    file.write_text(json.dumps({**RECORD, "network": network}))
    assert main([str(file)]) == 1
    out, error = capsys.readouterr()
    assert error == ""
    assert out.startswith("FAILED: the ")
    assert "network" in out


def test_other_positions_than_those_of_the_design_are_refused(file: Path, capsys: Capture) -> None:
    square, line = [[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [1, 0], [2, 0], [3, 0]]
    design = {**RECORD["design"], "positions": square, "max_wire": 1}
    for positions, status in ((square, 0), (line, 1)):
        network = {**RECORD["network"], "positions": positions}
        file.write_text(json.dumps({**RECORD, "network": network, "design": design}))
        assert main([str(file)]) == status
        assert ("positions" in capsys.readouterr().out) == (status == 1)


@pytest.mark.parametrize("change", [{"format": "nonsense"}, {"zzz": 1}])
def test_a_file_of_another_form_is_refused(file: Path, change: Any, capsys: Capture) -> None:
    file.write_text(json.dumps(RECORD | change))
    assert main([str(file)]) == 1
    assert capsys.readouterr() == ("FAILED: the network file is not well-formed\n", "")


def test_a_file_that_cannot_be_read(file: Path, capsys: Capture) -> None:
    file.write_text('{"design": 1, "design": 2}')
    assert main([str(file)]) == 2
    twice = "net.json: cannot be read: a key is listed twice in one object\n"
    assert capsys.readouterr() == ("", twice)


@pytest.mark.parametrize("package", ["checker", "design_checker"])
def test_modules_beside_the_files_are_not_imported_with_safe_path(
    tmp_path: Path, package: str
) -> None:
    """docs/trust.md and SECURITY.md name the option -P for this."""
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    done = subprocess.run(
        [sys.executable, "-P", "-m", f"cchybrid.{package}", "none.json"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("none.json: cannot be read")
