"""The automorphisms of an instance: network, roles, capacities, ports and messages.

An automorphism is a permutation of the nodes that maps the instance to itself, so it maps valid
schedules to valid schedules. nauty (by pynauty) finds generators of the group, on a vertex-coloured
graph:

1. Vertices are the nodes, coloured by their roles, ports and numbers of messages sent and received.
   Channels are edges. Those of kind k (capacity, half-duplex or not; kinds are numbered from 1, the
   most frequent first) are drawn in the layers given by the binary digits of k; a layer has a copy
   of every node that it needs. Where some channel has no opposite one of its kind, a node has a
   copy that sends and one that receives. So the graph is undirected: on some directed graphs of 50
   vertices nauty takes hours.
2. If some generator does not map messages to messages, the messages become vertices, too.

References
----------
B. D. McKay and A. Piperno, Practical graph isomorphism, II, Journal of Symbolic Computation 60
(2014), https://doi.org/10.1016/j.jsc.2013.09.003.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pynauty

from cchybrid.model import Instance
from cchybrid.model.times import STEP
from cchybrid.problem.arrays import IntArray, LongArray

MAX_VERTICES = 3_000
"""Nodes and messages above which nauty is not called: it stores a dense matrix of them."""


@dataclass(frozen=True, eq=False)
class Automorphisms:
    """The group of all automorphisms of an instance.

    Parameters
    ----------
    generators
        Shape (generators, nodes): the image of each node.
    order
        The number of automorphisms, approximate above 10^14, as nauty computes it
        in floating point. Where messages are vertices of the
        graph, permutations of equal messages count, too.
    """

    generators: IntArray
    order: float


class MessageMap:
    """The permutations of the messages that permutations of the nodes induce.

    The k-th of several equal messages is mapped to the k-th of the equal images, so that the map
    of a product is the product of the maps.
    """

    def __init__(self, instance: Instance) -> None:
        messages = instance.forward.collective.deliver_messages
        self._nodes = instance.network.nodes
        size = np.array([1 + len(message.destinations) for message in messages], dtype=np.int64)
        self._source = np.array([message.source for message in messages], dtype=np.int64)
        self._target = np.array([v for m in messages for v in m.destinations], dtype=np.int64)
        self._owner = np.repeat(np.arange(len(messages)), size - 1)
        self._single = bool((size == 2).all())
        self._order, self._keys = self._sorted(np.arange(self._nodes))

    def image(self, permutation: IntArray) -> LongArray | None:
        """Return, shape (messages,), the image of each message; ``None`` if one has none."""
        order, keys = self._sorted(permutation.astype(np.int64))
        if keys != self._keys:
            return None
        found = np.empty(len(order), dtype=np.int64)
        found[order] = self._order
        return found

    def _sorted(self, permutation: LongArray) -> tuple[LongArray, Hashable]:
        """Return the messages, stably sorted by their images' ends, and the sorted images."""
        source, target = permutation[self._source], permutation[self._target]
        if self._single:
            key = source * self._nodes + target
            order = np.argsort(key, kind="stable")
            return order, key[order].tobytes()
        inner = np.lexsort((target, self._owner))
        pieces = np.split(target[inner], np.flatnonzero(np.diff(self._owner)) + 1)
        keys = [(int(s), piece.tobytes()) for s, piece in zip(source, pieces, strict=True)]
        places = sorted(range(len(keys)), key=keys.__getitem__)
        return np.array(places, dtype=np.int64), tuple(keys[place] for place in places)


def automorphisms(instance: Instance) -> Automorphisms:
    """Return the automorphisms of an instance; only the identity if it is too large.

    A ``combine`` instance has those of ``Instance.forward``. Those that keep a routing table are
    not known: the dimension order of a mesh, for one, has fewer than the mesh.
    """
    messages = MessageMap(instance)
    for with_messages in (False, True) if instance.model.table is None else ():
        found = _Graph(instance, with_messages).automorphisms()
        if found is None:
            break
        if all(messages.image(generator) is not None for generator in found.generators):
            return found
    return Automorphisms(np.empty((0, instance.network.nodes), dtype=np.int32), 1)


