"""A conflict-free schedule of a fixed number of steps in which deliveries may be unscheduled."""

from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.ragged import offsets
from cchybrid.toolkit.assignments import made_where, without_idle
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix

MAX_CELLS = 1 << 22
"""Uses times steps that are compared at once; each takes a few bytes, some 20 MB together."""

NO_LIMIT = 1 << 30
"""The residual capacity of a resource whose capacity is implied by others."""


class PartialSchedule:
    """Scheduled deliveries and the residual capacity.

    No capacity is exceeded, except while ``repaired`` builds it.

    Parameters
    ----------
    problem, uses
        The Problem, and its usage matrix; only usable options are scheduled.
    steps
        The number of steps.

    Attributes
    ----------
    option, step
        Shape (deliveries,): -1 for unscheduled deliveries.
    residual
        Shape (resources, steps): the residual capacity.
    """

    def __init__(self, problem: Problem, uses: UsageMatrix, steps: int) -> None:
        self.problem, self.uses, self.steps = problem, uses, steps
        self.option = np.full(problem.deliveries, -1, dtype=np.int64)
        self.step = np.full(problem.deliveries, -1, dtype=np.int64)
        limit = np.where(problem.implied, NO_LIMIT, problem.capacity).astype(np.int32)
        self.residual: NDArray[np.int32] = np.repeat(limit[:, None], steps, axis=1)

    def copy(self) -> "PartialSchedule":
        """Return a copy that may be changed."""
        other = copy(self)
        other.option, other.step = self.option.copy(), self.step.copy()
        other.residual = self.residual.copy()
        return other

    def moved_to(
        self, problem: Problem, uses: UsageMatrix, new_index: IntVector
    ) -> "PartialSchedule":
        """Return the schedule for the grown Problem.

        Parameters
        ----------
        new_index
            Shape (options before,): the new index of each option.
        """
        other = self.copy()
        other.problem, other.uses = problem, uses
        other.option = np.where(self.option >= 0, new_index[np.maximum(self.option, 0)], -1)
        return other

    @property
    def unscheduled(self) -> IntVector:
        """The required deliveries that are unscheduled."""
        return np.flatnonzero(self.problem.required & (self.option < 0))

    def assignment(self) -> Assignment:
        """Return the assignment, without optional deliveries that none requires."""
        return without_idle(self.problem, self.option, self.step)

    def place(self, delivery: IntVector, option: IntVector, step: IntVector) -> None:
        """Schedule unscheduled deliveries; the caller ensures that they fit."""
        self.option[delivery], self.step[delivery] = option, step
        self._use(option, step, -1)

    def take_out(self, delivery: IntVector) -> None:
        """Unschedule deliveries; unscheduled ones are ignored."""
        placed = delivery[self.option[delivery] >= 0]
        self._use(self.option[placed], self.step[placed], 1)
        self.option[placed], self.step[placed] = -1, -1

    def without(self, delivery: IntVector) -> "tuple[PartialSchedule, Assignment]":
        """Return a copy without these deliveries, and their places alone."""
        other = self.copy()
        other.take_out(delivery)
        return other, made_where(other.option < 0, self.option, self.step)

    def add(self, found: Assignment) -> None:
        """Schedule unscheduled deliveries as found; drop optional ones that none requires."""
        placed = np.flatnonzero(found.option >= 0)
        self.place(
            placed, found.option[placed].astype(np.int64), found.step[placed].astype(np.int64)
        )
        self.take_out(np.flatnonzero((self.option >= 0) & (self.assignment().option < 0)))

    def _use(self, option: IntVector, step: IntVector, sign: int) -> None:
        position, resource, times = self.uses.entries(option)
        np.add.at(self.residual, (resource, step[position]), sign * times)

    def fits(self, options: IntVector) -> BoolVector:
        """Return, shape (options, steps), whether each option by itself fits into each step."""
        found = np.zeros((len(options), self.steps), dtype=np.bool_)
        size = np.diff(self.uses.start)[self.uses.path[options]]
        found[size == 0] = True
        start = 0
        while start < len(options):
            end = start + max(1, MAX_CELLS // (self.steps * int(max(size.max(), 1))))
            some = start + np.flatnonzero(size[start:end] > 0)
            _, resource, times = self.uses.entries(options[some])
            enough = self.residual[resource] >= times[:, None]
            if len(some):
                found[some] = np.logical_and.reduceat(enough, offsets(size[some])[:-1], axis=0)
            start = end
        return found

    def options_of(self, delivery: int) -> IntVector:
        """Return the usable options of a delivery."""
        options = np.arange(*self.problem.option_start[delivery : delivery + 2])
        return options[self.uses.usable[options]]

    def resources_of(self, options: IntVector) -> IntVector:
        """Return the resources that options use, without implied ones."""
        resources = np.unique(self.uses.entries(options)[1])
        return resources[~self.problem.implied[resources]]

    def using(self, resources: IntVector) -> IntVector:
        """Return the scheduled deliveries that use any of these resources, in any step."""
        placed = np.flatnonzero(self.option >= 0)
        position, used, _ = self.uses.entries(self.option[placed])
        chosen = np.zeros(self.problem.resources, dtype=np.bool_)
        chosen[resources] = True
        return placed[np.unique(position[chosen[used]])]

    def broken(self) -> IntVector:
        """Return the scheduled deliveries that require one that is not made in an earlier step."""
        placed = np.flatnonzero(self.option >= 0)
        before = self.problem.option_requires[self.option[placed]]
        late = (before >= 0) & ((self.step[before] < 0) | (self.step[before] >= self.step[placed]))
        return placed[late]

    def fill(self, order: IntVector, should_stop: Callable[[], bool]) -> None:
        """Schedule deliveries greedily in the given order where they fit, until none does."""
        waiting = order
        while len(waiting) and not should_stop():
            missed = [d for d in waiting.tolist() if not self._fill_one(d)]
            if not self.problem.ordered or len(missed) == len(waiting):
                return
            waiting = np.array(missed, dtype=np.int64)

    def _fill_one(self, delivery: int) -> bool:
        problem, options = self.problem, self.options_of(delivery)
        fits = self.fits(options)
        if problem.ordered:
            before = problem.option_requires[options]
            earliest = np.where(before < 0, -1, self.step[before])
            earliest[(before >= 0) & (earliest < 0)] = self.steps
            fits &= np.arange(self.steps) > earliest[:, None]
        if not fits.any():
            return False
        # As early as possible, so that others can follow.
        step = int(np.argmax(fits.any(axis=0)))
        option = int(options[np.argmax(fits[:, step])])
        self.place(np.array([delivery]), np.array([option]), np.array([step]))
        return True


def repaired(
    problem: Problem, uses: UsageMatrix, steps: int, found: Assignment, random: np.random.Generator
) -> PartialSchedule:
    """Return a near-solution without enough deliveries to remove all conflicts.

    In each step, deliveries are removed greedily, the one that reduces the most overload first, and
    then those whose required delivery is not made before.
    """
    partial = PartialSchedule(problem, uses, steps)
    kept = (found.option >= 0) & (found.step >= 0) & (found.step < steps)
    kept &= uses.usable[np.maximum(found.option, 0)]
    delivery = np.flatnonzero(kept)
    partial.place(
        delivery, found.option[delivery].astype(np.int64), found.step[delivery].astype(np.int64)
    )
    partial.take_out(_in_conflict(partial, random))
    while len(late := partial.broken()):
        partial.take_out(late)
    return partial


def _in_conflict(partial: PartialSchedule, random: np.random.Generator) -> IntVector:
    """Return deliveries whose removal leaves no resource overloaded."""
    gone: list[int] = []
    placed = np.flatnonzero(partial.option >= 0)
    for step in np.flatnonzero((partial.residual < 0).any(axis=0)).tolist():
        here = placed[partial.step[placed] == step]
        position, resource, times = partial.uses.entries(partial.option[here])
        residual = partial.residual[:, step].copy()
        while (residual < 0).any():
            useful = np.minimum(times, np.maximum(-residual[resource], 0))
            relief = np.bincount(position, weights=useful, minlength=len(here))
            score = relief + 0.5 * random.random(len(here)) * (relief > 0)
            worst = int(np.argmax(score))
            gone.append(int(here[worst]))
            mine = position == worst
            np.add.at(residual, resource[mine], times[mine])
            times = np.where(mine, 0, times)
    return np.array(gone, dtype=np.int64)
