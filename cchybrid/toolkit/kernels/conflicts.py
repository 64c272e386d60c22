"""Violations of an assignment, counted: overloads, violated precedences, missing deliveries."""

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.flat import Flat, flatten
from cchybrid.toolkit.kernels.occupancy import Loaded, build


@compiled
def mark_needed(flat: Flat, option: IntArray, needed: BoolArray) -> None:
    """Mark the needed deliveries: required, or required (directly or not) by a needed one.

    Parameters
    ----------
    option
        Shape (deliveries,): the option taken, -1 for unscheduled deliveries.
    needed
        Shape (deliveries,): overwritten. A required delivery is needed even if it is missing.
    """
    needed[:] = False
    for first in range(len(option)):
        delivery = first
        # Follow the chain of requirements up to a delivery that is already marked.
        while flat.required[first] and not needed[delivery]:
            needed[delivery] = True
            if option[delivery] >= 0 and flat.requires[option[delivery]] >= 0:
                delivery = flat.requires[option[delivery]]


@compiled
def broken(flat: Flat, option: IntArray, step: IntArray, needed: BoolArray) -> int:
    """Count the needed deliveries that are missing or not later than what they require."""
    count = 0
    for delivery in range(len(option)):
        if needed[delivery]:
            if option[delivery] < 0 or step[delivery] < 0:
                count += 1
            else:
                before = flat.requires[option[delivery]]
                # A missing requirement is counted once, where it is missing.
                if before >= 0 and step[before] >= step[delivery]:
                    count += 1
    return count


def conflicts(problem: Problem, assignment: Assignment) -> int:
    """Return the number of violations of an assignment: 0 exactly if it is a solution.

    The sum of the conflicts on resources (thesis eq. 6.18, see ``occupancy``), the violated
    precedences and the missing deliveries, over the needed deliveries.
    """
    flat = flatten(problem)
    needed = np.empty(problem.deliveries, dtype=np.bool_)
    mark_needed(flat, assignment.option, needed)
    table = np.empty((max(assignment.steps, 1), problem.resources), dtype=np.int32)
    counted = needed & (assignment.option >= 0)
    found = build(flat, Loaded(assignment.option, assignment.step, counted, table))
    return found + broken(flat, assignment.option, assignment.step, needed)
