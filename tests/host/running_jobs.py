"""Jobs that wait for a file, and the answers of executors."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cchybrid.plugin.executor import Executor, Job

WAITING = """
import os, pathlib, sys, time
name = sys.stdin.read()
folder = pathlib.Path(__file__).parent
with open(folder / f"{name}.starts", "a") as file:
    file.write(f"{os.getpid()}\\n")
while not (folder / "go").exists():
    time.sleep(0.02)
print(name)
"""
"""A module that says that it has started, waits for a file, and answers."""

MAX_SECONDS = 600
"""Longest wait for an event; machines that run tests may be busy."""


@pytest.fixture
def waiting(tmp_path, monkeypatch) -> Path:
    """Return a folder with the module, from which jobs can import it."""
    (tmp_path / "waits_for_a_file.py").write_text(WAITING)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def wait_for(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + MAX_SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def waiting_job(key: str, seconds: float | None = None) -> Job:
    return Job(key, "waits_for_a_file", key.encode(), seconds=seconds)


def starts(folder: Path, key: str) -> list[int]:
    file = folder / f"{key}.starts"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def is_running(process: int) -> bool:
    return b"waits_for_a_file" in command(process)


def answers(executor: Executor, count: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    wait_for(lambda: count == len(found) or take(executor, found), "an answer is missing")
    return found


def take(executor: Executor, found: dict[str, bytes]) -> bool:
    for answer in executor.poll(0.1):
        assert answer.key not in found, "a second answer"
        assert answer.failure == ""
        found[answer.key] = answer.output.strip()
    return False


@contextmanager
def closing(executor: Executor) -> Iterator[Executor]:
    try:
        yield executor
    finally:
        executor.close()
