"""Reach: destinations to which no node that can hold the message has a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import EvidenceError, Network


def check_unreachable(network: Network, evidence: Mapping[str, Any]) -> None:
    """Raise ``EvidenceError`` unless the destination named in the evidence is out of reach.

    If the evidence names only a message, one of its destinations must be out of reach.
    """
    require(network, "unreachable")
    index = evidence.get("message")
    _, destinations = network.message(index)
    if "destination" in evidence:
        goal = evidence["destination"]
        if type(goal) is not int or goal not in destinations:
            raise EvidenceError("a destination that the message does not have")
        destinations = (goal,)
    if not set(destinations) & out_of_reach(network, index):
        raise EvidenceError("every destination named can be reached")


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
