"""Limits on the length of paths, and the memory that a search takes."""

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.kernels.flat import Flat, min_uses, uses_of
from cchybrid.toolkit.kernels.surrounding import channel_demand, spare_uses


def bottleneck(problem: Problem, flat: Flat) -> int:
    """Return the smallest limit on uses within which all required deliveries are possible.

    Where messages are forwarded, most deliveries have near senders, but some, such as the first one
    into a far region, need a longer option. The limit is a minimax: the longest option that is
    needed if all are chosen as short as possible.
    """
    uses = uses_of(flat)
    reached = np.zeros(problem.deliveries, dtype=np.bool_)
    for limit in np.unique(uses).tolist():
        near = uses <= limit
        before, count = -1, int(reached.sum())
        while count > before:
            ready = near & ((flat.requires < 0) | reached[flat.requires])
            reached[problem.option_delivery[ready]] = True
            before, count = count, int(reached.sum())
        if reached[problem.required].all():
            return int(limit)
    return int(uses.max(initial=0))


def choice_excesses(problem: Problem, flat: Flat, min_limit: int, steps: int) -> IntArray:
    """Return, shape (deliveries,), the ``choice_excess`` of ``build_graphs``.

    Parameters
    ----------
    min_limit
        See ``bottleneck``.
    steps
        The number of steps; more steps allow longer paths.
    """
    short_of = np.maximum(min_limit - min_uses(problem, flat), 0)
    return (short_of + spare_uses(problem, steps)).astype(np.int32)


def memory_needed(problem: Problem) -> int:
    """Return the approximate bytes of an island for twice the smallest possible number of steps."""
    needed, offered = channel_demand(problem)
    steps = 2 + int(2 * needed // max(offered, 1))
    longest = int(np.diff(problem.path_start).max(initial=1))
    # Of 4 bytes: eight tables of resources by steps; two list links per use; twelve numbers per
    # delivery. Each option takes some 24 bytes in ``Flat`` and in the graphs.
    tables = 8 * problem.resources * steps
    return 4 * (tables + problem.deliveries * (2 * longest + 12)) + 24 * problem.options
