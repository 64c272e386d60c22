"""Arborescences: the total price of cheapest spanning trees, divided by the priced capacity.

Every channel has a price (one for both directions of a half-duplex pair); in store-and-forward
switching every port has one, too.

1. Each message goes to all nodes but its source. The channels that it uses contain an arborescence:
   a tree of directed channels that leads from the source to every node. So it costs at least the
   cheapest arborescence. In store-and-forward switching a use of a channel also uses the port of
   its sender and that of its receiver.
2. One step offers at most the sum of capacity times price. The quotient is a lower bound on the
   steps, for any routing.

The cheapest arborescence is that of Chu and Liu (Scientia Sinica 14, 1965) and Edmonds (Journal of
Research of the National Bureau of Standards 71B, 1967, doi:10.6028/jres.071B.032).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.prices import priced

Arc = tuple[int, int, int]
"""Source, target and price of a channel."""


def arborescence_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that follows from the prices in the evidence.

    The fields are those of the kind ``prices``.
    """
    paid, offered = arborescence_totals(network, evidence)
    return -(-paid // offered)


def arborescence_totals(network: Network, evidence: Mapping[str, Any]) -> tuple[int, int]:
    """Return what the arborescences of all messages pay at least, and what one step offers."""
    channel, inject, accept, offered = priced(network, evidence)
    if not network.hop_by_hop and (any(inject.values()) or any(accept.values())):
        raise EvidenceError("prices of ports in wormhole switching")
    arcs = [
        (a, b, channel.get((a, b), 0) + inject.get(a, 0) + accept.get(b, 0))
        for a, b in network.channels
    ]
    paid = 0
    everyone = network.nodes - 1
    times: Counter[int] = Counter()
    for source, destinations in network.messages:
        if len(set(destinations) - {source}) < everyone:
            raise EvidenceError("a message does not go to all nodes")
        times[source] += 1
    for source, count in times.items():
        paid += count * cheapest_arborescence(network.nodes, arcs, source)
    return paid, offered


def cheapest_arborescence(nodes: int, arcs: list[Arc], root: int) -> int:
    """Return the total price of a cheapest arborescence from the root to all nodes.

    Every node takes its cheapest incoming arc; cycles of these are contracted, their other incoming
    arcs pay only the difference, and so on until there is no cycle.

    Raises
    ------
    EvidenceError
        Some node cannot be reached.
    """
    total = 0
    while True:
        best: dict[int, Arc] = {}
        for arc in arcs:
            a, b, price = arc
            if a != b and b != root and (b not in best or price < best[b][2]):
                best[b] = arc
        if len(best) < nodes - 1:
            raise EvidenceError("a destination out of reach")
        total += sum(price for _, _, price in best.values())
        group = cycle_groups(nodes, root, best)
        count = max(group) + 1
        if count == nodes:
            return total
        arcs = [
            (group[a], group[b], price - (best[b][2] if b != root else 0))
            for a, b, price in arcs
            if group[a] != group[b]
        ]
        nodes, root = count, group[root]


def cycle_groups(nodes: int, root: int, best: Mapping[int, tuple[int, int, float]]) -> list[int]:
    """Return the number of every node's group: its cycle of best arcs, or the node alone."""
    group, seen = [-1] * nodes, [-1] * nodes
    count = 0
    for start in range(nodes):
        node = start
        while node != root and seen[node] < 0:
            seen[node] = start
            node = best[node][0]
        if node != root and seen[node] == start and group[node] < 0:
            while group[node] < 0:
                group[node] = count
                node = best[node][0]
            count += 1
    for node in range(nodes):
        if group[node] < 0:
            group[node] = count
            count += 1
    return group
