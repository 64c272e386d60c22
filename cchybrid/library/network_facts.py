"""Facts of a network, for people who want to see whether it was read as they meant it."""

from __future__ import annotations

from typing import Any

from cchybrid.model import Network

MAX_NODES = 4_096
"""Nodes above which no diameter is computed."""


def read_line(network: Network) -> str:
    """Return the facts of a network in one line: nodes, channels, capacities.

    Examples
    --------
    >>> read_line(Network.from_links("line", 3, [(0, 1), (1, 2), (1, 2)], switches=(1,)))
    '3 nodes (1 switch), 4 channels, capacities 1 to 2'
    """
    marks = [
        _counted(len(nodes), word, words)
        for nodes, word, words in (
            (network.endpoints, "endpoint", "endpoints"),
            (network.switches, "switch", "switches"),
        )
        if nodes
    ]
    parts = [_counted(network.nodes, "node", "nodes") + (f" ({', '.join(marks)})" if marks else "")]
    parts.append(_counted(len(network.channels), "channel", "channels"))
    sizes = sorted({channel.capacity for channel in network.channels})
    if len(sizes) > 1:
        parts.append(f"capacities {sizes[0]} to {sizes[-1]}")
    elif sizes and sizes != [1]:
        parts.append(f"capacity {sizes[0]}")
    if network.half_duplex:
        pairs = len(network.half_duplex)
        parts.append(_counted(pairs, "half-duplex pair", "half-duplex pairs"))
    return ", ".join(parts)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def network_facts(network: Network) -> dict[str, Any]:
    """Return the facts of a network by name, as JSON values.

    The ``diameter`` is in hops between all nodes; ``None`` if some node cannot reach another, or
    the network is too large.
    """
    from cchybrid.referee.distances import hop_distances

    diameter = None
    if network.nodes <= MAX_NODES:
        distance = hop_distances(network, range(network.nodes))
        diameter = int(distance.max()) if int(distance.min()) >= 0 else None
    sizes = [channel.capacity for channel in network.channels]
    out = [len(targets) for targets in network.successors]
    names = network.node_name
    return {
        "name": network.name,
        "nodes": network.nodes,
        "channels": len(network.channels),
        "capacities": sorted(set(sizes)),
        "half_duplex": [[names(a), names(b)] for a, b in network.half_duplex],
        "endpoints": [names(node) for node in network.endpoints],
        "switches": [names(node) for node in network.switches],
        "terminals": [names(node) for node in network.terminals],
        "out_degree": [min(out), max(out)],
        "diameter": diameter,
        "node_names": None if network.node_names is None else list(network.node_names),
    }
