"""Ring pipelines: a cyclic order of the participants whose paths fit into one step together.

In every step each participant forwards to the next one what it received in the step before: n - 1
steps, which is optimal where a node accepts one message per step. If the reversed paths fit as
well, messages go in both directions: n / 2 steps, rounded down, optimal where some node accepts
two. Paths may pass other nodes, so rings exist on trees (their Euler tour), fat nodes, and networks
without a Hamiltonian cycle.

References
----------
Y. Saad, M. H. Schultz, "Data communication in parallel architectures", Parallel Computing 11, 1989
(gossip on Hamiltonian cycles). doi:10.1016/0167-8191(89)90024-2

D. Angluin, L. G. Valiant, "Fast probabilistic algorithms for Hamiltonian circuits and matchings",
Journal of Computer and System Sciences 18, 1979. doi:10.1016/0022-0000(79)90045-X
"""

from collections import Counter
from itertools import chain, pairwise

import numpy as np

from cchybrid.problem.ragged import entries_of, lookup, offsets, within
from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, Path
from .residual_capacity import ResidualCapacity

MAX_LEGS = 10
"""Legs of the ring, the nearest first, into which the insertion of a node is tried."""
MAX_RINGS = 4
"""Random rings tried, times the effort."""
MAX_ROTATIONS = 50
"""Rotations of a path, times its nodes; random networks of degree 4 need a fifth of them."""


def ring_pipeline(context: Context) -> Transfers:
    """Return the schedule in which messages go round a ring in one direction."""
    members = context.all_to_all_members()
    context.require_useful(_max_messages(context) * (len(members) - 1))
    legs = _ring(context, members, bidirectional=False)
    if legs is None:
        raise DoesNotApplyError("no ring found whose paths fit into one step")
    return _pipeline(context, [(legs, len(legs) - 1)])


