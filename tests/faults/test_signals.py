"""Signals to the host: the best schedule is written; what is stopped goes on or is ended."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cchybrid.model import Schedule
from tests.cli.test_proving import save
from tests.faults.processes import (
    LATE_SECONDS,
    LIMITS,
    allowed,
    events,
    gone,
    metrics,
    start,
    state,
    until,
    workers,
    working,
)

WORDS = "solve mesh-4x4 AAS --engine beating --log log.jsonl -o s.json"
"""The engine's schedule is longer than every bound, so only a signal or the time ends the run."""
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def beats(folder: Path) -> int:
    """Return how many notes the engine has sent."""
    return len(metrics(events(folder / "log.jsonl"), "beats"))


def started(folder: Path, words: str = "", **rest: object) -> subprocess.Popen[str]:
    """Start a run, and wait until its engine works."""
    process = start(f"{WORDS} {words}", folder, **rest)
    until(lambda: beats(folder), process=process)
    return process


def started_in_time(folder: Path) -> tuple[subprocess.Popen[str], float]:
    """Start a run, and wait until its engine works; return its time limit, too."""
    for limit in LIMITS:
        with contextlib.suppress(AssertionError):
            return started(folder, f"--time-limit {limit}"), limit
    raise AssertionError("the engine has not started in time")


def interrupted(folder: Path) -> bool:
    """Return whether the run was interrupted; assert that it has written its result."""
    last = events(folder / "log.jsonl")[-1]
    assert last["event"] == "result"
    assert Schedule.load(folder / "s.json").steps
    return bool(last["interrupted"])


@pytest.mark.parametrize("number", ENDING)
def test_solve_keeps_the_best_schedule(tmp_path, number):
    process = started(tmp_path, "--time-limit 300")
    process.send_signal(number)
    out, err = process.communicate(timeout=LATE_SECONDS)
    assert process.returncode == 0, err
    assert "interrupted" in out
    assert interrupted(tmp_path)
    gone()


@pytest.mark.parametrize("number", ENDING)
def test_prove_keeps_the_best_bound(tmp_path, number):
    save(tmp_path / "s.json", "kautz-12", "AAB")
    process = start("prove s.json --time-limit 300", tmp_path)
    until(lambda: working("cadical_process"), process=process)
    process.send_signal(number)
    out, err = process.communicate(timeout=LATE_SECONDS)
    assert process.returncode == 1, err
    assert "interrupted" in out + err
    assert "Traceback" not in err
    assert (tmp_path / "s.certificate.json").exists()
    gone()


def test_a_hang_up_that_is_ignored_ends_nothing(tmp_path):
    """As with nohup."""
    process = started(
        tmp_path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )  # fmt: skip
    process.send_signal(signal.SIGHUP)
    before = beats(tmp_path)
    until(lambda: beats(tmp_path) > before + 3, process=process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LATE_SECONDS)
    assert interrupted(tmp_path)


def stop(numbers: list[int]) -> None:
    """Stop processes, and wait until they are."""
    assert numbers
    for number in numbers:
        os.kill(number, signal.SIGSTOP)
    until(lambda: all(state(number) in ("T", "") for number in numbers))
    assert any(state(number) == "T" for number in numbers)


@pytest.mark.parametrize("chosen", ["host", "workers"])
def test_what_is_stopped_and_continued_goes_on(tmp_path, chosen):
    process = started(tmp_path, "--time-limit 300")
    numbers = [process.pid] if chosen == "host" else workers()
    stop(numbers)
    before = beats(tmp_path)
    time.sleep(1.0)
    assert beats(tmp_path) < before + 3  # what was under way
    for number in numbers:
        os.kill(number, signal.SIGCONT)
    until(lambda: beats(tmp_path) > before + 8, process=process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LATE_SECONDS)
    assert process.returncode == 0, err
    assert interrupted(tmp_path)
    gone()


def test_a_host_that_is_stopped_beyond_its_time_ends_when_it_continues(tmp_path):
    process, limit = started_in_time(tmp_path)
    stop([process.pid])
    time.sleep(limit)
    os.kill(process.pid, signal.SIGCONT)
    begun = time.monotonic()
    process.communicate(timeout=LATE_SECONDS)
    assert time.monotonic() - begun < allowed(2.0)
    assert not interrupted(tmp_path)
    assert events(tmp_path / "log.jsonl")[-1]["seconds"] > limit  # it was stopped meanwhile
    gone()


def test_workers_that_are_stopped_do_not_keep_the_host(tmp_path):
    process, limit = started_in_time(tmp_path)
    stop(workers())
    process.communicate(timeout=LATE_SECONDS)
    assert not interrupted(tmp_path)
    assert events(tmp_path / "log.jsonl")[-1]["seconds"] < limit + allowed(2.0)
    gone()
