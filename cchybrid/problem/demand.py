"""What has to be delivered, and who may inform whom: deliveries and arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.ragged import offsets, owners
from cchybrid.problem.resources import Resources
from cchybrid.problem.routes import Routes

Places = NDArray[np.signedinteger[Any]]


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

    In wormhole switching there is one delivery per message and destination; the source and all
    destinations may inform.

    Parameters
    ----------
    max_options
        Where there is no room for ``paths`` paths of every arc, each delivery keeps its nearest
        informers only.
    """
    distance, (sends, takes) = routes.distance, resources.working
    if forward.model.switching != "wormhole":
        return _hop_demand(forward, distance, sends, takes)
    messages = forward.collective.deliver_messages
    if all(len(message.destinations) == 1 for message in messages):
        return _scatter(forward, distance, sends, takes)
    sizes = [len(message.destinations) for message in messages]
    keep = max(_NEAREST, max_options // (ROOM * max(1, sum(sizes))))
    crowded = paths * sum(size * size for size in sizes) > max_options
    complete = True
    parts: list[_Part] = []
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
        parts.append(_Part(nodes[1:], target - 1, informer - 1, nodes[informer]))
    return _joined(parts, np.ones(sum(sizes), dtype=np.bool_), complete)


class _Part(NamedTuple):
    """The deliveries of one message, to ``nodes``, and the arcs.

    Arcs name deliveries by their place among the nodes; -1 is none, at the source.
    """

    nodes: IntArray
    delivery: Places
    requires: Places
    informer: IntArray


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


def _scatter(forward: Instance, distance: IntArray, sends: BoolArray, takes: BoolArray) -> Demand:
    """One delivery per message, all at once, where each has one destination."""
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


def _hop_demand(
    forward: Instance, distance: IntArray, sends: BoolArray, takes: BoolArray
) -> Demand:
    """One delivery per message and useful node, required at destinations; neighbours inform."""
    network = forward.network
    leads = distance > 0
    arcs = np.zeros((network.nodes, network.nodes), dtype=np.bool_)
    for a, b, _ in network.channels:
        arcs[a, b] = sends[a] and takes[b]
    before, after = (ends.astype(np.int32) for ends in np.nonzero(arcs.T)[::-1])
    everyone = np.arange(network.nodes, dtype=np.int32)
    reached_from: dict[int, BoolArray] = {}
    parts: list[_Part] = []
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
        parts.append(_Part(nodes, place[after[kept]], place[before[kept]], before[kept]))
        required.append(np.isin(nodes, goals))
    return _joined(parts, np.concatenate(required), True)


def _joined(parts: Sequence[_Part], required: BoolArray, complete: bool) -> Demand:
    """Return the demand of all messages, whose deliveries are numbered in a row."""
    begin = offsets([len(part.nodes) for part in parts])
    arcs = [
        (
            (part.delivery + first).astype(np.int32),
            np.where(part.requires < 0, -1, part.requires + first).astype(np.int32),
            part.informer,
            part.nodes[part.delivery],
        )
        for part, first in zip(parts, begin.tolist(), strict=False)
    ]
    delivery, requires, before, after = map(np.concatenate, zip(*arcs, strict=True))
    return Demand(
        required,
        owners(begin).astype(np.int32),
        np.concatenate([part.nodes for part in parts]),
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
