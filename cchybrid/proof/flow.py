"""Price bounds and cuts from the arc-flow linear program.

The program sends one unit per message over allowed routes and minimizes the largest load of a
channel; flows are aggregated by source. For a scatter the optimum is a lower bound on the steps,
and its dual solution, a price per channel and port, proves it. For messages
with several destinations, the program with one unit per destination only suggests cuts; equal
prices, and the dual of a program of last hops, count deliveries per link or port.
"""

import math
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from cchybrid.model import Instance, LowerBound, RoutingTable
from cchybrid.problem.ragged import offsets
from cchybrid.problem.resources import resources_of
from cchybrid.proof.capacity_program import CapacityProgram, FlowPrices
from cchybrid.proof.climbing import climb
from cchybrid.proof.cut import NodeSet, best_cuts, is_large_scatter, is_scatter
from cchybrid.proof.linear_evidence import linear
from cchybrid.proof.linear_program import roundings
from cchybrid.proof.multiplicative_prices import multiplicative_prices
from cchybrid.proof.payers import Payers
from cchybrid.referee.distances import hop_distances

GLOP_COLUMNS = 30_000
"""Columns up to which the simplex method (GLOP) is faster than the first-order method (PDLP).

Above this number prices by multiplicative weights, which take a second, come first.
"""
MAX_COLUMNS = 400_000
"""Columns above which the program is not solved: it would take too long."""


def price_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield price bounds: of equal prices, then of dual prices.

    The dual prices are those of the arc-flow program for a scatter, after prices by multiplicative
    weights if the program is large; otherwise those of the last hops of half-duplex networks and of
    ports in store-and-forward switching.
    """
    yield from climb(instance, _evidence(instance), exact=is_large_scatter(instance))


def _evidence(instance: Instance) -> Iterator[dict[str, Any]]:
    columns = _columns(instance)
    large = instance.model.table is None and columns > GLOP_COLUMNS and is_scatter(instance)
    if large and ((yield from _multiplicative(instance)) or columns > MAX_COLUMNS):
        return
    payers = Payers(instance)
    for each in _candidate_prices(instance):
        evidence = payers.evidence(each.channel, each.inject, each.accept)
        if evidence is not None:
            yield evidence


def flow_cut_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds of the cuts that the linear program's dual prices suggest."""
    yield from best_cuts(instance, _suggested_sets(instance))


@lru_cache(maxsize=4)
def solve_flow(instance: Instance) -> FlowPrices | None:
    """Solve the arc-flow program of a ``deliver`` instance; ``None`` if too large or not solved."""
    network = instance.network
    demand = Counter(
        (message.source, goal)
        for message in instance.collective.deliver_messages
        for goal in message.destinations
    )
    sources = sorted({source for source, _ in demand})
    if _columns(instance) > MAX_COLUMNS:
        return None
    if _columns(instance) > GLOP_COLUMNS and not is_scatter(instance):
        # It suggests cuts only, for which prices near the dual ones are good enough.
        found = [None, *islice(multiplicative_prices(instance), 3)][-1]
        return None if found is None else FlowPrices(float(found[0]), *found[1])
    program = CapacityProgram(instance, "GLOP" if _columns(instance) <= GLOP_COLUMNS else "PDLP")
    nodes = range(network.nodes)
    for source, allowed in zip(sources, _allowed_arcs(instance, sources), strict=True):
        balance = {
            node: program.row(float(demand[source, node]), math.inf)
            for node in nodes
            if node != source
        }
        for a, b in allowed:
            flow = program.flow(a, b)
            balance[b].SetCoefficient(flow, 1.0)
            if a != source:
                balance[a].SetCoefficient(flow, -1.0)
    return program.solved()


def _solve_last_hops(instance: Instance) -> FlowPrices | None:
    """Solve the program in which a delivery uses only the last channel of its route.

    In store-and-forward switching also the ports at its ends.
    """
    network = instance.network
    program = CapacityProgram(instance)
    deliveries = Counter(
        goal for message in instance.collective.deliver_messages for goal in message.destinations
    )
    received = {node: program.row(float(count), math.inf) for node, count in deliveries.items()}
    for a, b, _ in network.channels:
        if b in received:
            received[b].SetCoefficient(program.flow(a, b), 1.0)
    return program.solved()


