"""The demand of an instance: its deliveries, and the nodes that may send each of them (arcs)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Network
from cchybrid.model.errors import CchybridError
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.ragged import offsets, owners, reachable
from cchybrid.problem.resources import Resources
from cchybrid.problem.routes import Routes

Places = NDArray[np.signedinteger[Any]]


class UnreachableError(CchybridError):
    """Some destination cannot be reached, so the instance has no schedule."""


MAX_ARCS = 1 << 31
"""Arcs whose numbers fit into 32 bits; they need some hundred gigabytes."""
MIN_PATHS_PER_ARC = 4
"""Paths per sender for which ``max_options`` must suffice, or senders are left out."""
_MIN_SENDERS = 8
"""Senders besides the source that a delivery keeps, whatever ``max_options`` is."""


def is_ordered(instance: Instance) -> bool:
    """Return whether some delivery may require another, so that the order of steps matters."""
    forwards = instance.model.hop_by_hop
    return forwards or max(instance.forward.collective.flat[1]) > 1


def count_deliveries(instance: Instance) -> int:
    """Return the number of required deliveries: pairs of a message and one of its destinations."""
    return len(instance.forward.collective.flat[2])


def too_large(forward: Instance) -> str | None:
    """Return why no Problem of a ``deliver`` instance can be built, ``None`` if one may be."""
    messages, channels = len(forward.collective.flat[0]), len(forward.network.channels)
    if not forward.model.hop_by_hop or messages * channels < MAX_ARCS:
        return None
    return f"{messages:,} messages, each over any of {channels:,} channels"


def demand_of(
    forward: Instance, routes: Routes, resources: Resources, max_options: int, paths: int = 1
) -> "Demand":
    """Return the deliveries and arcs of a ``deliver`` instance.

    In wormhole switching there is one delivery per message and destination; the source and all
    destinations may send.

    Parameters
    ----------
    forward
        The instance.
    max_options, paths
        If ``paths`` paths of every arc are more than ``max_options`` options, each delivery keeps
        only its nearest senders.
    """
    distance, (sends, accepts) = routes.distance, resources.working
    if forward.model.hop_by_hop:
        return _hop_demand(forward, distance, sends, accepts)
    messages, sizes = forward.collective.deliver_messages, forward.collective.flat[1]
    if max(sizes) == 1:
        return _scatter(forward, distance, sends, accepts)
    keep = max(_MIN_SENDERS, max_options // (MIN_PATHS_PER_ARC * max(1, sum(sizes))))
    crowded = paths * sum(size * size for size in sizes) > max_options
    complete = True
    parts: list[_MessageArcs] = []
    near: _NearestSenders | None = None
    apart = _ticks_apart(forward.network) if crowded and forward.horizon == "ticks" else distance
    for index, (source, destinations) in enumerate(messages):
        nodes = np.array((source, *destinations), dtype=np.int32)
        if crowded and len(nodes) > keep + 1:
            if near is None or not near.are_between(nodes):
                near = _NearestSenders(np.sort(nodes), distance, apart, sends, accepts, keep)
            found = near.of(nodes)
            if found is not None:
                parts.append(found)
                complete &= near.has_all(source, len(found.delivery))
                continue
        # Rows: senders; columns: receivers. No node sends to itself or to the source.
        hops = distance[np.ix_(nodes, nodes)]
        arcs = (hops > 0) & sends[nodes][:, None] & accepts[nodes]
        arcs[:, 0] = False
        _check_reached(index, nodes, reachable(arcs, 0))
        if crowded and len(nodes) > keep + 1:
            between = apart[np.ix_(nodes, nodes)]
            nearest = _nearest_senders(arcs, between, nodes, keep, np.zeros(1, dtype=np.int64))
            if reachable(nearest, 0).all():
                complete &= bool((nearest == arcs).all())
                arcs = nearest
        target, sender = np.nonzero(arcs.T)
        # Node 0 of the message is the source (no delivery, -1); node k has delivery k - 1.
        parts.append(_MessageArcs(nodes[1:], target - 1, sender - 1, nodes[sender]))
    return _joined(parts, np.ones(sum(sizes), dtype=np.bool_), complete)


class _MessageArcs(NamedTuple):
    """The deliveries of one message, to ``nodes``, and its arcs.

    ``delivery`` and ``requires`` are indices into ``nodes``; a sender that is the source requires
    no delivery (-1).
    """

    nodes: IntArray
    delivery: Places
    requires: Places
    sender: IntArray


@dataclass(frozen=True)
class Demand:
    """Deliveries and arcs; an arc is a node that may send a delivery.

    Parameters
    ----------
    required
        Shape (deliveries,): True where the delivery has to be made.
    message, node
        Shape (deliveries,): the message, and the node that receives it.
    arc_delivery
        Shape (arcs,): the delivery, ascending.
    arc_requires
        Shape (arcs,): the delivery of the message to the sender, -1 for the message's source.
    arc_from, arc_to
        Shape (arcs,): the sender and the receiver.
    complete
        Whether every allowed arc is listed.
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
        """Whether some node other than a message's source may send."""
        return bool((self.arc_requires >= 0).any())


