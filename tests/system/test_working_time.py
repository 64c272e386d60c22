"""The clock of processes: it stands still while they wait for a processor."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from cchybrid.system.working_time import Usage, WorkingTime, tree_usage, usage

BUSY = "while True: pass"


class Machine:
    """A wall clock and the usage of a process, both set by the test."""

    def __init__(self) -> None:
        self.seconds, self.usage = 0.0, Usage(True, 0.0)

    def clock(self, interval: float = 0.0) -> WorkingTime:
        return WorkingTime(lambda: self.usage, lambda: self.seconds, interval)

    def pass_by(self, seconds: float, processor: float, waiting: bool = True) -> None:
        self.seconds += seconds
        self.usage = Usage(waiting, self.usage.processor + processor)


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_waiting_for_a_processor_does_not_count(machine):
    clock = machine.clock()
    machine.pass_by(100.0, 0.25)
    assert clock.seconds() == 0.25
    assert clock.wall == 100.0
    machine.pass_by(2.0, 2.0)
    assert clock.seconds() == 2.25


def test_ended_children_may_take_their_time_with_them(machine):
    clock = machine.clock()
    machine.pass_by(1.0, 1.0)
    clock.seconds()
    machine.pass_by(1.0, -0.5)
    assert clock.seconds() == 1.0


def test_wall_clock_time_counts_where_nothing_is_known():
    seconds = iter([0.0, 3.0])
    assert WorkingTime(lambda: None, lambda: next(seconds)).seconds() == 3.0


def test_samples_are_not_taken_more_often_than_the_interval(machine):
    clock = machine.clock(interval=1.0)
    machine.pass_by(0.5, 0.5)
    assert clock.seconds() == 0.0
    machine.pass_by(1.0, 1.0)
    assert clock.seconds() == 1.5


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a busy child, both stopped."""
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system tells no usage")
def test_the_usage_of_a_process_and_of_its_descendants(busy):
    while (tree_usage(busy.pid) or Usage(False, 0.0)).processor < 0.5:
        pass
    alone = usage(busy.pid)
    assert alone.processor < 0.5
    os.killpg(busy.pid, signal.SIGSTOP)
    while (stopped := tree_usage(busy.pid)) != tree_usage(busy.pid):
        pass
    assert stopped.waiting
