"""The values of a schedule in the columns of the relaxations, read transfer by transfer.

Written independently of the generators that it tests. Steps count from 1, read forwards.
"""

from collections import Counter
from itertools import pairwise
from typing import Any

from cchybrid.proof.block_relaxation import BlockRelaxation
from cchybrid.proof.relaxation import ANY_SENDER, Relaxation
from tests.checker.meaning import Transfer


def columns(relaxation: Relaxation, moves: list[Transfer]) -> Counter[tuple[Any, ...]]:
    """Return the value of every column that is not zero."""
    network, found = relaxation.network, Counter[tuple[Any, ...]]()
    for t, m, path in moves:
        u = path[0] if relaxation.per_sender else ANY_SENDER
        for a, b in pairwise(path):
            found["flow", m, u, a, b, t] += 1
        for later in range(t, relaxation.steps + 1):
            found["has", m, path[-1], later] = 1
        if not network.hop_by_hop:
            found["gets", m, u, path[-1], t] += 1
            if not relaxation.per_sender:
                found["sends", m, path[0], t] += 1
                found["starts", m, path[0], path[1], t] += 1
    return found


def block_columns(
    relaxation: BlockRelaxation, block_of: list[int], moves: list[Transfer]
) -> Counter[tuple[Any, ...]]:
    """Return the value of every column of the relaxation between blocks that is not zero."""
    steps, found = relaxation.steps, Counter[tuple[Any, ...]]()
    for m, (source, destinations) in enumerate(relaxation.network.messages):
        for q in set(block_of) - {block_of[source]}:
            inside = [(t, path) for t, who, path in moves if who == m and block_of[path[-1]] == q]
            if not inside:
                continue
            first = min(t for t, _ in inside)
            if first == steps:
                ends = {path[-1]: path for _, path in inside if path[-1] in destinations}
                counted = list(ends.values())
            else:
                counted = [next(path for t, path in inside if t == first)]
                found.update({("has", m, q, t): 1 for t in range(first, steps)})
            if not {node for node in destinations if block_of[node] == q} - {
                path[-1] for _, path in inside
            } and any(block_of[node] == q for node in destinations):
                found["served", m, q] = 1
            for path in counted:
                found["sends", m, block_of[path[0]], q, first] += 1
                for a, b in pairwise(block_of[node] for node in path):
                    if a != b:
                        found["flow", m, q, a, b, first] += 1
                    if b == q:
                        break
    return found
