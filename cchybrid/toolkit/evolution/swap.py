"""Transfer swap (thesis section 6.5.2): exchange the steps of two transfers of one node."""

from __future__ import annotations

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import add, remove
from cchybrid.toolkit.kernels.rng import State, below

__all__ = ["swap_steps"]


@internal
def swap_steps(
    flat: Flat,
    option: IntArray,
    step: IntArray,
    counted: BoolArray,
    table: IntArray,
    delivery: int,
    state: State,
) -> int:
    """Swap the steps of a delivery and a random one from the same node, if that reduces conflicts.

    Parameters
    ----------
    option, step
        Shape (deliveries,): the assignment; steps are changed in place.
    counted
        Shape (deliveries,): the deliveries that are in the table; ``delivery`` is one of them.
    table
        Shape (steps, resources): the loads, kept up to date.

    Returns
    -------
    int
        The change of the conflicts: negative if the two were swapped, else 0.
    """
    path, now = flat.path[option[delivery]], step[delivery]
    start = below(state, len(option))
    for offset in range(len(option)):
        other = (start + offset) % len(option)
        other_path, then = flat.path[option[other]], step[other]
        if (
            counted[other]
            and then != now
            and then < len(table)
            and flat.inject[other_path] == flat.inject[path]
        ):
            change = remove(flat, table[now], path) + remove(flat, table[then], other_path)
            change += add(flat, table[then], path) + add(flat, table[now], other_path)
            if change < 0:
                step[delivery], step[other] = then, now
                return change
            remove(flat, table[then], path)
            remove(flat, table[now], other_path)
            add(flat, table[now], path)
            add(flat, table[then], other_path)
            return 0
    return 0
