"""Cost terms of routes: the spread of paths over nodes and links, and moderate contention.

Both terms route a message from every node to every other one, source by source in ascending order,
along a tree of cheapest paths of each source. Among paths of equal cost, the one whose last node
before the destination has the smallest number is taken.

References
----------
M. Marden, "A genetic algorithm for designing parallel processor interconnection networks", sections
4.1 (moderate contention) and 6.4 (distribution of paths). What these sections leave open is in
docs/design.md.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled

from .ports import Ports

Counts = NDArray[np.int64]

BY_NODES = 0
"""Shortest paths; of several, one whose nodes are on the fewest paths so far."""
BY_LINKS = 1
"""Cheapest paths: a link costs 1, and 1 more for every message of another node on it so far."""
UNKNOWN = 2**62
"""The cost of a node that no path has reached yet."""


def path_deviations(ports: Ports) -> tuple[float, float]:
    """Return the standard deviations of paths through nodes, and through directed links.

    A path runs through its two ends, too. Deviations are those of a sample (divisor n - 1), over
    all nodes, and over the links in both directions. Infinite if the network is not connected.
    """
    routed = _routed(ports, BY_NODES)
    if routed is None:
        return math.inf, math.inf
    through, messages, _ = routed
    linked = ports != np.arange(len(ports), dtype=ports.dtype)[:, None]
    return float(np.std(through, ddof=1)), float(np.std(messages[linked], ddof=1))


def contention(ports: Ports) -> tuple[float, float, float]:
    """Return mean and maximum latency and the deviation of messages per link under contention.

    Latencies are hops, the mean is over all pairs, each node with itself included. The standard
    deviation is that of all ports of all nodes; an empty port sends no message. Infinite if the
    network is not connected.
    """
    routed = _routed(ports, BY_LINKS)
    if routed is None:
        return math.inf, math.inf, math.inf
    _, messages, hops = routed
    return float(hops.mean()), float(hops.max()), float(np.std(messages))


def _routed(ports: Ports, rule: int) -> tuple[Counts, Counts, Counts] | None:
    """Return paths per node, messages per port and hops per pair; ``None`` if not connected."""
    nodes, degree = ports.shape
    through = np.zeros(nodes, dtype=np.int64)
    messages = np.zeros((nodes, degree), dtype=np.int64)
    hops = np.zeros((nodes, nodes), dtype=np.int64)
    connected = route_all(ports, rule, through, messages, hops)
    return (through, messages, hops) if connected else None


@compiled
def route_all(ports: Ports, rule: int, through: Counts, messages: Counts, hops: Counts) -> bool:
    """Route all pairs and count; return whether the network is connected.

    Parameters
    ----------
    rule
        ``BY_NODES`` or ``BY_LINKS``.
    through
        Shape (nodes,): receives the paths through every node.
    messages
        Shape (nodes, degree): receives the messages that leave by every port.
    hops
        Shape (nodes, nodes): receives the hops from every source to every destination.
    """
    nodes, degree = ports.shape
    cost = np.empty(nodes, dtype=np.int64)
    before = np.empty(nodes, dtype=np.int64)
    by_port = np.empty(nodes, dtype=np.int64)
    below_node = np.empty(nodes, dtype=np.int64)
    order = np.empty(nodes, dtype=np.int64)
    done = np.empty(nodes, dtype=np.bool_)
    # The nodes that are reached but not done; their order does not matter.
    reached = np.empty(nodes, dtype=np.int64)
    # A hop costs more than all nodes of a shortest path together, so fewer hops come first.
    hop_cost = np.int64(nodes) ** 4 if rule == BY_NODES else np.int64(1)
    for source in range(nodes):
        cost[:] = UNKNOWN
        done[:] = False
        cost[source] = 0
        hops[source, source] = 0
        reached[0] = source
        count = 1
        for place in range(nodes):
            if count == 0:
                return False
            chosen = 0
            for index in range(1, count):
                if cost[reached[index]] < cost[reached[chosen]]:
                    chosen = index
            node = reached[chosen]
            count -= 1
            reached[chosen] = reached[count]
            done[node] = True
            order[place] = node
            if place > 0:
                hops[source, node] = hops[source, before[node]] + 1
            for port in range(degree):
                ahead: Any = ports[node, port]
                if done[ahead]:
                    continue
                added = through[ahead] if rule == BY_NODES else messages[node, port]
                found = cost[node] + hop_cost + added
                if cost[ahead] == UNKNOWN:
                    reached[count] = ahead
                    count += 1
                if found < cost[ahead] or (found == cost[ahead] and node < before[ahead]):
                    cost[ahead] = found
                    before[ahead] = node
                    by_port[ahead] = port
        # Nodes in descending order of cost: the messages of a node's subtree pass through it.
        below_node[:] = 1
        for place in range(nodes - 1, 0, -1):
            node = order[place]
            through[node] += below_node[node]
            messages[before[node], by_port[node]] += below_node[node]
            below_node[before[node]] += below_node[node]
        through[source] += nodes - 1
    return True
