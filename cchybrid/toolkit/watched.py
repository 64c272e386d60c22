"""Long calls into a solver, ended from outside or walked away from."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

WATCH_INTERVAL = 0.05
"""Seconds between two looks at whether the run is over."""

PATIENCE = 0.4
"""Seconds that a solver gets to stop at the end of a run."""


class RunOverError(Exception):
    """The run ended while a solver was at work."""


def watched(
    work: Callable[[], Found], interrupt: Callable[[], object], over: Callable[[], bool]
) -> Found:
    """Return what ``work`` returns; it runs in a thread of its own, which may be left behind.

    Parameters
    ----------
    work
        Calls a solver that releases the interpreter lock.
    interrupt
        Asks that solver to stop; called again and again, for what comes early may be lost.
    over
        Whether the run is over.

    Raises
    ------
    RunOverError
        If the run is over; what the solver found by then is lost.
    """
    done = threading.Event()
    found: list[Found] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            found.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=call, name="solver", daemon=True).start()
    since: float | None = None
    while not done.wait(WATCH_INTERVAL):
        if over():
            interrupt()
            since = time.monotonic() if since is None else since
            if time.monotonic() - since > PATIENCE:
                raise RunOverError
    if errors:
        raise errors[0]
    if since is not None:
        raise RunOverError
    return found[0]