class _Graph:
    """The vertex-coloured graph whose automorphisms nauty finds.

    Parameters
    ----------
    with_messages
        Whether messages are vertices.
    """

    def __init__(self, instance: Instance, with_messages: bool) -> None:
        forward = instance.forward
        network, model = forward.network, forward.model
        self._nodes = network.nodes
        self._joined: defaultdict[int, list[int]] = defaultdict(list)
        self._copies: dict[tuple[int, int, str], int] = {}
        endpoints = set(network.endpoints)
        messages = forward.collective.deliver_messages
        sends = Counter((m.source, len(m.destinations)) for m in messages)
        sent: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for (source, size), count in sorted(sends.items()):
            sent[source].append((size, count))
        taken = Counter(node for m in messages for node in m.destinations)
        self._colour: list[Hashable] = [
            (
                "node",
                node in endpoints,
                model.inject_limit(node) or -1,
                model.accept_limit(node) or -1,
                model.inject_limit(node) == 0,
                model.accept_limit(node) == 0,
                tuple(sent[node]),
                taken[node],
            )
            for node in range(network.nodes)
        ]
        shared = {*network.half_duplex, *((b, a) for a, b in network.half_duplex)}
        times = network.times or (STEP,) * len(network.channels)
        # A group is mapped to itself alone.
        group = {hop: number for number, each in enumerate(network.groups) for hop in each}
        kind = {
            (a, b): (size, (a, b) in shared, time, group.get((a, b), -1))
            for (a, b, size), time in zip(network.channels, times, strict=True)
        }
        kinds = Counter(kind.values())
        by_frequency = sorted(kinds, key=kinds.__getitem__, reverse=True)
        number = {each: k for k, each in enumerate(by_frequency, start=1)}
        sender, receiver = ("node", "node") if network.symmetric else ("out", "in")
        for a, b in kind:
            for layer, digit in enumerate(reversed(f"{number[kind[a, b]]:b}")):
                if digit == "1":
                    self._joined[self._copy(a, layer, sender)].append(
                        self._copy(b, layer, receiver)
                    )
        if with_messages:
            for source, destinations in messages:
                message = self._add(("message", len(destinations)))
                self._joined[source].append(message)
                self._joined[message].extend(self._copy(node, 0, "in") for node in destinations)

    def automorphisms(self) -> Automorphisms | None:
        """Call nauty; return ``None`` if there are too many vertices, copies not counted."""
        if len(self._colour) - len(self._copies) > MAX_VERTICES:
            return None
        cells: defaultdict[Hashable, set[int]] = defaultdict(set)
        for vertex, colour in enumerate(self._colour):
            cells[colour].add(vertex)
        # A plain network is read as directed, as by earlier versions: the generators, and so the
        # groups that a seed draws, stay the same.
        graph = pynauty.Graph(
            len(self._colour),
            directed=not self._copies,
            adjacency_dict=dict(self._joined),
            vertex_coloring=[cells[colour] for colour in sorted(cells, key=repr)],
        )
        generators, mantissa, exponent, _, _ = pynauty.autgrp(graph)
        order = round(mantissa * 10.0**exponent) if exponent < 300 else math.inf
        return Automorphisms(_rows(generators, self._nodes), order)

    def _copy(self, node: int, layer: int, side: str) -> int:
        """Return the vertex of a node in a layer: itself, or a copy joined to it."""
        if (layer, side) == (0, "node"):
            return node
        key = node, layer, side
        if key not in self._copies:
            self._copies[key] = self._add(("copy", layer, side))
            self._joined[node].append(self._copies[key])
        return self._copies[key]

    def _add(self, colour: Hashable) -> int:
        self._colour.append(colour)
        return len(self._colour) - 1


def _rows(generators: Sequence[Sequence[int]], nodes: int) -> IntArray:
    """Return the distinct permutations of the nodes, without those that move messages only."""
    rows = np.array([row[:nodes] for row in generators], dtype=np.int32).reshape(-1, nodes)
    rows = np.unique(rows, axis=0)
    kept: IntArray = rows[(rows != np.arange(nodes)).any(axis=1)]
    return kept
