"""Random near-solutions, and what must hold of every partial schedule."""

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.partial_schedule import PartialSchedule


def random_assignment(problem: Problem, steps: int, seed: int) -> Assignment:
    """Return places at random, full of conflicts; some deliveries have none."""
    random = np.random.default_rng(seed)
    found = problem.empty()
    for delivery in range(problem.deliveries):
        first, last = problem.option_start[delivery : delivery + 2]
        if first < last and random.random() < 0.8:
            found.option[delivery] = random.integers(first, last)
            found.step[delivery] = random.integers(steps)
    return found


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
