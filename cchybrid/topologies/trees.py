"""Trees: binary ones with terminals at the leaves or everywhere, and fat trees."""

from __future__ import annotations

from collections.abc import Iterator

from cchybrid.errors import InputError
from cchybrid.model import Network
from cchybrid.records import TopologyInfo
from cchybrid.topologies import layouts
from cchybrid.topologies.sizes import check_size, power_of_two, sized


def b_tree(leaves: int) -> Network:
    """Return the complete binary tree whose leaves alone are terminals.

    Leaves are the nodes 0 to N - 1 from left to right, switches follow: N is the root, N + 1 and
    N + 2 are its children, and so on row by row. Source: Leighton, "Introduction to Parallel
    Algorithms and Architectures" (1992), chapter 1. Leaves have degree 1, switches 3 (the root
    2); the diameter is 2 log2 N, the bisection a single link at the root.

    Parameters
    ----------
    leaves
        A power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    rows = power_of_two(leaves, "b-tree")
    check_size(2 * leaves - 1)

    def node(heap: int) -> int:
        """Return the node at a place of the tree that is counted row by row from the root."""
        return leaves + heap if heap < leaves - 1 else heap - (leaves - 1)

    links = ((node((heap - 1) // 2), node(heap)) for heap in range(1, 2 * leaves - 1))
    places = layouts.binary_tree(rows + 1)
    return Network.from_links(
        f"b-tree-{leaves}",
        2 * leaves - 1,
        links,
        endpoints=tuple(range(leaves)),
        positions=(*places[leaves - 1 :], *places[: leaves - 1]),
    )


def full_tree(nodes: int) -> Network:
    """Return the complete binary tree in which every node is a terminal.

    Node 0 is the root and node i has the children 2i + 1 and 2i + 2, so rows are numbered from
    left to right. Source: Leighton (1992), chapter 1. Leaves have degree 1, inner nodes 3 (the
    root 2); the diameter is 2 (log2(N + 1) - 1).

    Parameters
    ----------
    nodes
        One less than a power of two, at least 3.

    Raises
    ------
    InputError
        The number is not of that form, or too large.
    """
    check_size(nodes)
    rows = (nodes + 1).bit_length() - 1
    if nodes < 3 or nodes + 1 != 1 << rows:
        lower = max(3, (1 << rows) - 1)
        raise InputError(
            f"{nodes} nodes do not fill the rows of a binary tree",
            mend=f"use full-tree-{lower} or full-tree-{2 * lower + 1}",
        )
    links = (((node - 1) // 2, node) for node in range(1, nodes))
    return Network.from_links(
        f"full-tree-{nodes}", nodes, links, positions=layouts.binary_tree(rows)
    )


def fat_tree(leaves: int) -> Network:
    """Return the fat tree of two-way switches: as many links between all rows as there are leaves.

    Only leaves are terminals: the nodes 0 to N - 1. Switches follow, log2 N rows of N/2 from the
    lowest row up. Switch w of the lowest row has the leaves 2w and 2w + 1; in row l (from 0)
    switch w is linked up to the switches w and w with bit l changed, of the next row, so the
    rows form a butterfly. Sources: Leiserson, "Fat-trees: universal networks for
    hardware-efficient supercomputing", IEEE Trans. Computers 34 (1985); Petrini and Vanneschi,
    "k-ary n-trees", IPPS 1997 (this is the 2-ary one). Switches have degree 4 (2 in the top
    row), the diameter is 2 log2 N, and N/2 links join any half of the leaves that is a subtree
    with the other half.

    Parameters
    ----------
    leaves
        A power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    rows = power_of_two(leaves, "fat-tree")
    half = leaves // 2
    check_size(leaves + rows * half)

    def links() -> Iterator[tuple[int, int]]:
        for leaf in range(leaves):
            yield leaf, leaves + leaf // 2
        for row in range(rows - 1):
            for switch in range(half):
                lower = leaves + row * half + switch
                yield lower, leaves + (row + 1) * half + switch
                yield lower, leaves + (row + 1) * half + (switch ^ 1 << row)

    return Network.from_links(
        f"fat-tree-{leaves}",
        leaves + rows * half,
        links(),
        endpoints=tuple(range(leaves)),
        positions=layouts.rows([leaves, *[half] * rows]),
    )


FAMILIES = (
    TopologyInfo(
        name="b-tree",
        usage="b-tree-N",
        pattern=r"b-tree-(\d+)",
        build=sized(b_tree),
        summary="binary tree of N = 2^k leaves, which alone are terminals",
        example="b-tree-8",
    ),
    TopologyInfo(
        name="fat-tree",
        usage="fat-tree-N",
        pattern=r"fat-tree-(\d+)",
        build=sized(fat_tree),
        summary="fat tree of N = 2^k leaves, which alone are terminals: k rows of N/2 switches",
        example="fat-tree-8",
    ),
    TopologyInfo(
        name="full-tree",
        usage="full-tree-N",
        pattern=r"full-tree-(\d+)",
        build=sized(full_tree),
        summary="binary tree of N = 2^k - 1 nodes, all of them terminals, the root being 0",
        example="full-tree-15",
    ),
)
