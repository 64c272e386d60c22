"""Processes of the tests of faults: start, look at, and wait for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

OWN = "CCHYBRID_TEST"
"""Environment variable that marks the processes of one test: others run at the same time."""
GONE_SECONDS = 2.0 if os.getloadavg()[0] < (os.cpu_count() or 1) else 60.0
"""Seconds after which nothing may be left of a run; more on a machine that does other work."""
LATE_SECONDS = 240.0
"""Seconds after which a test fails because an event has not come."""


def start(words: str, folder: Path, **rest: Any) -> subprocess.Popen[str]:
    """Start a command in a folder, as from a shell."""
    return subprocess.Popen(
        [sys.executable, "-m", "cchybrid", *words.split()],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **rest,
    )  # fmt: skip


def until(found: Callable[[], Any], seconds: float = LATE_SECONDS) -> Any:
    """Return what ``found`` returns, as soon as it is true; fail after some seconds."""
    late = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < late, "it did not happen"
        time.sleep(0.02)
    return answer


def own_processes() -> dict[int, str]:
    """Return the command lines of the processes of this test, by number, without this one."""
    mark, found = f"{OWN}={os.environ[OWN]}".encode(), {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
    return found


def runs(number: int) -> bool:
    """Return whether a process runs; one that has ended and is not waited for does not."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def working(name: str) -> bool:
    """Return whether a process of this test runs a module."""
    return any(name in line for line in own_processes().values())


def events(log: Path) -> list[dict[str, Any]]:
    """Return the events in a log; a line may be incomplete while it is written."""
    if not log.exists():
        return []
    found = []
    for line in log.read_text(encoding="utf-8").split("\n")[:-1]:
        record = json.loads(line)
        if "event" in record:
            found.append(record)
    return found


def metrics(found: Sequence[Any], name: str) -> list[float]:
    """Return the values of a metric that an engine has noted."""
    return [each["metrics"][name] for each in found
            if each["event"] == "note" and name in each["metrics"]]  # fmt: skip


def end_all() -> None:
    """End what a failed test has left."""
    for number in own_processes():
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
