"""What has to be delivered, and who may inform whom: deliveries and arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.resources import Resources
from cchybrid.problem.routes import Routes

Places = NDArray[np.signedinteger[Any]]
Ports = tuple[BoolArray, BoolArray]
"""Shape (nodes,) each: who can inject, and who can accept, anything at all."""


class UnreachableError(CchybridError):
    """Some destination cannot be reached at all, so the instance has no schedule."""


ROOM = 4
"""Paths per informer that there should be room for where informers have to be given up."""
_NEAREST = 8
"""Informers that a delivery keeps beside the source, however little room there is."""


def is_ordered(instance: Instance) -> bool:
    """Return whether some delivery may wait for another, so that steps have an order."""
    messages = instance.forward.collective.deliver_messages
    return instance.model.switching != "wormhole" or any(
        len(message.destinations) > 1 for message in messages
    )


def demand_of(
    forward: Instance, routes: Routes, resources: Resources, max_options: int, paths: int = 1
) -> Demand:
    """Return the deliveries and arcs of a ``deliver`` instance.

    Parameters
    ----------
    max_options
        Where there is no room for ``paths`` paths of every arc, each delivery keeps its nearest
        informers only.
    """
    if forward.model.switching == "wormhole":
        return wormhole_demand(forward, routes.distance, resources.working, max_options, paths)
    return hop_demand(forward, routes.distance, resources.working)


@dataclass(frozen=True)
class Demand:
    """Deliveries, and arcs: which node may inform which delivery.

    Arcs are sorted by delivery; ``arc_requires`` is the delivery that made the informer informed,
    -1 for the message's source. ``complete`` says whether every arc is in.
    """

    required: BoolArray
    message: IntArray
    node: IntArray
    arc_delivery: IntArray
    arc_requires: IntArray
    arc_from: IntArray
    arc_to: IntArray
    complete: bool

    @property
    def spreads(self) -> bool:
        """Whether some delivery may be made by another node than the message's source."""
        return bool((self.arc_requires >= 0).any())


