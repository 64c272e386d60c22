"""Signals to the host: the best schedule is written; what is stopped goes on or is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cchybrid.model import Schedule
from tests.faults.processes import GONE_SECONDS, events, own_processes, start, until

WORDS = "solve spidergon-36 AAS --engine good --strategy race --log log.jsonl -o s.json"


def started(folder: Path, words: str = WORDS, **rest: object) -> subprocess.Popen[str]:
    """Start a run, and wait for the first schedule of an engine."""
    process = start(words, folder, **rest)
    until(lambda: any(each["event"] == "started" and each["engine"] == "good"
                      for each in events(folder / "log.jsonl")))  # fmt: skip
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_best_schedule_is_kept(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, f"{WORDS} --time-limit 300")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "interrupted" in out
    assert events(tmp_path / "log.jsonl")[-1]["interrupted"]
    assert Schedule.load(tmp_path / "s.json").steps
    until(lambda: not own_processes(), GONE_SECONDS)


def test_a_hang_up_that_is_ignored_ends_nothing(tmp_path: Path) -> None:
    """As with nohup."""
    process = started(
        tmp_path, f"{WORDS} --time-limit 20",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=120)
    assert not events(tmp_path / "log.jsonl")[-1]["interrupted"]


def test_a_host_that_is_stopped_beyond_its_time_ends_when_it_continues(tmp_path: Path) -> None:
    process = started(tmp_path, f"{WORDS} --time-limit 12")
    process.send_signal(signal.SIGSTOP)
    until(lambda: _state(process.pid) == "T")
    begun = time.monotonic()
    while time.monotonic() - begun < 13:
        time.sleep(0.1)
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    last = events(tmp_path / "log.jsonl")[-1]
    assert last["event"] == "result"
    assert last["seconds"] > 12.5  # it was stopped meanwhile
    until(lambda: not own_processes(), GONE_SECONDS)


def test_workers_that_are_stopped_do_not_keep_the_host(tmp_path: Path) -> None:
    process = started(tmp_path, f"{WORDS} --time-limit 15")
    workers = [number for number, line in own_processes().items() if "host.worker" in line]
    for number in workers:
        os.kill(number, signal.SIGSTOP)
    assert any(_state(number) == "T" for number in workers)
    process.communicate(timeout=120)
    assert events(tmp_path / "log.jsonl")[-1]["seconds"] < 15 + GONE_SECONDS
    until(lambda: not own_processes(), GONE_SECONDS)


def _state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
