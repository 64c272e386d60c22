"""A valid schedule of a fixed number of steps in which some deliveries have no place yet."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem, needed
from cchybrid.problem.ragged import offsets
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix

MAX_CELLS = 1 << 22
"""Uses times steps that are looked at in one go; each takes a few bytes, so some 20 MB."""

NO_LIMIT = 1 << 30
"""The room of a resource that is implied by others."""


class PartialSchedule:
    """What has a place, and the room that it leaves. Nothing in it is ever in conflict.

    Parameters
    ----------
    problem, uses
        The Problem; only options that are usable are placed.
    steps
        The number of steps.

    Attributes
    ----------
    option, step
        Shape (deliveries,): -1 without a place.
    room
        Shape (resources, steps): the uses that are left.
    """

    def __init__(self, problem: Problem, uses: UsageMatrix, steps: int) -> None:
        self.problem, self.uses, self.steps = problem, uses, steps
        self.option = np.full(problem.deliveries, -1, dtype=np.int64)
        self.step = np.full(problem.deliveries, -1, dtype=np.int64)
        limit = np.where(problem.implied, NO_LIMIT, problem.capacity).astype(np.int32)
        self.room: NDArray[np.int32] = np.repeat(limit[:, None], steps, axis=1)

    def copy(self) -> PartialSchedule:
        """Return a copy that may be changed."""
        other = copy(self)
        other.option, other.step = self.option.copy(), self.step.copy()
        other.room = self.room.copy()
        return other

    def moved_to(self, problem: Problem, uses: UsageMatrix, moved: IntVector) -> PartialSchedule:
        """Return it as one of the Problem grown; ``moved`` says where old options stand now."""
        other = self.copy()
        other.problem, other.uses = problem, uses
        other.option = np.where(self.option >= 0, moved[np.maximum(self.option, 0)], -1)
        return other

    @property
    def unscheduled(self) -> IntVector:
        """The required deliveries without a place."""
        return np.flatnonzero(self.problem.required & (self.option < 0))

    def assignment(self) -> Assignment:
        """Return it without the optional deliveries that help nobody."""
        found = Assignment(self.option.astype(np.int32), self.step.astype(np.int32))
        idle = ~needed(self.problem, found)
        found.option[idle], found.step[idle] = -1, -1
        return found

    def place(self, delivery: IntVector, option: IntVector, step: IntVector) -> None:
        """Give deliveries without a place one; whether it fits is the caller's to know."""
        self.option[delivery], self.step[delivery] = option, step
        self._use(option, step, -1)

    def take_out(self, delivery: IntVector) -> None:
        """Take the place of these deliveries away, of those that have one."""
        placed = delivery[self.option[delivery] >= 0]
        self._use(self.option[placed], self.step[placed], 1)
        self.option[placed], self.step[placed] = -1, -1

    def _use(self, option: IntVector, step: IntVector, sign: int) -> None:
        position, resource, times = self.uses.entries(option)
        np.add.at(self.room, (resource, step[position]), sign * times)

    def fits(self, options: IntVector) -> BoolVector:
        """Return, shape (options, steps), which of these options fit alone into which step."""
        found = np.zeros((len(options), self.steps), dtype=np.bool_)
        size = np.diff(self.uses.start)[self.uses.path[options]]
        found[size == 0] = True
        start = 0
        while start < len(options):
            end = start + max(1, MAX_CELLS // (self.steps * int(max(size.max(), 1))))
            some = start + np.flatnonzero(size[start:end] > 0)
            _, resource, times = self.uses.entries(options[some])
            enough = self.room[resource] >= times[:, None]
            if len(some):
                found[some] = np.logical_and.reduceat(enough, offsets(size[some])[:-1], axis=0)
            start = end
        return found

    def broken(self) -> IntVector:
        """Return the placed deliveries that require one that does not happen before."""
        placed = np.flatnonzero(self.option >= 0)
        before = self.problem.option_requires[self.option[placed]]
        late = (before >= 0) & ((self.step[before] < 0) | (self.step[before] >= self.step[placed]))
        return placed[late]

    def fill(self, order: IntVector, over: Callable[[], bool]) -> None:
        """Place deliveries where they fit just so, one after the other, as long as some do."""
        waiting = order
        while len(waiting) and not over():
            missed = [d for d in waiting.tolist() if not self._fill_one(d)]
            if not self.problem.ordered or len(missed) == len(waiting):
                return
            waiting = np.array(missed, dtype=np.int64)

    def _fill_one(self, delivery: int) -> bool:
        problem = self.problem
        options = np.arange(*problem.option_start[delivery : delivery + 2])
        options = options[self.uses.usable[options]]
        fits = self.fits(options)
        if problem.ordered:
            before = problem.option_requires[options]
            earliest = np.where(before < 0, -1, self.step[before])
            earliest[(before >= 0) & (earliest < 0)] = self.steps
            fits &= np.arange(self.steps) > earliest[:, None]
        if not fits.any():
            return False
        # As early as can be, so that others can follow.
        step = int(np.argmax(fits.any(axis=0)))
        option = int(options[np.argmax(fits[:, step])])
        self.place(np.array([delivery]), np.array([option]), np.array([step]))
        return True


def repaired(
    problem: Problem, uses: UsageMatrix, steps: int, found: Assignment, random: np.random.Generator
) -> PartialSchedule:
    """Return what is left of a near-solution after deliveries in conflict are taken out.

    Of the deliveries on an overloaded resource, the one goes first that is in the way at most
    places; then those whose requirement is gone.
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
    """Return deliveries without which no resource is overloaded."""
    gone: list[int] = []
    over = np.minimum(partial.room, 0)
    placed = np.flatnonzero(partial.option >= 0)
    for step in np.flatnonzero((over < 0).any(axis=0)).tolist():
        here = placed[partial.step[placed] == step]
        position, resource, times = partial.uses.entries(partial.option[here])
        room = partial.room[:, step].copy()
        while (room < 0).any():
            useful = np.minimum(times, np.maximum(-room[resource], 0))
            removed = np.bincount(position, weights=useful, minlength=len(here))
            score = removed + 0.5 * random.random(len(here)) * (removed > 0)
            worst = int(np.argmax(score))
            gone.append(int(here[worst]))
            mine = position == worst
            np.add.at(room, resource[mine], times[mine])
            times = np.where(mine, 0, times)
    return np.array(gone, dtype=np.int64)
