"""Schedules and networks as tables of pandas, graphs of NetworkX and arrays of NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from cchybrid.model import Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.view.extras import require_packages

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

NODES = ("source", "target", "tail", "head")
"""The columns of a table that hold nodes; each has one with the names beside it."""


class Utilisation(NamedTuple):
    """The uses of every channel in every step.

    Attributes
    ----------
    uses
        Shape (channels, steps): messages on the channel in the step.
    capacity
        Shape (channels, steps): messages that it carries in the step; half-duplex channels share
        it with their opposite ones.
    channels
        The two nodes of the channel of every row, by name; rows are in the order of
        ``Network.channels``.
    """

    uses: NDArray[np.int64]
    capacity: NDArray[np.int64]
    channels: tuple[tuple[str, str], ...]


def schedule_frame(schedule: Schedule) -> DataFrame:
    """Return the table of ``Schedule.to_frame``."""
    require_packages("a table", "pandas")
    from pandas import DataFrame

    rows = [
        (message, number, path[0], path[-1], tail, head)
        for number, step in enumerate(schedule.steps, 1)
        for message, path in step
        for tail, head in pairwise(path)
    ]
    frame = DataFrame(rows, columns=["message", "step", *NODES])
    name = schedule.instance.network.node_name
    for column in NODES:
        frame[f"{column}_name"] = [name(node) for node in frame[column]]
    return frame


def network_graph(network: Network) -> nx.DiGraph:
    """Return the graph of ``Network.to_networkx``."""
    import networkx as nx

    if len(network.endpoints) == network.nodes:
        raise InputError(
            "as a graph, a network whose nodes are all endpoints would have none",
            where=network.name,
            hint="keep it as an instance file",
        )
    if network.times:
        raise InputError(
            "a graph has bandwidths and latencies, not the ticks of a size",
            where=network.name,
            hint="keep it as an instance file",
        )
    label = range(network.nodes) if network.node_names is None else network.node_names
    graph = nx.DiGraph(name=network.name)
    graph.add_nodes_from(label)
    for key, nodes in (("endpoint", network.endpoints), ("switch", network.switches)):
        for node in nodes:
            graph.nodes[label[node]][key] = True
    for node, position in enumerate(network.positions or ()):
        graph.nodes[label[node]]["pos"] = position
    for tail, head, capacity in network.channels:
        graph.add_edge(label[tail], label[head], capacity=capacity)
    for a, b in network.half_duplex:
        for tail, head in ((a, b), (b, a)):
            graph.edges[label[tail], label[head]]["half_duplex"] = True
    for number, group in enumerate(network.groups):
        for tail, head in group:
            graph.edges[label[tail], label[head]]["group"] = number
    return graph


def schedule_graph(schedule: Schedule) -> nx.DiGraph:
    """Return the graph of ``Schedule.to_networkx``."""
    network = schedule.instance.network
    graph = network_graph(network)
    names = network.node_names or range(network.nodes)
    for _, _, data in graph.edges(data=True):
        data.update(steps=[], messages=[])
    for number, step in enumerate(schedule.steps, 1):
        for message, path in step:
            for tail, head in pairwise(path):
                _channel(schedule, tail, head)
                used: dict[str, Any] = graph.edges[names[tail], names[head]]
                used["messages"].append((number, message))
                if number not in used["steps"][-1:]:
                    used["steps"].append(number)
    return graph


def utilisation(schedule: Schedule) -> Utilisation:
    """Return the arrays of ``Schedule.utilisation``."""
    import numpy as np

    network = schedule.instance.network
    uses = np.zeros((len(network.channels), len(schedule.steps)), np.int64)
    for number, step in enumerate(schedule.steps):
        for _, path in step:
            for tail, head in pairwise(path):
                uses[_channel(schedule, tail, head), number] += 1
    name = network.node_name
    return Utilisation(
        uses,
        np.outer([channel.capacity for channel in network.channels], schedule.rounds),
        tuple((name(tail), name(head)) for tail, head, _ in network.channels),
    )


def _channel(schedule: Schedule, tail: int, head: int) -> int:
    index = schedule.instance.network.channel_index.get((tail, head))
    if index is None:
        raise InputError(
            f"the schedule uses the channel {tail}->{head}, which the network does not have",
            where=schedule.instance.name,
            hint="see: cchybrid.verify",
        )
    return index
