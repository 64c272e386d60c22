"""The processes that descend from others or carry a mark, and their end (Linux, from /proc).

A *mark* is a variable in the environment that a process was started with; children inherit it, also
in sessions of their own. Descendants are found by their parents: a process that adopts orphans
(``adopt_orphans``) stays the ancestor of all that it has started, with or without a mark. Where
there is no /proc, no process is found.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

MAX_END_SECONDS = 2.0
"""Seconds after which ``end`` looks for no further processes."""
_SET_CHILD_SUBREAPER = 36
_ENDED = "ZX"
"""States of processes that have ended."""


class Process(NamedTuple):
    """A process: its number, and its start in ticks, as numbers are used again."""

    number: int
    started: int


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents end (Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)


def children() -> Mapping[int, list[Process]]:
    """Return the running children of every process, by its number."""
    found: defaultdict[int, list[Process]] = defaultdict(list)
    for number in _numbers():
        fields = status(number)
        if fields is not None and fields[0] not in _ENDED:
            found[int(fields[1])].append(Process(number, int(fields[19])))
    return found


def descendants(number: int, tree: Mapping[int, list[Process]]) -> list[Process]:
    """Return the descendants of a process, without itself; ``tree`` is a result of ``children``."""
    found, waiting = [], [number]
    while waiting:
        own = tree.get(waiting.pop(), [])
        found += own
        waiting += [process.number for process in own]
    return found


def marked(marks: tuple[str, ...]) -> Iterator[Process]:
    """Yield the other processes with a variable in their environment that begins with a mark."""
    starts = tuple(mark.encode() for mark in marks)
    for number in _numbers():
        with contextlib.suppress(OSError), open(f"/proc/{number}/environ", "rb") as file:
            if any(each.startswith(starts) for each in file.read().split(b"\0")):
                fields = status(number)
                if fields is not None and number != os.getpid():
                    yield Process(number, int(fields[19]))


def end(find: Callable[[], Iterable[Process]]) -> None:
    """End all processes that ``find`` returns, also those that they start meanwhile.

    Every process is stopped first, until ``find`` returns no further one, and then killed: what is
    stopped can start none.
    """
    limit = time.monotonic() + MAX_END_SECONDS
    known: set[Process] = set()
    while new := set(find()) - known:
        for process in new:
            _signal(process, signal.SIGSTOP)
        known |= new
        if time.monotonic() > limit:
            break
    for process in known:
        _signal(process, signal.SIGKILL)


def _signal(process: Process, number: signal.Signals) -> None:
    fields = status(process.number)
    if fields is not None and int(fields[19]) == process.started:
        with contextlib.suppress(OSError):
            os.kill(process.number, number)


def _numbers() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def status(number: int) -> list[str] | None:
    """Return the fields of /proc/N/stat from the third on; ``None`` if there is no such process."""
    with contextlib.suppress(OSError), open(f"/proc/{number}/stat", "rb") as file:
        # The second field is the name, in parentheses, and may contain anything.
        return file.read().rpartition(b")")[2].decode().split()
    return None
