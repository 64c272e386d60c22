"""Networks and schedules as tables of pandas, graphs of NetworkX and arrays of NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import refuse_invalid

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def network_graph(network: Network) -> nx.DiGraph:
    """Return the directed graph of a network, with the attributes that graph files have."""
    import networkx as nx

    labels = _labels(network)
    graph = nx.DiGraph(name=network.name)
    for node, label in enumerate(labels):
        marks: dict[str, Any] = {}
        if node in network.endpoints:
            marks["endpoint"] = True
        if node in network.switches:
            marks["switch"] = True
        if network.positions is not None:
            marks["pos"] = network.positions[node]
        graph.add_node(label, **marks)
    half = {*network.half_duplex, *((b, a) for a, b in network.half_duplex)}
    for a, b, capacity in network.channels:
        shared = {"half_duplex": True} if (a, b) in half else {}
        graph.add_edge(labels[a], labels[b], capacity=capacity, **shared)
    return graph


def schedule_graph(schedule: Schedule) -> nx.DiGraph:
    """Return the graph of the network, every edge with its uses as ``(step, message)``."""
    refuse_invalid(schedule)
    network = schedule.instance.network
    graph, labels = network_graph(network), _labels(network)
    for *_, data in graph.edges(data=True):
        data["steps"] = []
    for step, message, _, hops in _uses(schedule):
        for a, b in hops:
            graph.edges[labels[a], labels[b]]["steps"].append((step, message))
    return graph


def schedule_frame(schedule: Schedule) -> pd.DataFrame:
    """Return a row for every channel that a message uses in a step.

    Raises
    ------
    InputError
        An invalid schedule, or no pandas.
    """
    try:
        import pandas as pd
    except ImportError:
        raise InputError(
            "a table needs pandas", where="pandas", hint="pip install 'cchybrid[report]'"
        ) from None
    refuse_invalid(schedule)
    labels = _labels(schedule.instance.network)
    rows = [
        (step, message, labels[path[0]], labels[path[-1]], hop, labels[a], labels[b])
        for step, message, path, hops in _uses(schedule)
        for hop, (a, b) in enumerate(hops, 1)
    ]
    columns = ["step", "message", "source", "target", "hop", "tail", "head"]
    return pd.DataFrame(rows, columns=columns)


def utilisation(schedule: Schedule) -> NDArray[np.float64]:
    """Return the used share of every channel in every step, of shape (channels, steps)."""
    refuse_invalid(schedule)
    network = schedule.instance.network
    used = np.zeros((len(network.channels), len(schedule.steps)))
    for step, _, _, hops in _uses(schedule):
        for hop in hops:
            used[network.channel_index[hop], step - 1] += 1
    capacity = np.array([channel.capacity for channel in network.channels], dtype=float)
    shares: NDArray[np.float64] = used / capacity[:, None]
    return shares


def _uses(schedule: Schedule) -> Any:
    """Yield step (from 1), message, path and channels of every transfer."""
    for number, step in enumerate(schedule.steps, 1):
        for message, path in step:
            yield number, message, path, list(pairwise(path))


def _labels(network: Network) -> tuple[Any, ...]:
    return tuple(range(network.nodes)) if network.node_names is None else network.node_names
