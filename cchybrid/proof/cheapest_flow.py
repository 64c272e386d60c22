"""Kernels that send all messages over cheapest allowed routes and count the load of each channel.

Channels are sorted by their tails: those out of node v are ``offsets[v]`` to ``offsets[v + 1]``.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from cchybrid.system.compiled import compiled

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@compiled
def send_within_hops(
    offsets: Ints, tails: Ints, heads: Ints, passes: NDArray[np.bool_], sources: Ints,
    demand: Floats, distance: Ints, extra: int, price: Floats, load: Floats,
) -> float:  # fmt: skip
    """Send the demands over cheapest routes of at most ``extra`` hops more than the shortest.

    Parameters
    ----------
    offsets, tails, heads
        The channels: shapes (nodes + 1,), (channels,) and (channels,).
    passes
        Shape (nodes,): whether a route may pass the node; false for endpoints.
    sources, demand, distance
        Shapes (sources,), (sources, nodes) and (sources, nodes): the sources, the messages from
        each to every node, and the hops, -1 where no route leads.
    extra
        Hops allowed beyond the distance.
    price
        Shape (channels,): non-negative prices.
    load
        Shape (channels,): overwritten with the messages over each channel.

    Returns
    -------
    float
        The total price of all routes.
    """
    nodes = len(passes)
    # A state (node, more) is a walk to the node of ``more`` hops beyond its distance.
    spent = np.empty((nodes, extra + 1))
    sent = np.empty((nodes, extra + 1))
    last = np.empty((nodes, extra + 1), dtype=np.int32)
    start = np.empty(nodes + 1, dtype=np.int32)
    order = np.empty(nodes, dtype=np.int32)
    load[:] = 0.0
    total = 0.0
    for row in range(len(sources)):
        source, hops_to = sources[row], distance[row]
        spent[:] = np.inf
        sent[:] = 0.0
        spent[source, 0] = 0.0
        far = 0
        start[:] = 0
        for node in range(nodes):  # counting sort by distance
            if hops_to[node] >= 0:
                start[hops_to[node]] += 1
                far = max(far, hops_to[node])
        for hops in range(far):
            start[hops + 1] += start[hops]
        reached = start[far]
        for node in range(nodes):
            if hops_to[node] >= 0:
                start[hops_to[node]] -= 1
                order[start[hops_to[node]]] = node
        start[far + 1] = reached
        for hops in range(far + extra):
            for more in range(max(0, hops - far), min(extra, hops) + 1):
                for place in range(start[hops - more], start[hops - more + 1]):
                    node = order[place]
                    if spent[node, more] == np.inf or (node != source and not passes[node]):
                        continue
                    for channel in range(offsets[node], offsets[node + 1]):
                        head = heads[channel]
                        then = hops + 1 - hops_to[head]
                        paid = spent[node, more] + price[channel]
                        if head != source and then <= extra and paid < spent[head, then]:
                            spent[head, then] = paid
                            last[head, then] = channel
        for node in range(nodes):
            if demand[row, node] > 0.0:
                best = np.argmin(spent[node])
                total += demand[row, node] * spent[node, best]
                sent[node, best] += demand[row, node]
        # Messages to a node use the last channel of its route, and then the route to its tail.
        for hops in range(far + extra, 0, -1):
            for more in range(max(0, hops - far), min(extra, hops) + 1):
                for place in range(start[hops - more], start[hops - more + 1]):
                    node = order[place]
                    if sent[node, more] > 0.0:
                        channel = last[node, more]
                        load[channel] += sent[node, more]
                        tail = tails[channel]
                        sent[tail, hops - 1 - hops_to[tail]] += sent[node, more]
    return total


@compiled
def send_anywhere(
    offsets: Ints, tails: Ints, heads: Ints, passes: NDArray[np.bool_], sources: Ints,
    demand: Floats, price: Floats, load: Floats,
) -> float:  # fmt: skip
    """Send the demands over cheapest routes of any length; see ``send_within_hops``.

    Source: Dijkstra, Numerische Mathematik 1, 1959, doi:10.1007/BF01386390.
    """
    nodes = len(passes)
    spent = np.empty(nodes)
    sent = np.empty(nodes)
    last = np.empty(nodes, dtype=np.int32)
    order = np.empty(nodes, dtype=np.int32)
    load[:] = 0.0
    total = 0.0
    for row in range(len(sources)):
        source = sources[row]
        spent[:] = np.inf
        spent[source] = 0.0
        sent[:] = -1.0  # not settled
        settled = 0
        queue = [(0.0, source)]
        while queue:
            paid, node = heapq.heappop(queue)
            if sent[node] >= 0.0:
                continue
            sent[node] = demand[row, node]
            order[settled] = node
            settled += 1
            if node != source and not passes[node]:
                continue
            for channel in range(offsets[node], offsets[node + 1]):
                head = heads[channel]
                if paid + price[channel] < spent[head]:
                    spent[head] = paid + price[channel]
                    last[head] = channel
                    heapq.heappush(queue, (spent[head], head))
        for place in range(settled - 1, 0, -1):
            node = order[place]
            total += demand[row, node] * spent[node]
            load[last[node]] += sent[node]
            sent[tails[last[node]]] += sent[node]
    return total
