"""The automorphisms of a whole instance: network, roles, capacities, ports and messages.

An automorphism renames the nodes so that the instance stays the same, so it carries schedules to
schedules. nauty finds generators of the group (McKay and Piperno 2014, by pynauty) on a graph
that knows the network and how much every node sends and receives; where that is not all that the
messages say, they are vertices of the graph too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pynauty

from cchybrid.model import Instance
from cchybrid.problem.arrays import IntArray, LongArray

MAX_VERTICES = 3_000
"""Vertices of the graph beyond which nauty, which keeps it as a dense matrix, is not asked."""


@dataclass(frozen=True, eq=False)
class Automorphisms:
    """The group of all automorphisms of an instance.

    Parameters
    ----------
    generators
        Shape (generators, nodes): what each node is called afterwards.
    order
        The number of automorphisms, nearly where it is beyond 2^53. Where equal messages can
        change places, these count too.
    """

    generators: IntArray
    order: float


class MessageMap:
    """What a renaming of the nodes makes of the messages.

    The k-th of several equal messages goes to the k-th of those that it becomes, so that a
    product of renamings moves messages as its factors do.
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

    def image(self, renaming: IntArray) -> LongArray | None:
        """Return, shape (messages,), what each message becomes; ``None`` if one becomes none."""
        order, keys = self._sorted(renaming.astype(np.int64))
        if keys != self._keys:
            return None
        found = np.empty(len(order), dtype=np.int64)
        found[order] = self._order
        return found

    def _sorted(self, renaming: LongArray) -> tuple[LongArray, Hashable]:
        """Return the messages in the order of their renamed keys, equal ones as they were."""
        source, target = renaming[self._source], renaming[self._target]
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
    """Return the automorphisms of an instance; none but the identity if it is too large.

    A ``combine`` instance has those of the broadcast that it is when read backwards.
    """
    messages = MessageMap(instance)
    for whole in (False, True):
        found = _Graph(instance, whole).automorphisms()
        if found is None:
            break
        if all(messages.image(generator) is not None for generator in found.generators):
            return found
    return Automorphisms(np.empty((0, instance.network.nodes), dtype=np.int32), 1)


class _Graph:
    """The directed graph whose automorphisms, seen on the nodes alone, are the instance's."""

    def __init__(self, instance: Instance, whole: bool) -> None:
        forward = instance.forward
        network, model = forward.network, forward.model
        self._nodes = network.nodes
        self._joined: defaultdict[int, list[int]] = defaultdict(list)
        endpoints = set(network.endpoints)
        messages = forward.collective.deliver_messages
        sends = Counter((m.source, len(m.destinations)) for m in messages)
        sent: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for (source, size), count in sorted(sends.items()):
            sent[source].append((size, count))
        taken = Counter(node for m in messages for node in m.destinations)
        self._look: list[Hashable] = [
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
        looks = Counter((size, (a, b) in shared) for a, b, size in network.channels)
        usual = max(looks, key=looks.__getitem__) if looks else None
        for a, b, size in network.channels:
            look = size, (a, b) in shared
            if look == usual:
                self._joined[a].append(b)
            else:
                middle = self._add(("channel", *look))
                self._joined[a].append(middle)
                self._joined[middle].append(b)
        if whole:
            for source, destinations in messages:
                message = self._add(("message", len(destinations)))
                self._joined[source].append(message)
                self._joined[message].extend(destinations)

    def automorphisms(self) -> Automorphisms | None:
        """Ask nauty; ``None`` if there are too many vertices."""
        if len(self._look) > MAX_VERTICES:
            return None
        cells: defaultdict[Hashable, set[int]] = defaultdict(set)
        for vertex, look in enumerate(self._look):
            cells[look].add(vertex)
        graph = pynauty.Graph(
            len(self._look),
            directed=True,
            adjacency_dict=dict(self._joined),
            vertex_coloring=[cells[look] for look in sorted(cells, key=repr)],
        )
        generators, mantissa, exponent, _, _ = pynauty.autgrp(graph)
        order = round(mantissa * 10.0**exponent) if exponent < 300 else math.inf
        return Automorphisms(_rows(generators, self._nodes), order)

    def _add(self, look: Hashable) -> int:
        self._look.append(look)
        return len(self._look) - 1


def _rows(generators: Sequence[Sequence[int]], nodes: int) -> IntArray:
    """Return the distinct renamings of the nodes, without those that move messages only."""
    rows = np.array([row[:nodes] for row in generators], dtype=np.int32).reshape(-1, nodes)
    rows = np.unique(rows, axis=0)
    kept: IntArray = rows[(rows != np.arange(nodes)).any(axis=1)]
    return kept
