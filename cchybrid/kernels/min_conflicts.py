"""Min-conflicts local search: deliveries in conflict move to where they disturb least.

Minton, Johnston, Philips, Laird, "Minimizing conflicts: a heuristic repair method for constraint
satisfaction and scheduling problems", Artificial Intelligence 58 (1992). A move gives one delivery
another option and step. It never breaks a requirement and never adds conflicts, but it may keep
their number, so the search drifts over plateaus.
"""

from __future__ import annotations

from cchybrid.kernels import compiled
from cchybrid.kernels.flat import Flat
from cchybrid.kernels.occupancy import add, overloaded, remove
from cchybrid.kernels.rng import State, below
from cchybrid.problem.arrays import BoolArray, IntArray

__all__ = ["settle"]

WIDTH = 64
"""Options of a delivery that one move looks at; of more, a random stretch of so many."""


@compiled
def settle(
    flat: Flat,
    option: IntArray,
    step: IntArray,
    counted: BoolArray,
    table: IntArray,
    conflicts: int,
    sweeps: int,
    stop: BoolArray,
    state: State,
) -> int:
    """Go over all deliveries several times and move those in conflict; return the conflicts left.

    Parameters
    ----------
    option, step
        Shape (deliveries,): the assignment, changed in place. Counted deliveries require counted
        ones only, in earlier steps; a late one has the step ``steps``.
    counted
        Shape (deliveries,): the deliveries that are in the table; the others stay as they are.
    table
        Shape (steps, resources): the loads, kept up to date.
    conflicts
        Conflicts and late deliveries to begin with.
    sweeps
        How often every delivery is looked at, at most.
    stop
        Shape (1,): another thread sets this to end the search early.
    """
    steps = len(table)
    start = below(state, len(option))
    for turn in range(sweeps * len(option)):
        if conflicts == 0 or stop[0]:
            break
        delivery = (start + turn) % len(option)
        if not counted[delivery]:
            continue
        late = step[delivery] >= steps
        if late or overloaded(flat, table[step[delivery]], flat.path[option[delivery]]):
            conflicts += _resettle(flat, option, step, counted, table, delivery, late, state)
    return conflicts


@compiled
def _resettle(
    flat: Flat,
    option: IntArray,
    step: IntArray,
    counted: BoolArray,
    table: IntArray,
    delivery: int,
    late: bool,
    state: State,
) -> int:
    """Move a delivery to one of its best places at random; return the change of the conflicts."""
    old_option, old_step = option[delivery], step[delivery]
    best = 1  # what being late costs
    if not late:
        best = -remove(flat, table[old_step], flat.path[old_option])
    stay = best
    until = last_step(flat, option, step, counted, delivery, len(table))
    first = flat.option_start[delivery]
    size = flat.option_start[delivery + 1] - first
    start = below(state, size)
    best_option, best_step, ties = old_option, old_step, 0
    for turn in range(min(size, WIDTH)):
        candidate = first + (start + turn) % size
        before = flat.requires[candidate]
        earliest = 0
        if before >= 0:
            if not counted[before]:
                continue
            earliest = step[before] + 1
        path = flat.path[candidate]
        first_use, last_use = flat.use_start[path], flat.use_start[path + 1]
        for now in range(earliest, until):
            cost = 0
            for place in range(first_use, last_use):
                # A resource that the path uses twice is underrated; ``add`` below is exact.
                load = table[now, flat.use[place]]
                if load >= flat.limit[flat.use[place]]:
                    cost += max(load, 1)
                    if cost > best:
                        break
            if cost > best or (candidate == old_option and now == old_step):
                continue
            if cost < best:
                best, ties = cost, 0
            ties += 1
            if below(state, ties) == 0:
                best_option, best_step = candidate, now
    option[delivery], step[delivery] = best_option, best_step
    if best_step >= len(table):
        return 0
    return add(flat, table[best_step], flat.path[best_option]) - stay


@compiled
def last_step(
    flat: Flat, option: IntArray, step: IntArray, counted: BoolArray, delivery: int, steps: int
) -> int:
    """Return the first step that is too late for a delivery: that of the first that requires it."""
    until = steps
    for place in range(flat.follower_start[delivery], flat.follower_start[delivery + 1]):
        other = flat.follower[place]
        if counted[other] and flat.requires[option[other]] == delivery:
            until = min(until, step[other])
    return until
