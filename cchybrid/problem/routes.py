"""The paths that a routing rule allows between two nodes: list, sample and price them.

- Shortest paths: dynamic programs on the shortest-path DAG towards the target, without enumeration.
- Longer paths: depth-first search that prunes by the hop distance to the target. They are priced by
  dynamic programming over the number of hops, or, if any simple path is allowed, by Dijkstra's
  algorithm, backwards from the target.
"""

import heapq
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice, pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network, RoutingTable
from cchybrid.referee.distances import hop_distances

Path = tuple[int, ...]


class Routes:
    """The allowed paths between the nodes of a network.

    Parameters
    ----------
    network
        The network; paths never pass one of its endpoints.
    extra_hops
        Largest number of hops above the shortest path; ``None`` allows any simple path.
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

    def paths(self, source: int, target: int) -> Iterator[Path]:
        """Yield every allowed path in lexicographic order."""
        if self.distance[source, target] <= 0:
            return iter(())
        return self._simple_paths(source, target, self._max_hops(source, target))

    def ends(self, source: int) -> Iterator[int]:
        """Yield the last node of every allowed path from a source.

        The allowed paths from one source are a tree, as each part of one that begins there is one
        itself: it has no more extra hops. So every path followed counts, unlike by ``paths``.
        """
        longest = [self._max_hops(source, node) for node in range(self.network.nodes)]
        waiting = [(source, 1 << source, 0)]
        while waiting:
            node, visited, hops = waiting.pop()
            for other in self.network.successors[node]:
                if not visited >> other & 1 and hops < longest[other]:
                    yield other
                    if other not in self._endpoints:
                        waiting.append((other, visited | 1 << other, hops + 1))

    def short_paths(self, source: int, target: int, size: int) -> list[Path]:
        """Return all allowed paths if they are at most ``size``, else ``size`` + 1 short ones."""
        extra, max_hops = 0, self._max_hops(source, target)
        while True:
            hops = min(int(self.distance[source, target]) + extra, max_hops)
            found = list(islice(self._simple_paths(source, target, hops), size + 1))
            if len(found) > size or hops == max_hops:
                return found
            extra = 2 * extra or 1

    def _shortest(self, source: int, target: int, rank: int) -> Path:
        """Return the shortest path at a position in the sorted list of all."""
        onward, count = self._dag(target)
        path = [source]
        while path[-1] != target:
            for other in onward[path[-1]]:
                if rank < count[other]:
                    path.append(other)
                    break
                rank -= count[other]
        return tuple(path)

    def sample(self, source: int, target: int, size: int, random: Random) -> list[Path]:
        """Return ``size`` distinct allowed paths in ascending order, or all if there are fewer.

        Shortest paths are sampled uniformly. If there are fewer than ``size``, all of them and
        paths with the fewest extra hops are returned; the longest ones come from random walks.
        """
        shortest = int(self.distance[source, target])
        if shortest <= 0:
            return []
        total = self._dag(target)[1][source]
        if total > size:
            ranks = _sample_numbers(total, size, random)
            return sorted(self._shortest(source, target, rank) for rank in ranks)
        found = list(self._simple_paths(source, target, shortest))
        for hops in range(shortest + 1, self._max_hops(source, target) + 1):
            if len(found) == size:
                break
            within = list(islice(self._simple_paths(source, target, hops), size + 1))
            if len(within) <= size:
                found = within
                continue
            chosen = dict.fromkeys(found)
            for _ in range(2 * size):
                chosen.setdefault(next(self._simple_paths(source, target, hops, random)))
                if len(chosen) == size:
                    break
            for path in within:
                if len(chosen) == size:
                    break
                chosen.setdefault(path)
            found = sorted(chosen)
        return found

    def cheapest_to(
        self, target: int, sources: Iterable[int], cost: NDArray[np.float64]
    ) -> dict[int, tuple[float, Path]]:
        """Return the cost and the nodes of a cheapest allowed path from every connected source.

        Parameters
        ----------
        cost
            Non-negative cost of each channel of the network, in the order of its channels. So a
            cheapest walk can be made a path: removing a cycle costs nothing.
        """
        reachable_sources = [source for source in sources if self.distance[source, target] > 0]
        price = dict(zip(self.network.channel_index, cost.tolist(), strict=True))
        if self.extra_hops == 0:
            return self._cheapest_minimal(reachable_sources, target, price)
        if self.extra_hops is None:
            return self._cheapest_any(reachable_sources, target, price)
        return self._cheapest_within(reachable_sources, target, price)

    def _max_hops(self, source: int, target: int) -> int:
        """Return an upper bound on the hops of the allowed paths; there must be a path."""
        max_hops = self.network.nodes - 1
        if self.extra_hops is None:
            return max_hops
        return min(max_hops, int(self.distance[source, target]) + self.extra_hops)

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """For every node the nodes with a channel to it, in ascending order."""
        before: list[list[int]] = [[] for _ in range(self.network.nodes)]
        for node, following in enumerate(self.network.successors):
            for other in following:
                before[other].append(node)
        return before

    def _dag(self, target: int) -> tuple[list[list[int]], list[int]]:
        """Return the shortest paths to a target: per node the next nodes, and their number."""
        if target not in self._onward:
            distance = self.distance[:, target].tolist()
            onward: list[list[int]] = [[] for _ in distance]
            count = [0] * len(distance)
            count[target] = 1
            for node in np.argsort(self.distance[:, target], kind="stable").tolist():
                if distance[node] > 0:
                    onward[node] = [
                        other
                        for other in self.network.successors[node]
                        if distance[other] == distance[node] - 1
                        and (other == target or other not in self._endpoints)
                    ]
                    count[node] = sum(count[other] for other in onward[node])
            self._onward[target] = onward, count
        return self._onward[target]

    def _simple_paths(
        self, source: int, target: int, max_hops: int, random: Random | None = None
    ) -> Iterator[Path]:
        """Yield the simple paths of at most ``max_hops`` hops depth first.

        Neighbours are visited in ascending order, or with ``random`` in random order.
        """
        remaining = self.distance[:, target].tolist()

        def onward(node: int, hops: int) -> Iterator[int]:
            nodes = [
                other
                for other in self.network.successors[node]
                if other == target
                or (
                    other not in self._endpoints
                    and other not in visited
                    and 0 <= remaining[other] <= max_hops - hops - 1
                )
            ]
            if random is not None:
                random.shuffle(nodes)
            return iter(nodes)

        # The hop distance ignores that a path may block itself. After this number of nodes without
        # a path found, nodes are entered only if the target can still be reached: otherwise
        # backtracking could take exponential time.
        max_credit = credit = self.network.nodes
        path, visited = [source], {source}
        stack = [onward(source, 0)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                visited.discard(path.pop())
            elif node == target:
                credit = max_credit
                yield (*path, target)
            elif credit > 0 or self._can_reach(node, target, max_hops - len(path), visited):
                credit -= 1
                path.append(node)
                visited.add(node)
                stack.append(onward(node, len(path) - 1))

    def _can_reach(self, node: int, target: int, hops: int, visited: set[int]) -> bool:
        """Return whether the target is within ``hops`` hops via unvisited nodes (breadth first)."""
        seen, level = {node}, [node]
        for _ in range(hops):
            following = []
            for here in level:
                for other in self.network.successors[here]:
                    if other == target:
                        return True
                    if other not in seen and other not in visited and other not in self._endpoints:
                        seen.add(other)
                        following.append(other)
            level = following
        return False

    def _cheapest_minimal(
        self, sources: list[int], target: int, price: dict[tuple[int, int], float]
    ) -> dict[int, tuple[float, Path]]:
        """Dynamic programming on the shortest-path DAG."""
        onward, _ = self._dag(target)
        best: dict[int, tuple[float, int]] = {target: (0.0, target)}
        stack = list(sources)
        while stack:
            node = stack[-1]
            waiting = [other for other in onward[node] if other not in best]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if node not in best:
                best[node] = min(
                    (price[node, other] + best[other][0], other) for other in onward[node]
                )
        return {source: (best[source][0], _path_to(best, source, target)) for source in sources}

    def _cheapest_any(
        self, sources: list[int], target: int, price: dict[tuple[int, int], float]
    ) -> dict[int, tuple[float, Path]]:
        """Dijkstra's algorithm, backwards from the target."""
        best: dict[int, tuple[float, int]] = {}
        missing = set(sources)
        queue = [(0.0, target, target)]
        while missing:
            spent, node, after = heapq.heappop(queue)
            if node in best:
                continue
            best[node] = spent, after
            missing.discard(node)
            if node != target and node in self._endpoints:
                continue
            for other in self.predecessors[node]:
                if other not in best:
                    heapq.heappush(queue, (spent + price[other, node], other, node))
        return {source: (best[source][0], _path_to(best, source, target)) for source in sources}

    def _cheapest_within(
        self, sources: list[int], target: int, price: dict[tuple[int, int], float]
    ) -> dict[int, tuple[float, Path]]:
        """Bellman's recursion over the number of hops, with one layer per number: limits differ."""
        max_hops = {source: self._max_hops(source, target) for source in sources}
        layers: list[dict[int, tuple[float, int]]] = [{target: (0.0, target)}]
        for hop in range(max(max_hops.values(), default=0)):
            layer: dict[int, tuple[float, int]] = {}
            for node, (spent, _) in layers[-1].items():
                if hop > 0 and (node == target or node in self._endpoints):
                    continue
                for other in self.predecessors[node]:
                    reached = spent + price[other, node], node
                    if other not in layer or reached < layer[other]:
                        layer[other] = reached
            layers.append(layer)
        found = {}
        for source, hops in max_hops.items():
            spent, used = min(
                (layer[source][0], used)
                for used, layer in enumerate(layers[: hops + 1])
                if source in layer
            )
            walk = [source]
            for left in range(used, 0, -1):
                walk.append(layers[left][walk[-1]][1])
            found[source] = spent, without_cycles(walk)  # cycles of a cheapest walk cost nothing
        return found


