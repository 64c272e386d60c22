"""Bounds in ticks: what enters a set of nodes, between the ways to it and from it.

Every channel into the set has the price 1 in the ticks in which a message can begin to use it: not
before it has come there from the nearest source, nor so late that it no longer reaches the farthest
destination inside. The checker decides whether every message pays.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, LowerBound, Network
from cchybrid.proof.climbing import climb
from cchybrid.proof.linear_evidence import linear

Ticks = NDArray[np.float64]
MAX_TICKS = 1 << 40
"""Ticks from which on no bound is looked for."""
THRESHOLDS = 4
"""Lengths of ways, to a set and from its channels, from which on messages count; of each set."""
Window = tuple[int, int, float, float, int, int]
"""A channel into a set: its ends, the ticks before and after it, its length and capacity."""


def cuts_in_ticks(instance: Instance) -> Iterator[LowerBound]:
    """Yield the best bound of single nodes, of all but one, and of parts that slow links join."""
    network = instance.network
    if not network.times:
        return
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
    times: list[list[tuple[int, int, int]]] = [[] for _ in range(network.nodes)]
    for (a, b, _), (latency, length) in zip(network.channels, network.times, strict=True):
        times[a].append((b, latency, length))
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
            for after, latency, length in times[node]:
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
    """Yield evidence of one set of nodes, if a message enters it.

    Of the messages that enter, all count, or those alone whose ways to the set and from its
    channels are the longest.
    """
    network = instance.network
    entering = [
        (message.source, tuple(goals))
        for message in instance.collective.deliver_messages
        if message.source not in inside
        if (goals := inside.intersection(message.destinations))
    ]
    channels = [each for each in network.channels if each[1] in inside and each[0] not in inside]
    if not entering or not channels:
        return
    sources, source = np.unique(np.array([each for each, _ in entering]), return_inverse=True)
    places = {goals: place for place, goals in enumerate(dict.fromkeys(g for _, g in entering))}
    goal = np.array([places[goals] for _, goals in entering])
    before = begun[np.ix_(sources, np.array([each[0] for each in channels]))]
    after = np.empty((len(places), len(channels)))
    lengths = []
    for column, (a, b, _) in enumerate(channels):
        latency, length = network.time_of((a, b))
        stored = instance.model.hop_by_hop or b in network.endpoints
        there = latency + length * stored + ended[b]
        there[b] = latency + length
        after[:, column] = [there[[*goals]].max() for goals in places]
        lengths.append(length)
    # Channels that share a capacity are taken for one.
    together: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for column, (a, b, _) in enumerate(channels):
        together[network.shared.get((a, b), (a, b))].append(column)
    before, after = (
        np.stack([table[:, columns].min(axis=1) for columns in together.values()], axis=1)
        for table in (before, after)
    )
    firsts = [columns[0] for columns in together.values()]
    channels, lengths = [channels[each] for each in firsts], [lengths[each] for each in firsts]
    best: tuple[int, list[Window]] = 0, []
    soonest, shortest = before.min(axis=1), after.min(axis=1)
    for head in _some(soonest):
        for tail in _some(shortest):
            far, last = soonest >= head, shortest >= tail
            kept = int((far[source] & last[goal]).sum())
            heads, tails = before[far].min(axis=0), after[last].min(axis=0)
            windows = [
                (*channel[:2], early, late, length, channel[2])
                for channel, early, late, length in zip(
                    channels, heads, tails, lengths, strict=True
                )
            ]
            ticks = _fewest(windows, kept)
            if ticks is not None and ticks > best[0]:
                best = ticks, windows
    plain = [(*w[:2], 0.0, w[4], *w[4:]) for w in best[1]]
    for ticks, used in (best, (_fewest(plain, len(entering)) or 0, plain)):
        rows = [
            [a, b, 1 + int(early), int(ticks - late), 1]
            for a, b, early, late, _, _ in used
            if 1 + early <= ticks - late
        ]
        if ticks:
            yield linear(ticks, channels=rows)


def _some(values: Ticks) -> list[float]:
    """Return up to ``THRESHOLDS`` of the distinct values, the least one among them."""
    distinct = np.unique(values[np.isfinite(values)])
    chosen: list[float] = distinct[:: -(-len(distinct) // THRESHOLDS) or 1].tolist()
    return chosen


def _fewest(windows: Iterable[Window], entering: int) -> int | None:
    """Return the fewest ticks in which this number of messages may enter; ``None`` if none do."""

    def entries(ticks: int) -> int:
        return sum(
            capacity * -int(-(ticks - before - after + 1) // length)
            for _, _, before, after, length, capacity in windows
            if ticks - before - after + 1 > 0
        )

    found = bisect_left(range(MAX_TICKS), entering, key=entries)
    return found if found < MAX_TICKS else None


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
        shortest: dict[int, int] = {}
        for channel, time in zip(network.channels, network.times, strict=True):
            node = channel[end]
            shortest[node] = min(time.length, shortest.get(node, time.length))
        for node in np.flatnonzero(counts).tolist():
            limit = limit_of(node)
            if limit and node in shortest:
                ticks = (-(-int(counts[node]) // limit) - 1) * shortest[node] + 1
                yield linear(ticks, **{key: [[node, 1]]})
