"""Ring pipelines: a cyclic order of all who take part whose paths fit into one step together.

In every step everybody sends on to the next what it got in the step before: n - 1 steps, which is
optimal where a node accepts one message per step. Where the reversed paths fit in too, messages
go both ways round: n / 2 steps, rounded down, optimal where some node accepts two (Saad, Schultz,
"Data communication in parallel architectures", Parallel Computing 11, 1989, gossip on
Hamiltonian cycles). Paths may pass nodes, so a ring is found on trees (their Euler tour) and
fat nodes as well, and where there is no Hamiltonian cycle.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from cchybrid.model import Transfer

from .room import Room
from .setting import DoesNotApplyError, Draft, Path, Setting

NEAREST = 10
"""Legs of the ring into which a node is tried to be put, the nearest ones."""
TRIES = 4
"""Rings that are begun anew."""


def ring_pipeline(setting: Setting) -> Draft:
    """Return the schedule in which messages go round one ring."""
    members = setting.gossips()
    setting.expect(_most_turns(setting) * (len(members) - 1))
    legs = _ring(setting, members, returning=False)
    if legs is None:
        raise DoesNotApplyError("no ring found whose paths fit into one step")
    return _pipeline(setting, [(legs, len(legs) - 1)])


def two_way_ring(setting: Setting) -> Draft:
    """Return the schedule in which messages go round one ring in both directions."""
    members = setting.gossips()
    if any(
        setting.capacity[port] < 2
        for node in members
        for port in (setting.inject[node], setting.accept[node])
    ):
        raise DoesNotApplyError("a node has one port")
    if any((b, a) not in setting.channel for a, b in setting.channel):
        raise DoesNotApplyError("one-way channels")
    setting.expect(_most_turns(setting) * (len(members) // 2))
    legs = _ring(setting, members, returning=True)
    if legs is None:
        raise DoesNotApplyError("no ring found that fits into one step in both directions")
    back = [leg[::-1] for leg in reversed(legs)]
    return _pipeline(setting, [(legs, len(legs) // 2), (back, (len(legs) - 1) // 2)])


def _most_turns(setting: Setting) -> int:
    """Return the most messages that any node is the source of."""
    return max(Counter(message.source for message in setting.messages).values())


def _pipeline(setting: Setting, rings: list[tuple[list[Path], int]]) -> Draft:
    """Return the schedule over rings, with the number of hops that a message goes on each.

    Messages of the same source follow each other.
    """
    draft: Draft = []
    turns: dict[int, int] = {}
    for index, message in enumerate(setting.messages):
        setting.check()
        turn = turns[message.source] = turns.get(message.source, -1) + 1
        longest = max(hops for _, hops in rings)
        draft.extend([] for _ in range((turn + 1) * longest - len(draft)))
        for legs, hops in rings:
            begin = next(k for k, leg in enumerate(legs) if leg[0] == message.source)
            for hop in range(hops):
                leg = legs[(begin + hop) % len(legs)]
                draft[turn * longest + hop].append(Transfer(index, leg))
    return draft


def _ring(setting: Setting, members: tuple[int, ...], *, returning: bool) -> list[Path] | None:
    """Return the legs of a ring, or ``None`` if none was found."""
    legs = _routed(setting, members, Room(setting, returning=returning))
    for _ in range(TRIES):
        if legs is not None:
            break
        legs = _Growth(setting, members, returning).ring()
    return legs


def _routed(setting: Setting, order: tuple[int, ...], room: Room) -> list[Path] | None:
    """Return the legs of this order, or ``None`` where one finds no room."""
    legs = []
    for a, b in pairwise((*order, order[0])):
        leg = room.route(a, b)
        if leg is None:
            return None
        room.take(leg)
        legs.append(leg)
    return legs


class _Growth:
    """A ring that grows by putting nodes between two others, where that costs the fewest hops."""

    def __init__(self, setting: Setting, members: tuple[int, ...], returning: bool) -> None:
        self._setting = setting
        self._returning = returning
        self._room = Room(setting, returning=returning, passing=True)
        self._legs: dict[int, Path] = {}
        self._outside = list(members)
        setting.random.shuffle(self._outside)

    def ring(self) -> list[Path] | None:
        """Grow the ring; nodes that find no place push some of those in their way out again."""
        self._begin()
        patience = 4 * len(self._outside) + 8
        while self._legs and patience:
            self._setting.check()
            if self._outside:
                node = self._pop_nearest()
                if self._insert(node):
                    continue
                self._outside.insert(0, node)
            else:
                refused = [leg[0] for leg in self._legs.values() if not self._allowed(leg)]
                if not refused:
                    break
                node = self._setting.random.choice(refused)
            patience -= 1
            self._make_way(node)
        if self._outside or not patience:
            return None
        first = min(self._legs)
        legs = [self._legs[first]]
        while legs[-1][-1] != first:
            legs.append(self._legs[legs[-1][-1]])
        return legs

    def _allowed(self, leg: Path) -> bool:
        """Return whether a leg of the sketch may be taken as it is."""
        return len(leg) == 2 or self._setting.wormhole

    def _begin(self) -> None:
        """Make a ring of the first node and the nearest one to which there is a way back."""
        first = self._outside.pop()
        for second in sorted(self._outside, key=lambda node: self._apart(first, node)):
            legs = _routed(self._setting, (first, second), self._room)
            if legs is not None:
                self._legs = {leg[0]: leg for leg in legs}
                self._outside.remove(second)
                return
            self._room = self._room.emptied()

    def _pop_nearest(self) -> int:
        """Return a node outside, mostly one that is near to the ring."""
        some = self._outside[-24:]
        random = self._setting.random
        ring = list(self._legs)
        inside = random.sample(ring, min(len(ring), 32))
        node = min(some, key=lambda n: min(self._apart(other, n) for other in inside))
        self._outside.remove(node)
        return node

    def _apart(self, a: int, b: int) -> int:
        hops = self._setting.hops_to(b)[a]
        return hops if hops > 0 else self._setting.nodes

    def _insert(self, node: int) -> bool:
        """Put the node into the leg where it costs the fewest hops; return whether it fits."""
        random = self._setting.random
        legs = list(self._legs.values())
        random.shuffle(legs)
        legs.sort(key=lambda leg: self._apart(leg[0], node) + self._apart(node, leg[-1]) - len(leg))
        best: tuple[int, Path, list[Path]] | None = None
        for leg in legs[:NEAREST]:
            bare = self._apart(leg[0], node) + self._apart(node, leg[-1]) - len(leg)
            if best is not None and bare >= best[0]:
                break
            self._room.give_back(leg)
            pair = self._detour(leg, node)
            self._room.take(leg)
            if pair is not None:
                cost = sum(len(way) - 1 for way in pair) - len(leg)
                if best is None or cost < best[0]:
                    best = cost, leg, pair
        if best is None:
            return False
        self._room.give_back(best[1])
        for way in best[2]:
            self._room.take(way)
            self._legs[way[0]] = way
        return True

    def _detour(self, leg: Path, node: int) -> list[Path] | None:
        first = self._room.route(leg[0], node)
        if first is None:
            return None
        self._room.take(first)
        second = self._room.route(node, leg[-1])
        self._room.give_back(first)
        return None if second is None else [first, second]

    def _make_way(self, node: int) -> None:
        """Take some of the ring's nodes out that are near to this one."""
        random = self._setting.random
        near = sorted(self._legs, key=lambda other: (self._apart(other, node), random.random()))
        for other in near[: random.randint(1, 4)]:
            if len(self._legs) > 2:
                self._remove(other)

    def _remove(self, node: int) -> None:
        after = self._legs[node]
        before = next(leg for leg in self._legs.values() if leg[-1] == node)
        self._room.give_back(before)
        self._room.give_back(after)
        joined = self._room.route(before[0], after[-1])
        if joined is None:
            self._room.take(before)
            self._room.take(after)
            return
        self._room.take(joined)
        del self._legs[node]
        self._legs[before[0]] = joined
        self._outside.append(node)
