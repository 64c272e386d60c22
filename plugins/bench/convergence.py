"""The best schedule and the best bound of a run over time."""

from collections.abc import Iterable
from typing import NamedTuple

from cchybrid.host.run_history import Contribution


class State(NamedTuple):
    """The state of a run from a time on: seconds, steps (``None`` without a schedule), bound."""

    seconds: float
    steps: int | None
    bound: int


def convergence(contributions: Iterable[Contribution], bound: int) -> list[State]:
    """Return the states of a run in the order of time, each better than the one before.

    Parameters
    ----------
    contributions
        Those of the run.
    bound
        The bound of its result; higher ones were withdrawn.
    """
    states: list[State] = []
    steps, lower = None, 1
    for entry in contributions:
        if entry.what == "schedule":
            steps = entry.steps
        elif entry.what == "bound" and entry.lower <= bound:
            lower = max(lower, entry.lower)
        else:
            continue
        state = State(entry.seconds, steps, lower)
        if not states or states[-1][1:] != state[1:]:
            states.append(state)
    return states
