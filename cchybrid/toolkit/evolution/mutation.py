"""The mutation operator of the thesis (section 6.6) on one individual, compiled."""

import math

from cchybrid.toolkit.kernels import internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import Loaded, add, overloaded, remove
from cchybrid.toolkit.kernels.rng import State, below, normal


@internal
def mutate(flat: Flat, ordered: bool, loaded: Loaded, state: State) -> int:
    """Change one component of one gene; return the change of the conflicts."""
    option, step, counted, table = loaded
    steps = len(table)
    gene = below(state, len(option))
    if below(state, 2) == 0:
        gene = _conflicting(flat, loaded, gene)
    new_option, new_step = option[gene], step[gene]
    component = below(state, 3 if ordered else 2)
    if component == 0:
        new_option = _similar(flat, option[gene], state)
    elif component == 1:
        if counted[gene] and step[gene] < steps:
            change = swap_steps(flat, loaded, gene, state)
            if change < 0:
                return change
        new_step = below(state, steps)
    else:
        new_option = draw_distributor(flat, gene, state)
    change = 0
    if counted[gene]:
        if step[gene] < steps:
            change += remove(flat, table[step[gene]], flat.path[option[gene]])
        if new_step < steps:
            change += add(flat, table[new_step], flat.path[new_option])
    option[gene], step[gene] = new_option, new_step
    return change


@internal
def _conflicting(flat: Flat, loaded: Loaded, start: int) -> int:
    """Return the first gene from ``start`` on (cyclically) in conflict or late, else ``start``."""
    option, step, counted, table = loaded
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
def draw_distributor(flat: Flat, gene: int, state: State) -> int:
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


@internal
def swap_steps(flat: Flat, loaded: Loaded, delivery: int, state: State) -> int:
    """Swap the steps of a delivery and a random one from the same node, if that reduces conflicts.

    Parameters
    ----------
    loaded
        Its steps and loads are changed in place.
    delivery
        One that is counted.

    Returns
    -------
    int
        The change of the conflicts: negative if the two were swapped, else 0.
    """
    option, step, counted, table = loaded
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
