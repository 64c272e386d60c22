"""Regions: the informed set on both sides of a cut, which has a limited capacity per step."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from cchybrid.checker.growth import sending_power
from cchybrid.checker.instance import EvidenceError, Network


def region_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that a message needs at least, given a set of nodes.

    Growth of the informed set inside and outside the set at once. A state is the numbers of
    informed nodes inside and outside; in a step they send at most what the same number of nodes
    with the most ports can send, and at most the capacity of the cut ends on the other side.
    Fewer informed nodes are never better, so only undominated states are kept.
    """
    source, destinations = network.message(evidence.get("message"))
    inside = network.node_set(evidence.get("nodes"))
    halves = (set(range(network.nodes)) - inside, inside)
    sides = tuple(_Side(network, source, destinations, half) for half in halves)
    across = tuple(network.capacity_into(half) for half in halves)
    # The maximum number of nodes inside for every number of nodes outside that is not dominated.
    states = {sides[0].initial: sides[1].initial}
    steps = 0
    while not any(a >= sides[0].goal and b >= sides[1].goal for a, b in states.items()):
        steps += 1
        limits = [side.within(steps) for side in sides]
        following: dict[int, int] = {}
        for a, b in states.items():
            out, into = sides[0].sends(a), sides[1].sends(b)
            max_new = min(limits[1] - b, min(across[1], out) + into)
            for new in range(max_new + 1):
                grown = min(limits[0], a + min(out + min(across[0], into), out + into - new))
                following[grown] = max(following.get(grown, 0), b + new)
        following = _maximal_states(following)
        if following == states:
            raise EvidenceError("the informed set does not grow")
        states = following
    return steps


class _Side:
    """One of the two sets: the nodes that may hold the message, and what they can send."""

    def __init__(
        self, network: Network, source: int, destinations: tuple[int, ...], nodes: set[int]
    ) -> None:
        distance = network.hops(source)
        own = source in nodes
        self.goal = own + len(nodes.intersection(destinations))
        self.initial = int(own)
        holders = nodes.intersection(distance if network.hop_by_hop else destinations) - {source}
        if network.hop_by_hop and not nodes.intersection(destinations) <= holders:
            raise EvidenceError("a destination out of reach")
        powers = sorted((sending_power(network, node, source) for node in holders), reverse=True)
        first = [sending_power(network, source, source)] if own else []
        self._sends = [0, *accumulate(first + powers)]
        self._hops = sorted(distance[node] for node in holders) if network.hop_by_hop else None
        self._max_informed = own + len(holders)

    def sends(self, informed: int) -> int:
        """Return the maximum number of messages that ``informed`` nodes send in a step."""
        return self._sends[informed]

    def within(self, steps: int) -> int:
        """Return the maximum number of nodes that hold the message after ``steps`` steps."""
        if self._hops is None:
            return self._max_informed
        return self.initial + sum(1 for hops in self._hops if hops <= steps)


def _maximal_states(states: dict[int, int]) -> dict[int, int]:
    """Return the states that no other state dominates."""
    kept: dict[int, int] = {}
    best = -1
    for a in sorted(states, reverse=True):
        if states[a] > best:
            kept[a] = best = states[a]
    return kept
