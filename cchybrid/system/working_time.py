"""The time that processes had: wall-clock time without that in which they waited for a processor.

A limit in such seconds is the same on an idle and on a busy machine, and still ends what sleeps
for ever.
"""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

from cchybrid.system.process_tree import children, descendants, status

SAMPLE_SECONDS = 0.2
"""Least seconds between two samples of a process and all its descendants."""
_WAITING = "RDTt"
"""States of processes that run, or wait for a processor, data or a signal to continue."""


class Usage(NamedTuple):
    """A sample: whether a process runs or waits to run, and its processor seconds so far."""

    waiting: bool
    processor: float


def usage(number: int) -> Usage | None:
    """Return the usage of a process; ``None`` if there is none, or no /proc."""
    return _sum([number])


def tree_usage(number: int) -> Usage | None:
    """Return the usage of a process and its descendants; ``waiting``: at least one of them."""
    return _sum([number, *(process.number for process in descendants(number, children()))])


def _sum(numbers: list[int]) -> Usage | None:
    found = [fields for fields in map(status, numbers) if fields is not None]
    # User and system time, and that of ended children.
    ticks = sum(sum(map(int, fields[11:15])) for fields in found)
    waiting = any(fields[0] in _WAITING for fields in found)
    return Usage(waiting, ticks / os.sysconf("SC_CLK_TCK")) if found else None


class WorkingTime:
    """A clock that stands still while a process waits for a processor.

    Between two samples it advances by the processor time of the process if that runs or waits to
    run, and otherwise, as while it sleeps, by the wall-clock time. ``read`` returns a sample, or
    ``None`` where nothing is known: then it advances by the wall-clock time.
    """

    def __init__(
        self,
        read: Callable[[], Usage | None],
        now: Callable[[], float] = time.monotonic,
        interval: float = 0.0,
    ) -> None:
        self._read, self._now, self._interval = read, now, interval
        self._total = 0.0
        self._begun = self._at = now()
        self._before = read()

    @property
    def wall(self) -> float:
        """Wall-clock seconds since the beginning."""
        return self._now() - self._begun

    def seconds(self) -> float:
        """Return the seconds so far; call it often, as each call takes a sample."""
        passed = self._now() - self._at
        if passed <= self._interval:
            return self._total
        sample, before = self._read(), self._before
        if sample is not None and before is not None and sample.waiting:
            self._total += min(passed, max(0.0, sample.processor - before.processor))
        else:
            self._total += passed
        self._at, self._before = self._at + passed, sample
        return self._total
