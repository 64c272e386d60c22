"""Packing of spanning trees with integer weights into the capacities of a network.

Trees from given roots, as many as the smallest cut allows (Edmonds, "Edge-disjoint branchings",
1973), are grown arc by arc: an arc is added as often as the cut condition of all other trees
permits, which is one maximum flow.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from .edge_splitting import Arc, Part
from .max_flow import FlowNetwork

_MAX_TRIED = 6
"""Arcs that are tried for the one that the whole weight of a tree can take."""


class Tree(NamedTuple):
    """A spanning tree: its root, how often it counts, and its arcs from the root outwards."""

    root: int
    weight: int
    arcs: tuple[Arc, ...]


class PathTree(NamedTuple):
    """A tree whose arcs are paths; each begins at the root or where an earlier one ends."""

    root: int
    weight: int
    paths: tuple[tuple[int, ...], ...]


def pack_trees(
    capacity: Mapping[Arc, int],
    roots: Mapping[int, int],
    nodes: Collection[int],
    deadline: float = math.inf,
) -> Iterator[Tree]:
    """Yield spanning trees that together use no arc more than its capacity.

    Parameters
    ----------
    capacity
        The capacity of every arc between the nodes.
    roots
        Per node the total weight of the trees that it is the root of. For every set of nodes, the
        weight of the roots outside must not exceed the capacity of the arcs into the set.
    nodes
        The nodes that every tree spans.
    deadline
        The end, by ``time.monotonic``.

    Raises
    ------
    TimeoutError
        It is over.
    ValueError
        There is no such packing.
    """
    packing = _Packing(capacity, roots, nodes, deadline)
    while packing.open:
        yield packing.finish(packing.open.pop())


class _Packing:
    def __init__(
        self,
        capacity: Mapping[Arc, int],
        roots: Mapping[int, int],
        nodes: Collection[int],
        deadline: float,
    ) -> None:
        self.deadline = deadline
        self.left = {arc: size for arc, size in capacity.items() if size}
        self.nodes = frozenset(nodes)
        self.source = max((*nodes, 0)) + 1
        self.open = [Tree(root, weight, ()) for root, weight in roots.items() if weight]

    def finish(self, tree: Tree) -> Tree:
        """Return the tree grown to all nodes; what cannot follow it stays open as another one."""
        depth = {tree.root: 0}
        for a, b in tree.arcs:
            depth[b] = depth[a] + 1
        full: list[frozenset[int]] = []
        while len(depth) < len(self.nodes):
            if time.monotonic() > self.deadline:
                raise TimeoutError
            (a, b), weight = self._next_arc(tree, depth, full)
            if weight < tree.weight:
                self.open.append(tree._replace(weight=tree.weight - weight))
                full = []
            tree = Tree(tree.root, weight, (*tree.arcs, (a, b)))
            depth[b] = depth[a] + 1
            self.left[a, b] -= weight
            if not self.left[a, b]:
                del self.left[a, b]
        return tree

    def _next_arc(
        self, tree: Tree, depth: dict[int, int], full: list[frozenset[int]]
    ) -> tuple[Arc, int]:
        """Return an arc out of the tree, near its root, and the weight that can take it.

        No arc into a set of ``full`` can be taken; further sets are added.
        """
        leaving = sorted(
            (depth[a], size < tree.weight, (a, b))
            for (a, b), size in self.left.items()
            if a in depth and b not in depth
        )
        best, tried = ((0, 0), 0), 0
        for _, _, (a, b) in leaving:
            if any(b in inside and a not in inside for inside in full):
                continue
            weight = self._weight(tree, (a, b), full)
            if weight == tree.weight:
                return (a, b), weight
            if weight > best[1]:
                best = ((a, b), weight)
            tried += weight > 0
            if tried == _MAX_TRIED:
                break
        if not best[1]:
            raise ValueError("the cut condition does not hold")
        return best

    def _weight(self, tree: Tree, arc: Arc, full: list[frozenset[int]]) -> int:
        """Return how much of the tree's weight can take an arc.

        Every set that the arc enters must keep as much capacity as the weight of all other open
        trees without a node in it. Those trees are nodes of the flow network, which the source
        supplies with their weights and which supply their own nodes; the arc's tail is on the
        source's side.
        """
        a, b = arc
        size = min(self.left[arc], tree.weight)
        others = sum(each.weight for each in self.open)
        endless = sum(self.left.values()) + others + 1
        capacity = dict(self.left)
        for number, each in enumerate(self.open, self.source + 1):
            supply = (self.source, number if each.arcs else each.root)
            capacity[supply] = capacity.get(supply, 0) + each.weight
            if each.arcs:
                for node in (each.root, *(head for _, head in each.arcs)):
                    capacity[number, node] = endless
        capacity[self.source, a] = endless
        found = FlowNetwork(capacity).flow(self.source, b)
        spare = found.value - others
        if spare <= 0:
            full.append(found.sink_side & self.nodes)
        return max(0, min(size, spare))


def with_paths(
    trees: Iterator[Tree], parts: Mapping[Arc, deque[Part]], source: int
) -> list[PathTree]:
    """Return the trees with the paths in the network that their arcs stand for.

    Parameters
    ----------
    parts
        Per arc the paths that make it up; consumed. The paths of the arc from ``source`` to a root
        begin with ``source`` and the node whose message the tree carries.
    """
    found: Counter[tuple[int, tuple[tuple[int, ...], ...]]] = Counter()
    for tree in trees:
        arcs = ((source, tree.root), *tree.arcs)
        left = tree.weight
        while left:
            weight = min(left, *(parts[arc][0][0] for arc in arcs))
            entry, *paths = [parts[arc][0][1] for arc in arcs]
            for arc in arcs:
                size, path = parts[arc].popleft()
                if size > weight:
                    parts[arc].appendleft((size - weight, path))
            left -= weight
            if len(entry) > 2:  # the message's source is no root: it was a forwarding node
                paths.insert(0, entry[1:])
            found[entry[1], tuple(paths)] += weight
    return [PathTree(root, weight, paths) for (root, paths), weight in found.items()]
