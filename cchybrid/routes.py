"""The routes that an instance's routing rule allows, without listing them where they explode.

Minimal routing lives on the shortest-path DAG towards a target: counting, ranking, unranking,
sampling and pricing are dynamic programs on it. Longer routes (a number of extra hops, or any
simple path) are enumerated depth first with the hop distance to the target as the pruning bound,
and priced by hop-layered dynamic programming or Dijkstra's algorithm.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray

from cchybrid.distances import hop_distances
from cchybrid.model import Network

Path = tuple[int, ...]


class Routes:
    """The allowed paths between the nodes of a network.

    Parameters
    ----------
    network
        The network; paths never pass one of its endpoints.
    extra_hops
        Hops that a path may exceed the shortest by; ``None`` allows any simple path.
    """

    def __init__(self, network: Network, extra_hops: int | None) -> None:
        self.network = network
        self.extra_hops = extra_hops
        self._endpoints = frozenset(network.endpoints)
        self._onward: dict[int, tuple[list[list[int]], list[int]]] = {}

    @cached_property
    def distance(self) -> NDArray[np.int32]:
        """Hop distances, shape (nodes, nodes); -1 where there is no path."""
        return hop_distances(self.network, range(self.network.nodes))

    @property
    def minimal(self) -> bool:
        """Whether only shortest paths are allowed."""
        return self.extra_hops == 0

    def count(self, source: int, target: int, limit: int) -> int:
        """Return the number of allowed paths, or ``limit`` if there are at least so many."""
        if self.distance[source, target] <= 0:
            return 0
        if self.minimal:
            return min(limit, self._dag(target)[1][source])
        return sum(1 for _ in islice(self._walk(source, target), limit))

    def paths(self, source: int, target: int) -> Iterator[Path]:
        """Yield every allowed path, neighbours in ascending order (similar paths stand close)."""
        if self.distance[source, target] <= 0:
            return iter(())
        return self._walk(source, target)

    def rank(self, path: Sequence[int]) -> int:
        """Return the position of a shortest path among those that ``paths`` yields."""
        onward, count = self._dag(path[-1])
        position = 0
        for node, following in pairwise(path):
            for other in onward[node]:
                if other == following:
                    break
                position += count[other]
        return position

    def unrank(self, source: int, target: int, position: int) -> Path:
        """Return the shortest path at a position; the inverse of ``rank``."""
        onward, count = self._dag(target)
        if not 0 <= position < count[source]:
            raise IndexError(f"{count[source]} shortest paths from {source} to {target}")
        path = [source]
        while path[-1] != target:
            for other in onward[path[-1]]:
                if position < count[other]:
                    path.append(other)
                    break
                position -= count[other]
        return tuple(path)

    def sample(self, source: int, target: int, size: int, random: Random) -> list[Path]:
        """Return up to ``size`` distinct allowed paths: uniform ones under minimal routing."""
        if self.distance[source, target] <= 0:
            return []
        if self.minimal:
            total = self._dag(target)[1][source]
            if total <= size:
                return list(self.paths(source, target))
            chosen = sorted(random.sample(range(total), size))
            return [self.unrank(source, target, position) for position in chosen]
        found: dict[Path, None] = {}
        for _ in range(8 * size):
            found.setdefault(next(self._walk(source, target, random)))
            if len(found) == size:
                break
        return sorted(found)

    def cheapest(self, source: int, target: int, cost: NDArray[np.float64]) -> tuple[float, Path]:
        """Return an allowed path of least total channel cost, and that cost.

        Parameters
        ----------
        cost
            Non-negative cost of each channel of the network, in the order of its channels.
            A cheapest walk is then a path: cutting out a cycle costs nothing.
        """
        if self.distance[source, target] <= 0:
            return float("inf"), ()
        if self.minimal:
            return self._cheapest_minimal(source, target, cost)
        if self.extra_hops is None:
            return self._cheapest_any(source, target, cost)
        hops = int(self.distance[source, target]) + self.extra_hops
        return self._cheapest_within(source, target, cost, hops)

    def _dag(self, target: int) -> tuple[list[list[int]], list[int]]:
        """Return, towards a target, every node's next nodes and its number of shortest paths."""
        known = self._onward.get(target)
        if known is None:
            distance = self.distance[:, target].tolist()
            onward: list[list[int]] = [[] for _ in distance]
            count = [0] * len(distance)
            count[target] = 1
            order = np.argsort(self.distance[:, target], kind="stable").tolist()
            for node in order:
                if distance[node] > 0:
                    onward[node] = [
                        other
                        for other in self.network.successors[node]
                        if other == target
                        or (distance[other] == distance[node] - 1 and other not in self._endpoints)
                    ]
                    count[node] = sum(count[other] for other in onward[node])
            known = self._onward[target] = onward, count
        return known

    def _walk(self, source: int, target: int, random: Random | None = None) -> Iterator[Path]:
        """Yield the allowed paths depth first, in ascending or in random order of neighbours."""
        remaining = self.distance[:, target].tolist()
        most = self.network.nodes - 1
        if self.extra_hops is not None:
            most = min(most, remaining[source] + self.extra_hops)

        def onward(node: int, hops: int) -> Iterator[int]:
            nodes = [
                other
                for other in self.network.successors[node]
                if other == target
                or (
                    other not in self._endpoints
                    and other not in visited
                    and 0 <= remaining[other] <= most - hops - 1
                )
            ]
            if random is not None:
                random.shuffle(nodes)
            return iter(nodes)

        path, visited = [source], {source}
        stack = [onward(source, 0)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                visited.discard(path.pop())
            elif node == target:
                yield (*path, target)
            else:
                path.append(node)
                visited.add(node)
                stack.append(onward(node, len(path) - 1))

    def _cheapest_minimal(
        self, source: int, target: int, cost: NDArray[np.float64]
    ) -> tuple[float, Path]:
        onward, _ = self._dag(target)
        index = self.network.channel_index
        best: dict[int, tuple[float, int]] = {target: (0.0, target)}

        stack = [source]
        while stack:
            node = stack[-1]
            waiting = [other for other in onward[node] if other not in best]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if node not in best:
                best[node] = min(
                    (float(cost[index[node, other]]) + best[other][0], other)
                    for other in onward[node]
                )
        path = [source]
        while path[-1] != target:
            path.append(best[path[-1]][1])
        return best[source][0], tuple(path)

    def _cheapest_any(
        self, source: int, target: int, cost: NDArray[np.float64]
    ) -> tuple[float, Path]:
        index = self.network.channel_index
        settled: dict[int, tuple[float, int]] = {}
        queue = [(0.0, source, source)]
        while queue:
            spent, node, before = heapq.heappop(queue)
            if node in settled:
                continue
            settled[node] = spent, before
            if node == target:
                break
            if node != source and node in self._endpoints:
                continue
            for other in self.network.successors[node]:
                if other not in settled:
                    heapq.heappush(queue, (spent + float(cost[index[node, other]]), other, node))
        path = [target]
        while path[-1] != source:
            path.append(settled[path[-1]][1])
        return settled[target][0], tuple(reversed(path))

    def _cheapest_within(
        self, source: int, target: int, cost: NDArray[np.float64], hops: int
    ) -> tuple[float, Path]:
        """Bellman's recursion over the number of hops still allowed."""
        index = self.network.channel_index
        remaining = self.distance[:, target].tolist()
        layers: list[dict[int, tuple[float, int]]] = [{source: (0.0, source)}]
        for hop in range(1, hops + 1):
            layer: dict[int, tuple[float, int]] = {}
            for node, (spent, _) in layers[-1].items():
                if node == target or (node != source and node in self._endpoints):
                    continue
                for other in self.network.successors[node]:
                    if 0 <= remaining[other] <= hops - hop:
                        reached = spent + float(cost[index[node, other]]), node
                        if other not in layer or reached < layer[other]:
                            layer[other] = reached
            layers.append(layer)
        last = min((layer[target][0], hop) for hop, layer in enumerate(layers) if target in layer)
        path = [target]
        for hop in range(last[1], 0, -1):
            path.append(layers[hop][path[-1]][1])
        return last[0], _without_cycles(path[::-1])


def _without_cycles(walk: list[int]) -> Path:
    """Cut the free cycles out of a cheapest walk: what remains is a simple path, no dearer."""
    path: list[int] = []
    for node in walk:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)
