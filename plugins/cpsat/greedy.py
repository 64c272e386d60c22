"""Greedy schedules, one after the other: the compiled kernels are loaded only with this file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.first_fit import schedule
from cchybrid.toolkit.kernels.flat import flatten, min_uses
from cchybrid.toolkit.kernels.rng import seed_state


def greedy_schedules(problem: Problem, seed: int) -> Iterator[Assignment]:
    """Yield complete valid assignments without end; the first one is ``first_fit``'s."""
    flat = flatten(problem)
    near = min_uses(problem, flat)
    state = seed_state(seed)
    unstopped = np.zeros(1, dtype=np.bool_)
    while True:
        found = problem.empty()
        if schedule(flat, near, found.option, found.step, unstopped, state):
            return
        yield found
