"""Few open files, few processes, and a clock that jumps."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.processes import events, own_processes, start

JUMPING = """
import atexit, os, random, time
_real, _dice, _jumps = time.time, random.Random(os.getpid()), [0]
def _time():
    _jumps[0] += 1
    return _real() + _dice.choice([-1e9, -3600.0, 0.0, 3600.0, 1e9])
time.time = _time
time.time_ns = lambda: int(_time() * 1e9)
def _report():
    with open(os.environ["JUMPS"], "a") as file:
        file.write(f"{_jumps[0]}\\n")
_time()
_report()
"""


def solve(folder: Path, words: str, **rest: Any) -> tuple[int, str, str]:
    process = start(f"solve spidergon-36 AAS --time-limit 20 --json {words}", folder, **rest)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [12, 16, 20, 24, 32, 48])
def test_few_open_files(tmp_path: Path, number: int) -> None:
    """Either the best schedule and what did not work, or one line."""
    status, out, err = solve(
        tmp_path, "",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)),
    )  # fmt: skip
    assert "Traceback" not in err
    if status == 2:
        last = err.splitlines()[-1]
        assert last.startswith("cchybrid: ")
        assert "Too many open files" in last or "open files" in last
    else:
        assert status == 0, err
        result = json.loads(out)
        assert result["steps"] > 1
        if number < 32:
            assert any("Too many open files" in text for text in result["troubles"])
    assert not own_processes()


def test_no_further_process(tmp_path: Path) -> None:
    """Of a user who may have none: the host's own schedule, and why there are no engines."""
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))}
    if os.getuid() == 0:  # no limit holds for root
        limit |= {"user": 65533, "group": 65534, "extra_groups": []}
        tmp_path.chmod(0o777)
        for parent in tmp_path.parents:
            if not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o001)
    words = [sys.executable, "-m", "cchybrid", "--version"]
    probe = {key: value for key, value in limit.items() if key != "preexec_fn"}
    try:
        readable = subprocess.run(words, capture_output=True, check=False, **probe).returncode == 0
    except PermissionError:
        readable = False
    if not readable:
        pytest.skip("another user cannot read this installation")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "HOME": str(tmp_path)}
    status, out, err = solve(tmp_path, "", env=environment, **limit)
    assert "Traceback" not in err
    assert status == 0, err
    result = json.loads(out)
    assert result["engine"] == "host greedy"
    troubles = " ".join(result["troubles"])
    assert "could not be started: Resource temporarily unavailable" in troubles


def test_a_clock_that_jumps(tmp_path: Path) -> None:
    """The time of day jumps by hours and decades at every look, in all processes."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sitecustomize.py").write_text(JUMPING)
    path = os.pathsep.join([str(tmp_path / "modules"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "JUMPS": str(tmp_path / "jumps")}
    status, out, err = solve(tmp_path, "--log log.jsonl --engine good", env=environment)
    assert (tmp_path / "jumps").read_text().count("\n") >= 2  # host and workers
    assert "Traceback" not in err
    times = [each["seconds"] for each in events(tmp_path / "log.jsonl")]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] < 40
    assert status in (0, 1, 3)
    assert json.loads(out)["seconds"] == times[-1]
