"""Arborescence bounds: dual prices of the program that packs the trees of all messages.

Each message to all nodes is a mixture of arborescences (trees of channels from its source to every
node). The program minimizes the steps that these mixtures fit into, by the capacities of channels
and ports. Its columns, far too many to list, are generated: a new tree is the cheapest one under
the dual prices. At any prices, the sets of nodes that the search for a cheapest tree contracts,
each weighted by its cheapest channel, prove what a message pays (J. Edmonds, "Optimum
branchings", 1967, doi:10.6028/jres.071B.032). Where only channels have a limit, in one direction
each, cuts are as good (J. Edmonds, "Edge-disjoint branchings", in Combinatorial Algorithms, 1973).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, LowerBound
from cchybrid.proof.capacity_program import CapacityProgram
from cchybrid.proof.climbing import climb, network_of
from cchybrid.proof.linear_evidence import linear
from cchybrid.proof.linear_program import roundings

MAX_WORK = 1_000_000
"""Trees per round, times nodes, times channels, up to which they are generated; a round at the
limit takes about a second."""
MAX_ROUNDS = 200
TOLERANCE = 1e-7
"""Difference of a tree's cost to its message's dual that is taken for rounding."""

Floats = NDArray[np.float64]


def arborescence_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds for messages to all nodes, over ports hop by hop or half-duplex links."""
    network, model = instance.network, instance.model
    messages = instance.collective.deliver_messages
    ports = model.hop_by_hop and (model.inject, model.accept) != (None, None)
    if not (ports or network.half_duplex) or not messages or not network.channels:
        return
    if any(len({m.source, *m.destinations}) < network.nodes for m in messages):
        return
    sources = {message.source for message in messages}
    if len(sources) * network.nodes * len(network.channels) <= MAX_WORK:
        yield from climb(instance, _evidence(instance))


