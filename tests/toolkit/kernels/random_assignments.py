"""Random assignments of a Problem, for the tests of kernels."""

import numpy as np

from cchybrid.problem import Assignment, Problem
from tests.examples import drawn

RANDOM = drawn(60)
STEPS = 4


def random_assignment(
    problem: Problem, seed: int, missing: bool = False, steps: int = STEPS
) -> Assignment:
    rng = np.random.default_rng(seed)
    size = np.diff(problem.option_start)
    option = problem.option_start[:-1] + rng.integers(0, 2**31, problem.deliveries) % size
    step = rng.integers(0, steps, problem.deliveries)
    gone = rng.random(problem.deliveries) < (0.2 if missing else 0.0)
    return Assignment(
        np.where(gone, -1, option).astype(np.int32), np.where(gone, -1, step).astype(np.int32)
    )
