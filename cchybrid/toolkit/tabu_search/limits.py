"""How long the paths may be that are worth looking at, and how much memory a search takes."""

from __future__ import annotations

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.kernels.flat import Flat, min_uses, uses_of
from cchybrid.toolkit.kernels.surrounding import channel_demand, spare_uses


def bottleneck(problem: Problem, flat: Flat) -> int:
    """Return the fewest uses so that options with no more reach all required deliveries.

    Where messages are forwarded, most deliveries are made from near by; some have to come from
    farther away, as that to the first leaf of a subtree. This is how far that is at least.
    """
    uses = uses_of(flat)
    reached = np.zeros(problem.deliveries, dtype=np.bool_)
    for limit in np.unique(uses).tolist():
        near = uses <= limit
        count = -1
        while count < (count := int(reached.sum())):
            ready = near & ((flat.requires < 0) | reached[flat.requires])
            reached[problem.option_delivery[ready]] = True
        if reached[problem.required].all():
            return int(limit)
    return int(uses.max(initial=0))


def detours(problem: Problem, flat: Flat, min_limit: int, steps: int) -> IntArray:
    """Return, shape (deliveries,), by how many uses an option may exceed the shortest.

    Parameters
    ----------
    min_limit
        See ``bottleneck``.
    steps
        The number of steps. The more of them, the more room there is for detours.
    """
    short_of = np.maximum(min_limit - min_uses(problem, flat), 0)
    return (short_of + spare_uses(problem, steps)).astype(np.int32)


def memory_needed(problem: Problem) -> int:
    """Return about how many bytes an island takes for twice the fewest steps that may do."""
    needed, offered = channel_demand(problem)
    steps = 2 + int(2 * needed // max(offered, 1))
    longest = int(np.diff(problem.path_start).max(initial=1))
    tables = 8 * problem.resources * steps
    return 4 * (tables + problem.deliveries * (2 * longest + 12)) + 24 * problem.options
