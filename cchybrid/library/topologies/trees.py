"""Binary trees with terminals at the leaves or at all nodes, and fat trees."""

from dataclasses import replace

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.k_ary_trees import k_ary_n_tree
from cchybrid.library.topologies.sizes import check_size, numbered, power_of_two
from cchybrid.model import Network
from cchybrid.model.errors import InputError


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
            hint=f"use full-tree-{lower} or full-tree-{2 * lower + 1}",
        )
    links = (((node - 1) // 2, node) for node in range(1, nodes))
    return Network.from_links(
        f"full-tree-{nodes}", nodes, links, positions=layouts.binary_tree(rows)
    )


def fat_tree(leaves: int) -> Network:
    """Return the fat tree of two-by-two switches, the 2-ary n-tree of N = 2^n leaves.

    Only leaves are terminals: the nodes 0 to N - 1. Switches follow, log2 N rows of N/2 from the
    lowest row up. Switch w of the lowest row has the leaves 2w and 2w + 1; switch w of row l
    (from 0) is linked to two switches of the next row: w, and w with bit l changed. Source:
    Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE Trans.
    Computers 34 (1985); the wiring as in ``k_ary_n_tree``. Switches have degree 4 (2 in the top
    row), the diameter is 2 log2 N, and as many links lead up from every row as there are leaves.

    Parameters
    ----------
    leaves
        A power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    return replace(k_ary_n_tree(2, power_of_two(leaves, "fat-tree")), name=f"fat-tree-{leaves}")


FAMILIES = (
    numbered("b-tree-N", b_tree, "binary tree of N = 2^k leaves, which alone are terminals",
        "b-tree-8"),
    numbered("fat-tree-N", fat_tree,
        "fat tree of N = 2^k leaves, which alone are terminals: k rows of N/2 switches",
        "fat-tree-8"),
    numbered("full-tree-N", full_tree,
        "binary tree of N = 2^k - 1 nodes, all of them terminals, the root being 0",
        "full-tree-15"),
)  # fmt: skip
