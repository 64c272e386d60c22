"""Processes of the tests of faults: start, look at, and wait for them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cchybrid.system.processes import processor_count

OWN = "CCHYBRID_TEST"
"""Environment variable that marks the processes of one test: others run at the same time."""
GONE_SECONDS = 2.0
"""Seconds after which nothing may be left of a run, on a machine that does nothing else."""
LIMITS = (6.0, 40.0)
"""Time limits of a run that has to reach its time limit: an engine starts in a second or two, but
on a busy machine not within the first one."""
LATE_SECONDS = 240.0
"""Seconds after which a test fails because an event has not come."""


def start(words: str, folder: Path, **rest: Any) -> subprocess.Popen[str]:
    """Start a command in a folder, as from a shell."""
    return subprocess.Popen(
        [*rest.pop("before", ()), sys.executable, "-m", "cchybrid", *words.split()],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **rest,
    )  # fmt: skip


def call(words: str, folder: Path, **rest: Any) -> tuple[int, str, str]:
    """Run a command in a folder to its end; return its status and what it has printed."""
    process = start(words, folder, **rest)
    out, err = process.communicate(timeout=LATE_SECONDS)
    return process.returncode, out, err


def as_another_user(folder: Path) -> Sequence[str]:
    """Return words that, in front of a command, run it as a user without rights.

    The user may write to the folder, and read everything, as the installation may be in the home of
    root. Return nothing if this user is not root; skip the test if there is no such user.
    """
    if os.getuid():
        return ()
    folder.chmod(0o777)
    for parent in folder.parents:  # access(2) disregards the right to read everything
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o001)
    rights = "+dac_read_search"
    # A user per process of the tests, as the limit on processes counts all of a user.
    user = str(60_000 + os.getpid() % 5_000)
    words = ["setpriv", "--reuid", user, "--regid", "65534", "--clear-groups"]
    words += ["--inh-caps", rights, "--ambient-caps", rights, "--"]
    probe = [*words, sys.executable, "-c", "import cchybrid, numpy"]
    if not shutil.which("setpriv") or subprocess.run(probe, check=False).returncode:
        pytest.skip("another user cannot read this installation")
    return words


def until(
    found: Callable[[], Any],
    seconds: float = LATE_SECONDS,
    process: subprocess.Popen[str] | None = None,
) -> Any:
    """Return what ``found`` returns, as soon as it is true; fail after some seconds.

    Fail at once if it is not true at the end of ``process``.
    """
    late = time.monotonic() + seconds
    while True:
        ended = process is not None and process.poll() is not None
        if answer := found():
            return answer
        assert not ended, f"it had not happened when the process ended: {process!r}"
        assert time.monotonic() < late, "it did not happen"
        time.sleep(0.02)


def allowed(seconds: float) -> float:
    """Return these seconds, or as many times more as processes share a processor."""
    return seconds * max(1.0, 2 * os.getloadavg()[0] / processor_count())


def gone() -> None:
    """Wait until no process of this test is left; fail after two seconds."""
    until(lambda: not own_processes(), allowed(GONE_SECONDS))


def own_processes() -> dict[int, str]:
    """Return the command lines of the processes of this test, by number, without this one.

    The mark is in their environment, or in their command line where they have no environment.
    """
    mark, found = os.environ[OWN].encode(), {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
                if mark in words or mark in (entry / "environ").read_bytes():
                    found[int(entry.name)] = words.decode().replace("\0", " ")
            except OSError:
                continue
    return found


def state(number: int) -> str:
    """Return the state of a process as a letter, empty if there is none: R, S, T (stopped), Z."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[0]


def working(module: str) -> list[int]:
    """Return the processes of this test that run a module."""
    return [number for number, line in own_processes().items() if module in line]


def workers() -> list[int]:
    """Return the workers of this test."""
    return working("host.worker")


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
