"""Cost term: bisection, the fewest links between two parts of 40 to 60 % of the nodes each.

Up to ``MAX_EXACT_NODES`` nodes all divisions are counted, so the term is exact. For more it is the
heuristic of Fiduccia and Mattheyses, as in the paper. networkx has only that of Kernighan and Lin,
which keeps the sizes of the parts.

References
----------
C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network partitions", DAC
1982, 175-181, doi:10.1109/DAC.1982.1585498.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, seed_state, shuffle

from .ports import Ports

STARTS = 14
"""Random halves from which the heuristic starts, as many as the paper's iterations."""


MAX_EXACT_NODES = 16
"""The largest number of nodes of which all divisions are counted; it takes under a millisecond."""


def part_sizes(nodes: int) -> tuple[int, int]:
    """Return the smallest and the largest size of a part: 40 and 60 %, rounded inwards."""
    low = min(-(-2 * nodes // 5), nodes // 2)
    return low, nodes - low


def bisection(ports: Ports, seed: int) -> int:
    """Return the fewest links cut; of a large network the fewest that the heuristic finds."""
    low, high = part_sizes(len(ports))
    if len(ports) <= MAX_EXACT_NODES:
        return int(smallest_cut(ports, low, high))
    return int(improve_halves(ports, low, high, STARTS, seed_state(seed)))


def heuristic_terms(nodes: int, values: Iterable[str]) -> list[str]:
    """Return a line on the bisection among the values of a network, if a heuristic found it."""
    if "bisection" not in values or nodes <= MAX_EXACT_NODES:
        return []
    return ["bisection: the fewest links that a heuristic found; the minimum may be smaller"]


@compiled
def smallest_cut(ports: Ports, low: int, high: int) -> int:
    """Return the fewest links between two parts, one of them of ``low`` to ``high`` nodes.

    All divisions in which the last node is in the other part are counted in the order of a Gray
    code, so that one node changes sides at a time.
    """
    nodes, degree = ports.shape
    side = np.zeros(nodes, dtype=np.bool_)
    size = cut = 0
    best = nodes * degree
    for code in range(1, 1 << (nodes - 1)):
        node = 0
        while not code >> node & 1:
            node += 1
        side[node] = not side[node]
        size += 1 if side[node] else -1
        for port in range(degree):
            other = ports[node, port]
            if other != node:
                cut += 1 if side[other] != side[node] else -1
        if low <= size <= high:
            best = min(best, cut)
    return best


@compiled
def improve_halves(ports: Ports, low: int, high: int, starts: int, state: State) -> int:
    """Return the fewest links cut that passes from random halves find."""
    nodes, degree = ports.shape
    order = np.arange(nodes, dtype=np.int32)
    side = np.zeros(nodes, dtype=np.int64)
    moved = np.zeros(nodes, dtype=np.int64)
    gains = np.zeros(nodes, dtype=np.int64)
    locked = np.zeros(nodes, dtype=np.bool_)
    best = nodes * degree
    for _ in range(starts):
        shuffle(order, state)
        for place in range(nodes):
            side[order[place]] = place % 2
        cut = 0
        for node in range(nodes):
            for port in range(degree):
                cut += side[node] < side[ports[node, port]]
        while True:
            gained = _pass(ports, side, low, high, order, moved, gains, locked)
            if gained == 0:
                break
            cut -= gained
        best = min(best, cut)
    return best


@internal
def _pass(
    ports: Ports,
    side: NDArray[np.int64],
    low: int,
    high: int,
    order: NDArray[np.int32],
    moved: NDArray[np.int64],
    gains: NDArray[np.int64],
    locked: NDArray[np.bool_],
) -> int:
    """Move every node once, best gain first; keep the best prefix, return the links it saves.

    Ties are broken by ``order``, which is random.
    """
    nodes, degree = ports.shape
    # Parts that must be equal, or nearly so, change by moves there and back.
    slack = 1 if high - low < 2 else 0
    ones = 0
    for node in range(nodes):
        locked[node] = False
        ones += side[node]
        gains[node] = 0
        for port in range(degree):
            other = ports[node, port]
            if other != node:
                gains[node] += 1 if side[other] != side[node] else -1
    gained = best = count = kept = 0
    while count < nodes:
        chosen = -1
        chosen_gain = 0
        for place in range(nodes):
            node = order[place]
            if locked[node] or (chosen >= 0 and gains[node] <= chosen_gain):
                continue
            after = ones + 1 - 2 * side[node]
            if low - slack <= after <= high + slack:
                chosen, chosen_gain = node, gains[node]
        if chosen < 0:
            break
        ones += 1 - 2 * side[chosen]
        side[chosen] = 1 - side[chosen]
        for port in range(degree):
            other = ports[chosen, port]
            if other != chosen:
                gains[other] += 2 if side[other] != side[chosen] else -2
        locked[chosen] = True
        moved[count] = chosen
        count += 1
        gained += chosen_gain
        if gained > best and low <= ones <= high:
            best, kept = gained, count
    for place in range(kept, count):
        side[moved[place]] = 1 - side[moved[place]]
    return best
