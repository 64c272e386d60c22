"""Reach: a destination that nobody who can hold the message can send to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network


def check_unreachable(network: Network, evidence: Mapping[str, Any]) -> None:
    """Raise ``EvidenceError`` unless some destination of the named message is out of reach.

    A message spreads from its source to whoever may hold it and can accept it. In wormhole
    switching those are its destinations, over any path that passes no endpoint; in
    store-and-forward every node, hop by hop.
    """
    source, destinations = network.message(evidence.get("message"))
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
    if reached.issuperset(destinations):
        raise EvidenceError("every destination of the message can be reached")
