"""Regions: a message that grows on both sides of a cut, and crosses it only so often per step."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from cchybrid.checker.growth import sending_power
from cchybrid.checker.instance import EvidenceError, Network


def region_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return how many steps a message needs at least, given a set of nodes with few ways in.

    Growth counted for two sets of nodes at once. A state is how many nodes inside and outside
    hold the message; what they send in a step is at best what the strongest of so many can send,
    and of that no more than the crossing channels carry ends on the other side. Having informed
    fewer nodes is never better, so only states that no other one covers are kept.
    """
    source, destinations = network.message(evidence.get("message"))
    inside = network.node_set(evidence.get("nodes"))
    halves = (set(range(network.nodes)) - inside, inside)
    sides = tuple(_Side(network, source, destinations, half) for half in halves)
    across = tuple(network.capacity_into(half) for half in halves)
    # Most nodes inside for every number of nodes outside that is worth having.
    states = {sides[0].begin: sides[1].begin}
    steps = 0
    while not any(a >= sides[0].goal and b >= sides[1].goal for a, b in states.items()):
        steps += 1
        limits = [side.within(steps) for side in sides]
        following: dict[int, int] = {}
        for a, b in states.items():
            out, into = sides[0].sends(a), sides[1].sends(b)
            most = min(limits[1] - b, min(across[1], out) + into)
            for new in range(most + 1):
                grown = min(limits[0], a + min(out + min(across[0], into), out + into - new))
                following[grown] = max(following.get(grown, 0), b + new)
        following = _uncovered(following)
        if following == states:
            raise EvidenceError("the informed set does not grow at all")
        states = following
    return steps


class _Side:
    """One of the two sets: who may hold the message there, and what they can send."""

    def __init__(
        self, network: Network, source: int, destinations: tuple[int, ...], nodes: set[int]
    ) -> None:
        distance = network.hops(source)
        own = source in nodes
        self.goal = own + len(nodes.intersection(destinations))
        self.begin = int(own)
        holders = nodes.intersection(distance if network.hop_by_hop else destinations) - {source}
        if network.hop_by_hop and not nodes.intersection(destinations) <= holders:
            raise EvidenceError("a destination out of reach")
        powers = sorted((sending_power(network, node, source) for node in holders), reverse=True)
        first = [sending_power(network, source, source)] if own else []
        self._sends = [0, *accumulate(first + powers)]
        self._hops = sorted(distance[node] for node in holders) if network.hop_by_hop else None
        self._most = own + len(holders)

    def sends(self, informed: int) -> int:
        """Return what so many informed nodes send in a step at best."""
        return self._sends[informed]

    def within(self, steps: int) -> int:
        """Return how many nodes can hold the message after so many steps at best."""
        if self._hops is None:
            return self._most
        return self.begin + sum(1 for hops in self._hops if hops <= steps)


def _uncovered(states: dict[int, int]) -> dict[int, int]:
    """Return the states than which no other has as many nodes on both sides."""
    kept: dict[int, int] = {}
    most = -1
    for a in sorted(states, reverse=True):
        if states[a] > most:
            kept[a] = most = states[a]
    return kept
