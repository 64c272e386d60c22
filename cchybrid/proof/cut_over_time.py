"""Cuts over time: the cuts that need the most steps, with the first and last steps of entries.

Hop by hop, a channel into the set carries nothing before a message can be at its beginning, and
nothing that still has to go farther inside than there are steps left: in those steps it is free.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cchybrid.checker import Network
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import climb, network_of
from cchybrid.proof.cut import CutMeter, NodeSet, near_sets
from cchybrid.proof.cut_prices import Crossing, Place
from cchybrid.proof.linear_evidence import linear

MAX_SETS = 60
"""Sets of nodes that are checked over time."""
MAX_PAIRS = 200_000
"""Largest number of nodes times channels; all sets together take some seconds."""
_NEVER = 1 << 40
"""Steps of what is not in reach."""

Key = tuple[str, Place]


def cut_over_time_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing bounds of cuts over time."""
    network = instance.network
    if not instance.model.hop_by_hop:
        return
    if network.nodes * len(network.channels) <= MAX_PAIRS:
        yield from climb(instance, _evidence(instance))


def _evidence(instance: Instance) -> Iterator[dict[str, Any]]:
    network = network_of(instance)
    hops = [network.hops(node) for node in range(network.nodes)]
    kinds = ["channels"]
    if network.limited_ports:
        kinds += ["inject", "accept"]
    best = 0
    for inside in _narrowest(instance):
        chosen = set(np.flatnonzero(inside).tolist())
        for kind in kinds:
            crossing = TimedCrossing(network, chosen, kind, hops)
            for piece in crossing.over_time(best):
                best = max(best, piece["steps"])
                yield piece


def _narrowest(instance: Instance) -> list[NodeSet]:
    """Return the sets near nodes with the highest cut bounds, small ones of equal bounds first."""
    meter = CutMeter(instance)
    rated: dict[bytes, tuple[int, int, NodeSet]] = {}
    for inside in near_sets(instance):
        size = int(inside.sum())
        if 0 < size < len(inside) and inside.tobytes() not in rated:
            steps = max(limit.need.steps for limit in meter.limits(inside, both=False))
            rated[inside.tobytes()] = (-steps, size, inside)
    return [row[2] for row in sorted(rated.values(), key=lambda row: row[:2])[:MAX_SETS]]


class TimedCrossing(Crossing):
    """The messages that enter a set hop by hop, and the distances before and behind the cut.

    Parameters
    ----------
    hops
        Per node the distance to every other.
    """

    def __init__(
        self, network: Network, inside: set[int], kind: str, hops: list[dict[int, int]]
    ) -> None:
        super().__init__(network, inside, kind, both=False)
        ends = [hop for hops_of in self.hops.values() for hop in hops_of]
        self._tails, self._heads = sorted({a for a, _ in ends}), sorted({b for _, b in ends})
        self._far = hops
        deep = _hops_inside(network, inside, self._heads)
        self._release: dict[int, int] = {}
        """Per source the first step in which a message of it can enter."""
        self._behind: dict[int, int] = {}
        """Per destination the steps that a message needs at least after its entry."""
        self._number: Counter[tuple[int, int]] = Counter()
        """The messages by their source and the destination that is farthest inside."""
        for message, goals in self.entering.items():
            source = network.messages[message][0]
            if source not in self._release:
                near = min((hops[source].get(a, network.nodes) for a in self._tails), default=0)
                self._release[source] = near + 1
            last = max(goals, key=lambda goal: (deep.get(goal, network.nodes), goal))
            self._behind[last] = deep.get(last, network.nodes)
            self._number[source, last] += 1

    def over_time(self, known: int) -> Iterator[dict[str, Any]]:
        """Yield evidence of increasing numbers of steps, more than known."""
        if not self.entering or not self.rate:
            return
        firsts = sorted({*self._release.values()})
        starts = {first: self._starts(first) for first in firsts}
        ends = {behind: self._ends(behind) for behind in sorted({*self._behind.values()})}
        for first, start in starts.items():
            for behind, left in ends.items():
                messages = sum(
                    number
                    for (source, last), number in self._number.items()
                    if self._release[source] >= first and self._behind[last] >= behind
                )
                steps = self._steps(messages, start, left, known)
                if steps > known:
                    known = steps
                    yield self._priced(steps, start, left)
        entering = self.entering
        widths = sorted({len(goals) for goals in entering.values()} - {1})
        for first in firsts if widths else ():
            self.entering = {
                message: goals
                for message, goals in entering.items()
                if self._release[self.network.messages[message][0]] >= first
            }
            for width in widths:
                if any(len(goals) >= width for goals in self.entering.values()):
                    found = self.with_shares(width, starts[first])
                    if found is not None and found["steps"] > known:
                        known = found["steps"]
                        yield found
        self.entering = entering

    def _starts(self, first: int) -> dict[Key, int]:
        """Return per place the first step in which a message can be there.

        A message that cannot enter before the step ``first``.
        """
        sources = [source for source, step in self._release.items() if step >= first]
        near = {a: min(self._far[v].get(a, _NEVER) for v in sources) for a in self._tails}
        return {key: 1 + min(near[a] for a, _ in hops) for key, hops in self.hops.items()}

    def _ends(self, behind: int) -> dict[Key, int]:
        """Return per place the steps that a message needs at least after it has paid there.

        A message that needs at least ``behind`` steps after its entry.
        """
        goals = [goal for goal, steps in self._behind.items() if steps >= behind]
        left = {b: min(self._far[b].get(goal, _NEVER) for goal in goals) for b in self._heads}
        return {key: min(left[b] for _, b in hops) for key, hops in self.hops.items()}

    def _steps(
        self, messages: int, start: Mapping[Key, int], left: Mapping[Key, int], known: int
    ) -> int:
        """Return the steps that a number of messages needs, if more than known."""
        lost = Counter[int]()
        for key in start:
            lost[start[key] + left[key] - 1] += self.tables[key[0]][key[1]]

        def carried(steps: int) -> int:
            return sum(size * max(0, steps - without) for without, size in lost.items())

        if not messages or carried(known) >= messages:
            return known
        high = known + 1
        while carried(high) < messages:
            if high > _NEVER:
                return known
            high *= 2
        return bisect_left(range(high), messages, known + 1, key=carried)

    def _priced(
        self, steps: int, start: Mapping[Key, int], left: Mapping[Key, int]
    ) -> dict[str, Any]:
        tables: dict[str, list[list[int]]] = {table: [] for table in self.tables}
        for key, first in start.items():
            if first <= steps - 1 - left[key]:
                tables[key[0]].append([*key[1], first, steps - 1 - left[key], 1])
        return linear(steps, **tables)


def _hops_inside(network: Network, inside: set[int], starts: list[int]) -> dict[int, int]:
    """Return the hops from the nearest start, over channels between nodes inside."""
    hops = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        node = queue.popleft()
        for other in network.successors[node]:
            if other in inside and other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops
