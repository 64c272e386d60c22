"""Time windows, derived before the search: the steps in which deliveries and options can happen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Problem
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix, families

NEVER = 1 << 30
"""The earliest step of a delivery that cannot happen."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Time windows of deliveries and options; empty where low exceeds high.

    Parameters
    ----------
    steps
        The number of steps that the schedule may have.
    low, high
        Shape (deliveries,): the earliest and the latest step; every step between has an option.
    option_low, option_high
        Shape (options,): the same per option.
    order
        Deliveries that number interchangeable steps; see ``_order``.
    goals
        Shape (deliveries,): how many deliveries of the same family are required.
    periodic
        As in the Problem.
    """

    steps: int
    low: IntVector
    high: IntVector
    option_low: IntVector
    option_high: IntVector
    order: IntVector
    goals: IntVector
    periodic: bool

    @classmethod
    def of(
        cls,
        problem: Problem,
        uses: UsageMatrix,
        steps: int,
        *,
        symmetry: bool,
        certain: bool = False,
    ) -> "Windows":
        """Return the windows of a Problem.

        Parameters
        ----------
        symmetry
            Whether to break the symmetry of interchangeable steps. Without it every schedule
            fits the windows, with it a renumbering of the steps of every schedule does.
        certain
            Number steps only by deliveries that cannot share a step. The other deliveries
            exclude schedules, too, which helps to refute, but makes a schedule harder to find.
        """
        delivery, requires = problem.option_delivery, problem.option_requires
        family = families(problem)
        goals = np.bincount(family[problem.required], minlength=problem.deliveries)[family]
        # The only goal of a message has no further receiver.
        idle = (requires >= 0) & problem.required[requires] & (goals[requires] == 1)
        usable = uses.usable & ~idle
        low = _first_steps(problem, usable)
        high = _latest(problem, usable, steps)
        order = np.zeros(0, dtype=np.int64)
        if problem.periodic:
            # The period may begin anywhere, and its last slot has to have a start.
            order = np.flatnonzero(problem.required)[:1]
            low[order] = high[order] = steps - 1
        elif symmetry and not problem.ordered:
            order, pinned = _order(problem, uses, steps)
            order = order[:pinned] if certain else order
            high[order] = np.minimum(high[order], np.arange(len(order)))
            low[order[:pinned]] = np.arange(pinned)
        after = np.where((requires >= 0) & (not problem.periodic), low[requires] + 1, 0)
        option_low = np.where(usable, np.maximum(low[delivery], after), NEVER)
        return cls(steps, low, high, option_low, high[delivery], order, goals, problem.periodic)

    def renumbered(self, step: NDArray[np.integer]) -> IntVector:
        """Return the steps of deliveries (-1 for none) renumbered as ``order`` requires."""
        if not len(self.order):
            return step.astype(np.int64)
        if self.periodic:
            later = self.steps - 1 - step[self.order[0]]
            return np.where(step < 0, -1, (step + later) % self.steps).astype(np.int64)
        used = [*step[self.order].tolist(), *range(self.steps)]
        number = {old: new for new, old in enumerate(dict.fromkeys(s for s in used if s >= 0))}
        return np.array([number.get(old, -1) for old in step.tolist()], dtype=np.int64)


def earliest(problem: Problem, usable: BoolVector) -> IntVector:
    """Return, shape (deliveries,), the first possible step of each; ``NEVER`` if there is none."""
    low = np.full(problem.deliveries, NEVER, dtype=np.int64)
    options = np.flatnonzero(usable)
    delivery, requires = problem.option_delivery[options], problem.option_requires[options]
    low[delivery[requires < 0]] = 0
    level = 0
    while True:
        reached = delivery[(requires >= 0) & (low[requires] == level)]
        reached = reached[low[reached] == NEVER]
        if not len(reached):
            return low
        level += 1
        low[reached] = level


def _first_steps(problem: Problem, usable: BoolVector) -> IntVector:
    """Return ``earliest``; in slots, of which any may follow any, 0 instead of later steps."""
    low = earliest(problem, usable)
    return np.where(low < NEVER, 0, low) if problem.periodic else low


def _latest(problem: Problem, usable: BoolVector, steps: int) -> IntVector:
    """Return the last step in which each delivery is of use to a required one; -1 for none."""
    high = np.where(problem.required, steps - 1, -1).astype(np.int64)
    options = np.flatnonzero(usable & (problem.option_requires >= 0))
    delivery, requires = problem.option_delivery[options], problem.option_requires[options]
    for level in range(steps - 1, 0, -1):
        helpful = requires[high[delivery] == level]
        high[helpful] = np.maximum(high[helpful], level - 1)
    return high


def _order(problem: Problem, uses: UsageMatrix, steps: int) -> tuple[IntVector, int]:
    """Return up to ``steps`` deliveries, and how many of the first pairwise cannot share a step.

    Interchangeable steps may be numbered by the first of these deliveries that happens in them.
    So the i-th delivery happens in step i at the latest, and in step i exactly as long as no two
    of them can share a step because all their options use a resource of capacity 1.
    """
    user, resource = _certain_uses(problem, uses)
    load = np.bincount(resource, minlength=problem.resources) / np.maximum(problem.capacity, 1)
    busiest = int(np.argmax(load))
    first = user[resource == busiest]
    rest = np.setdiff1d(np.flatnonzero(problem.required), first)
    rest = rest[np.argsort(np.diff(problem.option_start)[rest], kind="stable")]
    order = np.concatenate([first, rest])[:steps].astype(np.int64)
    return order, min(len(first), steps) if problem.capacity[busiest] == 1 else 0


def min_steps(problem: Problem, uses: UsageMatrix) -> int:
    """Return a lower bound on the steps of any assignment, by counting.

    A resource that all options of a required delivery use is used at least once by it, and no
    resource, implied ones included, is used beyond its capacity in a step; a chain of requirements
    takes a step per delivery.
    """
    low = _first_steps(problem, uses.usable)[problem.required]
    load = np.bincount(_certain_uses(problem, uses)[1], minlength=problem.resources)
    steps = -(-load // np.maximum(problem.capacity.astype(np.int64) * max(problem.rounds), 1))
    return max(1, int(steps.max(initial=0)), int(low.max(initial=0)) + 1)


def _certain_uses(problem: Problem, uses: UsageMatrix) -> tuple[IntVector, IntVector]:
    """Return pairs: a required delivery, and a resource that all its options use."""
    options = np.flatnonzero(uses.usable)
    position, used, _ = uses.entries(options)
    delivery = problem.option_delivery[options].astype(np.int64)
    count = np.bincount(delivery, minlength=problem.deliveries)
    key, number = np.unique(delivery[position] * problem.resources + used, return_counts=True)
    user, resource = np.divmod(key, problem.resources)
    certain = (number == count[user]) & problem.required[user]
    return user[certain], resource[certain]
