"""The host is killed (SIGKILL) at random moments: nothing of the run is left two seconds later."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.cli.test_proving import save
from tests.faults.processes import (
    GONE_SECONDS,
    events,
    metrics,
    own_processes,
    runs,
    start,
    until,
    working,
)

SUITE = """
name = "two"
[[rows]]
topology = "spidergon-36"
collective = ["AAS", "AAB"]
"""


def kill(process: object, others: tuple[int, ...] = ()) -> None:
    """Kill a host, and wait until its processes have ended."""
    process.kill()  # type: ignore[attr-defined]
    process.communicate()  # type: ignore[attr-defined]
    assert process.returncode == -signal.SIGKILL  # type: ignore[attr-defined]
    until(lambda: not own_processes() and not any(map(runs, others)), GONE_SECONDS)


@pytest.mark.parametrize("seed", range(4))
def test_solve(tmp_path: Path, seed: int) -> None:
    """The moment is a random line of the log, and some milliseconds more."""
    dice, log = random.Random(seed), tmp_path / "log.jsonl"
    process = start("solve spidergon-36 AAS --log log.jsonl", tmp_path)
    lines = dice.randrange(2, 12)
    until(lambda: log.exists() and log.read_bytes().count(b"\n") >= lines)
    time.sleep(dice.uniform(0.0, 0.3))
    kill(process)
    assert all(each["event"] != "result" for each in events(log))


def test_solve_with_children_in_sessions_of_their_own(tmp_path: Path) -> None:
    """One of them has lost the mark of the run, too; the host has seen it once."""
    log = tmp_path / "log.jsonl"
    words = "solve spidergon-36 AAS --engine scatter --engine good --strategy race --log log.jsonl"
    process = start(words, tmp_path)
    until(lambda: metrics(events(log), "bare"))
    numbers = [int(metrics(events(log), name)[0]) for name in ("kept", "bare")]
    assert all(map(runs, numbers))
    assert all(os.getsid(number) == number for number in numbers)
    (worker,) = {number for number, line in own_processes().items() if "host.worker" in line} & {
        int(Path(f"/proc/{number}/stat").read_text().split()[3]) for number in numbers
    }
    assert worker
    time.sleep(3.0)  # the host looks at all processes twice a second
    kill(process, tuple(numbers))


def test_solve_while_workers_are_paused(tmp_path: Path) -> None:
    process = start("solve spidergon-36 AAS --time-limit 200", tmp_path)

    def paused() -> bool:
        return any(
            "host.worker" in line and _state(number) == "T"
            for number, line in own_processes().items()
        )

    until(paused)
    kill(process)


def _state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize("seed", range(2))
def test_bench(tmp_path: Path, seed: int) -> None:
    (tmp_path / "two.toml").write_text(SUITE)
    words = "bench run two.toml --engine scatter --time-limit 60 --jobs 2 --threads 1"
    process = start(words, tmp_path)
    until(lambda: working("host.worker"))
    time.sleep(random.Random(seed).uniform(0.0, 2.0))
    kill(process)


def test_prove(tmp_path: Path) -> None:
    save(tmp_path / "s.json", "mesh-4x4", "OAB", root=0)
    process = start("prove s.json --time-limit 100", tmp_path)
    until(lambda: working("cadical_process"))
    kill(process)
    assert not (tmp_path / "s.certificate.json").exists()
