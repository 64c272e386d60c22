"""Injection and acceptance ports: their loads, and the port heuristic (thesis section 6.5.1).

Ports count even where their capacity is implied by that of the channels: a node that sends more
messages in a step than it has channels is in conflict, whichever paths they take.
"""

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import inlined, internal
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat
from cchybrid.toolkit.kernels.occupancy import Loaded, add, remove
from cchybrid.toolkit.kernels.rng import State, below


@inlined
def count_ports(flat: Flat, row: IntArray, path: int) -> None:
    """Add a use to the loads of the two ports of a path, not of its channels."""
    if flat.inject[path] >= 0:
        row[flat.inject[path]] += 1
    if flat.accept[path] >= 0:
        row[flat.accept[path]] += 1


@inlined
def port_load(
    inject: IntArray, accept: IntArray, capacity: IntArray, row: IntArray, path: int
) -> float:
    """Return the relative load of the ports of a path: 0 idle, 2 both full, more if overloaded.

    Takes arrays of a ``Flat``, like ``free_ports``.
    """
    full = 0.0
    if inject[path] >= 0:
        full += row[inject[path]] / max(capacity[inject[path]], 1)
    if accept[path] >= 0:
        full += row[accept[path]] / max(capacity[accept[path]], 1)
    return full


@inlined
def free_ports(
    inject: IntArray, accept: IntArray, capacity: IntArray, table: IntArray, step: int, path: int
) -> int:
    """Return the residual capacity of the ports of a path; negative if one is overloaded.

    Takes three arrays of a ``Flat`` and the table, because in a loop extracting them, or a row,
    costs more than using them.
    """
    free = int(NO_LIMIT)
    port = inject[path]
    if port >= 0:
        free = int(capacity[port] - table[step, port])
    port = accept[path]
    if port >= 0:
        free = min(free, int(capacity[port] - table[step, port]))
    return free


@internal
def spread_ports(flat: Flat, loaded: Loaded, stop: BoolArray, state: State) -> int:
    """Move deliveries from steps with overloaded ports to steps where both ports are free.

    Parameters
    ----------
    loaded
        Its steps and loads are changed in place.
    stop
        Shape (1,): another thread sets this to end early.

    Returns
    -------
    int
        The change of the conflicts.
    """
    inject, accept, capacity, paths = flat.inject, flat.accept, flat.capacity, flat.path
    option, step, counted, table = loaded
    change = 0
    steps = len(table)
    delivery = below(state, len(option)) - 1
    for _ in range(len(option)):
        if stop[0]:
            break
        delivery = delivery + 1 if delivery + 1 < len(option) else 0
        now = step[delivery]
        if not counted[delivery] or now >= steps:
            continue
        path = paths[option[delivery]]
        if free_ports(inject, accept, capacity, table, now, path) >= 0:
            continue
        other = below(state, steps)
        for _ in range(steps):
            if free_ports(inject, accept, capacity, table, other, path) > 0:
                change += remove(flat, table[now], path) + add(flat, table[other], path)
                step[delivery] = other
                break
            other = other + 1 if other + 1 < steps else 0
    return change
