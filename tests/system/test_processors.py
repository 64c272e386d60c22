"""Runs at the same time get different processors, and no more than they name."""

import os
import subprocess
import sys

import pytest

NAME = f"test-{os.getpid()}"
"""Locks of their own: other tests run at the same time."""

CODE = """
import os, sys
from cchybrid.system import processors
processors.NAME = sys.argv[2]
limited_to = processors.limited_to
before = os.sched_getaffinity(0)
with limited_to(int(sys.argv[1])) as chosen:
    assert sorted(chosen) == sorted(os.sched_getaffinity(0))
    print(*chosen, flush=True)
    sys.stdin.read()
assert os.sched_getaffinity(0) == before
"""


def started(count: int, name: str) -> subprocess.Popen[str]:
    """Return a process that keeps its processors until its input ends."""
    command = [sys.executable, "-c", CODE, str(count), name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_runs_at_the_same_time_get_different_processors():
    allowed = {*os.sched_getaffinity(0)}
    runs = [started(1, NAME) for _ in range(2)]
    first, second = ({*map(int, run.stdout.readline().split())} for run in runs)
    assert len(first) == len(second) == 1
    assert first != second
    assert first | second <= allowed
    # With all processors locked a run shares one.
    if len(allowed) == 2:
        third = started(1, NAME)
        assert {*map(int, third.stdout.readline().split())} <= allowed
        third.communicate()
    for run in runs:
        run.communicate()
    # The locks end with their processes; then the first processor is free again.
    after = started(1, NAME)
    assert {*map(int, after.stdout.readline().split())} == {min(allowed)}
    after.communicate()


def test_a_run_that_names_all_processors_is_not_restricted():
    run = started(len(os.sched_getaffinity(0)), NAME)
    assert {*map(int, run.stdout.readline().split())} == os.sched_getaffinity(0)
    run.communicate()
