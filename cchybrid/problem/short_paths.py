"""Paths with at most one extra hop for many pairs of nodes, or samples of them, in flat arrays.

The dynamic program of ``routes`` (count paths on the DAG towards each target, find them by rank)
in numpy, for all pairs at once.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network
from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.problem.ragged import within

Ranks = NDArray[np.float64]

_MAX_CELLS = 1 << 22
"""Largest number of cells of the tables for a block of paths."""


class ShortPaths:
    """Counts and samples of paths of given lengths that pass no endpoint.

    Counts are floating-point numbers, exact up to 2^53. More paths are never all listed, and
    sampling needs no exact number.

    Parameters
    ----------
    network
        The network.
    distance
        Shape (nodes, nodes): hop distances that pass no endpoint, -1 for none.
    sources, targets
        Shape (bundles,): the end nodes of each bundle of paths; each has at least one path.
    extra
        Shape (bundles,): extra hops of the bundle's paths above the shortest, 0 or 1. (Walks with
        two extra hops may visit a node twice.)
    """

    def __init__(
        self,
        network: Network,
        distance: IntArray,
        sources: LongArray,
        targets: LongArray,
        extra: LongArray,
    ) -> None:
        self._successors = _table(network)
        self._degree = np.array([*map(len, network.successors)])
        self._block = max(1, _MAX_CELLS // (self._successors.shape[1] + 1))
        self._endpoint = np.zeros(network.nodes + 1, dtype=np.bool_)
        self._endpoint[list(network.endpoints)] = True
        self._targets, self._column = np.unique(targets, return_inverse=True)
        # The last row is for the missing entries of the table of successors.
        self._distance = np.vstack(
            [distance[:, self._targets], np.full(len(self._targets), -1, np.int32)]
        )
        self._sources = sources
        self._extra = extra
        self._count = self._counted(int(extra.max(initial=0)))

    @property
    def count(self) -> Ranks:
        """Shape (bundles,): the number of paths in each."""
        return np.asarray(self._count[self._extra, self._sources, self._column])

    def listed(self, taken: LongArray, random: np.random.Generator) -> IntArray:
        """Return the nodes of paths of every bundle, in ascending order within each.

        Parameters
        ----------
        taken
            Shape (bundles,): number of paths to return, at most ``count``.
        """
        bundle = np.repeat(np.arange(len(taken)), taken)
        place = within(taken)
        # Stratified sampling: one path from each of equal intervals of ranks.
        width = self.count[bundle] / taken[bundle]
        low, high = np.floor(place * width), np.floor((place + 1) * width)
        drawn = np.floor(random.random(len(bundle)) * (high - low))
        rank = np.where(width > 1.0, low + drawn, low)
        found = [
            self._walk(bundle[start : start + self._block], rank[start : start + self._block])
            for start in range(0, len(bundle), self._block)
        ]
        return np.concatenate([*found, np.empty(0, np.int32)])

    def hops(self, bundle: LongArray) -> IntArray:
        """Return, shape (paths,), the hops of paths, given the bundle of each."""
        shortest = self._distance[self._sources[bundle], self._column[bundle]]
        return (shortest + self._extra[bundle]).astype(np.int32)

    def _counted(self, extra: int) -> Ranks:
        """Return, shape (extra + 1, nodes + 1, targets), the number of paths per extra hops."""
        columns = len(self._targets)
        count = np.zeros((extra + 1, len(self._distance), columns))
        count[0, self._targets, np.arange(columns)] = 1.0
        order = np.argsort(self._distance[:-1], axis=None, kind="stable")
        level = self._distance[:-1].ravel()[order]
        # No path of a bundle passes a node that is farther from the target than the source is.
        farthest = int(self._distance[self._sources, self._column].max(initial=0))
        bounds = np.searchsorted(level, np.arange(1, farthest + 2))
        for hops in range(extra + 1):
            for start, end in pairwise(bounds.tolist()):
                for block in range(start, end, self._block):
                    node, column = np.divmod(order[block : min(end, block + self._block)], columns)
                    left = np.full(len(node), hops)
                    paths = self._onward(node, column, left, count)[2]
                    count[hops, node, column] = paths.sum(axis=1)
        return count

    def _onward(
        self, node: LongArray, column: LongArray, left: LongArray, count: Ranks
    ) -> tuple[Any, Any, Ranks]:
        """Return the next nodes, the extra hops left there, and the paths from there."""
        # Without the columns that none of these nodes needs: switches have many, others few.
        following = self._successors[node, : self._degree[node].max(initial=1)]
        beside = column[:, None]
        near = self._distance[following, beside]
        spent = left[:, None] - (near - self._distance[node, column][:, None] + 1)
        leads = (near >= 0) & (spent >= 0)
        leads &= ~self._endpoint[following] | (following == self._targets[beside])
        after = np.where(leads, spent, 0)
        return following, after, np.where(leads, count[after, following, beside], 0.0)

    def _walk(self, bundle: LongArray, rank: Ranks) -> IntArray:
        """Return the nodes of the paths of these ranks, one path after another."""
        column, node = self._column[bundle], self._sources[bundle].copy()
        left, hops = self._extra[bundle].copy(), self.hops(bundle)
        nodes = np.full((len(bundle), int(hops.max(initial=0)) + 1), -1, dtype=np.int32)
        nodes[:, 0] = node
        walking = np.arange(len(bundle))
        for hop in range(1, nodes.shape[1]):
            walking = walking[hops[walking] >= hop]
            following, after, paths = self._onward(
                node[walking], column[walking], left[walking], self._count
            )
            upto = np.cumsum(paths, axis=1)
            # After rounding, a very large rank may exceed the number of paths.
            limited = np.minimum(rank[walking], np.nextafter(upto[:, -1], 0.0))
            choice = np.argmax(upto > limited[:, None], axis=1)
            row = np.arange(len(walking))
            rank[walking] = limited - (upto[row, choice] - paths[row, choice])
            node[walking] = nodes[walking, hop] = following[row, choice]
            left[walking] = after[row, choice]
        return np.asarray(nodes[nodes >= 0])


def _table(network: Network) -> LongArray:
    """Return, per node, its successors in ascending order, padded with the number of nodes."""
    width = max(map(len, network.successors), default=0)
    table = np.full((network.nodes + 1, max(1, width)), network.nodes, dtype=np.int64)
    for node, following in enumerate(network.successors):
        table[node, : len(following)] = following
    return table
