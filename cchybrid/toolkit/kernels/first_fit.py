"""Greedy list scheduling: a valid assignment for any Problem, quickly.

Step by step, every unscheduled delivery takes an option that fits into the step and whose required
delivery was made in an earlier step. Where some deliveries are optional, a breadth-first search
from the unscheduled required delivery, backwards over requirements, finds the nearest delivery that
is possible now, and that one is made: messages approach their goals hop by hop.

In time slots every delivery takes the first slot, from a random one on, in which an option fits;
where messages are forwarded, one of the shortest that require nothing or what is scheduled. If none
fits into any slot, the period was too short, and a longer one is tried.
"""

from typing import NamedTuple, overload

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray, ending_with_a_start
from cchybrid.toolkit.assignments import without_idle
from cchybrid.toolkit.kernels import compiled, inlined, internal
from cchybrid.toolkit.kernels.flat import Flat, flatten, has_optional, min_uses, step_of_use
from cchybrid.toolkit.kernels.occupancy import add, fits, remove
from cchybrid.toolkit.kernels.rng import State, below, seed_state, shuffle
from cchybrid.toolkit.kernels.surrounding import channel_demand, tree_ranks

LONGER = 50
"""A period in which not all deliveries fit is made longer by this part of it, and by one slot."""
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
        if self._problem.periodic:
            if self._problem.ordered:  # near nodes first, which then can send on
                rank = tree_ranks(self._problem, int(below(state, 1 << 30)))
                order = np.argsort(rank).astype(np.int32)
            return self._fill_period(order, found, stop, state)
        # Every step schedules a delivery unless none can be scheduled at all, hence this limit.
        flat, near, steps = self._flat, self._near, len(found.option)
        if fill(flat, near, steps, order, found.option, found.step, stop, state):
            return None
        return without_idle(self._problem, found.option, found.step)

    def _fill_period(
        self, order: IntArray, found: Assignment, stop: BoolArray, state: State
    ) -> Assignment | None:
        """Return an assignment of the first length of the period in which all deliveries fit."""
        flat, problem = self._flat, self._problem
        needed, offered = channel_demand(problem)
        steps = 1 + needed // max(offered, 1)
        while not fill_period(flat, steps, order, found.option, found.step, stop, state):
            if stop[0] or steps > len(order) * (2 + int(flat.offset.max(initial=0))):
                return None
            steps += 1 + steps // LONGER
        found.step[:] = ending_with_a_start(found.step, steps)
        return found


class _Filling(NamedTuple):
    """A schedule that is being filled, with the loads of the present step and working memory."""

    near: IntArray
    option: IntArray
    step: IntArray
    row: IntArray
    seen: LongArray
    queue: IntArray


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
    filling = _Filling(near, option, step, row, seen, queue)
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
                    _approach(flat, filling, delivery, now, now * len(order) + place, state)
                else:
                    _place(flat, filling, delivery, now, state)
            if step[delivery] < 0:
                order[kept] = delivery
                kept += 1
        missing = kept
    return missing


@compiled
def fill_period(
    flat: Flat,
    steps: int,
    order: IntArray,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> bool:
    """Schedule all deliveries in a period of ``steps`` slots; return whether they fit.

    Parameters
    ----------
    order
        The deliveries in the order in which they are served.
    option, step
        Shape (deliveries,): overwritten.
    stop
        Shape (1,): another thread sets this to end early.
    """
    table = np.zeros((steps, len(flat.limit)), dtype=np.int32)
    step[:] = -1
    for delivery in order:
        if stop[0]:
            return False
        first = flat.option_start[delivery]
        size = flat.option_start[delivery + 1] - first
        fewest = flat.use_start[-1]
        for candidate in range(first, first + size if len(flat.follower) else first):
            if _is_ready(flat, step, candidate):
                fewest = min(fewest, _uses(flat, candidate))
        turned, slot = below(state, size), below(state, steps)
        chosen = -1
        for later in range(steps):
            now = (slot + later) % steps
            for place in range(size):
                candidate = first + (turned + place) % size
                if not _is_ready(flat, step, candidate) or _uses(flat, candidate) > fewest:
                    continue
                if _fits_period(flat, table, flat.path[candidate], now):
                    chosen = candidate
                    break
            if chosen >= 0:
                option[delivery], step[delivery] = chosen, now
                break
        if chosen < 0:
            return False
    return True


@inlined
def _is_ready(flat: Flat, step: IntArray, option: int) -> bool:
    """Return whether an option requires nothing, or what is scheduled."""
    return flat.requires[option] < 0 or step[flat.requires[option]] >= 0


@inlined
def _uses(flat: Flat, option: int) -> int:
    return flat.use_start[flat.path[option] + 1] - flat.use_start[flat.path[option]]


@internal
def _fits_period(flat: Flat, table: IntArray, path: int, start: int) -> bool:
    """Add the uses of a path to the slots if all capacities allow it; return whether they do."""
    first, stop = flat.use_start[path], flat.use_start[path + 1]
    for use in range(first, stop):
        slot, resource = step_of_use(flat, use, start, len(table)), flat.use[use]
        table[slot, resource] += 1
        if table[slot, resource] > flat.capacity[resource]:
            for added in range(first, use + 1):
                table[step_of_use(flat, added, start, len(table)), flat.use[added]] -= 1
            return False
    return True


@internal
def _place(flat: Flat, filling: _Filling, delivery: int, now: int, state: State) -> bool:
    """Make a delivery in this step if an option fits; return whether any option was possible."""
    near, option, step, row, _, _ = filling
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
    flat: Flat, filling: _Filling, goal: int, now: int, search: int, state: State
) -> None:
    """Make the possible delivery that is nearest to ``goal`` over chains of requirements.

    ``search`` is another number for every call.
    """
    step, seen, queue = filling.step, filling.seen, filling.queue
    queue[0] = goal
    seen[goal] = search
    head, tail, level_end = 0, 1, 1
    possible = False
    while head < tail:
        delivery = queue[head]
        head += 1
        if step[delivery] == now:
            return  # a delivery on a chain to the goal is already made in this step
        if _place(flat, filling, delivery, now, state):
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
