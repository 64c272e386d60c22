"""Rules of every partial schedule."""

import numpy as np

from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.partial_schedule import PartialSchedule


def assert_sound(partial: PartialSchedule) -> None:
    """Assert that there are no conflicts, the order holds, and the residual capacity is right."""
    problem = partial.problem
    assert not len(partial.broken())
    fresh = PartialSchedule(problem, partial.uses, partial.steps)
    placed = np.flatnonzero(partial.option >= 0)
    fresh.place(placed, partial.option[placed], partial.step[placed])
    assert (fresh.residual == partial.residual).all()
    assert (partial.residual >= 0).all()
    missing = int((partial.assignment().option[problem.required] < 0).sum())
    assert conflicts(problem, partial.assignment()) == missing == len(partial.unscheduled)