def bidirectional_ring(context: Context) -> Transfers:
    """Return the schedule in which messages go round a ring in both directions."""
    members = context.all_to_all_members()
    if any(
        context.capacity[port] < 2
        for node in members
        for port in (context.inject[node], context.accept[node])
    ):
        raise DoesNotApplyError("a node has one port")
    if any((b, a) not in context.channel for a, b in context.channel):
        raise DoesNotApplyError("one-way channels")
    context.require_useful(_max_messages(context) * (len(members) // 2))
    legs = _ring(context, members, bidirectional=True)
    if legs is None:
        raise DoesNotApplyError("no ring found that fits into one step in both directions")
    back = [leg[::-1] for leg in reversed(legs)]
    return _pipeline(context, [(legs, len(legs) // 2), (back, (len(legs) - 1) // 2)])


def _max_messages(context: Context) -> int:
    """Return the maximal number of messages of one source."""
    return max(Counter(message.source for message in context.messages).values())


def _pipeline(context: Context, rings: list[tuple[list[Path], int]]) -> Transfers:
    """Return the schedule over rings, each with the number of hops of a message on it.

    Messages of the same source are sent one after the other.
    """
    source = context.structure.message_source
    longest = max(hops for _, hops in rings)
    order = np.argsort(source, kind="stable")
    step = np.empty_like(source)
    step[order] = longest * within(np.unique(source, return_counts=True)[1])
    parts = []
    for legs, hops in rings:
        nodes = np.fromiter(chain.from_iterable(legs), np.int32)
        start = offsets([len(leg) for leg in legs])
        leg = (lookup(nodes[start[:-1]], source)[:, None] + np.arange(hops)) % len(legs)
        parts.append(
            Transfers(
                np.repeat(np.arange(len(source)), hops),
                (step[:, None] + np.arange(hops)).ravel(),
                *entries_of(nodes, start, leg.ravel()),
            )
        )
    return Transfers.joined(parts)


def _ring(context: Context, members: tuple[int, ...], *, bidirectional: bool) -> list[Path] | None:
    """Return the legs of a ring, or ``None`` if none was found."""
    residual = ResidualCapacity(context, bidirectional=bidirectional)
    legs = _routed((*members, members[0]), residual)
    if legs is None and (cycle := hamiltonian_cycle(context, members)):
        legs = _routed((*cycle, cycle[0]), residual)
    for _ in range(MAX_RINGS * context.effort):
        if legs is not None:
            break
        legs = _Growth(context, members, bidirectional).ring()
    return legs


def hamiltonian_cycle(context: Context, members: tuple[int, ...]) -> list[int]:
    """Return a cycle of links through all members, empty if none is found.

    A path grows to the node outside with the fewest links to others outside; where there is none,
    the part after a random neighbour of its end is reversed (Pósa 1976; Angluin, Valiant 1979).
    """
    links, random = context.channel.keys() & {(b, a) for a, b in context.channel}, context.random
    beside = {
        node: [other for other in context.network.successors[node] if (node, other) in links]
        for node in members
    }
    beside = {node: [n for n in others if n in beside] for node, others in beside.items()}
    if not all(beside.values()):
        return []
    path = [members[0]]
    place = {members[0]: 0}
    for _ in range(MAX_ROTATIONS * len(members)):
        context.check()
        near = beside[path[-1]]
        free = [node for node in near if node not in place]
        if free:
            sizes = [sum(other not in place for other in beside[node]) for node in free]
            path.append(free[random.choice([k for k, s in enumerate(sizes) if s == min(sizes)])])
            place[path[-1]] = len(path) - 1
        elif len(path) == len(members) and path[0] in near:
            return path
        else:
            pivot = place[random.choice(near)] + 1
            path[pivot:] = path[: pivot - 1 : -1]
            place |= {node: k for k, node in enumerate(path[pivot:], pivot)}
    return []


def _routed(order: tuple[int, ...], residual: ResidualCapacity) -> list[Path] | None:
    """Allocate and return the legs of this order; ``None``, without allocation, if one fails."""
    legs: list[Path] = []
    for a, b in pairwise(order):
        leg = residual.route(a, b)
        if leg is None:
            for before in legs:
                residual.release(before)
            return None
        residual.allocate(leg)
        legs.append(leg)
    return legs


class _Growth:
    """Construction of a ring by cheapest insertion, with random removals."""

    def __init__(self, context: Context, members: tuple[int, ...], bidirectional: bool) -> None:
        self._context = context
        self._returning = bidirectional
        self._residual = ResidualCapacity(context, bidirectional=bidirectional, multi_hop=True)
        self._legs: dict[int, Path] = {}
        self._outside = list(members)
        context.random.shuffle(self._outside)

    def ring(self) -> list[Path] | None:
        """Insert all nodes; where one does not fit, remove some of its neighbours from the ring."""
        self._start()
        patience = 4 * len(self._outside) + 8
        while self._legs and patience:
            self._context.check()
            if self._outside:
                node = self._pop_nearest()
                if self._insert(node):
                    continue
                self._outside.insert(0, node)
            else:
                refused = [leg[0] for leg in self._legs.values() if not self._allowed(leg)]
                if not refused:
                    break
                node = self._context.random.choice(refused)
            patience -= 1
            self._evict_neighbours(node)
        if self._outside or not patience:
            return None
        first = min(self._legs)
        legs = [self._legs[first]]
        while legs[-1][-1] != first:
            legs.append(self._legs[legs[-1][-1]])
        return legs

    def _allowed(self, leg: Path) -> bool:
        """Return whether a leg is an allowed path: one hop under store-and-forward switching."""
        return len(leg) == 2 or not self._context.structure.hop_by_hop

    def _start(self) -> None:
        """Make a ring of the first node and the nearest one with paths in both directions."""
        first = self._outside.pop()
        for second in sorted(self._outside, key=lambda node: self._apart(first, node)):
            legs = _routed((first, second, first), self._residual)
            if legs is not None:
                self._legs = {leg[0]: leg for leg in legs}
                self._outside.remove(second)
                return

    def _pop_nearest(self) -> int:
        """Remove and return a node outside that is near to the ring."""
        some = self._outside[-24:]
        random = self._context.random
        ring = list(self._legs)
        inside = random.sample(ring, min(len(ring), 32))
        node = min(some, key=lambda n: min(self._apart(other, n) for other in inside))
        self._outside.remove(node)
        return node

    def _apart(self, a: int, b: int) -> int:
        hops = self._context.hops_to(b)[a]
        return hops if hops > 0 else self._context.nodes

    def _insert(self, node: int) -> bool:
        """Insert a node into the leg where it costs the fewest hops; return whether it fits."""
        random = self._context.random
        legs = list(self._legs.values())
        random.shuffle(legs)
        legs.sort(key=lambda leg: self._apart(leg[0], node) + self._apart(node, leg[-1]) - len(leg))
        best: tuple[int, Path, list[Path]] | None = None
        for leg in legs[:MAX_LEGS]:
            bare = self._apart(leg[0], node) + self._apart(node, leg[-1]) - len(leg)
            if best is not None and bare >= best[0]:
                break
            self._residual.release(leg)
            pair = self._detour(leg, node)
            self._residual.allocate(leg)
            if pair is not None:
                cost = sum(len(part) - 1 for part in pair) - len(leg)
                if best is None or cost < best[0]:
                    best = cost, leg, pair
        if best is None:
            return False
        self._residual.release(best[1])
        for part in best[2]:
            self._residual.allocate(part)
            self._legs[part[0]] = part
        return True

    def _detour(self, leg: Path, node: int) -> list[Path] | None:
        pair = _routed((leg[0], node, leg[-1]), self._residual)
        for part in pair or ():
            self._residual.release(part)
        return pair

    def _evict_neighbours(self, node: int) -> None:
        """Remove up to four nodes of the ring that are near to this one."""
        random = self._context.random
        near = sorted(self._legs, key=lambda other: (self._apart(other, node), random.random()))
        for other in near[: random.randint(1, 4)]:
            if len(self._legs) > 2:
                self._remove(other)

    def _remove(self, node: int) -> None:
        after = self._legs[node]
        before = next(leg for leg in self._legs.values() if leg[-1] == node)
        self._residual.release(before)
        self._residual.release(after)
        joined = self._residual.route(before[0], after[-1])
        if joined is None:
            self._residual.allocate(before)
            self._residual.allocate(after)
            return
        self._residual.allocate(joined)
        del self._legs[node]
        self._legs[before[0]] = joined
        self._outside.append(node)