def _allowed_arcs(instance: Instance, sources: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield, per source, the channels that an allowed route from it may use.

    For minimal routing these are the arcs of the shortest-path DAG, so every flow is a mixture of
    shortest paths; with extra hops they are a superset, and the exact check corrects that.
    """
    network, extra = instance.network, instance.model.extra_hops
    if instance.model.hop_by_hop:
        network, extra = replace(network, endpoints=()), None
    endpoints = set(network.endpoints)
    distance = hop_distances(network, range(network.nodes))
    for source in sources:
        near = distance[source]
        arcs = [
            (a, b)
            for a, b, _ in network.channels
            if b != source and near[a] >= 0 and (a == source or a not in endpoints)
        ]
        if extra is not None:
            # Keep an arc if some node can be reached behind it within the extra hops; behind an
            # endpoint only itself.
            slack = np.where(
                (distance >= 0) & (near >= 0)[None, :], distance - near[None, :], network.nodes
            ).min(axis=1)
            slack[list(endpoints)] = -near[list(endpoints)]
            arcs = [(a, b) for a, b in arcs if near[a] + 1 + slack[b] <= extra]
        yield arcs


def _candidate_prices(instance: Instance) -> Iterator[FlowPrices]:
    """Yield equal prices, then others: dual prices are rounded to finer and finer fractions."""
    channels, nodes = len(instance.network.channels), instance.network.nodes
    nothing = np.zeros(nodes)
    yield FlowPrices(0.0, np.ones(channels), nothing, nothing)
    if is_scatter(instance):
        if instance.model.table is not None:
            yield _busiest(instance, instance.model.table)
            return
        dual = solve_flow(instance)
    else:
        if instance.model.inject is not None:
            yield FlowPrices(0.0, np.zeros(channels), np.ones(nodes), nothing)
        # Elsewhere cuts around single nodes are as good.
        ports = instance.model.hop_by_hop and instance.model.inject is not None
        dual = _solve_last_hops(instance) if ports or instance.network.half_duplex else None
    if dual is None:
        return
    for whole in roundings(np.concatenate((dual.channel, dual.inject, dual.accept))):
        yield FlowPrices(dual.load, *np.split(whole, (channels, channels + nodes)))


def _busiest(instance: Instance, table: RoutingTable) -> FlowPrices:
    """Return a price for the channel or port alone that the paths of a scatter use most."""
    resources, messages = resources_of(instance), instance.collective.deliver_messages
    paths = [table.path(source, goals[0]) for source, goals in messages]
    start = offsets([len(path) for path in paths])
    used = np.bincount(resources.of_paths(np.concatenate(paths), start))
    busiest = np.argmax(used / np.maximum(1, resources.capacity[: len(used)]))
    sides = resources.channel, resources.inject, resources.accept
    return FlowPrices(0.0, *(np.where(side == busiest, 1.0, 0.0) for side in sides))


def _multiplicative(instance: Instance) -> Generator[dict[str, Any], None, bool]:
    """Yield evidence by multiplicative weights; return whether no other prices prove more steps."""
    network, search = instance.network, multiplicative_prices(instance)
    second = {(b, a) for a, b in network.half_duplex}
    while True:
        try:
            steps, (channel, inject, accept) = next(search)
        except StopIteration as end:
            return bool(end.value)
        links = zip(network.channels, channel, strict=True)
        yield linear(
            steps,
            channels=[[a, b, int(p)] for (a, b, _), p in links if p and (a, b) not in second],
            inject=[[v, int(price)] for v, price in enumerate(inject) if price],
            accept=[[v, int(price)] for v, price in enumerate(accept) if price],
        )


def _columns(instance: Instance) -> int:
    """Return the number of columns of the arc-flow program, at most: sources times channels."""
    sources = {message.source for message in instance.collective.deliver_messages}
    return len(sources) * len(instance.network.channels)


def _suggested_sets(instance: Instance) -> Iterator[NodeSet]:
    """Yield the components without the priced channels, and level sets of price distances."""
    dual = solve_flow(instance)
    if dual is None or dual.channel.max(initial=0.0) <= 0.0:
        return
    import networkx as nx  # a quarter of a second, longer than many a run

    network = instance.network
    priced = dual.channel > 1e-6 * dual.channel.max()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.nodes))
    graph.add_edges_from(
        (a, b) for (a, b, _), costs in zip(network.channels, priced, strict=True) if not costs
    )
    for component in nx.weakly_connected_components(graph):
        inside = np.zeros(network.nodes, dtype=np.bool_)
        inside[list(component)] = True
        yield inside
        yield ~inside
    weighted = nx.DiGraph()
    weighted.add_nodes_from(range(network.nodes))
    weighted.add_weighted_edges_from(
        (a, b, float(price))
        for (a, b, _), price in zip(network.channels, dual.channel, strict=True)
    )
    for source in range(network.nodes):
        away = nx.single_source_dijkstra_path_length(weighted, source)
        levels = np.array([away.get(node, np.inf) for node in range(network.nodes)])
        for level in np.unique(levels[np.isfinite(levels)]):
            yield levels > level + 1e-9
            yield levels <= level + 1e-9
