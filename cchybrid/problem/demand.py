"""What has to be delivered, and who may inform whom: deliveries and arcs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cchybrid.errors import CchybridError
from cchybrid.model import Instance
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.routes import Routes


class UnreachableError(CchybridError):
    """Some destination cannot be reached at all, so the instance has no schedule."""


def demand_of(forward: Instance) -> Demand:
    """Return the deliveries and arcs of a ``deliver`` instance."""
    if forward.model.switching == "wormhole":
        return wormhole_demand(forward)
    return hop_demand(forward)


@dataclass(frozen=True)
class Demand:
    """Deliveries, and arcs: which node may inform which delivery.

    Arcs are sorted by delivery; ``arc_requires`` is the delivery that made the informer informed,
    -1 for the message's source.
    """

    required: BoolArray
    message: IntArray
    node: IntArray
    arc_delivery: IntArray
    arc_requires: IntArray
    arc_from: IntArray
    arc_to: IntArray


def wormhole_demand(forward: Instance) -> Demand:
    """One delivery per message and destination; source and destinations may inform."""
    distance = Routes(forward.network, 0).distance
    deliveries: list[tuple[int, int]] = []
    arcs: list[tuple[int, int, int, int]] = []
    for index, (source, destinations) in enumerate(forward.collective.deliver_messages):
        holders = [source, *destinations]
        reached = _reached(forward, distance, source, destinations)
        first = len(deliveries)
        for offset, node in enumerate(destinations):
            if node not in reached:
                raise UnreachableError(
                    f"message {index} from node {source} cannot reach node {node}"
                )
            deliveries.append((index, node))
            for place, holder in enumerate(holders):
                if (
                    holder != node
                    and distance[holder, node] > 0
                    and forward.model.inject_limit(holder) != 0
                ):
                    arcs.append((first + offset, first + place - 1 if place else -1, holder, node))
    return _demand(deliveries, [True] * len(deliveries), arcs)


def hop_demand(forward: Instance) -> Demand:
    """One delivery per message and useful node, required at destinations; neighbours inform."""
    # Each hop is a path of its own, so a message may be kept and forwarded at an endpoint too.
    network = replace(forward.network, endpoints=())
    distance = Routes(network, 0).distance
    before: list[list[int]] = [[] for _ in range(network.nodes)]
    for channel in network.channels:
        before[channel.target].append(channel.source)
    deliveries: list[tuple[int, int]] = []
    required: list[bool] = []
    arcs: list[tuple[int, int, int, int]] = []
    everyone = range(network.nodes)
    for index, (source, destinations) in enumerate(forward.collective.deliver_messages):
        wanted = set(destinations)
        reached = _reached(forward, distance, source, everyone)
        for node in destinations:
            if node not in reached:
                raise UnreachableError(
                    f"message {index} from node {source} cannot reach node {node}"
                )
        # A node that leads to no destination but itself only wastes the solver's time.
        useful = [
            node
            for node in everyone
            if node in reached
            and node != source
            and (node in wanted or any(distance[node, goal] > 0 for goal in destinations))
        ]
        where = {node: len(deliveries) + offset for offset, node in enumerate(useful)}
        for node in useful:
            deliveries.append((index, node))
            required.append(node in wanted)
            for holder in sorted(before[node]):
                if forward.model.inject_limit(holder) == 0:
                    continue
                if holder == source:
                    arcs.append((where[node], -1, holder, node))
                elif holder in where:
                    arcs.append((where[node], where[holder], holder, node))
    return _demand(deliveries, required, arcs)


def _reached(
    forward: Instance,
    distance: IntArray,
    source: int,
    candidates: tuple[int, ...] | range,
) -> set[int]:
    """Return the candidates that can come to hold a message, whoever forwards it."""
    model = forward.model
    reached = {source}
    frontier = [source]
    while frontier:
        holder = frontier.pop()
        if model.inject_limit(holder) == 0:
            continue
        for node in candidates:
            if node not in reached and distance[holder, node] > 0 and model.accept_limit(node) != 0:
                reached.add(node)
                frontier.append(node)
    return reached


def _demand(
    deliveries: list[tuple[int, int]], required: list[bool], arcs: list[tuple[int, int, int, int]]
) -> Demand:
    table = np.array(arcs, dtype=np.int32).reshape(-1, 4)
    pairs = np.array(deliveries, dtype=np.int32).reshape(-1, 2)
    return Demand(
        required=np.array(required, dtype=np.bool_),
        message=pairs[:, 0].copy(),
        node=pairs[:, 1].copy(),
        arc_delivery=table[:, 0].copy(),
        arc_requires=table[:, 1].copy(),
        arc_from=table[:, 2].copy(),
        arc_to=table[:, 3].copy(),
    )
