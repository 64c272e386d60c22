"""The restricted surrounding: a limit on the distance of senders (thesis section 6.5.5).

The thesis fixes a radius in hops, and excludes all transfers beyond it (``restrict``).
``near_uses`` is the soft form (ours): options that are too long for the number of steps are taken
only where there is no shorter one.
"""

import math
from dataclasses import replace

import numpy as np

from cchybrid.problem import CHANNEL, INJECT, LINK, Problem
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels.flat import Flat, min_uses


def near_uses(problem: Problem, flat: Flat, steps: int) -> IntArray:
    """Return, shape (deliveries,), the uses up to which an option is no detour.

    All channel uses together cannot exceed the capacity of all steps. The larger the slack above
    the shortest options, the farther a sender may be.
    """
    return (min_uses(problem, flat) + spare_uses(problem, steps)).astype(np.int32)


def spare_uses(problem: Problem, steps: int) -> int:
    """Return the channels beyond the fewest that each delivery may use, on average; up to 2^20."""
    needed, offered = channel_demand(problem)
    spare = int((steps * offered - needed) // max(int(problem.required.sum()), 1))
    return min(max(0, spare), 1 << 20)  # no path has more channels


def channel_demand(problem: Problem) -> tuple[int, int]:
    """Return the fewest channel uses of all required deliveries, and the capacity per step."""
    fewest = np.full(problem.deliveries, np.iinfo(np.int64).max)
    np.minimum.at(fewest, problem.option_delivery, hops_of(problem))
    channel = np.isin(problem.kind, (CHANNEL, LINK))
    return int(fewest[problem.required].sum()), int(problem.capacity[channel].sum())


def hops_of(problem: Problem) -> LongArray:
    """Return, shape (options,), the number of channels that each option uses."""
    channel = np.isin(problem.kind, (CHANNEL, LINK))[problem.path_resource]
    total = np.concatenate(([0], np.cumsum(channel)))
    return np.diff(total[problem.path_start])[problem.option_path].astype(np.int64)


def tree_ranks(problem: Problem, seed: int) -> LongArray:
    """Return, shape (deliveries,), a random order of the deliveries: near ones come first.

    Each has an option that requires nothing, or an earlier one. Deliveries that all have such
    options form no cycle, whatever their slots.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    size = problem.deliveries + 1
    random = np.random.default_rng(seed)
    length = hops_of(problem) * random.uniform(1, 1 + random.exponential(), problem.options)
    ends = problem.option_requires + 1, problem.option_delivery + 1
    key, first = np.unique(ends[0].astype(np.int64) * size + ends[1], return_inverse=True)
    shortest = np.full(len(key), np.inf)
    np.minimum.at(shortest, first, length)
    found = dijkstra(coo_array((shortest, np.divmod(key, size)), shape=(size, size)), indices=0)
    rank = np.empty(size, dtype=np.int64)
    rank[np.argsort(found, kind="stable")] = np.arange(size)
    return rank[1:] - 1


def in_tree_order(problem: Problem, seed: int) -> BoolArray:
    """Return, shape (options,), which require nothing, or what is before them in ``tree_ranks``."""
    rank = np.append(tree_ranks(problem, seed), -1)  # one more entry, for index -1
    return rank[problem.option_requires] < rank[problem.option_delivery]


def published_radius(problem: Problem) -> int:
    """Return the radius that the thesis chooses.

    It has no effect where nothing is forwarded, or switches lie between all senders and receivers.
    1 if (M - 1) / k > log N to the base k, for M messages to N nodes and k ports: then neighbours
    can inform each other in every step. Otherwise half the diameter, rounded up.
    """
    hops, structure = hops_of(problem), problem.structure
    longest = int(hops.max(initial=1))
    if not problem.ordered or structure is None or hops.min() > 1:
        return longest
    messages = structure.messages
    ports = int(problem.capacity[problem.kind == INJECT].max(initial=1))
    receivers = 1 + max(len(message.destinations) for message in messages)
    is_flood = (len(messages) - 1) / ports > math.log(receivers, max(ports, 2))
    return 1 if is_flood else (longest + 1) // 2


def restrict(problem: Problem, radius: int) -> tuple[Problem, IntArray]:
    """Return the problem without the options of more than ``radius`` hops.

    A delivery that would have no possible sender keeps its nearest ones beyond the radius.

    Returns
    -------
    tuple[Problem, IntArray]
        The restricted problem, and for each of its options the option of the given problem. Map
        its assignments by that list; ``lift`` does not apply.

    Raises
    ------
    ValueError
        If the radius is below 1.
    """
    if radius < 1:
        raise ValueError(f"a radius is at least 1, not {radius}")
    hops = hops_of(problem)
    kept = hops <= radius
    happens = _spread(problem, kept, np.zeros(problem.deliveries, dtype=np.bool_))
    while not happens.all():
        # The shortest of all options that make one more delivery possible, and equally short ones.
        before = problem.option_requires
        useful = ~happens[problem.option_delivery] & ((before < 0) | happens[before])
        if not useful.any():
            break
        kept |= useful & (hops == hops[useful].min())
        happens = _spread(problem, kept, happens)
    kept |= ~happens[problem.option_delivery]  # a delivery that can never happen stays as it is
    number = np.bincount(problem.option_delivery[kept], minlength=problem.deliveries)
    restricted = replace(
        problem,
        option_start=np.concatenate(([0], np.cumsum(number))).astype(np.int64),
        option_requires=problem.option_requires[kept],
        option_path=problem.option_path[kept],
        complete=problem.complete and bool(kept.all()),
    )
    return restricted, np.flatnonzero(kept).astype(np.int32)


def _spread(problem: Problem, kept: BoolArray, happens: BoolArray) -> BoolArray:
    """Return the deliveries that the kept options make possible, given those that happen."""
    happens = happens.copy()
    delivery, before = problem.option_delivery[kept], problem.option_requires[kept]
    happens[delivery[before < 0]] = True
    delivery, before = delivery[before >= 0], before[before >= 0]
    while True:
        new = delivery[happens[before] & ~happens[delivery]]
        if len(new) == 0:
            return happens
        happens[new] = True
