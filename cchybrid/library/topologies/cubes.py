"""Hypercubes."""

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_min_nodes, numbered, power_of_two
from cchybrid.model import Network


def hypercube(nodes: int) -> Network:
    """Return the binary hypercube: two nodes are linked if their numbers differ in one bit.

    Source: Saad and Schultz, "Topological properties of hypercubes", IEEE Trans. Computers 37
    (1988). With ``nodes`` = 2^d, degree and diameter are d.

    Parameters
    ----------
    nodes
        A power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    check_min_nodes(nodes, 2, "hypercube")
    dimensions = power_of_two(nodes, "hypercube")
    links = (
        (node, node | 1 << bit)
        for node in range(nodes)
        for bit in range(dimensions)
        if not node >> bit & 1
    )
    return Network.from_links(
        f"hypercube-{nodes}", nodes, links, positions=layouts.grid([2] * dimensions)
    )


FAMILIES = (numbered("hypercube-N", hypercube, "binary hypercube of N = 2^d nodes", "hypercube-8"),)
