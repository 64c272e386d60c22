"""The occupancy table: the uses of every resource in every step, and the conflicts in it.

With a load L above the capacity c, a resource counts one conflict per pair of transfers that
share it, less the pairs that fit: C(L, 2) - C(c, 2). For c = 1 that is the number of shared
channels over all pairs of transfers in one step, the fitness of the thesis (eq. 6.15 to 6.18).
With ``Flat.excess`` it counts L - c instead, so that one crowded channel does not dominate (ours).
Either sum is 0 exactly when every capacity holds. Implied capacities do not count.
"""

from typing import NamedTuple

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled, inlined
from cchybrid.toolkit.kernels.flat import Flat


class Loaded(NamedTuple):
    """An assignment with its occupancy table.

    Parameters
    ----------
    option, step
        Shape (deliveries,): the assignment; a late delivery has a step outside the table.
    counted
        Shape (deliveries,): the deliveries that are in the table.
    table
        Shape (steps, resources): their loads.
    """

    option: IntArray
    step: IntArray
    counted: BoolArray
    table: IntArray


@inlined
def one_more(excess: bool, load: int) -> int:
    """Return the conflicts that one more use adds to a resource with load at or above its limit.

    ``excess`` is that of the ``Flat``.
    """
    # C(load + 1, 2) - C(load, 2); at least 1, so that capacity 0 is kept as well.
    return 1 if excess else max(load, 1)


@inlined
def add(flat: Flat, row: IntArray, path: int) -> int:
    """Add the uses of a path to the loads; return the increase of the conflicts.

    Parameters
    ----------
    row
        Shape (resources,): the loads of one step, changed in place.
    """
    use, limit = flat.use, flat.limit
    grown = 0
    for place in range(flat.use_start[path], flat.use_start[path + 1]):
        resource = use[place]
        load = row[resource] + 0  # wide, as in ``remove``
        row[resource] = load + 1
        if load >= limit[resource]:
            grown += one_more(flat.excess, load)
    return grown


@inlined
def remove(flat: Flat, row: IntArray, path: int) -> int:
    """Undo ``add``; return the change of the conflicts (at most 0)."""
    use, limit = flat.use, flat.limit
    shrunk = 0
    for place in range(flat.use_start[path], flat.use_start[path + 1]):
        resource = use[place]
        load = row[resource] - 1
        row[resource] = load
        if load >= limit[resource]:
            shrunk -= one_more(flat.excess, load)
    return shrunk


@inlined
def fits(flat: Flat, row: IntArray, path: int) -> bool:
    """Add a path to the loads of a step if all capacities allow it; return whether it was added."""
    use, capacity = flat.use, flat.capacity
    for place in range(flat.use_start[path], flat.use_start[path + 1]):
        # Implied capacities never decide, but ports come first and are a fast check.
        resource = use[place]
        if row[resource] >= capacity[resource]:
            return False
    # A path may use a resource more than once (in a quotient), so this check decides.
    if add(flat, row, path) == 0:
        return True
    remove(flat, row, path)
    return False


@inlined
def overloaded(flat: Flat, row: IntArray, path: int) -> bool:
    """Return whether a path, which is in the loads, uses an overloaded resource."""
    use, limit = flat.use, flat.limit
    for place in range(flat.use_start[path], flat.use_start[path + 1]):
        resource = use[place]
        if row[resource] > limit[resource]:
            return True
    return False


@compiled
def build(flat: Flat, loaded: Loaded) -> int:
    """Fill the occupancy table of an assignment; return its conflicts."""
    option, step, counted, table = loaded
    table[:] = 0
    conflicts = 0
    for delivery in range(len(option)):
        if counted[delivery] and 0 <= step[delivery] < len(table):
            conflicts += add(flat, table[step[delivery]], flat.path[option[delivery]])
    return conflicts
