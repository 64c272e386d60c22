"""Removal of nodes that only forward: pairs of their arcs become arcs past them.

Splitting off the pair (u, x), (x, v) replaces a capacity of both by the arc (u, v). If in every
node as much capacity enters as leaves, all arcs of a forwarding node can be split off so that the
maximum flow from the root to every target stays at least the demand (Bang-Jensen, Frank and
Jackson, "Preserving and increasing local edge-connectivity in mixed graphs", SIAM Journal on
Discrete Mathematics 8, 1995; used for collectives by Zhao et al., "ForestColl", arXiv:2402.06787).
In other networks it may fail.
"""

import math
import time
from collections import deque
from collections.abc import Collection

from cchybrid.problem.routes import without_cycles

from .max_flow import FlowNetwork

Arc = tuple[int, int]
Part = tuple[int, tuple[int, ...]]
"""A capacity, and the path in the network that offers it."""
_PARTNERS = 8
"""Nodes on the other side of a removed one that each of its neighbours is first linked to, in equal
shares: more of them give trees of smaller depth, but more trees."""


class Splitting:
    """Arcs with their paths in the network, while forwarding nodes are removed.

    Parameters
    ----------
    capacity
        The capacity of every arc.
    root, targets, demand
        The flow from the root to every target that must stay possible.
    deadline
        The end, by ``time.monotonic``, after which ``remove`` raises a ``TimeoutError``.

    Attributes
    ----------
    capacity
        The capacity of the arcs that are left; none is 0.
    parts
        Per arc the paths that make it up.
    complete
        Whether the demand can still be met.
    """

    def __init__(
        self,
        capacity: dict[Arc, int],
        root: int,
        targets: Collection[int],
        demand: int,
        deadline: float = math.inf,
    ) -> None:
        self._deadline = deadline
        self.capacity = {arc: size for arc, size in capacity.items() if size}
        self.parts: dict[Arc, deque[Part]] = {
            arc: deque([(size, arc)]) for arc, size in self.capacity.items()
        }
        self.complete = True
        self._root, self._targets, self._demand = root, targets, demand

    def remove(self, node: int) -> None:
        """Split off the arcs of a forwarding node, and drop those that are left."""
        tails, heads = self._beside(node)
        shares = [
            (u, v, max(1, min(self.capacity[u, node] // max(1, min(_PARTNERS, len(heads) - 1)),
                              self.capacity[node, v] // max(1, min(_PARTNERS, len(tails) - 1)))))
            for u in tails for v in heads if u != v
        ]  # fmt: skip
        self._split(node, shares)
        tails, heads = self._beside(node)
        rest = [
            (u, v, min(self.capacity[u, node], self.capacity[node, v]))
            for u in tails
            for v in heads
            if u != v
        ]
        self._split(node, rest)
        dropped = [arc for arc in self.capacity if node in arc]
        for arc in dropped:
            del self.capacity[arc], self.parts[arc]
        if dropped and self._shortfall() > 0:
            self.complete = False

    def degree(self, node: int) -> int:
        """Return the number of arcs at a node."""
        return sum(node in arc for arc in self.capacity)

    def _beside(self, node: int) -> tuple[list[int], list[int]]:
        tails = [a for a, b in self.capacity if b == node]
        heads = [b for a, b in self.capacity if a == node]
        return tails, heads

    def _split(self, node: int, pairs: list[tuple[int, int, int]]) -> None:
        """Split off pairs up to their limits: all at once if possible, otherwise half by half."""
        done: list[tuple[int, int, int]] = []
        for u, v, limit in pairs:
            size = min(limit, self.capacity.get((u, node), 0), self.capacity.get((node, v), 0))
            if size > 0:
                self._shift(u, node, v, size)
                done.append((u, v, size))
        if not done:
            return
        short = self._shortfall()
        if short > 0:
            for u, v, size in reversed(done):
                self._shift(u, node, v, -size)
            if len(pairs) > 1:
                self._split(node, pairs[: len(pairs) // 2])
                self._split(node, pairs[len(pairs) // 2 :])
                return
            # Every set of nodes that the pair harms loses just what is split off.
            [(u, v, size)] = done
            done = [(u, v, size - short)] if size > short else []
            for u, v, size in done:
                self._shift(u, node, v, size)
        for u, v, size in done:
            self._join(u, node, v, size)

    def _shift(self, u: int, node: int, v: int, size: int) -> None:
        for arc, change in (((u, node), -size), ((node, v), -size), ((u, v), size)):
            left = self.capacity.get(arc, 0) + change
            if left:
                self.capacity[arc] = left
            else:
                del self.capacity[arc]

    def _shortfall(self) -> int:
        """Return how far the smallest flow to a target is below the demand."""
        if time.monotonic() > self._deadline:
            raise TimeoutError
        network = FlowNetwork(self.capacity)
        return max(self._demand - network.value(self._root, goal) for goal in self._targets)

    def _join(self, u: int, node: int, v: int, size: int) -> None:
        """Join paths to the node and paths from it, of this capacity in all."""
        there = self.parts.setdefault((u, v), deque())
        while size:
            first, before = self.parts[u, node].popleft()
            second, after = self.parts[node, v].popleft()
            joined = min(first, second, size)
            there.append((joined, without_cycles((*before, *after[1:]))))
            if first > joined:
                self.parts[u, node].appendleft((first - joined, before))
            if second > joined:
                self.parts[node, v].appendleft((second - joined, after))
            size -= joined
