"""The host is killed (SIGKILL) at random moments: nothing of the run is left two seconds later."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.test_proving import save
from tests.faults.processes import (
    events,
    gone,
    metrics,
    own_processes,
    start,
    state,
    until,
    workers,
    working,
)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a host, and wait until its processes have ended."""
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    gone()


@pytest.mark.parametrize("seed", range(6))
def test_solve(tmp_path, seed, monkeypatch):
    """The moment is a random line of the log, and some milliseconds more."""
    monkeypatch.delenv("CCHYBRID_PLUGINS")
    dice, log = random.Random(seed), tmp_path / "log.jsonl"
    process = start(f"solve kautz-36 AAS --log {log}", tmp_path)
    lines = dice.randrange(2, 30)
    until(lambda: log.exists() and log.read_bytes().count(b"\n") >= lines, process=process)
    time.sleep(dice.uniform(0.0, 0.3))
    kill(process)
    assert all(each["event"] != "result" for each in events(log))


def test_solve_with_children_in_sessions_of_their_own(tmp_path):
    """One of them has lost parent and mark of the run, too; the host has seen it once."""
    log = tmp_path / "log.jsonl"
    words = "solve mesh-4x4 AAS --engine scatter --engine daemon --strategy race --log log.jsonl"
    process = start(words, tmp_path)
    until(lambda: metrics(events(log), "kept") and metrics(events(log), "daemon"), process=process)
    numbers = [int(metrics(events(log), name)[0]) for name in ("kept", "daemon")]
    assert set(numbers) <= own_processes().keys()
    assert all(os.getsid(number) == number for number in numbers)
    assert (Path("/proc") / str(numbers[1]) / "environ").read_bytes() == b""
    time.sleep(1.5)  # the host looks at all processes twice a second
    kill(process)


def test_solve_while_workers_are_paused(tmp_path):
    words = "solve mesh-4x4 AAS --engine good-1 --engine good-2 --engine good-3"
    process = start(words, tmp_path)
    until(lambda: any(state(number) == "T" for number in workers()), process=process)
    kill(process)


@pytest.mark.parametrize("seed", range(3))
def test_prove(tmp_path, seed):
    save(tmp_path / "s.json", "kautz-12", "AAB")
    process = start("prove s.json --time-limit 100", tmp_path)
    time.sleep(random.Random(seed).uniform(0.0, 3.0))
    kill(process)
    assert not (tmp_path / "s.certificate.json").exists()


def test_prove_while_a_solver_works(tmp_path):
    save(tmp_path / "s.json", "kautz-12", "AAB")
    process = start("prove s.json --time-limit 100", tmp_path)
    until(lambda: working("cadical_process"), process=process)
    kill(process)
    assert not (tmp_path / "s.certificate.json").exists()
