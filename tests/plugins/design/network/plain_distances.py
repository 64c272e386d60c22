"""Plain implementations of the definitions in ``cchybrid_plugins.design.network``."""

from collections.abc import Iterable
from fractions import Fraction

import hypothesis.strategies as st
import networkx as nx
import numpy as np
from cchybrid_plugins.design.network.bounds import LatencyBound
from cchybrid_plugins.design.network.ports import Links, Ports
from cchybrid_plugins.design.network.random_networks import random_network
from cchybrid_plugins.design.network.task import DesignTask

from cchybrid.toolkit.kernels.rng import seed_state

PETERSEN: Links = tuple(nx.petersen_graph().edges)


def plain_distances(nodes: int, links: Iterable[tuple[int, int]]) -> list[list[int | None]]:
    """Return the distance of every two nodes, ``None`` if there is no path."""
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in links:
        neighbours[a].add(b)
        neighbours[b].add(a)
    rows: list[list[int | None]] = []
    for source in range(nodes):
        row: list[int | None] = [None] * nodes
        row[source] = 0
        frontier, hops = {source}, 0
        while frontier:
            hops += 1
            frontier = {b for a in frontier for b in neighbours[a] if row[b] is None}
            for node in frontier:
                row[node] = hops
        rows.append(row)
    return rows


def plain_total(nodes: int, links: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return sum and maximum of all distances; -1 twice if the network is not connected."""
    values = [value for row in plain_distances(nodes, links) for value in row]
    known = [value for value in values if value is not None]
    return (-1, -1) if len(known) < len(values) else (sum(known), max(known))


def mean_of(bound: LatencyBound) -> Fraction:
    """Return the bound of the mean distance of two different nodes."""
    return Fraction(bound.total, bound.nodes * (bound.nodes - 1))


def ring(nodes: int) -> Links:
    """Return the links of a ring."""
    return tuple((node, (node + 1) % nodes) for node in range(nodes))


def binary_tree(nodes: int) -> Links:
    """Return the links of a binary tree with node 0 as root."""
    return tuple(((node - 1) // 2, node) for node in range(1, nodes))


def torus(*extents: int) -> Links:
    """Return the links of a torus of extents above 2, the last coordinate running fastest."""
    index = np.arange(int(np.prod(extents))).reshape(extents)
    pairs = [
        (int(a), int(b))
        for axis in range(len(extents))
        for a, b in zip(index.ravel(), np.roll(index, -1, axis).ravel(), strict=True)
    ]
    return tuple((min(pair), max(pair)) for pair in pairs)


@st.composite
def random_ports(draw: st.DrawFn, max_nodes: int = 70, max_degree: int = 5) -> Ports:
    """Draw the ports of a random connected network."""
    nodes = draw(st.integers(4, max_nodes))
    degree = draw(st.integers(2, min(max_degree, nodes - 1)))
    seed = draw(st.integers(0, 2**20))
    redundant = draw(st.booleans())
    task = DesignTask(nodes, degree, redundant_links=redundant)
    return random_network(task, seed_state(seed), 0.5)
