"""Limits on the length of paths, and the memory that a search takes."""

from __future__ import annotations

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.kernels.flat import Flat, min_uses, uses_of
from cchybrid.toolkit.kernels.surrounding import channel_demand, spare_uses


def bottleneck(problem: Problem, flat: Flat) -> int:
    """Return the smallest limit on uses within which all required deliveries are possible.

    Where messages are forwarded, most deliveries have near senders, but some, such as the first one
    into a far region, need a longer option; this is the shortest sufficient length.
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
        The number of steps; more steps allow longer detours.
    """
    short_of = np.maximum(min_limit - min_uses(problem, flat), 0)
    return (short_of + spare_uses(problem, steps)).astype(np.int32)


def memory_needed(problem: Problem) -> int:
    """Return the approximate bytes of an island for twice the smallest possible number of steps."""
    needed, offered = channel_demand(problem)
    steps = 2 + int(2 * needed // max(offered, 1))
    longest = int(np.diff(problem.path_start).max(initial=1))
    tables = 8 * problem.resources * steps
    return 4 * (tables + problem.deliveries * (2 * longest + 12)) + 24 * problem.options
