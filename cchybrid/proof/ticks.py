"""Bounds in ticks: what enters a set of nodes, between the ways to it and from it.

Every channel into the set has the price 1 in the ticks in which a message can begin to use it: not
before it has come there from the nearest source, nor so late that it no longer reaches the farthest
destination inside. The checker decides whether every message pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, LowerBound, Network
from cchybrid.proof.climbing import climb
from cchybrid.proof.linear_evidence import linear

Ticks = NDArray[np.float64]
Window = tuple[int, int, float, float, int, int]
"""A channel into a set: its ends, the ticks before and after it, its length and capacity."""


def cuts_in_ticks(instance: Instance) -> Iterator[LowerBound]:
    """Yield the best bound of single nodes, of all but one, and of parts that slow links join."""
    network = instance.network
    begun, ended = _distances(instance)
    farthest = max(
        ended[message.source, goal]
        for message in instance.collective.deliver_messages
        for goal in message.destinations
    )
    if not np.isfinite(farthest):
        return
    evidence = [linear(int(farthest))]
    for inside in _node_sets(network):
        found = _evidence(instance, inside, begun, ended)
        evidence += found
    evidence += _port_evidence(instance)
    evidence.sort(key=lambda piece: piece["steps"])
    # The largest is checked first; smaller ones only if it does not hold.
    while evidence:
        bounds = [*climb(instance, [evidence.pop()])]
        if bounds:
            yield from bounds
            return


def _distances(instance: Instance) -> tuple[Ticks, Ticks]:
    """Return the ticks after which a node can send what another one has, and has received it.

    Shape (nodes, nodes) each, from row to column; infinite where there is no way.
    """
    network, hop_by_hop = instance.network, instance.model.hop_by_hop
    stops = set(network.endpoints)
    several = max(instance.collective.flat[1]) > 1
    begun = np.full((network.nodes, network.nodes), np.inf)
    ended = begun.copy()
    for source in range(network.nodes):
        waiting = [(0, source)]
        ended[source, source] = 0
        while waiting:
            tick, node = heappop(waiting)
            if begun[source, node] <= tick:
                continue
            begun[source, node] = tick
            if node in stops and node != source and not (hop_by_hop or several):
                continue
            for after in network.successors[node]:
                latency, length = network.time_of((node, after))
                end = tick + latency + length
                ended[source, after] = min(ended[source, after], end)
                stored = hop_by_hop or after in stops
                heappush(waiting, (end if stored else tick + latency, after))
    return begun, ended


def _node_sets(network: Network) -> Iterator[frozenset[int]]:
    """Yield sets of nodes and their complements."""
    everyone = frozenset(range(network.nodes))
    sets = [frozenset({node}) for node in range(network.nodes)]
    for longest in sorted({time.length for time in network.times})[1:]:
        fast = nx.Graph()
        fast.add_nodes_from(everyone)
        fast.add_edges_from(
            channel[:2]
            for channel, time in zip(network.channels, network.times, strict=True)
            if time.length < longest
        )
        sets += map(frozenset, nx.connected_components(fast))
    for inside in dict.fromkeys(sets):
        if len(inside) < network.nodes:
            yield inside
            yield everyone - inside


def _evidence(
    instance: Instance, inside: frozenset[int], begun: Ticks, ended: Ticks
) -> Iterator[dict[str, object]]:
    """Yield evidence of one set of nodes, if a message enters it."""
    network = instance.network
    entering = [
        (message.source, goals)
        for message in instance.collective.deliver_messages
        if message.source not in inside
        if (goals := inside.intersection(message.destinations))
    ]
    if not entering:
        return
    sources = sorted({source for source, _ in entering})
    needed = list(dict.fromkeys(goals for _, goals in entering))
    half = set(network.half_duplex)
    windows: list[Window] = []
    for a, b, capacity in network.channels:
        if b in inside and a not in inside:
            latency, length = network.time_of((a, b))
            before = min(begun[source, a] for source in sources)
            there = latency + length * (instance.model.hop_by_hop or b in network.endpoints)
            after = min(
                max(latency + length if goal == b else there + ended[b, goal] for goal in each)
                for each in needed
            )
            windows.append((a, b, before, after, length, capacity))
    if any((b, a) in half for a, b, *_ in windows):
        return
    for late in (False, True):
        used = windows if late else [(*w[:2], 0, w[4], *w[4:]) for w in windows]
        ticks = _fewest(used, len(entering))
        if ticks is not None:
            rows = [
                [a, b, 1 + int(before), int(ticks - after), 1]
                for a, b, before, after, _, _ in used
                if 1 + before <= ticks - after
            ]
            yield linear(ticks, channels=rows)


def _fewest(windows: Iterable[Window], entering: int) -> int | None:
    """Return the fewest ticks in which this number of messages may enter; ``None`` if none do."""

    def entries(ticks: int) -> int:
        return sum(
            capacity * -int(-(ticks - before - after + 1) // length)
            for _, _, before, after, length, capacity in windows
            if ticks - before - after + 1 > 0
        )

    low, high = 0, 1
    while entries(high) < entering:
        low, high = high, 2 * high
        if high > 1 << 40:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if entries(middle) >= entering else (middle, high)
    return high


def _port_evidence(instance: Instance) -> Iterator[dict[str, object]]:
    """Yield evidence of the port of every node that sends or receives messages."""
    network, model = instance.network, instance.model
    sent, got = np.zeros((2, network.nodes), dtype=np.int64)
    for source, goals in instance.collective.deliver_messages:
        sent[source] += 1
        got[list(goals)] += 1
    for key, counts, limit_of, end in (
        ("inject", sent, model.inject_limit, 0),
        ("accept", got, model.accept_limit, 1),
    ):
        for node in np.flatnonzero(counts).tolist():
            lengths = [
                time.length
                for channel, time in zip(network.channels, network.times, strict=True)
                if channel[end] == node
            ]
            limit = limit_of(node)
            if limit and lengths:
                ticks = (-(-int(counts[node]) // limit) - 1) * min(lengths) + 1
                yield linear(ticks, **{key: [[node, 1]]})
