"""Parts of assignments."""

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem, needed
from cchybrid.problem.arrays import BoolArray

Numbers = NDArray[np.integer]


def made_where(kept: BoolArray, option: Numbers, step: Numbers) -> Assignment:
    """Return an assignment of the kept deliveries alone; the others have -1 and -1."""
    return Assignment(
        np.where(kept, option, -1).astype(np.int32), np.where(kept, step, -1).astype(np.int32)
    )


def without_idle(problem: Problem, option: Numbers, step: Numbers) -> Assignment:
    """Return an assignment without optional deliveries that none requires."""
    found = Assignment(option.astype(np.int32), step.astype(np.int32))
    idle = ~needed(problem, found)
    found.option[idle], found.step[idle] = -1, -1
    return found
