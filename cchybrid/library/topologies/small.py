"""Graphs of small diameter for their degree: Petersen, Heawood, Levi, Kautz, complete."""

from collections.abc import Callable

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import (
    MAX_NODES,
    check_min_nodes,
    check_size,
    numbered,
    whole,
)
from cchybrid.model import Network
from cchybrid.model.errors import InputError

KAUTZ_DEGREE = 3


def petersen() -> Network:
    """Return the Petersen graph: 10 nodes of degree 3, diameter 2, the Moore graph of that degree.

    Nodes 0 to 4 are the outer pentagon, node i + 5 is the inner neighbour of node i, and the
    inner nodes form a pentagram. Source: Holton and Sheehan, "The Petersen Graph" (1993).
    """
    links = [(node, (node + 1) % 5) for node in range(5)]
    links += [(node, node + 5) for node in range(5)]
    links += [(node + 5, (node + 2) % 5 + 5) for node in range(5)]
    positions = layouts.circle(5, 2.0) + layouts.circle(5, 1.0)
    return Network.from_links("petersen-10", 10, links, positions=positions)


def heawood() -> Network:
    """Return the Heawood graph: 14 nodes of degree 3, diameter 3, girth 6.

    A ring of 14 nodes in which every even node i is linked to node i + 5 (LCF notation
    [5, -5]^7). Source: Heawood, "Map colour theorem", Quarterly J. of Mathematics 24 (1890).
    """
    links = [(node, (node + 1) % 14) for node in range(14)]
    links += [(node, (node + 5) % 14) for node in range(0, 14, 2)]
    return Network.from_links("heawood-14", 14, links, positions=layouts.circle(14))


def levi() -> Network:
    """Return the Levi graph, also called Tutte-Coxeter graph or Tutte's 8-cage.

    It has 30 nodes of degree 3, diameter 4 and girth 8: a ring in which node i is linked to
    node i + s as well, s repeating -13, -9, 7, -7, 9, 13 (LCF notation).
    Source: Tutte, "A family of cubical graphs", Mathematical Proceedings of the Cambridge
    Philosophical Society 43 (1947); Levi, "Finite geometrical systems" (1942).
    """
    steps = (-13, -9, 7, -7, 9, 13)
    links = {(node, (node + 1) % 30) for node in range(30)}
    chords = ((node, (node + steps[node % 6]) % 30) for node in range(30))
    links |= {(min(chord), max(chord)) for chord in chords}  # each end gives the chord once
    return Network.from_links("levi-30", 30, links, positions=layouts.circle(30))


def kautz(nodes: int) -> Network:
    """Return the Kautz digraph of out-degree 3; its channels have one direction.

    In-degree and out-degree are 3; 4 * 3^(k-1) nodes have diameter k: 4, 12, 36, 108, ...
    Source: Kautz, "Bounds on directed (d,k) graphs" (1968); the numbering after Imase and Itoh,
    "A design for directed graphs with minimum diameter", IEEE Trans. Computers 32 (1983): node i
    leads to the nodes -(3i + 1), -(3i + 2), -(3i + 3) modulo the number of nodes. Nodes 0 and 2
    are exchanged, which with 12 nodes gives the numbering of the schedules published by
    Jaroš: 0 leads to 3, 4, 5, node 1 to 6, 7, 8, and so on.

    Raises
    ------
    InputError
        The number of nodes is not of that form, or too large.
    """
    check_size(nodes)
    sizes = [4]
    while sizes[-1] < MAX_NODES:
        sizes.append(KAUTZ_DEGREE * sizes[-1])
    if nodes not in sizes:
        near = [size for size in sizes if size < nodes][-1:]
        near += [size for size in sizes if nodes < size <= MAX_NODES][:1]
        raise InputError(
            f"there is no Kautz digraph of degree 3 with {nodes} nodes",
            hint="use " + " or ".join(f"kautz-{size}" for size in near),
        )
    rename = {0: 2, 2: 0}
    arcs = (
        (rename.get(node, node), rename.get(target, target))
        for node in range(nodes)
        for target in (-(KAUTZ_DEGREE * node + step) % nodes for step in (1, 2, 3))
    )
    return Network.from_arcs(f"kautz-{nodes}", nodes, arcs, positions=layouts.circle(nodes))


def complete(nodes: int) -> Network:
    """Return the complete graph: every two nodes are linked. Degree ``nodes - 1``, diameter 1.

    Source: any textbook of graph theory.

    Raises
    ------
    InputError
        Fewer than 2 nodes, or too many channels.
    """
    check_min_nodes(nodes, 2, "complete")
    check_size(nodes, nodes * (nodes - 1))
    links = ((a, b) for a in range(nodes) for b in range(a + 1, nodes))
    return Network.from_links(f"complete-{nodes}", nodes, links, positions=layouts.circle(nodes))


def _single(build: Callable[[], Network], summary: str) -> TopologyInfo:
    """Return the family of a single graph, whose size may be omitted."""
    name, _, size = build().name.partition("-")

    def checked(text: str | None) -> Network:
        if text is not None and whole(text) != int(size):
            raise InputError(f"this graph has {size} nodes", hint=f"use {name}-{size}")
        return build()

    pattern = rf"{name}(?:-(\d+))?"
    return TopologyInfo(name, f"{name}[-{size}]", pattern, checked, summary, f"{name}-{size}")


FAMILIES = (
    _single(petersen, "Petersen graph: 10 nodes of degree 3, diameter 2"),
    _single(heawood, "Heawood graph: 14 nodes of degree 3, diameter 3"),
    _single(levi, "Levi (Tutte-Coxeter) graph: 30 nodes of degree 3, diameter 4"),
    numbered("kautz-N", kautz,
        "Kautz digraph of out-degree 3 and diameter k: N = 4 * 3^(k-1) nodes, one-way", "kautz-12"),
    numbered("complete-N", complete, "complete graph: every two nodes are linked", "complete-8"),
)  # fmt: skip
