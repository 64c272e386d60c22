"""Growth: the informed set cannot grow faster than its ports and channels allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network


def growth_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the message in the evidence needs at least."""
    return len(growth_counts(network, evidence)) - 1


def growth_counts(network: Network, evidence: Mapping[str, Any]) -> list[int]:
    """Return how many nodes can hold the message at most, after 0, 1, 2, ... steps, until all do.

    In every step the number of informed nodes grows by at most what they can send; at best the
    nodes with the most ports are informed first (thesis, equation 3.3, generalised to different
    numbers of ports). In store-and-forward switching the informed set after t steps is also within
    t hops, and a node has nothing new to send to the neighbour that informed it.
    """
    source, destinations = network.message(evidence.get("message"))
    distance = network.hops(source)
    within = sorted(distance.values()) if network.hop_by_hop else []
    holders = [node for node in distance if node != source] if network.hop_by_hop else destinations
    power = [sending_power(network, node, source) for node in holders]
    first = sending_power(network, source, source)
    power.sort(reverse=True)
    gained = [0]
    for strength in power:
        gained.append(gained[-1] + strength)
    goal = 1 + len(destinations)
    if network.hop_by_hop and any(node not in distance for node in destinations):
        raise EvidenceError("a destination out of reach")
    farthest = max(distance[node] for node in destinations) if network.hop_by_hop else 0
    informed, steps = 1, 0
    counts = [informed]
    while informed < goal or steps < farthest:
        steps += 1
        grown = informed + first + gained[min(informed, len(power) + 1) - 1]
        if network.hop_by_hop:
            grown = min(grown, sum(1 for hops in within if hops <= steps))
        grown = min(grown, 1 + len(power))
        if grown == informed and informed < goal:
            raise EvidenceError("the informed set does not grow")
        informed = grown
        counts.append(informed)
    return counts


def sending_power(network: Network, node: int, source: int) -> int:
    """Return how many nodes a node that holds a message can inform in one step at most.

    In store-and-forward switching the neighbour that informed it is excluded.
    """
    if not network.hop_by_hop:
        return network.inject[node]
    neighbours = len(network.successors[node])
    if node != source and all(
        (node, other) in network.channels for other in network.predecessors[node]
    ):
        neighbours -= 1
    return min(network.inject[node], neighbours)
