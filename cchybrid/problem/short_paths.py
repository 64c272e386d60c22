"""The short paths of many pairs of nodes at once, or an even choice of them, in flat arrays.

The same dynamic program as in ``routes`` (paths are counted on the DAG towards each target, and
found by their rank), done in numpy for all pairs together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network
from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.problem.ragged import within

Ranks = NDArray[np.float64]

_CELLS = 1 << 22
"""Cells of the tables that one round of walks may fill."""


class ShortPaths:
    """Counts and lists paths of given lengths that pass no endpoint.

    Counts are floating-point numbers, exact up to 2^53; where there are more paths, nobody lists
    them all, and the choice among them needs no exact number.

    Parameters
    ----------
    network
        The network.
    distance
        Shape (nodes, nodes): hop distances that pass no endpoint, -1 for none.
    sources, targets
        Shape (bundles,): the ends of each bundle of paths; there is a path.
    extra
        Shape (bundles,): by how many hops the bundle's paths exceed the shortest, 0 or 1. (Walks
        of two extra hops may cross themselves, so that they are no paths.)
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
        self._endpoint = np.zeros(network.nodes + 1, dtype=np.bool_)
        self._endpoint[list(network.endpoints)] = True
        self._targets, self._column = np.unique(targets, return_inverse=True)
        # One more row: where the table of successors has none, it points there.
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

    def listed(self, taken: LongArray, random: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return paths of every bundle.

        Parameters
        ----------
        taken
            Shape (bundles,): how many of each, at most as many as it has.

        Returns
        -------
        nodes
            The nodes of all paths in a row, bundle by bundle, in ascending order within each.
        hops
            Shape (paths,): the hops of each path; it has one node more.
        """
        bundle = np.repeat(np.arange(len(taken)), taken)
        place = within(taken)
        # Ranks are cut into equal pieces, one path from each: distinct, ordered, and spread.
        width = self.count[bundle] / taken[bundle]
        low, high = np.floor(place * width), np.floor((place + 1) * width)
        drawn = np.floor(random.random(len(bundle)) * (high - low))
        rank = np.where(width > 1.0, low + drawn, low)
        block = max(1, _CELLS // (self._successors.shape[1] + 1))
        found = [
            self._walk(bundle[begin : begin + block], rank[begin : begin + block])
            for begin in range(0, len(bundle), block)
        ]
        return np.concatenate([*found, np.empty(0, np.int32)]), self._hops(bundle)

    def _hops(self, bundle: LongArray) -> IntArray:
        shortest = self._distance[self._sources[bundle], self._column[bundle]]
        return (shortest + self._extra[bundle]).astype(np.int32)

    def _counted(self, extra: int) -> Ranks:
        """Return, shape (extra + 1, nodes + 1, targets), the paths with so many extra hops."""
        columns = len(self._targets)
        count = np.zeros((extra + 1, len(self._distance), columns))
        count[0, self._targets, np.arange(columns)] = 1.0
        order = np.argsort(self._distance[:-1], axis=None, kind="stable")
        level = self._distance[:-1].ravel()[order]
        farthest = int(level[-1]) if len(level) else 0
        bounds = np.searchsorted(level, np.arange(1, farthest + 2))
        for hops in range(extra + 1):
            for begin, end in pairwise(bounds.tolist()):
                node, column = np.divmod(order[begin:end], columns)
                left = np.full(len(node), hops)
                count[hops, node, column] = self._onward(node, column, left, count)[2].sum(axis=1)
        return count

    def _onward(
        self, node: LongArray, column: LongArray, left: LongArray, count: Ranks
    ) -> tuple[Any, Any, Ranks]:
        """Return the next nodes, the extra hops left there, and the paths from there."""
        following = self._successors[node]
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
        left, hops = self._extra[bundle].copy(), self._hops(bundle)
        nodes = np.full((len(bundle), int(hops.max(initial=0)) + 1), -1, dtype=np.int32)
        nodes[:, 0] = node
        walking = np.arange(len(bundle))
        for hop in range(1, nodes.shape[1]):
            walking = walking[hops[walking] >= hop]
            following, after, paths = self._onward(
                node[walking], column[walking], left[walking], self._count
            )
            upto = np.cumsum(paths, axis=1)
            # Rounding must not lead a walk of a giant rank past the last way.
            wanted = np.minimum(rank[walking], np.nextafter(upto[:, -1], 0.0))
            choice = np.argmax(upto > wanted[:, None], axis=1)
            row = np.arange(len(walking))
            rank[walking] = wanted - (upto[row, choice] - paths[row, choice])
            node[walking] = nodes[walking, hop] = following[row, choice]
            left[walking] = after[row, choice]
        return np.asarray(nodes[nodes >= 0])


def _table(network: Network) -> LongArray:
    """Return every node's successors in ascending order, filled up with a node that is none."""
    width = max(map(len, network.successors), default=0)
    table = np.full((network.nodes + 1, max(1, width)), network.nodes, dtype=np.int64)
    for node, following in enumerate(network.successors):
        table[node, : len(following)] = following
    return table