def _scatter(forward: Instance, distance: IntArray, sends: BoolArray, accepts: BoolArray) -> Demand:
    """Return the demand if every message has one destination: one delivery per message."""
    sources, _, targets = forward.collective.flat
    source, target = np.array(sources, dtype=np.int32), np.array(targets, dtype=np.int32)
    reached = (distance[source, target] > 0) & sends[source] & accepts[target]
    for index in np.flatnonzero(~reached).tolist():
        _check_reached(index, np.array((source[index], target[index])), np.array((True, False)))
    numbers = np.arange(len(source), dtype=np.int32)
    return Demand(
        required=np.ones(len(source), dtype=np.bool_),
        message=numbers,
        node=target,
        arc_delivery=numbers,
        arc_requires=np.full(len(source), -1, dtype=np.int32),
        arc_from=source,
        arc_to=target,
        complete=True,
    )


class _NearestSenders:
    """The arcs from the nearest senders, for all messages between the same nodes.

    Parameters
    ----------
    nodes
        The sources and destinations, ascending.
    distance, apart
        Hops between nodes, 0 or less where there is no path; what decides who is near.
    keep
        Senders of each node besides the source.
    """

    def __init__(
        self,
        nodes: IntArray,
        distance: IntArray,
        apart: IntArray,
        sends: BoolArray,
        accepts: BoolArray,
        keep: int,
    ) -> None:
        self._nodes = nodes
        block = np.ix_(nodes, nodes)
        self._arcs = (distance[block] > 0) & sends[nodes][:, None] & accepts[nodes]
        nearest = _nearest_senders(self._arcs, apart[block], nodes, keep, np.arange(0))
        target, sender = np.nonzero(nearest.T)
        self._target, self._sender = target, sender

    def are_between(self, nodes: IntArray) -> bool:
        """Return whether a message has these nodes."""
        return np.array_equal(np.sort(nodes), self._nodes)

    def has_all(self, source: int, arcs: int) -> bool:
        """Return whether this number of arcs of a message is that of all arcs."""
        into = np.count_nonzero(self._arcs[:, np.searchsorted(self._nodes, source)])
        return bool(arcs == np.count_nonzero(self._arcs) - into)

    def of(self, nodes: IntArray) -> _MessageArcs | None:
        """Return the arcs of a message; ``None`` if the source has no path to some destination."""
        source = int(np.searchsorted(self._nodes, nodes[0]))
        if np.count_nonzero(self._arcs[source]) < len(nodes) - 1:
            return None
        place = np.empty(len(nodes), dtype=np.int64)
        place[np.searchsorted(self._nodes, nodes)] = np.arange(len(nodes))
        kept = (self._target != source) & (self._sender != source)
        # By target, then sender, in the order of the nodes; every target has the source as well.
        key = place[self._target[kept]] * len(nodes) + place[self._sender[kept]]
        key = np.sort(np.append(key, np.arange(1, len(nodes)) * len(nodes)))
        target, sender = (place.astype(np.int32) for place in np.divmod(key, len(nodes)))
        return _MessageArcs(nodes[1:], target - 1, sender - 1, nodes[sender])


