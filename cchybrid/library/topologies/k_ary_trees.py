"""k-ary n-trees, the fat trees of data centres."""

from dataclasses import replace
from itertools import repeat

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, checked_product, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def k_ary_n_tree(arity: int, levels: int) -> Network:
    """Return the k-ary n-tree: the fat tree of equal switches, k = ``arity``, n = ``levels``.

    Terminals 0 to k^n - 1 are endpoints; the switches follow level by level from the terminals
    up to the roots, k^(n-1) on each of n levels, numbered by words of n - 1 digits to the base
    k. Terminal t is linked to switch t // k of the lowest level. A switch is linked to the k
    switches of the next level whose words differ from its own at most in one digit: the last one
    above the lowest level, the one before it above the second, and so on. So the switches have k
    links down and, but for the roots, k links up. Degree 2k, diameter 2n. Source: Petrini and
    Vanneschi, "k-ary n-trees: high performance networks for massively parallel architectures",
    IPPS 1997.

    Raises
    ------
    InputError
        An arity below 2, no levels, or too many nodes or channels.
    """
    if arity < 2 or levels < 1:
        corrected = f"{max(2, arity)}-ary-{max(1, levels)}-tree"
        raise InputError("such a tree has no two terminals", hint=f"use {corrected}")
    terminals = checked_product(repeat(arity, levels))
    width = terminals // arity
    check_size(terminals + levels * width, 2 * levels * terminals)
    links = [(terminal, terminals + terminal // arity) for terminal in range(terminals)]
    stride = 1
    for level in range(levels - 1):
        below = terminals + level * width
        links += [
            (below + word, below + width + word + (digit - word // stride % arity) * stride)
            for word in range(width)
            for digit in range(arity)
        ]
        stride *= arity
    return Network.from_links(
        f"{arity}-ary-{levels}-tree",
        terminals + levels * width,
        links,
        endpoints=tuple(range(terminals)),
        positions=layouts.rows([terminals, *[width] * levels]),
    )


FAMILIES = (
    replace(
        numbered(
            "K-ary-N-tree",
            k_ary_n_tree,
            "k-ary n-tree: fat tree of K^N terminals below N levels of K^(N-1) switches",
            "4-ary-2-tree",
        ),
        name="k-ary-n-tree",
    ),
)
