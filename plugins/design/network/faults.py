"""Cost terms of faults: latencies after the failure of every single node, and of random faults.

References
----------
M. Marden, "A genetic algorithm for designing parallel processor interconnection networks", sections
6.5 and 6.6.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.rng import State, below, seed_state

from .distances import NO_LIMIT, UNREACHABLE, Words, scratch, search_distances
from .ports import Ports

FAULT_DRAWS = 20
"""The number of random sets of faults."""
FAULT_SHARE = 0.05
"""The share of nodes, and of links, that fail at random; at least one of each."""


def node_faults(ports: Ports) -> tuple[float, float]:
    """Return the mean of the mean and the maximum of the maximum latencies without one node.

    Infinite if the failure of some node leaves others without a path.
    """
    nodes = len(ports)
    total, diameter = _without_each(ports, scratch(nodes - 1))
    if total == UNREACHABLE:
        return math.inf, math.inf
    return total / (nodes * (nodes - 1) ** 2), float(diameter)


@compiled
def _without_each(ports: Ports, reach: Words) -> tuple[int, int]:
    """Return the sum of the sums and the maximum of the distances without one node.

    ``UNREACHABLE`` twice if the failure of some node leaves others without a path.
    """
    nodes, degree = ports.shape
    rest = np.empty((nodes - 1, degree), dtype=np.int32)
    failed = np.zeros(nodes, dtype=np.bool_)
    total = diameter = 0
    for node in range(nodes):
        failed[node] = True
        _remove(ports, failed, rest)
        failed[node] = False
        found, farthest = search_distances(rest, nodes - 1, NO_LIMIT, reach)
        if found == UNREACHABLE:
            return UNREACHABLE, UNREACHABLE
        total += found
        diameter = max(diameter, farthest)
    return total, diameter


def random_faults(ports: Ports, seed: int) -> tuple[float, float]:
    """Return the mean of the mean and the maximum of the maximum latencies under random faults.

    In each of ``FAULT_DRAWS`` draws, ``FAULT_SHARE`` of the nodes and, independently, of the links
    fail. The same draws are made for every network of as many nodes and links. Infinite if some
    draw leaves nodes without a path.
    """
    state = seed_state(seed)
    nodes = len(ports)
    links = int((ports != np.arange(nodes, dtype=ports.dtype)[:, None]).sum()) // 2
    failing_nodes = max(1, round(FAULT_SHARE * nodes))
    failing_links = min(links, max(1, round(FAULT_SHARE * links)))
    means, maxima = [], []
    for _ in range(FAULT_DRAWS):
        failed = np.zeros(nodes, dtype=np.bool_)
        damaged = ports.copy()
        _fail(failed, failing_nodes, damaged, failing_links, state)
        mean, maximum = _latency_without(damaged, failed)
        means.append(mean)
        maxima.append(maximum)
        if math.isinf(mean):
            break
    return sum(means) / len(means), max(maxima)


@compiled
def _fail(failed: NDArray[np.bool_], nodes: int, ports: Ports, links: int, state: State) -> None:
    """Let a number of random nodes fail, and empty the ports of a number of random links."""
    count, degree = ports.shape
    while nodes > 0:
        node = below(state, count)
        if not failed[node]:
            failed[node] = True
            nodes -= 1
    while links > 0:
        node, port = below(state, count), below(state, degree)
        other = ports[node, port]
        if other != node:
            ports[node, port] = node
            for back in range(degree):
                if ports[other, back] == node:
                    ports[other, back] = other
                    break
            links -= 1


def _latency_without(ports: Ports, failed: NDArray[np.bool_]) -> tuple[float, float]:
    """Return mean and maximum latency of the nodes that have not failed."""
    kept = len(ports) - int(failed.sum())
    if kept == 0:
        return 0.0, 0.0
    rest = np.empty((kept, ports.shape[1]), dtype=np.int32)
    _remove(ports, failed, rest)
    total, diameter = search_distances(rest, kept, NO_LIMIT, scratch(kept))
    if total == UNREACHABLE:
        return math.inf, math.inf
    return total / kept**2, float(diameter)


@compiled
def _remove(ports: Ports, failed: NDArray[np.bool_], rest: Ports) -> None:
    """Write the ports of the nodes that have not failed, renumbered."""
    nodes, degree = ports.shape
    number = np.empty(nodes, dtype=np.int32)
    count = 0
    for node in range(nodes):
        number[node] = count
        count += not failed[node]
    for node in range(nodes):
        if not failed[node]:
            for port in range(degree):
                other = ports[node, port]
                rest[number[node], port] = number[node if failed[other] else other]