def _evidence(instance: Instance) -> Iterator[dict[str, Any]]:
    """Yield evidence from rounded prices: the sets that each message has to enter."""
    network = network_of(instance)
    ends = [(a, b) for a, b, _ in instance.network.channels]
    dual = _solve(instance)
    if dual is None:
        return
    by_source: dict[int, list[int]] = {}
    for message, (source, _) in enumerate(network.messages):
        by_source.setdefault(source, []).append(message)
    for whole in roundings(dual):
        parts = np.split(whole, (len(ends), len(ends) + network.nodes))
        channel, inject, accept = (part.tolist() for part in parts)
        links = {network.link(*hop): price for hop, price in zip(ends, channel, strict=True)}
        arcs = [(a, b, links[network.link(a, b)] + inject[a] + accept[b]) for a, b in ends]
        sets = {source: tree_sets(network.nodes, arcs, source) for source in by_source}
        paid = sum(len(by_source[v]) * sum(row[0] for row in rows) for v, rows in sets.items())
        offered = sum(price * network.channels[hop] for hop, price in links.items())
        offered += sum(price * limit for price, limit in zip(inject, network.inject, strict=True))
        offered += sum(price * limit for price, limit in zip(accept, network.accept, strict=True))
        if offered:
            yield linear(
                -(-paid // offered),
                channels=[[*hop, price] for hop, price in links.items() if price],
                inject=[[v, price] for v, price in enumerate(inject) if price],
                accept=[[v, price] for v, price in enumerate(accept) if price],
                groups=[{"messages": by_source[v], "sets": rows} for v, rows in sets.items()],
            )


@lru_cache(maxsize=4)
def _solve(instance: Instance) -> Floats | None:
    """Return the dual prices of channels, injection and acceptance ports, one after another.

    ``None`` if some node cannot be reached.
    """
    network = instance.network
    times = Counter(message.source for message in instance.collective.deliver_messages)
    program = CapacityProgram(instance)
    covered = {source: program.row(float(count), math.inf) for source, count in times.items()}
    ends = [(a, b) for a, b, _ in network.channels]

    def add(source: int, tree: Sequence[int]) -> None:
        column = program.variable()
        covered[source].SetCoefficient(column, 1.0)
        uses = Counter(row for arc in tree for row in program.rows_of(*ends[arc]))
        for row, count in uses.items():
            row.SetCoefficient(column, float(count))

    tails, heads = (np.array(column) for column in zip(*ends, strict=True))
    best, dual, kept = 0.0, None, None
    cost = np.ones(len(ends))
    shares = dict.fromkeys(times, math.inf)
    for _ in range(MAX_ROUNDS):
        paid, improved = 0.0, False
        arcs = [(a, b, price) for (a, b), price in zip(ends, cost.tolist(), strict=True)]
        for source, count in times.items():
            tree = cheapest_tree(network.nodes, arcs, source)
            if tree is None:
                return None
            spent = float(cost[tree].sum())
            paid += count * spent
            if spent < shares[source] - TOLERANCE:
                improved = True
                add(source, tree)
        if dual is not None and paid > best:
            best, kept = paid, dual
        if not improved or not program.solve():
            break
        shares = {source: float(row.dual_value()) for source, row in covered.items()}
        found = program.prices()
        dual = np.concatenate((found.channel, found.inject, found.accept))
        cost = found.channel + found.inject[tails] + found.accept[heads]
    return kept


def cheapest_tree(
    nodes: int, arcs: Sequence[tuple[int, int, float]], root: int
) -> list[int] | None:
    """Return the numbers of the arcs of a cheapest arborescence; ``None`` if there is none.

    By contraction of cycles.

    Parameters
    ----------
    arcs
        Source, target and price of every arc.
    root
        The node from which the arborescence leads to all others.
    """
    best: dict[int, int] = {}
    for k, (_, b, price) in enumerate(arcs):
        if b != root and (b not in best or price < arcs[best[b]][2]):
            best[b] = k
    if len(best) < nodes - 1:
        return None
    group = cycle_groups(nodes, root, {b: arcs[k] for b, k in best.items()})
    count = max(group) + 1
    if count == nodes:
        return list(best.values())
    kept = [k for k, (a, b, _) in enumerate(arcs) if group[a] != group[b]]
    saved = {b: arcs[k][2] for b, k in best.items()}
    contracted = [
        (group[a], group[b], price - saved.get(b, 0.0)) for a, b, price in (arcs[k] for k in kept)
    ]
    inner = cheapest_tree(count, contracted, group[root])
    if inner is None:
        return None
    tree = [kept[k] for k in inner]
    entered = {arcs[k][1] for k in tree}
    return tree + [k for b, k in best.items() if b not in entered]


def tree_sets(nodes: int, arcs: Sequence[tuple[int, int, int]], root: int) -> list[list[int]]:
    """Return sets of nodes with weights that add up to the price of a cheapest arborescence.

    No arc costs less than the weights of the sets that it leads into. Each row is a weight above 0
    and the nodes of its set; all nodes can be reached from the root.
    """
    members = [[node] for node in range(nodes)]
    rows: list[list[int]] = []
    while True:
        best: dict[int, tuple[int, int, int]] = {}
        for a, b, price in arcs:
            if b != root and (b not in best or price < best[b][2]):
                best[b] = (a, b, price)
        rows += [[price, *members[b]] for _, b, price in best.values() if price > 0]
        group = cycle_groups(len(members), root, best)
        count = max(group) + 1
        if count == len(members):
            return rows
        arcs = [
            (group[a], group[b], price - (best[b][2] if b != root else 0))
            for a, b, price in arcs
            if group[a] != group[b]
        ]
        merged: list[list[int]] = [[] for _ in range(count)]
        for number, inside in enumerate(members):
            merged[group[number]] += inside
        members, root = merged, group[root]


def cycle_groups(nodes: int, root: int, best: Mapping[int, tuple[int, int, float]]) -> list[int]:
    """Return the number of every node's group: its cycle of best arcs, or the node alone."""
    group, seen = [-1] * nodes, [-1] * nodes
    count = 0
    for start in range(nodes):
        node = start
        while node != root and seen[node] < 0:
            seen[node] = start
            node = best[node][0]
        if node != root and seen[node] == start and group[node] < 0:
            while group[node] < 0:
                group[node] = count
                node = best[node][0]
            count += 1
    for node in range(nodes):
        if group[node] < 0:
            group[node] = count
            count += 1
    return group
