"""Distances of all pairs of nodes by a bit-parallel breadth-first search.

Every node has a row of 64-bit words, one bit per source: the sources that are within k hops. A
level of the search replaces each row by its union with the rows of the neighbours, so one sweep
over the links serves 64 sources per word. The sum of all distances is the number of pairs that are
more than k hops apart, summed over k.

References
----------
M. Nakao, H. Murai, M. Sato, "Parallelization of all-pairs-shortest-path algorithms in unweighted
graph", HPC Asia 2020, doi:10.1145/3368474.3368478 (the same search for the order/degree problem).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled, inlined

from .ports import Ports

Words = NDArray[np.uint64]

UNREACHABLE = -1
"""The sum of distances of a network that is not connected."""
NO_LIMIT = 2**62
"""Limit of a sum of distances that is not limited."""


class Distances(NamedTuple):
    """The sum and the maximum of the distances of all ordered pairs of nodes.

    Both are ``UNREACHABLE`` if the network is not connected.
    """

    total: int
    diameter: int


def scratch(nodes: int, sources: int | None = None) -> Words:
    """Return the memory of a search, shape (2, nodes, words)."""
    words = ((nodes if sources is None else sources) + 63) // 64
    return np.zeros((2, nodes, words), dtype=np.uint64)


def all_distances(ports: Ports) -> Distances:
    """Return sum and maximum of the distances of all ordered pairs of nodes."""
    nodes = len(ports)
    total, diameter = search_distances(ports, nodes, NO_LIMIT, scratch(nodes))
    return Distances(int(total), int(diameter))


@inlined
def count_bits(word: np.uint64) -> int:
    """Return the number of bits that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    # Unsigned and signed integers mixed would make a float of a sum.
    bits: Any = np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return bits


@compiled
def search_distances(ports: Ports, sources: int, limit: int, reach: Words) -> tuple[int, int]:
    """Return sum and maximum of the distances from the nodes below ``sources`` to all nodes.

    Parameters
    ----------
    limit
        The search ends as soon as the sum is known to be greater; sum and maximum are then lower
        bounds.
    reach
        Scratch memory, shape (2, nodes, words), with a bit per source.

    Returns
    -------
    tuple
        ``UNREACHABLE`` twice if some node is not reached.
    """
    nodes, degree = ports.shape
    words = (sources + 63) // 64
    reach[0, :, :words] = np.uint64(0)
    for source in range(sources):
        reach[0, source, source >> 6] = np.uint64(1) << np.uint64(source & 63)
    missing = sources * (nodes - 1)
    total = 0
    level = 0
    now = 0
    while missing > 0:
        total += missing
        level += 1
        if total > limit:
            break
        known = 0
        for node in range(nodes):
            for word in range(words):
                bits = reach[now, node, word]
                for port in range(degree):
                    bits |= reach[now, ports[node, port], word]
                reach[1 - now, node, word] = bits
                known += count_bits(bits)
        if sources * nodes - known == missing:
            return UNREACHABLE, UNREACHABLE
        missing = sources * nodes - known
        now = 1 - now
    return total, level
