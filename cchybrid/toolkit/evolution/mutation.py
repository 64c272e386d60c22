"""The mutation operator of the thesis (section 6.6) on one individual, compiled."""

from __future__ import annotations

import math

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.swap import swap_steps
from cchybrid.toolkit.kernels import internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import add, overloaded, remove
from cchybrid.toolkit.kernels.rng import State, below, normal

__all__ = ["mutate"]


@internal
def mutate(
    flat: Flat,
    ordered: bool,
    option: IntArray,
    step: IntArray,
    counted: BoolArray,
    table: IntArray,
    state: State,
) -> int:
    """Change one component of one gene; return the change of the conflicts."""
    steps = len(table)
    gene = below(state, len(option))
    if below(state, 2) == 0:
        gene = _conflicting(flat, option, step, counted, table, gene)
    new_option, new_step = option[gene], step[gene]
    component = below(state, 3 if ordered else 2)
    if component == 0:
        new_option = _similar(flat, option[gene], state)
    elif component == 1:
        if counted[gene] and step[gene] < steps:
            change = swap_steps(flat, option, step, counted, table, gene, state)
            if change < 0:
                return change
        new_step = below(state, steps)
    else:
        new_option = _distributor(flat, gene, state)
    change = 0
    if counted[gene]:
        if step[gene] < steps:
            change += remove(flat, table[step[gene]], flat.path[option[gene]])
        if new_step < steps:
            change += add(flat, table[new_step], flat.path[new_option])
    option[gene], step[gene] = new_option, new_step
    return change


@internal
def _conflicting(
    flat: Flat, option: IntArray, step: IntArray, counted: BoolArray, table: IntArray, start: int
) -> int:
    """Return the first gene from ``start`` on (cyclically) in conflict or late, else ``start``."""
    for offset in range(len(option)):
        gene = (start + offset) % len(option)
        if counted[gene] and (
            step[gene] >= len(table) or overloaded(flat, table[step[gene]], flat.path[option[gene]])
        ):
            return gene
    return start


@internal
def _similar(flat: Flat, option: int, state: State) -> int:
    """Return another path of the same distributor, at a normally distributed distance in the list.

    Similar paths are close in the list. The variance is a third of their number.
    """
    first, stop = flat.group_start[option], flat.group_stop[option]
    size = stop - first
    if size == 1:
        return option
    deviation = math.sqrt(size / 3.0)
    for _ in range(8):
        other = option + round(deviation * normal(state))
        if other != option and first <= other < stop:
            return other
    return first + below(state, size)


@internal
def _distributor(flat: Flat, gene: int, state: State) -> int:
    """Return a random path of a random distributor."""
    stop = flat.option_start[gene + 1]
    group = flat.option_start[gene]
    chosen, seen = group, 0
    while group < stop:
        seen += 1
        if below(state, seen) == 0:
            chosen = group
        group = flat.group_stop[group]
    return chosen + below(state, flat.group_stop[chosen] - chosen)
