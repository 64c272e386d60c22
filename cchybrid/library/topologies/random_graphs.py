"""Random networks: the same name, which contains the seed, gives the same network."""

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, numbered, power_of_two, whole
from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_DRAWS, MAX_DRAWN_NODES = 1_000, 50_000
"""Graphs that are drawn until one is connected, and nodes of all these together."""

MAX_POINTS = 500
"""Points of a geometric graph; NetworkX compares each with each."""

MOVED = 20
"""Percent of the links of a small world that are moved if its name does not say it."""


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

    def draw(seed: random.Random) -> Any:
        graph = nx.random_regular_graph(nodes - 1 - degree if dense else degree, nodes, seed)
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
    draw = partial(nx.random_geometric_graph, nodes, radius)
    return _connected(f"random-geometric-{nodes}-{degree}-{seed}", nodes, seed, draw)


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
    draw = partial(nx.gnm_random_graph, nodes, links)
    return _connected(f"random-links-{nodes}-{links}-{seed}", nodes, seed, draw)


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
    draw = partial(nx.barabasi_albert_graph, nodes, links)
    return _connected(f"scale-free-{nodes}-{links}-{seed}", nodes, seed, draw)


def small_world(nodes: int, degree: int, seed: int, percent: int = MOVED) -> Network:
    """Return a connected small-world graph: a ring of neighbours, some links moved at random.

    Source: Watts and Strogatz, "Collective dynamics of small-world networks", Nature 393 (1998),
    doi:10.1038/30918; NetworkX draws it (``watts_strogatz_graph``).

    Parameters
    ----------
    nodes
        More than ``degree``.
    degree
        An even number of at least 2.
    seed
        Any number from 0 on.
    percent
        The probability, in percent, that a link is moved.

    Raises
    ------
    InputError
        There is no such graph, or it is too large.
    """
    import networkx as nx

    _check_degree(nodes, degree, lowest=2)
    if degree % 2:
        raise InputError(
            f"a ring of neighbours has no degree of {degree}", hint=f"use a degree of {degree + 1}"
        )
    if percent > 100:
        raise InputError(f"{percent} percent of the links are too many", hint="use at most 100")
    draw = partial(nx.watts_strogatz_graph, nodes, degree, percent / 100)
    return _connected(f"small-world-{nodes}-{degree}-{percent}-{seed}", nodes, seed, draw)


def _small_world(nodes: str, degree: str, percent: str | None, seed: str) -> Network:
    """Return the small world of the numbers in a name, of which one may be missing."""
    given = MOVED if percent is None else whole(percent)
    return small_world(whole(nodes), whole(degree), whole(seed), given)


def binomial_tree(nodes: int, links: int, seed: int) -> Network:
    """Return a binomial tree with random links added.

    In the binomial tree of 2^d nodes node i is linked to i with its highest bit cleared; all but
    its root, node 0, are then renumbered at random, and pairs of nodes that are not linked are
    drawn for the other links. So a broadcast from node 0 takes d steps hop by hop through one port,
    the fewest in which one informed node can become 2^d by doubling. Source of the tree: Vuillemin,
    "A data structure for manipulating priority queues", Communications of the ACM 21 (1978), doi:
    10.1145/359460.359478.

    Parameters
    ----------
    nodes
        A power of two, at least 2.
    links
        Number of random links beside those of the tree.
    seed
        Any number from 0 on.

    Raises
    ------
    InputError
        The number of nodes is no power of two, there are more links than pairs, or it is too large.
    """
    power_of_two(nodes, "binomial-tree", f"-{links}-{seed}")
    pairs = nodes * (nodes - 1) // 2
    if links > pairs - nodes + 1:
        raise InputError(
            f"{links} links are more than there are pairs beside the tree",
            hint=f"use at most {pairs - nodes + 1}",
        )
    check_size(nodes, 2 * (nodes - 1 + links))
    stream = random.Random(seed)
    number = [0, *stream.sample(range(1, nodes), nodes - 1)]
    tree = [(number[node], number[node ^ 1 << node.bit_length() - 1]) for node in range(1, nodes)]
    found = {(max(link), min(link)) for link in tree}
    # Pairs counted row by row of a triangle; at worst those of the tree are drawn again.
    for pair in stream.sample(range(pairs), links + nodes - 1):
        if len(found) < nodes - 1 + links:
            row = (1 + math.isqrt(1 + 8 * pair)) // 2
            found.add((row, pair - row * (row - 1) // 2))
    return Network.from_links(
        f"binomial-tree-{nodes}-{links}-{seed}", nodes, found, positions=layouts.circle(nodes)
    )


def _check_degree(nodes: int, degree: int, lowest: int = 3) -> None:
    """Raise an ``InputError`` unless a random graph can have nodes of this degree."""
    if degree < lowest:
        raise InputError(
            f"degree {degree} is too low for a random network",
            hint=f"use a degree of {lowest} or more, or ring-bi-{max(3, nodes)}",
        )
    if degree >= nodes:
        raise InputError(
            f"degree {degree} is too high for {nodes} nodes",
            hint=f"use at least {degree + 1} nodes",
        )
    check_size(nodes, nodes * degree)


def _connected(name: str, nodes: int, seed: int, draw: Callable[..., Any]) -> Network:
    """Return the first connected graph of those drawn one after another from one random stream."""
    import networkx as nx

    stream = random.Random(seed)
    draws = max(1, min(MAX_DRAWS, MAX_DRAWN_NODES // nodes))
    for _ in range(draws):
        graph = draw(seed=stream)
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
    TopologyInfo(name="small-world", usage="small-world-N-D-SEED or small-world-N-D-P-SEED",
        pattern=r"small-world-(\d+)-(\d+)(?:-(\d+))?-(\d+)", build=_small_world,
        summary="Watts-Strogatz: ring of N nodes of degree D, P % (else 20 %) of the links moved",
        example="small-world-24-4-1"),
    numbered("binomial-tree-N-L-SEED", binomial_tree,
        "binomial tree of N = 2^d nodes with root 0, and L random links more",
        "binomial-tree-32-17-1"),
)  # fmt: skip
