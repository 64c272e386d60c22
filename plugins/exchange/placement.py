"""Foreign programs on a named network: nodes of GPUs, and steps with room on all links."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise

from cchybrid.library.node_numbers import node_number
from cchybrid.model import Network
from cchybrid.model.errors import InputError, with_context
from cchybrid.problem.routes import Routes

MAX_PATHS = 64
"""Shortest paths over switches that are tried between two GPUs."""


def nodes_by_name(nodes: Mapping[int, str], network: Network) -> dict[int, int]:
    """Return the node of a network for each node of a file, which has its name, or its number.

    Raises
    ------
    InputError
        The network has no such node, or two are one node.
    """
    with with_context("nodes of the file on --topology"):
        index = {node: node_number(name, network) for node, name in nodes.items()}
        if len({*index.values()}) < len(index):
            raise InputError("two are one node", hint="let all names be numbers, or none")
    return index


def nodes_by_number(gpus: Iterable[int], network: Network | None) -> dict[int, int]:
    """Return the node of each GPU of a file: the one of its number, or name, in a named network.

    Without a network, nodes are the GPUs in their order.

    Raises
    ------
    InputError
        The network has no such node, or it is a switch.
    """
    if network is None:
        return {gpu: number for number, gpu in enumerate(gpus)}
    index = nodes_by_name({gpu: str(gpu) for gpu in gpus}, network)
    switches = {*network.switches}
    for gpu, node in index.items():
        if node in switches:
            raise InputError(
                f"node {gpu} of the file is a switch of {network.name}",
                where="--topology",
                hint="name another one",
            )
    return index


class Placement:
    """The room that the steps have left on each link; a half-duplex pair is one link.

    Parameters
    ----------
    network
        The network.
    gpus
        The number of GPUs.
    nodes
        The node of each GPU; without any, GPU k is the k-th terminal.

    Raises
    ------
    InputError
        It has fewer terminals, or a node is none of them.
    """

    def __init__(self, network: Network, gpus: int, nodes: tuple[int, ...] = ()) -> None:
        if len(network.terminals) < gpus:
            raise InputError(
                f"{network.name} has {len(network.terminals)} nodes that send and receive, "
                f"the program {gpus} GPUs",
                where="--topology",
                hint="name a network of the same size",
            )
        if len({*nodes} & {*network.terminals}) < len(nodes):
            raise InputError(
                "the nodes that the file states for its GPUs are not all different processors of "
                f"{network.name}",
                where="--topology",
                hint="name the network of the schedule that was exported",
            )
        self.nodes = nodes or network.terminals[:gpus]
        self._room = {(a, b): size for a, b, size in network.channels}
        self._shared = {(b, a): (a, b) for a, b in network.half_duplex}
        self._load: Counter[tuple[int, tuple[int, int]]] = Counter()
        self._routes = Routes(replace(network, endpoints=network.terminals), 0)
        # Shortest paths that pass no GPU, as far as there are not too many.
        self._paths = cache(lambda *ends: [*islice(self._routes.paths(*ends), MAX_PATHS)])

    def put(self, a: int, b: int, step: int) -> tuple[int, tuple[int, ...]]:
        """Put a transfer between two GPUs into the first step with room, from a step on.

        Return that step and its path. Without any path, it is one hop, so that the referee reports
        the channel.
        """
        ends = self.nodes[a], self.nodes[b]
        paths = self._paths(*ends)
        while paths:
            for path in paths:
                hops = [self._shared.get(hop, hop) for hop in pairwise(path)]
                if all(self._load[step, hop] < self._room[hop] for hop in hops):
                    self._load.update((step, hop) for hop in hops)
                    return step, path
            step += 1
        return step, ends
