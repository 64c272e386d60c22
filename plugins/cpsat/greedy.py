"""Greedy schedules; a module of its own because importing it loads compiled kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.first_fit import schedule
from cchybrid.toolkit.kernels.flat import flatten, min_uses
from cchybrid.toolkit.kernels.rng import seed_state


def greedy_schedules(problem: Problem, seed: int) -> Iterator[Assignment]:
    """Yield valid assignments without end; the first one equals that of ``first_fit``."""
    flat = flatten(problem)
    near = min_uses(problem, flat)
    state = seed_state(seed)
    unstopped = np.zeros(1, dtype=np.bool_)
    while True:
        found = problem.empty()
        if schedule(flat, near, found.option, found.step, unstopped, state):
            return
        yield found