def wormhole_demand(
    forward: Instance, distance: IntArray, ports: Ports, max_options: int, paths: int
) -> Demand:
    """One delivery per message and destination; source and destinations may inform."""
    sends, takes = ports
    messages = forward.collective.deliver_messages
    if all(len(message.destinations) == 1 for message in messages):
        return _scatter(forward, distance, sends, takes)
    sizes = [len(message.destinations) for message in messages]
    keep = max(_NEAREST, max_options // (ROOM * max(1, sum(sizes))))
    crowded = paths * sum(size * size for size in sizes) > max_options
    complete = True
    found = _Collector()
    for index, (source, destinations) in enumerate(messages):
        nodes = np.array((source, *destinations), dtype=np.int32)
        # Rows: who informs; columns: who is informed. Nobody informs itself or the source.
        hops = distance[np.ix_(nodes, nodes)]
        arcs = (hops > 0) & sends[nodes][:, None] & takes[nodes]
        arcs[:, 0] = False
        _refuse_unreached(index, nodes, _closure(arcs, 0))
        if crowded and len(nodes) > keep + 1:
            nearest = _nearest(arcs, hops, nodes, keep)
            if _closure(nearest, 0).all():
                complete &= bool((nearest == arcs).all())
                arcs = nearest
        target, informer = np.nonzero(arcs.T)
        # The source stands first: the delivery of its k-th companion is the (k-1)-th, its own -1.
        found.add(index, nodes[1:], nodes, target - 1, informer - 1, informer)
    return found.demand([True] * found.deliveries, complete)


def _scatter(forward: Instance, distance: IntArray, sends: BoolArray, takes: BoolArray) -> Demand:
    """The same where every message has one destination, all at once: its source informs it."""
    messages = forward.collective.deliver_messages
    source = np.array([message.source for message in messages], dtype=np.int32)
    target = np.array([message.destinations[0] for message in messages], dtype=np.int32)
    reached = (distance[source, target] > 0) & sends[source] & takes[target]
    for index in np.flatnonzero(~reached).tolist():
        _refuse_unreached(index, np.array((source[index], target[index])), np.array((True, False)))
    everyone = np.arange(len(messages), dtype=np.int32)
    return Demand(
        required=np.ones(len(messages), dtype=np.bool_),
        message=everyone,
        node=target,
        arc_delivery=everyone,
        arc_requires=np.full(len(messages), -1, dtype=np.int32),
        arc_from=source,
        arc_to=target,
        complete=True,
    )


def _nearest(arcs: BoolArray, hops: IntArray, nodes: IntArray, keep: int) -> BoolArray:
    """Return the arcs from the source and from the ``keep`` nearest informers of each node.

    Among equally near ones those whose number follows the node's come first, so that not all
    nodes lean on the same few.
    """
    most = int(nodes.max()) + 1
    key = hops.astype(np.int64) * most + (nodes[:, None] - nodes[None, :]) % most
    key[~arcs] = np.iinfo(np.int64).max
    chosen = np.zeros_like(arcs)
    rows = np.argpartition(key, keep, axis=0)[:keep]
    np.put_along_axis(chosen, rows, True, axis=0)
    chosen[0] = True
    return chosen & arcs


def hop_demand(forward: Instance, distance: IntArray, ports: Ports) -> Demand:
    """One delivery per message and useful node, required at destinations; neighbours inform."""
    network = forward.network
    leads = distance > 0
    sends, takes = ports
    arcs = np.zeros((network.nodes, network.nodes), dtype=np.bool_)
    for a, b, _ in network.channels:
        arcs[a, b] = sends[a] and takes[b]
    before, after = (ends.astype(np.int32) for ends in np.nonzero(arcs.T)[::-1])
    everyone = np.arange(network.nodes, dtype=np.int32)
    reached_from: dict[int, BoolArray] = {}
    found = _Collector()
    required = []
    for index, (source, destinations) in enumerate(forward.collective.deliver_messages):
        if source not in reached_from:
            reached_from[source] = _closure(arcs, source)
        reached = reached_from[source]
        goals = np.array(destinations, dtype=np.int32)
        _refuse_unreached(index, np.append(source, goals), np.append(True, reached[goals]))
        # A node that leads to no destination but itself only wastes the solver's time.
        useful: BoolArray = np.any(leads[:, goals], axis=1)
        useful[goals] = True
        useful &= reached
        useful[source] = False
        nodes = everyone[useful]
        place = np.full(network.nodes, -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        kept = useful[after] & (useful[before] | (before == source))
        found.add(index, nodes, everyone, place[after[kept]], place[before[kept]], before[kept])
        required.append(np.isin(nodes, goals))
    return found.demand(np.concatenate(required), True)


class _Collector:
    """Gathers deliveries and arcs message by message."""

    def __init__(self) -> None:
        self.deliveries = 0
        self._message: list[IntArray] = []
        self._node: list[IntArray] = []
        self._arcs: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []

    def add(
        self,
        message: int,
        nodes: IntArray,
        informers: IntArray,
        delivery: Places,
        requires: Places,
        informer: Places,
    ) -> None:
        """Add the deliveries of one message to ``nodes``, and their arcs.

        The arcs name deliveries by their place among ``nodes`` (-1: none, the source) and
        informers by their place in ``informers``.
        """
        self._message.append(np.full(len(nodes), message, dtype=np.int32))
        self._node.append(nodes)
        self._arcs.append(
            (
                (delivery + self.deliveries).astype(np.int32),
                np.where(requires < 0, -1, requires + self.deliveries).astype(np.int32),
                informers[informer],
                nodes[delivery],
            )
        )
        self.deliveries += len(nodes)

    def demand(self, required: Sequence[bool] | BoolArray, complete: bool) -> Demand:
        """Return everything that was added."""
        delivery, requires, before, after = (
            np.concatenate(parts) for parts in zip(*self._arcs, strict=True)
        )
        return Demand(
            np.array(required, dtype=np.bool_),
            np.concatenate(self._message),
            np.concatenate(self._node),
            delivery,
            requires,
            before,
            after,
            complete,
        )


def _closure(arcs: BoolArray, first: int) -> BoolArray:
    """Return which rows a walk along the arcs reaches from the first one, itself included."""
    reached = np.zeros(len(arcs), dtype=np.bool_)
    reached[first] = True
    fresh = reached
    while fresh.any():
        fresh = arcs[fresh].any(axis=0) & ~reached
        reached |= fresh
    return reached


def _refuse_unreached(message: int, nodes: IntArray, reached: BoolArray) -> None:
    if not reached.all():
        node = nodes[np.flatnonzero(~reached)[0]]
        raise UnreachableError(f"message {message} from node {nodes[0]} cannot reach node {node}")
