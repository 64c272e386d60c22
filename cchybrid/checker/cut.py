"""Cut: the messages that must enter a set of nodes, divided by its capacity per step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network


def cut_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the messages into the set of nodes need at least.

    A message with its source outside and a destination inside enters at least once: some node
    outside injects it, some node inside accepts it, some crossing channel carries it. With
    ``"both": true`` the messages that leave are counted too, and half-duplex pairs once.
    """
    inside = network.node_set(evidence.get("nodes"))
    both = evidence.get("both", False)
    if not isinstance(both, bool):
        raise EvidenceError('"both" is neither true nor false')
    entering = _crossing(network, inside)
    carried = network.capacity_into(inside)
    if both:
        outside = set(range(network.nodes)) - inside
        crossing = len(entering) + len(_crossing(network, outside))
        total = carried + network.capacity_into(outside)
        shared = sum(
            network.channels[a, b] for a, b in network.half_duplex if (a in inside) != (b in inside)
        )
        return _ceil(crossing, total - shared)
    if network.hop_by_hop:
        senders, receivers = set(range(network.nodes)) - inside, inside
    else:
        senders = {v for s, d in entering for v in (s, *d) if v not in inside}
        receivers = {v for _, d in entering for v in d if v in inside}
    return max(
        _ceil(len(entering), carried),
        _ceil(len(entering), sum(network.inject[node] for node in senders)),
        _ceil(len(entering), sum(network.accept[node] for node in receivers)),
    )


def _crossing(network: Network, inside: set[int]) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (source, destinations)
        for source, destinations in network.messages
        if source not in inside and not inside.isdisjoint(destinations)
    ]


def _ceil(demand: int, capacity: int) -> int:
    if demand == 0:
        return 0
    if capacity == 0:
        raise EvidenceError("messages have to cross a cut without capacity")
    return -(-demand // capacity)
