"""Violations of the rules of a Problem by an assignment.

The validity of a schedule is decided by the referee, from the instance alone.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import Assignment, BoolArray, ProblemArrays
from cchybrid.problem.ragged import Integers, blocks, gather, offsets
from cchybrid.referee.capacities import overloads_in_ticks

RULES = {
    "half-assigned": "a delivery that is not made has option and step -1, all others have both",
    "foreign-option": "the options of delivery d are option_start[d] to option_start[d + 1] - 1",
    "missing-delivery": "every required delivery is made",
    "too-early": "the delivery that an option requires is made in an earlier step, in ticks before "
    "it starts, which is not before the first one, in slots without a cycle",
    "overload": "no resource is used beyond its capacity in any step",
}
"""The rules for assignments, by name."""


class AssignmentViolation(NamedTuple):
    """One violated rule; fields that do not apply are -1.

    Attributes
    ----------
    rule
        A key of ``cchybrid.problem.violations.RULES``, which has the text of each rule.
    delivery, step
        The delivery and the step.
    resource, uses, capacity
        Of an overload: the resource, its uses in the step, and its capacity.
    """

    rule: str
    delivery: int = -1
    step: int = -1
    resource: int = -1
    uses: int = -1
    capacity: int = -1

    @property
    def text(self) -> str:
        """A message of one line; steps count from 1."""
        if self.rule == "overload":
            return (
                f"step {self.step + 1} uses resource {self.resource} {self.uses} times, "
                f"more than its capacity {self.capacity}"
            )
        when = f" in step {self.step + 1}" if self.step >= 0 else ""
        return f"delivery {self.delivery}{when} breaks a rule: {RULES[self.rule]}"


def find_violations(problem: ProblemArrays, assignment: Assignment) -> list[AssignmentViolation]:
    """Return every violation; see ``Problem.violations``."""
    option, step = assignment.option, assignment.step
    first, stop = problem.option_start[:-1], problem.option_start[1:]
    half = ((option < 0) != (step < 0)) | (option < -1) | (step < -1)
    foreign = ~half & (option >= 0) & ((option < first) | (option >= stop))
    made = (option >= 0) & ~half & ~foreign
    missing = problem.required & ~(made | half | foreign)
    kept = np.flatnonzero(_needed(problem, np.where(made, option, -1)))
    before, when = problem.option_requires[option[kept]], step[kept].astype(np.int64)
    start = problem.start_of(option[kept], step[kept])
    early = (before >= 0) & (~made[before] | (step[before] >= start)) | (start < 0)
    if problem.periodic:
        early = ~_from_sources(problem, np.where(made, option, -1))[kept]
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
    order = np.argsort(when, kind="stable")
    path = problem.option_path[option[kept[order]]]
    return found + list(_overloads(problem, path, when[order], assignment.steps))


def _overloads(
    problem: ProblemArrays, path: Integers, when: Integers, steps: int
) -> Iterator[AssignmentViolation]:
    """Yield the overloads of these paths, whose steps ascend, some steps at a time.

    In a period, paths lead into other steps, so all steps are taken at once.
    """
    if problem.horizon == "ticks":
        use, place = gather(problem.path_start, path)
        since = (when - problem.path_duration[path] + 1)[place] + problem.path_offset[use]
        used, length = problem.path_resource[use], problem.path_length[path][place]
        for resource, tick, uses in overloads_in_ticks(used, since, length, problem.capacity):
            limit = int(problem.capacity[resource])
            yield AssignmentViolation("overload", -1, tick, resource, len(uses), limit)
        return
    rounds = np.array(problem.rounds, dtype=np.int64)
    row = np.append(np.flatnonzero(np.diff(when, prepend=-1)), len(when))
    size = offsets(problem.path_start[path + 1] - problem.path_start[path])
    for first, stop in [(0, -1)] if problem.periodic else blocks(size[row]):
        part = slice(row[first], row[stop])
        use, place = gather(problem.path_start, path[part])
        at = when[part][place]
        if problem.periodic:
            at = (at + problem.path_offset[use]) % steps
        cell = at * problem.resources + problem.path_resource[use]
        cell, uses = np.unique(cell, return_counts=True)
        step, resource = np.divmod(cell, problem.resources)
        capacity = problem.capacity[resource] * rounds[np.minimum(step, len(rounds) - 1)]
        over = uses > capacity
        columns = (column[over].tolist() for column in (step, resource, uses, capacity))
        for found in zip(*columns, strict=True):
            yield AssignmentViolation("overload", -1, *found)


def needed(problem: ProblemArrays, assignment: Assignment) -> BoolArray:
    """Return, shape (deliveries,), which deliveries are made and needed for required ones."""
    return _needed(problem, np.where(assignment.step >= 0, assignment.option, -1))


def _from_sources(problem: ProblemArrays, option: Integers) -> BoolArray:
    """Return, shape (deliveries,), what is made (-1: not) over chains of requirements that end."""
    before = np.where(option < 0, -2, problem.option_requires[option])
    found: BoolArray = before == -1
    while (fresh := ~found & (before >= 0) & found[before]).any():
        found |= fresh
    return found


def _needed(problem: ProblemArrays, option: Integers) -> BoolArray:
    """Return ``needed`` for options that are -1 where deliveries are not made."""
    made = option >= 0
    kept = problem.required & made
    frontier = np.flatnonzero(kept)
    while len(frontier):
        before = problem.option_requires[option[frontier]]
        before = before[before >= 0]
        frontier = np.unique(before[made[before] & ~kept[before]])
        kept[frontier] = True
    return kept