class TableRoutes(Routes):
    """The paths of a routing table: at most one for each pair of nodes."""

    def __init__(self, network: Network, table: RoutingTable) -> None:
        super().__init__(network, None)
        self._table = table

    @cached_property
    def distance(self) -> NDArray[np.int32]:
        """Hops of the paths, shape (nodes, nodes); -1 where there is none."""
        nodes = range(self.network.nodes)
        return np.array(
            [[len(self._table.path(a, b)) - 1 for b in nodes] for a in nodes], dtype=np.int32
        )

    def paths(self, source: int, target: int) -> Iterator[Path]:
        """Yield the path, if there is one."""
        if self.distance[source, target] > 0:
            yield self._table.path(source, target)

    def ends(self, source: int) -> Iterator[int]:
        """Yield every node to which there is a path."""
        return iter(np.flatnonzero(self.distance[source] > 0).tolist())

    def short_paths(self, source: int, target: int, size: int) -> list[Path]:
        """Return the path, if there is one."""
        return list(self.paths(source, target))

    def sample(self, source: int, target: int, size: int, random: Random) -> list[Path]:
        """Return the path, if there is one."""
        return list(self.paths(source, target))

    def cheapest_to(
        self, target: int, sources: Iterable[int], cost: NDArray[np.float64]
    ) -> dict[int, tuple[float, Path]]:
        """Return the cost and the nodes of the path from every source that has one."""
        channel = self.network.channel_index
        return {
            source: (float(sum(cost[channel[hop]] for hop in pairwise(path))), path)
            for source in sources
            for path in self.paths(source, target)
        }


def _path_to(best: dict[int, tuple[float, int]], source: int, target: int) -> Path:
    """Return the path of the next nodes in ``best``."""
    path = [source]
    while path[-1] != target:
        path.append(best[path[-1]][1])
    return tuple(path)


def _sample_numbers(total: int, size: int, random: Random) -> Iterable[int]:
    """Return ``size`` distinct random numbers below ``total``, which may exceed 64 bits."""
    if total <= 8 * size:
        return random.sample(range(total), size)
    chosen: set[int] = set()
    while len(chosen) < size:
        chosen.add(random.randrange(total))
    return chosen


def without_cycles(walk: Iterable[int]) -> Path:
    """Return the path over arcs of a walk from its first node to its last one."""
    path: list[int] = []
    for node in walk:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)
