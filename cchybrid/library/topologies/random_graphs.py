"""Random networks: the same name, which contains the seed, gives the same network."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_DRAWS, MAX_DRAWN_NODES = 1_000, 50_000
"""Graphs that are drawn until one is connected, and nodes of all these together."""

MAX_POINTS = 500
"""Points of a geometric graph; NetworkX compares each with each."""

MOVED = 0.2
"""Share of the links of a small world that are moved."""


def random_regular(nodes: int, degree: int, seed: int) -> Network:
    """Return a connected random graph in which all nodes have the same degree.

    NetworkX draws it (``random_regular_graph``) repeatedly, from one random stream, until it is
    connected; above half the maximum degree the complement is drawn.
    Source: Steger and Wormald, "Generating random regular graphs quickly", Combinatorics,
    Probability and Computing 8 (1999); as networks Singla et al., "Jellyfish: networking data
    centers randomly", NSDI 2012. Diameter about the logarithm of ``nodes`` to the base
    ``degree`` - 1.

    Parameters
    ----------
    nodes
        At least ``degree`` + 1; an even number if the degree is odd.
    degree
        At least 3.
    seed
        Any number from 0 on.

    Raises
    ------
    InputError
        There is no such graph, or it is too large.
    """
    import networkx as nx

    _check_degree(nodes, degree)
    if nodes % 2 and degree % 2:
        raise InputError(
            f"{nodes} nodes of degree {degree} would have half a link",
            hint=f"use random-regular-{nodes + 1}-{degree}-{seed}",
        )
    dense = 2 * degree > nodes

    def draw(stream: random.Random) -> Any:
        graph = nx.random_regular_graph(nodes - 1 - degree if dense else degree, nodes, stream)
        return nx.complement(graph) if dense else graph

    return _connected(f"random-regular-{nodes}-{degree}-{seed}", nodes, seed, draw)


def random_geometric(nodes: int, degree: int, seed: int) -> Network:
    """Return a connected random geometric graph: points of a square, linked if they are near.

    The distance is chosen so that a node has ``degree`` neighbours on average, far from the border.
    Source: Gilbert, "Random plane networks", Journal of the Society for Industrial and Applied
    Mathematics 9 (1961); NetworkX draws it (``random_geometric_graph``).

    Parameters
    ----------
    nodes
        From 4 to 500.
    degree
        From 3 to ``nodes`` - 1; with a low degree and many nodes no connected graph is found.
    seed
        Any number from 0 on.

    Raises
    ------
    InputError
        There is no such graph, none is found, or it is too large.
    """
    import networkx as nx

    _check_degree(nodes, degree)
    if nodes > MAX_POINTS:
        raise InputError(
            f"{nodes:,} points take too long to compare", hint=f"use at most {MAX_POINTS:,}"
        )
    radius = math.sqrt(degree / (math.pi * nodes))
    return _connected(
        f"random-geometric-{nodes}-{degree}-{seed}",
        nodes,
        seed,
        lambda stream: nx.random_geometric_graph(nodes, radius, seed=stream),
    )


def random_links(nodes: int, links: int, seed: int) -> Network:
    """Return a connected random graph with a given number of links.

    Source: Erdős and Rényi, "On random graphs I", Publicationes Mathematicae 6 (1959); NetworkX
    draws it (``gnm_random_graph``).

    Parameters
    ----------
    nodes
        At least 2.
    links
        From ``nodes`` - 1 to that of a complete graph; with few links and many nodes no connected
        graph is found.
    seed
        Any number from 0 on.

    Raises
    ------
    InputError
        There is no such graph, none is found, or it is too large.
    """
    import networkx as nx

    max_links = nodes * (nodes - 1) // 2
    if not nodes - 1 <= links <= max_links:
        raise InputError(
            f"{links} links cannot connect {nodes} nodes, each pair at most once",
            hint=f"use {nodes - 1} to {max_links} links",
        )
    check_size(nodes, 2 * links)
    return _connected(
        f"random-links-{nodes}-{links}-{seed}",
        nodes,
        seed,
        lambda stream: nx.gnm_random_graph(nodes, links, seed=stream),
    )


def scale_free(nodes: int, links: int, seed: int) -> Network:
    """Return a scale-free graph: every new node is linked to nodes of high degree.

    Source: Barabási and Albert, "Emergence of scaling in random networks", Science 286 (1999), doi:
    10.1126/science.286.5439.509; NetworkX draws it (``barabasi_albert_graph``).

    Parameters
    ----------
    nodes
        More than ``links``.
    links
        Links of every new node, at least 1.
    seed
        Any number from 0 on.

    Raises
    ------
    InputError
        There is no such graph, or it is too large.
    """
    import networkx as nx

    if not 1 <= links < nodes:
        raise InputError(
            f"{nodes} nodes cannot have {links} links each", hint=f"use 1 to {max(1, nodes - 1)}"
        )
    check_size(nodes, 2 * nodes * links)
    return _connected(
        f"scale-free-{nodes}-{links}-{seed}",
        nodes,
        seed,
        lambda stream: nx.barabasi_albert_graph(nodes, links, seed=stream),
    )


def small_world(nodes: int, degree: int, seed: int) -> Network:
    """Return a connected small-world graph: a ring of neighbours, every fifth link moved at random.

    Source: Watts and Strogatz, "Collective dynamics of small-world networks", Nature 393 (1998),
    doi:10.1038/30918; NetworkX draws it (``watts_strogatz_graph``).

    Parameters
    ----------
    nodes
        More than ``degree``.
    degree
        An even number of at least 4.
    seed
        Any number from 0 on.

    Raises
    ------
    InputError
        There is no such graph, or it is too large.
    """
    import networkx as nx

    _check_degree(nodes, degree)
    if degree % 2:
        raise InputError(
            f"a ring of neighbours has no degree of {degree}",
            hint=f"use small-world-{nodes}-{degree + 1}-{seed}",
        )
    return _connected(
        f"small-world-{nodes}-{degree}-{seed}",
        nodes,
        seed,
        lambda stream: nx.watts_strogatz_graph(nodes, degree, MOVED, seed=stream),
    )


def _check_degree(nodes: int, degree: int) -> None:
    """Raise an ``InputError`` unless a random graph can have nodes of this degree."""
    if degree < 3:
        raise InputError(
            f"degree {degree} is too low for a random network",
            hint=f"use a degree of 3 or more, or ring-bi-{max(3, nodes)}",
        )
    if degree >= nodes:
        raise InputError(
            f"degree {degree} is too high for {nodes} nodes",
            hint=f"use at least {degree + 1} nodes",
        )
    check_size(nodes, nodes * degree)


def _connected(name: str, nodes: int, seed: int, draw: Callable[[random.Random], Any]) -> Network:
    """Return the first connected graph of those drawn one after another from one random stream."""
    import networkx as nx

    stream = random.Random(seed)
    draws = max(1, min(MAX_DRAWS, MAX_DRAWN_NODES // nodes))
    for _ in range(draws):
        graph = draw(stream)
        if nx.is_connected(graph):
            places = nx.get_node_attributes(graph, "pos")
            positions = layouts.circle(nodes)
            if places:  # of a unit square
                scale = math.sqrt(nodes)
                positions = tuple(
                    (round(scale * x, 4), round(scale * y, 4))
                    for x, y in (places[node] for node in range(nodes))
                )
            return Network.from_links(name, nodes, graph.edges, positions=positions)
    raise InputError(
        f"none of {draws:,} graphs drawn for {name} is connected",
        hint="use more links, a higher degree, or fewer nodes",
    )


FAMILIES = (
    numbered("random-regular-N-D-SEED", random_regular,
        "connected random graph of N nodes of degree D; the seed fixes it",
        "random-regular-16-3-1"),
    numbered("random-geometric-N-D-SEED", random_geometric,
        "N random points of a square, linked to D others nearby on average",
        "random-geometric-20-6-1"),
    numbered("random-links-N-L-SEED", random_links, "connected random graph of N nodes and L links",
        "random-links-20-36-1"),
    numbered("scale-free-N-L-SEED", scale_free,
        "every new one of N nodes has L links to nodes of high degree", "scale-free-24-2-1"),
    numbered("small-world-N-D-SEED", small_world,
        "ring of N nodes of degree D, a fifth of the links moved at random", "small-world-24-4-1"),
)  # fmt: skip
