"""The processors of a run: ``--threads N`` means N of them, for all of its processes together."""

import contextlib
import os
import socket
from collections.abc import Iterator

NAME = "cchybrid-processor"
"""Beginning of the name of a lock."""


@contextlib.contextmanager
def limited_to(count: int | None) -> Iterator[tuple[int, ...]]:
    """Restrict this process, and those that it starts, to this number of processors.

    A run binds a name for each of its processors, so that runs at the same time get different ones
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
    held = stack.enter_context(socket.socket(socket.AF_UNIX))
    try:
        # Linux: a name without a file, which ends with its process.
        held.bind(f"\0{NAME}-{os.getuid()}-{processor}")
    except OSError:
        return False
    return True
