"""A call of a plugin under observation: whether it returned in time, and what it touched."""

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cchybrid.plugin.engine import Stop

MAX_STOP_SECONDS = 2.0
"""Seconds within which a plugin has to return when it has a reason to; in a run the host gives
one."""
TICK_SECONDS = 0.005
"""Seconds between two checks of a running plugin."""


class ConformanceError(AssertionError):
    """A plugin breaks its contract; the text says how, and how to correct it."""


@dataclass(frozen=True)
class Watched:
    """The outcome of a call.

    Parameters
    ----------
    returned
        The value that was returned, the exception that was raised, or ``None`` if neither happened.
    faults
        The breaches, each with a hint how to correct it.
    slow
        Whether the call returned, but too late after it was due.
    """

    returned: object
    faults: list[str]
    slow: bool


def watch(
    method: str,
    run: Any,
    work: Callable[[], object],
    due: Callable[[Any], bool],
    reason: str,
    patience: float,
) -> Watched:
    """Call ``work`` in a thread, and check that it returns a ``Stop`` in time.

    Parameters
    ----------
    method
        The name of the plugin's method that ``work`` calls, for messages.
    run
        The run that ``work`` uses; ``should_stop()`` is true once it is ``stopped``.
    due
        Whether the plugin has a reason to return; called repeatedly. It may set ``run.stopped``.
    reason
        The reason, for messages.
    patience
        Seconds after which the run is stopped although it was not due; after as many more it is
        abandoned.
    """
    state = _global_random_state()
    outcome: list[object] = []

    def call() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # SystemExit, too
            outcome.append(error)

    thread = threading.Thread(target=call, name="plugin under test", daemon=True)
    started = time.monotonic()
    since: float | None = None
    thread.start()
    while thread.is_alive():
        now = time.monotonic()
        if since is None and due(run):
            since = now
        if since is not None and now - since > MAX_STOP_SECONDS:
            break
        if now - started > patience:
            break
        thread.join(TICK_SECONDS)
    timely = not thread.is_alive()
    run.stopped = True
    thread.join(patience)  # compilation cannot be interrupted

    faults: list[str] = []
    if thread.is_alive() and since is None:
        faults.append(f"did not return within {patience:g} s, nor when asked to stop afterwards")
    elif thread.is_alive():
        faults.append(f"did not return although {reason}, nor when asked to stop afterwards")
    elif not timely and since is not None:
        faults.append(f"was still running {MAX_STOP_SECONDS:g} s after {reason}")
    elif not timely:
        faults.append(
            f"did not return within {patience:g} s, and never came to this: {reason} "
            "(does it search for ever, as at a number of steps that is impossible?)"
        )
    if outcome:
        faults.extend(_wrong_outcome(method, outcome[0]))
    if _global_random_state() != state:
        faults.append(
            "used or seeded the global random state; make a generator of your own from run.seed, "
            "as in numpy.random.default_rng(run.seed)"
        )
    returned = outcome[0] if outcome else None
    slow = not timely and since is not None and not thread.is_alive()
    return Watched(returned, faults, slow)


def stop_after(
    seconds: float, ready: Callable[[Any], object] = lambda run: True
) -> Callable[[Any], bool]:
    """Return a ``due`` that stops a run these seconds after ``ready(run)`` was first true."""
    since: dict[int, float] = {}

    def due(run: Any) -> bool:
        now = time.monotonic()
        if ready(run):
            since.setdefault(id(run), now)
        run.stopped = now - since.get(id(run), now) > seconds
        return bool(run.stopped)

    return due


def arrays_of(thing: object, names: Iterable[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Return copies of those attributes that are arrays."""
    values = {name: getattr(thing, name) for name in names}
    return {name: value.copy() for name, value in values.items() if isinstance(value, np.ndarray)}


def changes(what: str, thing: object, before: Mapping[str, np.ndarray[Any, Any]]) -> list[str]:
    """Return the fault of a call that has changed one of these attributes, if any."""
    for name, kept in before.items():
        if not np.array_equal(getattr(thing, name), kept):
            return [f"changed {what}.{name}; others use it too: work on a copy"]
    return []


def _wrong_outcome(method: str, outcome: object) -> list[str]:
    if isinstance(outcome, BaseException):
        return [
            f"raised {type(outcome).__name__}: {outcome} in {method}; "
            f"say in unsupported() what {method} cannot work on"
        ]
    if not isinstance(outcome, Stop):
        return [f"returned {outcome!r} from {method}; return a cchybrid.plugin.engine.Stop"]
    return []


def _global_random_state() -> tuple[object, ...]:
    # The legacy state has to be compared here.
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), kind, np.asarray(keys).tobytes(), *rest
