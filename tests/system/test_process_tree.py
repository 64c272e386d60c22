"""Processes by ancestors and by mark, and the end of all of them, with real processes."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from cchybrid.system.cleanup import CleanupProcess
from cchybrid.system.process_tree import Process, children, descendants, end, marked

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")

FAMILY = """
import os, subprocess, sys, time
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(sleep, start_new_session=True)
bare = subprocess.Popen(sleep, start_new_session=True, env={})
print(child.pid, bare.pid, flush=True)
time.sleep(600)
"""


def family(mark: str) -> tuple[subprocess.Popen[str], list[int]]:
    """Return a process with two children in other sessions; the second has lost the mark."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", FAMILY], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "MARK": mark},
    )  # fmt: skip
    return process, [int(word) for word in process.stdout.readline().split()]


def gone(number: int) -> bool:
    """Return whether a process has ended, within some seconds."""
    late = time.monotonic() + 30
    while time.monotonic() < late:
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def test_all_descendants_are_found_and_ended():
    mark = uuid.uuid4().hex
    process, numbers = family(mark)
    assert {each.number for each in descendants(process.pid, children())} == set(numbers)
    assert {each.number for each in marked((f"MARK={mark}",))} == {process.pid, numbers[0]}
    end(lambda: descendants(process.pid, children()))
    assert all(map(gone, numbers))
    process.kill()
    process.communicate()


def test_a_number_that_another_process_has_now_is_left_alone():
    process = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    end(lambda: [Process(process.pid, 1)])
    process.communicate(b"\n")
    assert process.returncode == 0


def test_the_cleanup_process_ends_what_is_marked_or_known():
    mark = uuid.uuid4().hex
    cleanup = CleanupProcess(f"MARK={mark}")
    process, numbers = family(mark)
    cleanup.watch(descendants(process.pid, children()))
    cleanup.close()
    assert all(map(gone, [process.pid, *numbers]))
    process.communicate()
