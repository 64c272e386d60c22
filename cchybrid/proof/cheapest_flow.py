"""Kernels that send all messages over cheapest allowed routes and count the load of each channel.

Channels are sorted by their tails: those out of node v are ``offsets[v]`` to ``offsets[v + 1]``.
Where several channels reach a node at the lowest price, they share its messages equally, so that
equal prices load symmetric networks equally. Prices that are integers have exact sums and ties.
"""

import heapq

import numpy as np
from numpy.typing import NDArray

from cchybrid.system.compiled import compiled

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@compiled
def send_within_hops(
    offsets: Ints, heads: Ints, passes: NDArray[np.bool_], sources: Ints,
    demand: Floats, distance: Ints, extra: int, price: Floats, load: Floats,
) -> float:  # fmt: skip
    """Send the demands over cheapest routes of at most ``extra`` hops more than the shortest.

    Parameters
    ----------
    offsets, heads
        The channels: shapes (nodes + 1,) and (channels,).
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
    ties = np.empty((nodes, extra + 1), dtype=np.int32)
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
                        if head == source or then > extra or paid > spent[head, then]:
                            continue
                        if paid < spent[head, then]:
                            spent[head, then] = paid
                            ties[head, then] = 0
                        ties[head, then] += 1
        for node in range(nodes):
            if demand[row, node] > 0.0:
                best = np.argmin(spent[node])
                total += demand[row, node] * spent[node, best]
                sent[node, best] += demand[row, node]
        for hops in range(far + extra - 1, -1, -1):
            for more in range(max(0, hops - far), min(extra, hops) + 1):
                for place in range(start[hops - more], start[hops - more + 1]):
                    node = order[place]
                    if spent[node, more] == np.inf or (node != source and not passes[node]):
                        continue
                    for channel in range(offsets[node], offsets[node + 1]):
                        head = heads[channel]
                        then = hops + 1 - hops_to[head]
                        if head == source or then > extra or sent[head, then] == 0.0:
                            continue
                        if spent[node, more] + price[channel] == spent[head, then]:
                            part = sent[head, then] / ties[head, then]
                            load[channel] += part
                            sent[node, more] += part
    return total


@compiled
def send_anywhere(
    offsets: Ints, heads: Ints, passes: NDArray[np.bool_], sources: Ints,
    demand: Floats, price: Floats, load: Floats,
) -> float:  # fmt: skip
    """Send the demands over cheapest routes of any length; see ``send_within_hops``.

    Source: Dijkstra, Numerische Mathematik 1, 1959, doi:10.1007/BF01386390.
    """
    nodes = len(passes)
    spent = np.empty(nodes)
    sent = np.empty(nodes)
    ties = np.empty(nodes, dtype=np.int32)
    order = np.empty(nodes, dtype=np.int32)
    place_of = np.empty(nodes, dtype=np.int32)
    load[:] = 0.0
    total = 0.0
    for row in range(len(sources)):
        source = sources[row]
        spent[:] = np.inf
        spent[source] = 0.0
        place_of[:] = nodes
        settled = 0
        queue = [(0.0, source)]
        while queue:
            paid, node = heapq.heappop(queue)
            if place_of[node] < nodes:
                continue
            order[settled] = node
            place_of[node] = settled
            settled += 1
            if node != source and not passes[node]:
                continue
            for channel in range(offsets[node], offsets[node + 1]):
                head = heads[channel]
                then = paid + price[channel]
                if place_of[head] < nodes or then > spent[head]:
                    continue
                if then < spent[head]:
                    spent[head] = then
                    ties[head] = 0
                    heapq.heappush(queue, (then, head))
                ties[head] += 1
        sent[:] = demand[row]
        for place in range(settled - 1, -1, -1):
            node = order[place]
            total += demand[row, node] * spent[node]
            if node != source and not passes[node]:
                continue
            for channel in range(offsets[node], offsets[node + 1]):
                head = heads[channel]
                if place_of[head] > place and spent[node] + price[channel] == spent[head]:
                    part = sent[head] / ties[head]
                    load[channel] += part
                    sent[node] += part
    return total
