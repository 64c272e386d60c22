"""Greedy list scheduling: a valid assignment for any Problem, quickly.

Step by step, every unscheduled delivery takes an option that fits into the step and whose required
delivery was made in an earlier step. Where some deliveries are optional, a breadth-first search
from the unscheduled required delivery, backwards over requirements, finds the nearest delivery that
is possible now, and that one is made: messages approach their goals hop by hop.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from cchybrid.problem import Assignment, Problem, needed
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat, flatten, has_optional, min_uses
from cchybrid.toolkit.kernels.occupancy import add, fits, remove
from cchybrid.toolkit.kernels.rng import State, below, seed_state, shuffle

__all__ = ["FirstFit", "fill", "first_fit"]

UNSTOPPED = np.zeros(1, dtype=np.bool_)
"""A stop flag that is never set."""


@overload
def first_fit(problem: Problem, seed: int, stop: None = None) -> Assignment: ...
@overload
def first_fit(problem: Problem, seed: int, stop: BoolArray) -> Assignment | None: ...
def first_fit(problem: Problem, seed: int, stop: BoolArray | None = None) -> Assignment | None:
    """Return a complete valid assignment; equal arguments give an equal one.

    Parameters
    ----------
    stop
        Shape (1,): another thread sets this to end early; then the result is ``None``.

    Raises
    ------
    ValueError
        If some required delivery is impossible: every chain of options to it exceeds a capacity by
        itself.
    """
    found = FirstFit(problem).draw(seed_state(seed), UNSTOPPED if stop is None else stop)
    if found is None and (stop is None or not stop[0]):
        raise ValueError("some delivery has no option that fits into a step of its own")
    return found


class FirstFit:
    """Greedy list scheduling of one Problem, any number of times.

    Parameters
    ----------
    problem
        The Problem; it is flattened once for all schedules.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._flat = flatten(problem)
        self._near = min_uses(problem, self._flat)
        self._required = np.flatnonzero(problem.required).astype(np.int32)

    def draw(self, state: State, stop: BoolArray = UNSTOPPED) -> Assignment | None:
        """Return a complete valid assignment; ``None`` if stopped, or if there is none.

        Parameters
        ----------
        state
            The random state, advanced in place, so that the next schedule differs.
        stop
            Shape (1,): another thread sets this to end early.
        """
        found = self._problem.empty()
        mixed = self._required.copy()
        shuffle(mixed, state)
        # Deliveries with long routes are hard to place, so they come first; ties are random.
        order = mixed[np.argsort(-self._near[mixed], kind="stable")]
        # Every step schedules a delivery unless none can be scheduled at all, hence this limit.
        flat, near, steps = self._flat, self._near, len(found.option)
        if fill(flat, near, steps, order, found.option, found.step, stop, state):
            return None
        unused = ~needed(self._problem, found)
        found.option[unused] = found.step[unused] = -1
        return found


@compiled
def fill(
    flat: Flat,
    near: IntArray,
    steps: int,
    order: IntArray,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Schedule greedily in at most ``steps`` steps; return how many deliveries are unscheduled.

    Parameters
    ----------
    near
        Shape (deliveries,): the first option that fits and has no more uses than this is taken,
        else the one with the fewest uses.
    order
        The required deliveries in the order in which they are served; overwritten.
    option, step
        Shape (deliveries,): deliveries that are scheduled already stay, the others (-1) are
        overwritten if they are scheduled.
    stop
        Shape (1,): another thread sets this to end early, with deliveries unscheduled.
    """
    row = np.zeros(len(flat.limit), dtype=np.int32)
    seen = np.empty(len(option), dtype=np.int64)
    seen[:] = -1
    queue = np.empty(len(option), dtype=np.int32)
    hops = has_optional(flat.required)
    missing = len(order)
    for now in range(steps):
        if missing == 0:
            break
        row[:] = 0
        for delivery in range(len(option)):
            if step[delivery] == now:
                add(flat, row, flat.path[option[delivery]])
        kept = 0
        for place in range(missing):
            if stop[0]:
                return missing
            delivery = order[place]
            if step[delivery] < 0:
                if hops:
                    search = now * len(order) + place
                    _approach(
                        flat, near, delivery, now, option, step, row, seen, queue, search, state
                    )
                else:
                    _place(flat, near, delivery, now, option, step, row, state)
            if step[delivery] < 0:
                order[kept] = delivery
                kept += 1
        missing = kept
    return missing


@internal
def _place(
    flat: Flat,
    near: IntArray,
    delivery: int,
    now: int,
    option: IntArray,
    step: IntArray,
    row: IntArray,
    state: State,
) -> bool:
    """Make a delivery in this step if an option fits; return whether any option was possible."""
    first = flat.option_start[delivery]
    size = flat.option_start[delivery + 1] - first
    best, best_uses = -1, 0
    possible = False
    start = below(state, size)
    for offset in range(size):
        candidate = first + (start + offset) % size
        before = flat.requires[candidate]
        if before >= 0 and not 0 <= step[before] < now:
            continue
        possible = True
        path = flat.path[candidate]
        uses = flat.use_start[path + 1] - flat.use_start[path]
        if (best < 0 or uses < best_uses) and fits(flat, row, path):
            best, best_uses = candidate, uses
            if uses <= near[delivery]:
                break
            remove(flat, row, path)
    if best >= 0:
        if best_uses > near[delivery]:
            add(flat, row, flat.path[best])
        option[delivery], step[delivery] = best, now
    return possible


@internal
def _approach(
    flat: Flat,
    near: IntArray,
    goal: int,
    now: int,
    option: IntArray,
    step: IntArray,
    row: IntArray,
    seen: LongArray,
    queue: IntArray,
    search: int,
    state: State,
) -> None:
    """Make the possible delivery that is nearest to ``goal`` over chains of requirements."""
    queue[0] = goal
    seen[goal] = search
    head, tail, level_end = 0, 1, 1
    possible = False
    while head < tail:
        delivery = queue[head]
        head += 1
        if step[delivery] == now:
            return  # a delivery on a chain to the goal is already made in this step
        if _place(flat, near, delivery, now, option, step, row, state):
            possible = True
            if step[delivery] == now:
                return
        elif not possible:
            for other in range(flat.option_start[delivery], flat.option_start[delivery + 1]):
                before = flat.requires[other]
                if seen[before] != search:
                    seen[before] = search
                    queue[tail] = before
                    tail += 1
        if head == level_end:
            if possible:
                return  # longer chains would be detours: wait for the next step
            level_end = tail
