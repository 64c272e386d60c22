"""Restoration of the order of deliveries (thesis section 6.5.3), on any Problem.

Step by step, a delivery whose option requires one that was not made in an earlier step gets another
option whose required delivery was made, the one with the least used ports; if there is none, the
delivery is postponed. A delivery postponed beyond the last step is late and counts as a penalty.
"""

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.ports import count_ports, port_load
from cchybrid.toolkit.kernels import internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import Loaded
from cchybrid.toolkit.kernels.rng import State, below

CANDIDATES = 8
"""Usual number of possible options that are compared before the best of them is taken."""


@internal
def restore(
    flat: Flat,
    near: IntArray,
    candidates: int,
    loaded: Loaded,
    chain: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Satisfy all requirements by changing options and steps; return the late deliveries.

    Parameters
    ----------
    near
        Shape (deliveries,): options with more uses than this are taken only if there is no other
        (a soft form of the restricted surrounding, thesis section 6.5.5).
    candidates
        Possible options, from a random one on, that are compared by the use of their ports; with 1
        the choice is random, as in the multistage paper.
    loaded
        Every delivery has an option and a step from 0 to ``steps``, the number of rows of the
        table; ``steps`` means late. Ports and lateness of the counted ones count. The table is
        overwritten with the loads of the ports.
    chain
        Shape (deliveries + steps + 1,): overwritten. One linked list of deliveries per step:
        the successor of each delivery, then the first delivery of each step.
    stop
        Shape (1,): another thread sets this to end early; then the result is not usable.
    """
    requires, paths = flat.requires, flat.path
    option, step, counted, table = loaded
    deliveries, steps = len(option), len(table)
    table[:] = 0
    chain[:] = -1
    for delivery in range(deliveries):
        head = deliveries + step[delivery]
        chain[delivery], chain[head] = chain[head], delivery
    for now in range(steps):
        if stop[0]:
            return 0
        row, waiting = table[now], -1
        delivery = chain[deliveries + now]
        # A delivery of this step satisfies no requirement in this step: compare with earlier steps.
        while delivery >= 0:
            following = chain[delivery]
            before = requires[option[delivery]]
            if before < 0 or step[before] < now:
                if counted[delivery]:
                    count_ports(flat, row, paths[option[delivery]])
            else:
                chain[delivery], waiting = waiting, delivery
            delivery = following
        while waiting >= 0:
            following = chain[waiting]
            found = _other_option(flat, near, candidates, step, waiting, now, row, state)
            if found >= 0:
                option[waiting] = found
                if counted[waiting]:
                    count_ports(flat, row, paths[found])
            else:
                step[waiting] = now + 1
                head = deliveries + now + 1
                chain[waiting], chain[head] = chain[head], waiting
            waiting = following
    late = 0
    delivery = chain[deliveries + steps]
    while delivery >= 0:
        if counted[delivery]:
            late += 1
        delivery = chain[delivery]
    return late


@internal
def _other_option(
    flat: Flat,
    near: IntArray,
    candidates: int,
    step: IntArray,
    delivery: int,
    now: int,
    row: IntArray,
    state: State,
) -> int:
    """Return a possible option with little used ports, -1 if there is none."""
    first = flat.option_start[delivery]
    size = flat.option_start[delivery + 1] - first
    start = below(state, size)
    requires, paths, use_start = flat.requires, flat.path, flat.use_start
    inject, accept, capacity = flat.inject, flat.accept, flat.capacity
    best, best_score, compared = -1, 0.0, 0
    for offset in range(size):
        candidate = first + (start + offset) % size
        before = requires[candidate]
        if before >= 0 and step[before] >= now:
            continue
        path = paths[candidate]
        beyond = use_start[path + 1] - use_start[path] - near[delivery]
        score = port_load(inject, accept, capacity, row, path) + 4.0 * max(beyond, 0)
        if best < 0 or score < best_score:
            best, best_score = candidate, score
        compared += beyond <= 0
        if compared >= candidates:
            break
    return best
