"""Kernels of the greedy scatter: random shortest paths, and the first steps in which one is free.

They do what ``ScatterGreedy`` does for few deliveries, and find the same schedule.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled, internal

Ints = NDArray[np.signedinteger[Any]]
Words = NDArray[np.uint64]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

ONE = np.uint64(1)
ALL = ~np.uint64(0)


@compiled
def place_earliest(
    first: int,
    resources: Ints,
    capacity: Ints,
    full: Words,
    used: Ints,
    pick: Ints,
    step: Ints,
    trial: Ints,
) -> int:
    """Place deliveries one by one, each on the path that ends in the earliest step.

    Parameters
    ----------
    first
        The delivery to begin with.
    resources
        Shape (deliveries, paths, hops, resources): those of each hop, in wormhole switching of the
        one transfer over the whole path. A hop takes a later step than the one before it.
    capacity
        Shape (resources,).
    full
        Shape (resources, words): a bit per step, set where the resource is full; updated.
    used
        Shape (resources, 64 * words): the uses of each step; updated. Empty if no capacity is above
        1, as then ``full`` says all.
    pick, step
        Shapes (deliveries,) and (deliveries, hops), overwritten: the path and its steps.
    trial
        Shape (hops,): working memory.

    Returns
    -------
    int
        The delivery for which the words are too few, or the number of deliveries.
    """
    deliveries, paths, hops, width = resources.shape
    last: int = 64 * full.shape[1]
    for delivery in range(first, deliveries):
        best = last
        for path in range(paths):
            now = -1
            for hop in range(hops):
                now = first_free(resources, delivery, path, hop, full, now + 1)
                if now >= best:
                    break
                trial[hop] = now
            if now < best:
                best = now
                pick[delivery] = path
                for hop in range(hops):
                    step[delivery, hop] = trial[hop]
        if best == last:
            return int(delivery)
        for hop in range(hops):
            now = int(step[delivery, hop])
            for place in range(width):
                resource = resources[delivery, pick[delivery], hop, place]
                if used.size:
                    used[resource, now] += 1
                if capacity[resource] == 1 or used[resource, now] >= capacity[resource]:
                    full[resource, now >> 6] |= ONE << np.uint64(now & 63)
    return int(deliveries)


@internal
def first_free(resources: Ints, delivery: int, path: int, hop: int, full: Words, start: int) -> int:
    """Return the first step from ``start`` on in which no resource of a hop is full.

    64 times the words if there is none.
    """
    allowed = ALL << np.uint64(start & 63)
    for word in range(start >> 6, full.shape[1]):
        taken = np.uint64(0)
        for place in range(resources.shape[3]):
            taken |= full[resources[delivery, path, hop, place], word]
        free = ~taken & allowed
        if free != 0:
            return 64 * word + lowest_bit(free)
        allowed = ALL
    return int(64 * full.shape[1])


@internal
def lowest_bit(word: np.uint64) -> int:
    """Return the place of the lowest bit that is set; some bit is."""
    place = 0
    while word & ONE == 0:
        word >>= ONE
        place += 1
    return place


@compiled
def draw_paths(
    nodes: Ints,
    channels: Ints,
    row: Ints,
    hops: Ints,
    tail: Ints,
    into: Ints,
    degree: Ints,
    passable: Flags,
    load: Numbers,
    spread: Numbers,
    noise: Numbers,
) -> None:
    """Fill in shortest paths from the target backwards, each over the channel of least weight.

    Parameters
    ----------
    nodes
        Shape (paths, hops + 1): the first and the last node are given, the others overwritten.
    channels
        Shape (paths, hops), overwritten.
    row, spread
        Shape (paths,): the row in ``hops`` of the path's source, and the largest random weight.
    hops
        Shape (sources, nodes): distances.
    tail, into
        Shape (nodes, largest number of incoming channels): their tails and numbers, or -1.
    degree
        Shape (nodes,): the number of incoming channels.
    passable
        Shape (nodes,): whether other nodes than the source may send on.
    load
        Shape (channels,): the weight without the random part.
    noise
        Shape (hops, paths, random numbers): numbers in [0, 1), repeated for a node of more
        channels.
    """
    (paths, length), numbers = channels.shape, noise.shape[2]
    for path in range(paths):
        source, first, width = nodes[path, 0], row[path], spread[path]
        for place in range(length, 0, -1):
            after = nodes[path, place]
            best, slot = np.inf, 0
            for each in range(degree[after]):
                # Without branches, as they are not predictable.
                node, channel = tail[after, each], into[after, each]
                if place == 1:
                    fits = node == source
                else:
                    fits = (hops[first, node] == place - 1) & passable[node]
                random = noise[length - place, path, each % numbers]
                weight = load[channel] + width * random if fits else np.inf
                slot = each if weight < best else slot
                best = weight if weight < best else best
            nodes[path, place - 1] = tail[after, slot]
            channels[path, place - 1] = into[after, slot]
