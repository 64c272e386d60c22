"""``python -m cchybrid.design_checker``: network files, alone with the two checkers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cchybrid

LINKS = [[0, 1], [1, 2], [2, 3], [0, 3]]
RECORD: dict[str, Any] = {
    "format": "cchybrid-network/1",
    "network": {"nodes": 4, "channels": [*LINKS, *([b, a] for a, b in LINKS)]},
    "design": {
        "format": "cchybrid-design/1", "nodes": 4, "degree": 2, "links": LINKS,
        "claims": {"diameter": 2},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with copies of the two checkers and of nothing else."""
    folder = tmp_path_factory.mktemp("copied")
    for name in ("checker", "design_checker"):
        source = Path(cchybrid.__file__).parent / name
        shutil.copytree(source, folder / "cchybrid" / name)
    return folder


def check(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "net.json").write_text(text)
    words = [sys.executable, "-S", "-m", "cchybrid.design_checker", "net.json"]
    return subprocess.run(
        words, capture_output=True, text=True, cwd=folder, timeout=60, check=False
    )


def test_the_copied_checkers_suffice(copied: Path) -> None:
    done = check(copied, json.dumps(RECORD))
    assert (done.returncode, done.stderr) == (0, "")
    assert "diameter 2 (at least 2), mean distance 4/3 (at least 4/3)" in done.stdout


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
def test_a_network_that_is_not_its_design_is_refused(copied: Path, network: Any) -> None:
    done = check(copied, json.dumps({**RECORD, "network": network}))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("FAILED: the ")
    assert "network" in done.stdout


def test_other_positions_than_those_of_the_design_are_refused(copied: Path) -> None:
    square, line = [[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 0], [1, 0], [2, 0], [3, 0]]
    design = {**RECORD["design"], "positions": square, "max_wire": 1}
    for positions, status in ((square, 0), (line, 1)):
        network = {**RECORD["network"], "positions": positions}
        done = check(copied, json.dumps({**RECORD, "network": network, "design": design}))
        assert (done.returncode, "positions" in done.stdout) == (status, status == 1), done.stdout


@pytest.mark.parametrize("change", [{"format": "nonsense"}, {"zzz": 1}])
def test_a_file_of_another_form_is_refused(copied: Path, change: dict[str, Any]) -> None:
    done = check(copied, json.dumps(RECORD | change))
    assert (done.returncode, done.stdout) == (1, "FAILED: the network file is not well-formed\n")


def test_a_file_that_cannot_be_read(copied: Path) -> None:
    done = check(copied, '{"design": 1, "design": 2}')
    assert done.returncode == 2
    assert done.stderr == "net.json: cannot be read: a key is listed twice in one object\n"


@pytest.mark.parametrize("package", ["checker", "design_checker"])
def test_modules_beside_the_files_are_not_imported_with_safe_path(
    tmp_path: Path, package: str
) -> None:
    """docs/trust.md and docs/security.md name the option -P for this."""
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    done = subprocess.run(
        [sys.executable, "-P", "-m", f"cchybrid.{package}", "none.json"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("none.json: cannot be read")
