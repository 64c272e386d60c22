"""All directed graphs of up to four nodes, and a sample of those of five, up to isomorphism."""

import random
from functools import cache
from itertools import permutations

Arcs = tuple[tuple[int, int], ...]
"""A directed graph as its sorted arcs; its number of nodes is known."""

COUNTS = {2: 3, 3: 16, 4: 218}
"""The number of such graphs by nodes (OEIS A000273)."""
SAMPLE_OF_FIVE = 40
"""Of 9,608 graphs of five nodes, how many are drawn."""


@cache
def all_graphs(nodes: int) -> tuple[Arcs, ...]:
    """Return one graph of every class of isomorphic graphs, the one with the smallest arcs."""
    pairs = _pairs(nodes)
    found, seen = [], set()
    for mask in range(1 << len(pairs)):
        if mask not in seen:
            arcs = tuple(pair for i, pair in enumerate(pairs) if mask >> i & 1)
            seen |= {_mask(renamed, pairs) for renamed in _renamings(nodes, arcs)}
            found.append(arcs)
    return tuple(found)


@cache
def some_graphs(nodes: int, count: int, seed: int = 0) -> tuple[Arcs, ...]:
    """Return distinct random strongly connected graphs, none isomorphic to another one."""
    rng, pairs = random.Random(seed), _pairs(nodes)
    found: dict[int, Arcs] = {}
    while len(found) < count:
        share = rng.choice((0.3, 0.5, 0.8))
        arcs = tuple(pair for pair in pairs if rng.random() < share)
        if is_strong(nodes, arcs):
            found.setdefault(min(_mask(a, pairs) for a in _renamings(nodes, arcs)), arcs)
    return tuple(found.values())


def is_strong(nodes: int, arcs: Arcs) -> bool:
    """Return whether every node reaches every other."""
    for turned in (arcs, tuple((b, a) for a, b in arcs)):
        reached = {0}
        for _ in range(nodes):
            reached |= {b for a, b in turned if a in reached}
        if len(reached) < nodes:
            return False
    return True


def _pairs(nodes: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(nodes) for b in range(nodes) if a != b]


def _renamings(nodes: int, arcs: Arcs) -> list[Arcs]:
    return [tuple((p[a], p[b]) for a, b in arcs) for p in permutations(range(nodes))]


def _mask(arcs: Arcs, pairs: list[tuple[int, int]]) -> int:
    return sum(1 << pairs.index(arc) for arc in arcs)
