"""How long the paths may be that are worth looking at, and how much memory a search takes."""

from __future__ import annotations

import numpy as np

from cchybrid.kernels.flat import Flat, least_uses, uses_of
from cchybrid.problem import CHANNEL, LINK, Problem
from cchybrid.problem.arrays import IntArray


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


def detours(problem: Problem, flat: Flat, least_limit: int, steps: int) -> IntArray:
    """Return, shape (deliveries,), by how many uses an option may exceed the shortest.

    Parameters
    ----------
    least_limit
        See ``bottleneck``.
    steps
        The number of steps. The more of them, the more room there is for detours.
    """
    most = np.maximum(least_uses(problem, flat), least_limit) + spare_uses(problem, steps)
    return (most - least_uses(problem, flat)).astype(np.int32)


def spare_uses(problem: Problem, steps: int) -> int:
    """Return how many channels more than the fewest every delivery may use, on average.

    All uses of channels together cannot exceed what the channels carry in all steps.
    """
    needed, offered = _demand(problem)
    return max(0, int((steps * offered - needed) // max(int(problem.required.sum()), 1)))


def memory_needed(problem: Problem) -> int:
    """Return about how many bytes an island takes for twice the fewest steps that may do."""
    needed, offered = _demand(problem)
    steps = 2 + int(2 * needed // max(offered, 1))
    longest = int(np.diff(problem.path_start).max(initial=1))
    tables = 8 * problem.resources * steps
    return 4 * (tables + problem.deliveries * (2 * longest + 12)) + 24 * problem.options


def _demand(problem: Problem) -> tuple[int, int]:
    """Return the least uses of channels by all required deliveries, and the uses per step."""
    channel = np.isin(problem.kind, (CHANNEL, LINK))
    before = np.concatenate([[0], np.cumsum(channel[problem.path_resource])])
    uses = np.diff(before[problem.path_start])[problem.option_path]
    least = np.full(problem.deliveries, np.iinfo(np.int64).max)
    np.minimum.at(least, problem.option_delivery, uses)
    return int(least[problem.required].sum()), int(problem.capacity[channel].sum())
