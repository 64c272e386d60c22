"""Rings, and rings with links across."""

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_min_nodes, check_size, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def ring_bi(nodes: int) -> Network:
    """Return the ring with links in both directions.

    Source: Dally and Towles, "Principles and Practices of Interconnection Networks" (2004),
    chapter 5 (the 1-dimensional torus). Degree 2, diameter ``nodes // 2``.

    Raises
    ------
    InputError
        Fewer than 3 nodes (two nodes would have two links between them), or too many.
    """
    check_min_nodes(nodes, 3, "ring-bi")
    check_size(nodes)
    links = ((node, (node + 1) % nodes) for node in range(nodes))
    return Network.from_links(f"ring-bi-{nodes}", nodes, links, positions=layouts.circle(nodes))


def ring_uni(nodes: int) -> Network:
    """Return the ring of channels in one direction, from each node to the next.

    Source: Dally and Towles (2004), chapter 5 (the unidirectional 1-dimensional torus).
    Out-degree 1, diameter ``nodes - 1``.

    Raises
    ------
    InputError
        Fewer than 2 nodes, or too many.
    """
    check_min_nodes(nodes, 2, "ring-uni")
    check_size(nodes)
    arcs = ((node, (node + 1) % nodes) for node in range(nodes))
    return Network.from_arcs(f"ring-uni-{nodes}", nodes, arcs, positions=layouts.circle(nodes))


def spidergon(nodes: int) -> Network:
    """Return the spidergon: a ring in which node i is linked across to node i + nodes/2 as well.

    Source: Coppola et al., "Spidergon: a novel on-chip communication network", SoC 2004; with 8
    nodes it is the octagon. Degree 3, diameter ``ceil(nodes / 4)``.

    Parameters
    ----------
    nodes
        An even number, at least 4 (then every two nodes are linked).

    Raises
    ------
    InputError
        An odd number of nodes, too few, or too many.
    """
    check_min_nodes(nodes, 4, "spidergon")
    if nodes % 2:
        raise InputError(
            f"{nodes} is odd, so there are no opposite nodes",
            hint=f"use spidergon-{nodes - 1} or spidergon-{nodes + 1}",
        )
    check_size(nodes)
    links = [(node, (node + 1) % nodes) for node in range(nodes)]
    links += [(node, node + nodes // 2) for node in range(nodes // 2)]
    return Network.from_links(f"spidergon-{nodes}", nodes, links, positions=layouts.circle(nodes))


FAMILIES = (
    numbered("ring-N", ring_bi, "another name of ring-bi-N", "ring-8"),
    numbered("ring-bi-N", ring_bi, "ring of N >= 3 nodes, links in both directions", "ring-bi-8"),
    numbered("ring-uni-N", ring_uni, "ring of N >= 2 nodes, channels in one direction",
        "ring-uni-8"),
    numbered("spidergon-N", spidergon,
        "ring of even N >= 4 with a link from every node to the opposite one", "spidergon-16"),
    TopologyInfo(name="octagon", usage="octagon[-8]", pattern=r"octagon(?:-8)?",
        build=lambda: spidergon(8), summary="octagon: another name of spidergon-8",
        example="octagon-8"),
)  # fmt: skip
