"""Facts of a network, for people who want to see whether it was read as they meant it."""

from typing import Any

from cchybrid.model import Network
from cchybrid.model.shown import counted

MAX_DIAMETER_WORK = 1 << 27
"""Nodes times channels of a network above which no diameter is computed; these take seconds."""


def read_line(network: Network) -> str:
    """Return the facts of a network in one line: nodes, channels, capacities.

    Examples
    --------
    >>> read_line(Network.from_links("line", 3, [(0, 1), (1, 2), (1, 2)], switches=(1,)))
    '3 nodes (1 switch), 4 channels, capacities 1 to 2'
    """
    marks = [counted(len(network.endpoints), "endpoint")] * bool(network.endpoints)
    marks += [counted(len(network.switches), "switch", "switches")] * bool(network.switches)
    parts = [counted(network.nodes, "node") + (f" ({', '.join(marks)})" if marks else "")]
    parts.append(counted(len(network.channels), "channel"))
    sizes = sorted({channel.capacity for channel in network.channels})
    if len(sizes) > 1:
        parts.append(f"capacities {sizes[0]} to {sizes[-1]}")
    elif sizes and sizes != [1]:
        parts.append(f"capacity {sizes[0]}")
    if network.half_duplex:
        parts.append(counted(len(network.half_duplex), "half-duplex pair"))
    if network.groups:
        parts.append(counted(len(network.groups), "group of channels", "groups of channels"))
    if network.times:
        ticks = [sum(time) for time in network.times]
        parts.append(f"{min(ticks)} to {max(ticks)} ticks")
    return ", ".join(parts)


def is_too_large(network: Network) -> bool:
    """Return whether a network is too large for its diameter to be computed."""
    return network.nodes * len(network.channels) > MAX_DIAMETER_WORK


def diameter_text(network: Network, diameter: int | None) -> str:
    """Return the diameter of a network's facts for people, or why there is none."""
    if diameter is None:
        if is_too_large(network):
            return "not computed for so large a network"
        import networkx as nx

        nodes = range(network.nodes)
        graph = nx.Graph([*network.channel_index, *zip(nodes, nodes, strict=True)])
        parts = nx.number_connected_components(graph)
        missing = f"none, as the network is not connected: it has {parts} parts"
        return missing if parts > 1 else "some nodes are not reached"
    return counted(diameter, "hop")


def _diameter(network: Network) -> int | None:
    from cchybrid.referee.distances import distance_blocks

    if is_too_large(network):
        return None
    diameter = 0
    for _, block in distance_blocks(network, range(network.nodes)):
        if int(block.min()) < 0:
            return None
        diameter = max(diameter, int(block.max()))
    return diameter


def network_facts(network: Network) -> dict[str, Any]:
    """Return the facts of a network by name, as JSON values.

    The ``diameter`` is in hops between all nodes; ``None`` if some node cannot reach another, or
    the network is too large.
    """
    sizes = [channel.capacity for channel in network.channels]
    out = [len(targets) for targets in network.successors]
    names = network.node_name
    return {
        "name": network.name,
        "nodes": network.nodes,
        "channels": len(network.channels),
        "capacities": sorted(set(sizes)),
        "half_duplex": [[names(a), names(b)] for a, b in network.half_duplex],
        "groups": [[[names(a), names(b)] for a, b in group] for group in network.groups],
        "ticks": sorted({sum(time) for time in network.times}),
        "endpoints": [names(node) for node in network.endpoints],
        "switches": [names(node) for node in network.switches],
        "terminals": [names(node) for node in network.terminals],
        "out_degree": [min(out), max(out)],
        "diameter": _diameter(network),
        "node_names": None if network.node_names is None else list(network.node_names),
    }
