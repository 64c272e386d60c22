"""Nested sets: a message enters a set of nodes by few channels, and then spreads to those inside.

The sets do not contain the source of the message, and two of them are disjoint or nested. For a
set A with a destination, T(A) is a lower bound on the number of steps from the first step in which
a node of A receives the message, which counts, to the last one in which a destination in A does.
The bound is T(V) of the set V of all nodes but the source.

1. The parts of A are the sets directly inside A, and every other node of A that may hold the
   message. T is 1 for a destination, and 0 for another node (store-and-forward only).
2. A part is reached in the first step in which a node of it receives the message. The path of that
   transfer either takes a channel into A, or it begins in another part B that was reached in an
   earlier step and takes a channel from B to a node of A outside B. So after a step in which k
   parts are reached, the next one reaches at most as many more as the channels into A carry, and
   those from B to the rest of A for the k strongest parts B, each limited by the injection ports
   in B. The same holds with the ports outside A, and all channels out of B. The first step has
   k = 0.
3. If at most k parts are reached in the first j steps, one of the k + 1 parts with the largest T is
   reached after them, so T(A) is at least j plus the (k+1)-th largest T.
4. In store-and-forward switching a transfer is one hop: a channel carries a message once, ports
   limit each sender by itself, and a part B without a channel from outside A is not reached in the
   first step, so T(A) is at least 1 + T(B).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError

MAX_CROSSINGS = 10_000_000
"""Largest number of pairs of a set and a channel into it or out of it; it takes seconds."""


def nested_set_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the message in the evidence needs at least.

    ``sets`` has a row per set: the number of the set around it, then the nodes that are in the set
    and in no set inside it. Sets are numbered from 1, outer ones first; 0 is the set of all nodes
    but the source, which also has the nodes that are not listed.
    """
    source, destinations = network.message(evidence.get("message"))
    parents = _read_sets(network, source, evidence.get("sets"))
    tree = _Tree(network, source, set(destinations), parents)
    return tree.steps()


def _read_sets(network: Network, source: int, rows: Any) -> list[int]:
    """Return the number of the set around each set, and then around each node.

    Sets come first, the nodes after them; the number around the source is -1.
    """
    if not isinstance(rows, list) or not rows:
        raise EvidenceError("a list of sets is missing")
    around, place = [-1], [0] * network.nodes
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or not all(type(item) is int for item in row) or not row:
            raise EvidenceError("a set is not a list of numbers")
        outer, *nodes = row
        if not 0 <= outer < number:
            raise EvidenceError("a set inside another one that does not precede it")
        around.append(outer)
        for node in nodes:
            if not 0 <= node < network.nodes or node == source:
                raise EvidenceError("a set with the source, or with a node that does not exist")
            if place[node]:
                raise EvidenceError("a node is listed twice")
            place[node] = number
    place[source] = -1
    return around + place


class _Tree:
    """The sets and nodes as a tree, of which every number is larger than that of its parent."""

    def __init__(
        self, network: Network, source: int, destinations: set[int], parents: list[int]
    ) -> None:
        self.network, self.parents = network, parents
        self.sets = len(parents) - network.nodes
        holders = set(range(network.nodes)) if network.hop_by_hop else destinations | {source}
        self.longest = [0] * len(parents)
        """Per set and node its T."""
        self.ports = [0] * len(parents)
        """Per set and node the injection ports of the nodes that may hold the message."""
        self.all_ports = sum(network.inject[node] for node in holders)
        self.parts: list[list[int]] = [[] for _ in range(self.sets)]
        for node in sorted(holders - {source}):
            self.ports[self.sets + node] = network.inject[node]
            self.longest[self.sets + node] = int(node in destinations)
            self.parts[parents[self.sets + node]].append(self.sets + node)
        for number in range(1, self.sets):
            self.parts[parents[number]].append(number)
        self._count_channels()

    def _count_channels(self) -> None:
        """Count per set the channels into it, out of it, and out of it to its parent alone."""
        numbers = range(len(self.parents))
        self.into: list[Counter[int]] = [Counter() for _ in numbers]
        self.beside: list[Counter[int]] = [Counter() for _ in numbers]
        self.out = [0] * len(self.parents)
        self.entered_from_afar = [False] * len(self.parents)
        crossings = 0
        for (a, b), size in self.network.channels.items():
            carried = 1 if self.network.hop_by_hop else size
            first = last = -1
            from_a, to_b = self.sets + a, self.sets + b
            while from_a != to_b:
                crossings += 1
                # The larger number is that of a set without the other end of the channel.
                if from_a > to_b:
                    first, from_a = from_a, self.parents[from_a]
                    self.out[first] += carried
                else:
                    if last >= 0:
                        self.entered_from_afar[last] = True
                    last, to_b = to_b, self.parents[to_b]
                    self.into[last][a] += carried
            if crossings > MAX_CROSSINGS:
                raise TooLargeError("too many channels cross the sets")
            if from_a >= 0:
                self.beside[first][a] += carried

    def steps(self) -> int:
        """Return the T of the set of all nodes but the source."""
        for number in reversed(range(self.sets)):
            parts = self.parts[number]
            self.ports[number] = sum(self.ports[part] for part in parts)
            self.longest[number] = self._steps_of(number, parts)
        return self.longest[0]

    def _steps_of(self, number: int, parts: list[int]) -> int:
        longest = sorted((self.longest[part] for part in parts if self.longest[part]), reverse=True)
        if not longest:
            raise EvidenceError("a set without a destination")
        into = self._sent(self.into[number])
        outside = self.all_ports - self.ports[number]
        inner = _largest_sums(
            [min(self.ports[part], self._sent(self.beside[part])) for part in parts]
        )
        outer = _largest_sums([min(self.ports[part], self.out[part]) for part in parts])
        steps = later = reached = 0
        while reached < len(longest):
            steps = max(steps, later + longest[reached])
            new = min(into + inner[reached], outside + outer[reached])
            if new == 0:
                raise EvidenceError("the informed set does not grow")
            reached, later = reached + new, later + 1
        if self.network.hop_by_hop:
            late = [self.longest[part] for part in parts if not self.entered_from_afar[part]]
            steps = max(steps, 1 + max(late, default=0))
        return steps

    def _sent(self, channels: Mapping[int, int]) -> int:
        """Return how many transfers take such channels in a step, given their number per sender."""
        if self.network.hop_by_hop:
            return sum(min(self.network.inject[node], size) for node, size in channels.items())
        return sum(channels.values())


def _largest_sums(values: Sequence[int]) -> list[int]:
    """Return the sums of the 0, 1, 2, ... largest values."""
    return [0, *accumulate(sorted(values, reverse=True))]
