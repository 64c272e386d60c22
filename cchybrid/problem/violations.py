"""What keeps an assignment from being a solution of a Problem, by the Problem's own rules.

Whether a schedule is valid is the referee's to say, by the instance alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cchybrid.problem.ragged import Integers, gather

if TYPE_CHECKING:
    from cchybrid.problem.arrays import Assignment, BoolArray, Problem

RULES = {
    "half-assigned": "a delivery that does not happen has option and step -1, all others have both",
    "foreign-option": "the options of delivery d are option_start[d] to option_start[d + 1] - 1",
    "missing-delivery": "every required delivery happens",
    "too-early": "what an option requires happens in an earlier step",
    "overload": "no resource is used beyond its capacity in any step",
}
"""What every rule that an assignment may break demands."""


class AssignmentViolation(NamedTuple):
    """One broken rule; what does not apply is -1.

    Attributes
    ----------
    rule
        A key of ``RULES``.
    delivery, step
        What it is about, and when.
    resource, uses, capacity
        Of an overload: the resource, how often the step uses it, and how often it may.
    """

    rule: str
    delivery: int = -1
    step: int = -1
    resource: int = -1
    uses: int = -1
    capacity: int = -1

    @property
    def text(self) -> str:
        """What is wrong, in one line; steps count from 1."""
        if self.rule == "overload":
            return (
                f"step {self.step + 1} uses resource {self.resource} {self.uses} times, "
                f"more than its capacity {self.capacity}"
            )
        when = f" in step {self.step + 1}" if self.step >= 0 else ""
        return f"delivery {self.delivery}{when} breaks a rule: {RULES[self.rule]}"


def find_violations(problem: Problem, assignment: Assignment) -> list[AssignmentViolation]:
    """Return every broken rule; see ``Problem.violations``."""
    option, step = assignment.option, assignment.step
    first, stop = problem.option_start[:-1], problem.option_start[1:]
    half = ((option < 0) != (step < 0)) | (option < -1) | (step < -1)
    foreign = ~half & (option >= 0) & ((option < first) | (option >= stop))
    happens = (option >= 0) & ~half & ~foreign
    missing = problem.required & ~(happens | half | foreign)
    kept = np.flatnonzero(_needed(problem, np.where(happens, option, -1)))
    before, when = problem.option_requires[option[kept]], step[kept].astype(np.int64)
    early = (before >= 0) & (~happens[before] | (step[before] >= when))
    use, place = gather(problem.path_start, problem.option_path[option[kept]])
    cell = when[place] * problem.resources + problem.path_resource[use]
    cell, uses = np.unique(cell, return_counts=True)
    capacity = problem.capacity[cell % problem.resources]
    over = uses > capacity
    of_deliveries = {
        "half-assigned": np.flatnonzero(half),
        "foreign-option": np.flatnonzero(foreign),
        "missing-delivery": np.flatnonzero(missing),
        "too-early": kept[early],
    }
    found = [
        AssignmentViolation(rule, delivery, max(-1, int(step[delivery])))
        for rule, broken in of_deliveries.items()
        for delivery in broken.tolist()
    ]
    columns = (cell[over] // problem.resources, cell[over] % problem.resources)
    rows = zip(*(column.tolist() for column in (*columns, uses[over], capacity[over])), strict=True)
    return found + [AssignmentViolation("overload", -1, *row) for row in rows]


def needed(problem: Problem, assignment: Assignment) -> BoolArray:
    """Return, shape (deliveries,), which deliveries happen and are required or lead to such."""
    return _needed(problem, np.where(assignment.step >= 0, assignment.option, -1))


def _needed(problem: Problem, option: Integers) -> BoolArray:
    """Return what ``needed`` does, of options that are -1 where deliveries do not happen."""
    happens = option >= 0
    wanted = problem.required & happens
    frontier = np.flatnonzero(wanted)
    while len(frontier):
        before = problem.option_requires[option[frontier]]
        before = before[before >= 0]
        frontier = np.unique(before[happens[before] & ~wanted[before]])
        wanted[frontier] = True
    return wanted
