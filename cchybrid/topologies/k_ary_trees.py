"""Multistage networks of data centres: k-ary n-trees and Beneš networks."""

from __future__ import annotations

from cchybrid.errors import InputError
from cchybrid.model import Network
from cchybrid.records import TopologyInfo
from cchybrid.topologies import layouts
from cchybrid.topologies.sizes import check_size, power_of_two, sized, whole


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
        mended = f"{max(2, arity)}-ary-{max(1, levels)}-tree"
        raise InputError("such a tree has no two terminals", mend=f"use {mended}")
    terminals = 1
    for _ in range(levels):  # one by one: an absurd power would itself be absurd
        terminals *= arity
        check_size(terminals)
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


def benes(terminals: int) -> Network:
    """Return the Beneš network; its channels have one direction.

    Terminals 0 to N - 1 are endpoints; behind them follow 2 log2(N) - 1 stages of N/2 switches
    with two inputs and two outputs each. Terminals 2i and 2i + 1 send to switch i of the first
    stage and receive from switch i of the last one. Between them lines 0 to N - 1 run from stage
    to stage; the switches of stage s join the two lines whose numbers differ in bit s up to the
    middle stage log2(N) - 1, and behind it in the bits back to bit 0. Any permutation of the
    terminals can be routed without a conflict. Between terminals all paths have the length
    2 log2(N). Source: Beneš, "Mathematical Theory of Connecting Networks and Telephone Traffic"
    (1965).

    Parameters
    ----------
    terminals
        N, a power of two, at least 2.

    Raises
    ------
    InputError
        The number is no power of two, or too large.
    """
    bits = power_of_two(terminals, "benes")
    stages = 2 * bits - 1
    half = terminals // 2
    nodes = terminals + stages * half
    check_size(nodes, (stages + 1) * terminals)
    joined = [min(stage, stages - 1 - stage) for stage in range(stages)]
    arcs: list[tuple[int, int]] = []
    for line in range(terminals):
        switches = [
            terminals + stage * half + (line >> bit + 1 << bit) + (line & (1 << bit) - 1)
            for stage, bit in enumerate(joined)
        ]
        arcs += zip([line, *switches], [*switches, line], strict=True)
    return Network.from_arcs(
        f"benes-{terminals}",
        nodes,
        arcs,
        endpoints=tuple(range(terminals)),
        positions=layouts.columns([terminals, *[half] * stages]),
    )


FAMILIES = (
    TopologyInfo(
        name="k-ary-n-tree",
        usage="K-ary-N-tree",
        pattern=r"(\d+)-ary-(\d+)-tree",
        build=lambda arity, levels: k_ary_n_tree(whole(arity), whole(levels)),
        summary="k-ary n-tree: fat tree of K^N terminals below N levels of K^(N-1) switches",
        example="4-ary-2-tree",
    ),
    TopologyInfo(
        name="benes",
        usage="benes-N",
        pattern=r"benes-(\d+)",
        build=sized(benes),
        summary="Beneš network of N = 2^k terminals: 2k - 1 stages of 2x2 switches, one-way",
        example="benes-8",
    ),
)
