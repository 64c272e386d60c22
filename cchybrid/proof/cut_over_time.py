"""Cuts over time: the cuts that need the most steps, with the first and last steps of entries.

Hop by hop, a channel into the set carries nothing before a message can be at its beginning, and
nothing that still has to go farther inside than there are steps left: in those steps it is free.
"""

from __future__ import annotations

from collections import deque
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
MAX_SELECTIONS = 60
"""Selections of messages by source and destinations that are checked per set."""

Key = tuple[str, Place]


def cut_over_time_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing bounds of cuts over time."""
    network = instance.network
    if instance.model.switching != "store-and-forward":
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
            rated[inside.tobytes()] = (-meter.steps(inside, False), size, inside)
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
        self._tails, heads = sorted({a for a, _ in ends}), sorted({b for _, b in ends})
        self._far = hops
        deep = _hops_inside(network, inside, heads)
        self._release: dict[int, int] = {}
        """Per message the first step in which it can enter."""
        self._last: dict[int, int] = {}
        """Per message the destination that is farthest inside."""
        self._behind: dict[int, int] = {}
        """Per message the steps that it needs at least after its entry."""
        for message, goals in self.entering.items():
            source = network.messages[message][0]
            near = min((hops[source].get(a, network.nodes) for a in self._tails), default=0)
            self._release[message] = near + 1
            far = max(goals, key=lambda goal: (deep.get(goal, network.nodes), goal))
            self._last[message] = far
            self._behind[message] = deep.get(far, network.nodes)

    def over_time(self, known: int) -> Iterator[dict[str, Any]]:
        """Yield evidence of increasing numbers of steps, more than known."""
        if not self.entering or not self.rate:
            return
        entering = self.entering
        for first, behind in self._selections():
            chosen = [
                message
                for message in entering
                if self._release[message] >= first and self._behind[message] >= behind
            ]
            steps, opened = self._steps(chosen, known)
            if steps > known:
                known = steps
                yield self._priced(steps, opened)
        widths = sorted({len(goals) for goals in entering.values()} - {1})
        for first in sorted({*self._release.values()}):
            chosen = [message for message in entering if self._release[message] >= first]
            self.entering = {message: entering[message] for message in chosen}
            start = {key: first for key, (first, _) in self._windows(chosen).items()}
            for width in widths:
                if any(len(goals) >= width for goals in self.entering.values()):
                    found = self.with_shares(width, start)
                    if found is not None and found["steps"] > known:
                        known = found["steps"]
                        yield found
        self.entering = entering

    def _selections(self) -> list[tuple[int, int]]:
        """Return first steps, and steps behind the cut, that select messages with at least both."""
        firsts, behind = {*self._release.values()}, {*self._behind.values()}
        pairs = [(first, steps) for first in sorted(firsts) for steps in sorted(behind)]
        return pairs[:MAX_SELECTIONS]

    def _windows(self, chosen: list[int]) -> dict[Key, tuple[int, int]]:
        """Return per place the first step of use, and the steps left after the last one."""
        sources = {self.network.messages[message][0] for message in chosen}
        goals = {self._last[message] for message in chosen}
        never = 1 << 40
        arrive = {
            a: min((self._far[v].get(a, never) for v in sources), default=never)
            for a in self._tails
        }
        heads = {b for hops in self.hops.values() for _, b in hops}
        left = {
            b: min((self._far[b].get(goal, never) for goal in goals), default=never) for b in heads
        }
        return {
            key: (1 + min(arrive[a] for a, _ in hops), min(left[b] for _, b in hops))
            for key, hops in self.hops.items()
        }

    def _steps(self, chosen: list[int], known: int) -> tuple[int, Mapping[Key, tuple[int, int]]]:
        """Return the steps that these messages need, if more than known, and all windows."""
        windows = self._windows(chosen)
        sizes = {key: self.tables[key[0]][key[1]] for key in windows}

        def carried(steps: int) -> int:
            return sum(
                size * max(0, steps - left - first + 1)
                for key, size in sizes.items()
                for first, left in (windows[key],)
            )

        low = known
        if not chosen or carried(low) >= len(chosen):
            return known, windows
        high = low + 1
        while carried(high) < len(chosen) and high < 1 << 40:
            high *= 2
        while low + 1 < high:  # carried(low) < messages <= carried(high)
            middle = (low + high) // 2
            low, high = (middle, high) if carried(middle) < len(chosen) else (low, middle)
        return high, windows

    def _priced(self, steps: int, windows: Mapping[Key, tuple[int, int]]) -> dict[str, Any]:
        tables: dict[str, list[list[int]]] = {table: [] for table in self.tables}
        for (table, place), (first, left) in windows.items():
            if first <= steps - 1 - left:
                tables[table].append([*place, first, steps - 1 - left, 1])
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
