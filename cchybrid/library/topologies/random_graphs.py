"""Random networks: the same name, which contains the seed, gives the same network."""

from __future__ import annotations

import random

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError


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
    if nodes % 2 and degree % 2:
        raise InputError(
            f"{nodes} nodes of degree {degree} would have half a link",
            hint=f"use random-regular-{nodes + 1}-{degree}-{seed}",
        )
    dense = 2 * degree > nodes
    stream = random.Random(seed)
    while True:
        graph = nx.random_regular_graph(nodes - 1 - degree if dense else degree, nodes, stream)
        graph = nx.complement(graph) if dense else graph
        if nx.is_connected(graph):
            break
    return Network.from_links(
        f"random-regular-{nodes}-{degree}-{seed}",
        nodes,
        graph.edges,
        positions=layouts.circle(nodes),
    )


FAMILIES = (
    numbered(
        "random-regular-N-D-SEED",
        random_regular,
        "connected random graph of N nodes of degree D; the seed fixes it",
        "random-regular-16-3-1",
    ),
)
