"""The processors of a run: ``--threads N`` means N of them, for all of its processes together."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def limited_to(count: int | None) -> Iterator[tuple[int, ...]]:
    """Restrict this process, and those that it starts, to this number of processors.

    A run locks a file for each of its processors, so that runs at the same time get different ones
    as long as there are enough. It yields the processors, all of this process if these are not
    more; none where the system cannot restrict processes.
    """
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    if count is None or not 0 < count < len(allowed):
        yield tuple(allowed)
        return
    with contextlib.ExitStack() as stack:
        chosen: list[int] = []
        for processor in allowed:
            if len(chosen) < count and _lock(processor, stack):
                chosen.append(processor)
        others = [processor for processor in allowed if processor not in chosen]
        chosen += others[: count - len(chosen)]
        os.sched_setaffinity(0, chosen)
        stack.callback(os.sched_setaffinity, 0, allowed)
        yield tuple(chosen)


def _lock(processor: int, stack: contextlib.ExitStack) -> bool:
    """Return whether no other run has locked a processor, and lock it until the stack is closed."""
    name = f"cchybrid-{os.getuid()}-processor-{processor}.lock"
    with contextlib.suppress(OSError):
        file = os.open(Path(tempfile.gettempdir()) / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        stack.callback(os.close, file)
        return True
    return False
