"""What the options of a Problem use up, counted and laid out for array arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import LINK, Problem

IntVector = NDArray[np.int64]
BoolVector = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Uses:
    """The distinct resources of every path, and how often the path uses each.

    Parameters
    ----------
    start
        Shape (paths + 1,): those of path p are ``start[p]`` up to ``start[p + 1]``.
    resource, times
        Shape (uses,): the resource, and how often it is used.
    usable
        Shape (options,): whether the option alone keeps to the capacities.
    """

    start: IntVector
    resource: IntVector
    times: IntVector
    usable: BoolVector

    @classmethod
    def of(cls, problem: Problem) -> Uses:
        """Count them."""
        path = np.repeat(np.arange(problem.paths), np.diff(problem.path_start))
        key, times = np.unique(path * problem.resources + problem.path_resource, return_counts=True)
        path, resource = np.divmod(key, max(problem.resources, 1))
        beyond = np.zeros(problem.paths, dtype=np.bool_)
        beyond[path[times > problem.capacity[resource]]] = True
        start = np.searchsorted(path, np.arange(problem.paths + 1)).astype(np.int64)
        return cls(start, resource, times.astype(np.int64), ~beyond[problem.option_path])

    def shortened(self, problem: Problem, steps: int) -> Uses:
        """Return the uses with only those options usable that so many steps have room for.

        On average, no delivery can pass more channels than all steps offer, divided by the number
        of deliveries; longer options are left out unless a delivery has no shorter one.
        """
        channel = problem.kind <= LINK
        room = int(problem.capacity[channel].sum()) * steps
        hops = max(1, room // max(1, int(problem.required.sum())))
        path = np.repeat(np.arange(problem.paths), np.diff(self.start))
        passed = np.bincount(
            path, weights=channel[self.resource] * self.times, minlength=problem.paths
        )[problem.option_path]
        passed[~self.usable] = np.inf
        least = np.full(problem.deliveries, np.inf)
        np.minimum.at(least, problem.option_delivery, passed)
        most = np.maximum(least, hops)[problem.option_delivery]
        return replace(self, usable=self.usable & (passed <= most))

    def expand(self, paths: NDArray[np.integer]) -> tuple[IntVector, IntVector]:
        """Return all uses of these paths: places in ``resource``, and positions in ``paths``."""
        size = self.start[paths + 1] - self.start[paths]
        end = np.cumsum(size)
        position = np.repeat(np.arange(len(paths)), size)
        place = np.arange(int(size.sum())) - (end - size)[position] + self.start[paths][position]
        return place, position


def families(problem: Problem) -> IntVector:
    """Return, shape (deliveries,), a number that deliveries share which may require each other.

    These are the deliveries of one message, or of the messages that an orbit puts together.
    """
    forwards = np.flatnonzero(problem.option_requires >= 0)
    before, after = problem.option_requires[forwards], problem.option_delivery[forwards]
    number = np.arange(problem.deliveries, dtype=np.int64)
    while True:
        known = number.copy()
        np.minimum.at(number, before, number[after])
        np.minimum.at(number, after, number[before])
        if (number == known).all():
            return number
