"""Reach: destinations to which no node that can hold the message has a path."""

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.routes import table_path


def check_unreachable(network: Network, evidence: Mapping[str, Any]) -> None:
    """Raise ``EvidenceError`` unless the destination that the evidence names is out of reach."""
    require(network, "unreachable")
    goal, message = evidence.get("destination"), evidence.get("message")
    # The third part is the kind.
    if type(goal) is not int or len(evidence) != 3 or goal not in out_of_reach(network, message):
        raise EvidenceError("the destination can be reached, or is none of the message")


def out_of_reach(network: Network, message: Any) -> set[int]:
    """Return the destinations of a message that it cannot reach.

    A message spreads from its source to the nodes that may hold and can accept it: in wormhole
    switching its destinations, over any path that passes no endpoint, or that of a routing table;
    in store-and-forward switching every node, hop by hop.
    """
    source, destinations = network.message(message)
    holders = range(network.nodes) if network.hop_by_hop else destinations
    left = {node for node in holders if network.accept[node] > 0}
    reached = [source]
    for node in reached:
        if network.inject[node] > 0:
            ahead = network.successors[node] if network.hop_by_hop else network.hops(node)
            new = {g for g in left & {*ahead} if not network.table or table_path(network, node, g)}
            left -= new
            reached += new
    return set(destinations).difference(reached)
