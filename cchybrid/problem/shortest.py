"""All shortest paths of many pairs of nodes at once, or an even choice of them, in flat arrays.

The same dynamic program as in ``routes`` (paths are counted on the shortest-path DAG towards each
target, and found by their rank), done in numpy for all pairs together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network
from cchybrid.problem.arrays import IntArray, LongArray

Ranks = NDArray[np.float64]

_CELLS = 1 << 22
"""Cells of the tables that one round of walks may fill."""


class ShortestPaths:
    """Counts and lists shortest paths that pass no endpoint.

    Counts are floating-point numbers, exact up to 2^53; where there are more paths, nobody lists
    them all, and the choice among them needs no exact number.

    Parameters
    ----------
    network
        The network.
    distance
        Shape (nodes, nodes): hop distances that pass no endpoint, -1 for none.
    sources, targets
        Shape (pairs,): the pairs of nodes; each has a path.
    """

    def __init__(
        self, network: Network, distance: IntArray, sources: LongArray, targets: LongArray
    ) -> None:
        self._successors = _table(network)
        self._endpoint = np.zeros(network.nodes + 1, dtype=np.bool_)
        self._endpoint[list(network.endpoints)] = True
        self._targets, self._column = np.unique(targets, return_inverse=True)
        self._distance = distance[:, self._targets]
        self._sources = sources
        self._count = self._counted()

    @property
    def count(self) -> Ranks:
        """Shape (pairs,): the number of shortest paths of each pair."""
        return np.asarray(self._count[self._sources, self._column])

    def listed(self, share: int, random: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return at most ``share`` paths of every pair.

        Returns
        -------
        nodes
            The nodes of all paths in a row, pair by pair, in ascending order within a pair.
        hops
            Shape (paths,): the hops of each path; it has one node more.
        """
        count = self.count
        taken = np.minimum(count, share).astype(np.int64)
        pair = np.repeat(np.arange(len(taken)), taken)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(taken) - taken, taken)
        # Ranks are cut into equal pieces, one path from each: distinct, ordered, and spread.
        width = count[pair] / taken[pair]
        low, high = np.floor(place * width), np.floor((place + 1) * width)
        rank = np.where(width > 1.0, low + np.floor(random.random(len(pair)) * (high - low)), low)
        block = max(1, _CELLS // (self._successors.shape[1] + 1))
        found = [
            self._walk(pair[begin : begin + block], rank[begin : begin + block])
            for begin in range(0, len(pair), block)
        ]
        hops = self._distance[self._sources[pair], self._column[pair]]
        return np.concatenate([*found, np.empty(0, np.int32)]), hops.astype(np.int32)

    def _counted(self) -> Ranks:
        columns = len(self._targets)
        # One more row: where the table of successors has none, it points there.
        count = np.zeros((len(self._distance) + 1, columns))
        count[self._targets, np.arange(columns)] = 1.0
        order = np.argsort(self._distance, axis=None, kind="stable")
        level = self._distance.ravel()[order]
        farthest = int(level[-1]) if len(level) else 0
        bounds = np.searchsorted(level, np.arange(1, farthest + 2))
        for begin, end in pairwise(bounds.tolist()):
            node, column = np.divmod(order[begin:end], columns)
            count[node, column] = self._onward(node, column, count)[1].sum(axis=1)
        return count

    def _onward(self, node: LongArray, column: LongArray, count: Ranks) -> tuple[Any, Ranks]:
        """Return the next nodes of walks towards a target, and the paths from each of them."""
        following = self._successors[node]
        target = self._targets[column][:, None]
        near = self._distance[np.minimum(following, len(self._distance) - 1), column[:, None]]
        leads = (near == self._distance[node, column][:, None] - 1) & (
            ~self._endpoint[following] | (following == target)
        )
        return following, np.where(leads, count[following, column[:, None]], 0.0)

    def _walk(self, pair: LongArray, rank: Ranks) -> IntArray:
        """Return the nodes of the paths of these ranks, one path after another."""
        column, node = self._column[pair], self._sources[pair].copy()
        hops = self._distance[node, column]
        nodes = np.full((len(pair), int(hops.max(initial=0)) + 1), -1, dtype=np.int32)
        nodes[:, 0] = node
        walking = np.arange(len(pair))
        for hop in range(1, nodes.shape[1]):
            walking = walking[hops[walking] >= hop]
            following, paths = self._onward(node[walking], column[walking], self._count)
            upto = np.cumsum(paths, axis=1)
            # Rounding must not lead a walk of a giant rank past the last way.
            wanted = np.minimum(rank[walking], np.nextafter(upto[:, -1], 0.0))
            choice = np.argmax(upto > wanted[:, None], axis=1)
            row = np.arange(len(walking))
            rank[walking] = wanted - (upto[row, choice] - paths[row, choice])
            node[walking] = nodes[walking, hop] = following[row, choice]
        return np.asarray(nodes[nodes >= 0])


def _table(network: Network) -> LongArray:
    """Return every node's successors in ascending order, filled up with a node that is none."""
    width = max(map(len, network.successors), default=0)
    table = np.full((network.nodes + 1, max(1, width)), network.nodes, dtype=np.int64)
    for node, following in enumerate(network.successors):
        table[node, : len(following)] = following
    return table
