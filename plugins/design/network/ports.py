"""Networks under design as arrays of ports, and their links.

An array of ports has shape (nodes, degree) and holds the node at the other end of the link of
every port. An empty port holds its own node: kernels then need no test for it.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network
from cchybrid.model.errors import InputError, with_context

from .task import DesignTask

Ports = NDArray[np.int32]
Links = tuple[tuple[int, int], ...]


def links_of(ports: Ports) -> Links:
    """Return the links, each as an ascending pair, in ascending order; redundant ones repeat."""
    ends = np.repeat(np.arange(len(ports), dtype=np.int32), ports.shape[1])
    others = ports.ravel()
    first = ends < others
    return tuple(sorted(zip(ends[first].tolist(), others[first].tolist(), strict=True)))


@with_context("links")
def ports_of(nodes: int, degree: int, links: Iterable[tuple[int, int]]) -> Ports:
    """Return the ports of a network with these links.

    Raises
    ------
    InputError
        If a link joins a node to itself or to none, or a node has more links than ports.
    """
    ports = np.repeat(np.arange(nodes, dtype=np.int32)[:, None], degree, axis=1)
    used = [0] * nodes
    for a, b in links:
        if not (0 <= a < nodes and 0 <= b < nodes and a != b):
            raise InputError(
                f"a link from {a} to {b}", hint=f"link two different nodes of 0 to {nodes - 1}"
            )
        for node, other in ((a, b), (b, a)):
            if used[node] == degree:
                raise InputError(
                    f"node {node} has more than {degree} links",
                    hint="drop links, or use a larger degree",
                )
            ports[node, used[node]] = other
            used[node] += 1
    return ports


def links_between_equals(network: Network) -> Links:
    """Return the bidirectional links of a network, whose nodes are all alike.

    Raises
    ------
    InputError
        It has what no designed network has: switches, endpoints, half-duplex links, or a channel
        without an equal one back.
    """
    if network.half_duplex or network.endpoints or network.switches:
        what = "half-duplex links" if network.half_duplex else "switches or endpoints"
        raise InputError(
            f"{network.name} has {what}, which no designed network has",
            hint="name a network of nodes that are all alike",
        )
    carried = {(channel.source, channel.target): channel.capacity for channel in network.channels}
    links: list[tuple[int, int]] = []
    for (a, b), capacity in carried.items():
        if carried.get((b, a)) != capacity:
            raise InputError(
                f"{network.name} has a channel from {a} to {b} without an equal one back",
                hint="name a network of bidirectional links",
            )
        if a < b:
            links += [(a, b)] * capacity
    return tuple(links)


def check_links(task: DesignTask, links: Iterable[tuple[int, int]]) -> None:
    """Raise ``InputError`` unless a network with these links is one that the task allows."""
    listed = [(min(link), max(link)) for link in links]
    ports_of(task.nodes, task.degree, listed)
    with with_context("links"):
        if not task.redundant_links and len(set(listed)) < len(listed):
            raise InputError("a link is redundant", hint="list it once, or allow redundant links")
        for a, b in listed:
            if not task.allowed[a, b]:
                raise InputError(
                    f"the wire from {a} to {b} has length {task.wires[a, b]:g}",
                    hint=f"use wires of at most {task.max_wire:g}",
                )


def network_of(task: DesignTask, links: Iterable[tuple[int, int]]) -> Network:
    """Return the network with these links, at the positions of the task."""
    positions = task.positions
    if positions is not None and len(positions[0]) == 1:
        positions = tuple((x, 0.0) for (x,) in positions)
    name = f"design-{task.nodes}-{task.degree}"
    return Network.from_links(name, task.nodes, links, positions=positions)