def _ticks_apart(network: Network) -> IntArray:
    """Return the ticks of the fastest path from row to column, hop by hop: shape (nodes, nodes).

    On a cluster the GPUs of the same box are nearer than those over as many hops between boxes.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    ends = np.array([channel[:2] for channel in network.channels]).reshape(-1, 2).T
    ticks = [time.latency + time.length for time in network.times]
    shape = (network.nodes, network.nodes)
    apart = dijkstra(csr_array((ticks, (ends[0], ends[1])), shape=shape))
    return np.where(np.isfinite(apart), apart, -1).astype(np.int32)


def _nearest_senders(
    arcs: BoolArray, hops: IntArray, nodes: IntArray, keep: int, sources: Places
) -> BoolArray:
    """Return the arcs from the sources and from the ``keep`` nearest senders of each node.

    Ties go to the sender whose number follows the node's most closely, so that receivers use
    different senders.
    """
    stride = int(nodes.max()) + 1
    key = hops.astype(np.int64) * stride + (nodes[:, None] - nodes[None, :]) % stride
    key[~arcs] = np.iinfo(np.int64).max
    chosen = np.zeros_like(arcs)
    rows = np.argpartition(key, keep, axis=0)[:keep]
    np.put_along_axis(chosen, rows, True, axis=0)
    chosen[sources] = True
    return chosen & arcs


def _hop_demand(
    forward: Instance, distance: IntArray, sends: BoolArray, accepts: BoolArray
) -> Demand:
    """Return the demand of store-and-forward switching: every node may receive from neighbours.

    Only deliveries to destinations are required.
    """
    network, messages = forward.network, forward.collective.deliver_messages
    if (reason := too_large(forward)) is not None:
        raise MemoryError(reason)
    leads = distance > 0
    arcs = np.zeros((network.nodes, network.nodes), dtype=np.bool_)
    for a, b, _ in network.channels:
        arcs[a, b] = sends[a] and accepts[b]
    before, after = (ends.astype(np.int32) for ends in np.nonzero(arcs.T)[::-1])
    numbers = np.arange(network.nodes, dtype=np.int32)
    reached_from: dict[int, BoolArray] = {}
    parts: list[_MessageArcs] = []
    required = []
    for index, (source, destinations) in enumerate(messages):
        if source not in reached_from:
            reached_from[source] = reachable(arcs, source)
        reached = reached_from[source]
        goals = np.array(destinations, dtype=np.int32)
        _check_reached(index, np.append(source, goals), np.append(True, reached[goals]))
        # A node from which no other destination can be reached needs no delivery.
        useful: BoolArray = np.any(leads[:, goals], axis=1)
        useful[goals] = True
        useful &= reached
        useful[source] = False
        nodes = numbers[useful]
        place = np.full(network.nodes, -1, dtype=np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        kept = useful[after] & (useful[before] | (before == source))
        parts.append(_MessageArcs(nodes, place[after[kept]], place[before[kept]], before[kept]))
        required.append(np.isin(nodes, goals))
    return _joined(parts, np.concatenate(required), True)


def _joined(parts: Sequence[_MessageArcs], required: BoolArray, complete: bool) -> Demand:
    """Return the demand of all messages, with their deliveries numbered consecutively."""
    first_delivery = offsets([len(part.nodes) for part in parts])
    size = offsets([len(part.delivery) for part in parts]).tolist()
    delivery, requires, before, after = np.empty((4, size[-1]), dtype=np.int32)
    for part, first, *ends in zip(parts, first_delivery.tolist(), size, size[1:], strict=False):
        arcs = slice(*ends)
        delivery[arcs] = part.delivery + first
        requires[arcs] = np.where(part.requires < 0, -1, part.requires + first)
        before[arcs], after[arcs] = part.sender, part.nodes[part.delivery]
    return Demand(
        required,
        owners(first_delivery).astype(np.int32),
        np.concatenate([part.nodes for part in parts]),
        delivery,
        requires,
        before,
        after,
        complete,
    )


def _check_reached(message: int, nodes: IntArray, reached: BoolArray) -> None:
    """Raise an ``UnreachableError`` if some node is not reached; the first one is the source."""
    if not reached.all():
        node = nodes[np.flatnonzero(~reached)[0]]
        raise UnreachableError(f"message {message} from node {nodes[0]} cannot reach node {node}")
