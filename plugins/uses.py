"""What the options of a Problem use up, counted and laid out for array arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Problem

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

    def expand(self, paths: NDArray[np.integer]) -> tuple[IntVector, IntVector]:
        """Return all uses of these paths: places in ``resource``, and positions in ``paths``."""
        size = self.start[paths + 1] - self.start[paths]
        end = np.cumsum(size)
        position = np.repeat(np.arange(len(paths)), size)
        place = np.arange(int(size.sum())) - (end - size)[position] + self.start[paths][position]
        return place, position
