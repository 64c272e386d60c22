"""Initial partial schedules: repaired near-solutions, and the best schedule less one step."""

from collections.abc import Callable, Iterator

import numpy as np

from cchybrid.problem import Assignment
from cchybrid.toolkit.assignments import made_where
from cchybrid.toolkit.partial_schedule import PartialSchedule, repaired

from .growable_problem import GrowableProblem

MAX_REMOVED_STEPS = 12
"""Steps of the best schedule whose removal is tried, those with the fewest deliveries first: a
guard, as each trial takes as long as an iteration."""


def initial_solution(
    growable: GrowableProblem,
    steps: int,
    near: Assignment | None,
    whole: Assignment | None,
    random: np.random.Generator,
    should_stop: Callable[[], bool],
) -> PartialSchedule:
    """Return the partial schedule with the fewest unscheduled deliveries.

    Parameters
    ----------
    near
        A near-solution of this number of steps, or ``None``.
    whole
        The best schedule. If it has one step more, the step whose removal leaves the fewest
        deliveries unscheduled is removed.
    """
    best = PartialSchedule(growable.problem, growable.uses, steps)
    for found in _candidates(near, whole, steps, random):
        partial = repaired(growable.problem, growable.uses, steps, found, random)
        if len(partial.unscheduled) < len(best.unscheduled):
            best = partial
        if should_stop():
            break
    best.fill(random.permutation(best.unscheduled), should_stop)
    return best


def _candidates(
    near: Assignment | None, whole: Assignment | None, steps: int, random: np.random.Generator
) -> Iterator[Assignment]:
    if near is not None:
        yield near
    if whole is not None and whole.steps == steps + 1:
        size = np.bincount(whole.step[whole.step >= 0], minlength=steps + 1)
        for gone in np.argsort(size + random.random(steps + 1))[:MAX_REMOVED_STEPS].tolist():
            yield made_where(whole.step != gone, whole.option, whole.step - (whole.step > gone))
