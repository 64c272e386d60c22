"""Reach: destinations to which no node that can hold the message has a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import EvidenceError, Network


def check_unreachable(network: Network, evidence: Mapping[str, Any]) -> None:
    """Raise ``EvidenceError`` unless the destination that the evidence names is out of reach."""
    require(network, "unreachable")
    message, goal = evidence.get("message"), evidence.get("destination")
    if type(goal) is not int or goal not in network.message(message)[1]:
        raise EvidenceError("a destination that the message does not have")
    if goal not in out_of_reach(network, message):
        raise EvidenceError("the destination can be reached")


def out_of_reach(network: Network, message: Any) -> set[int]:
    """Return the destinations of a message that it cannot reach.

    A message spreads from its source to the nodes that may hold and can accept it: in wormhole
    switching its destinations, over any path that passes no endpoint; in store-and-forward
    switching every node, hop by hop.
    """
    source, destinations = network.message(message)
    holders = set(range(network.nodes)) if network.hop_by_hop else set(destinations)
    reached, frontier = {source}, [source]
    while frontier:
        node = frontier.pop()
        if network.inject[node] == 0:
            continue
        ahead = network.successors[node] if network.hop_by_hop else network.hops(node)
        for other in ahead:
            if other in holders and other not in reached and network.accept[other] > 0:
                reached.add(other)
                frontier.append(other)
    return set(destinations) - reached
