"""Routing tables by name, from files and lists; the check for deadlocks.

References
----------
W. J. Dally, C. L. Seitz, Deadlock-free message routing in multiprocessor interconnection networks,
IEEE Trans. Computers C-36 (1987) 547-553, doi:10.1109/TC.1987.1676939.
"""

import re
from functools import reduce
from itertools import accumulate
from math import prod
from operator import mul, or_
from typing import Any

from cchybrid.library.node_numbers import read_rows
from cchybrid.library.rates import ROUNDED
from cchybrid.library.topologies import network as built
from cchybrid.model import Collective, Network, RoutingTable
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError

ORDERS = {"xy": 1, "e-cube": 1, "yx": -1}
"""Dimension orders: 1 if the coordinate that runs fastest in the numbers of nodes goes first."""


def routing_table(words: Any, network: Network) -> RoutingTable | None:
    """Return the table that a user means by a word, a file or rows; ``None`` for other routing.

    Raises
    ------
    InputError
        The file or the network is none for it.
    """
    if isinstance(words, (RoutingTable, list, tuple)):
        return words if isinstance(words, RoutingTable) else RoutingTable(tuple(words))
    word, nodes = str(words).lower(), range(network.nodes)
    if word in ORDERS:
        return _dimension_order(word, network)
    if not word.endswith(".csv"):
        return None
    hops: dict[tuple[int, int], int] = {}
    for node, goal, after in read_rows(words, ("node", "destination", "next"), network):
        if (node, goal) in hops:
            a, b = map(network.node_name, (node, goal))
            raise InputError(f"two lines from {a} to {b}", where=str(words), hint="keep one")
        hops[node, goal] = after
    return RoutingTable(tuple(tuple(hops.get((a, b), a) for b in nodes) for a in nodes))


def _dimension_order(word: str, network: Network) -> RoutingTable:
    """Return the table by which paths correct one coordinate after the other.

    On a torus along the shorter side; of two that are equally long, to the larger coordinates.
    """
    name = network.name.removesuffix(ROUNDED)
    found = re.fullmatch(r"(mesh|torus|hypercube)-([0-9]{1,7}(?:x[0-9]{1,7})*)", name)
    family, sizes = found.groups() if found else ("", "0")
    extents = [int(size) for size in reversed(sizes.split("x"))]
    if family == "hypercube":
        extents = [2] * (extents[0].bit_length() - 1)
    # The numbers of nodes have coordinates only as the family numbers them.
    if prod(extents) != network.nodes or not _is_numbered_like(built(name), network):
        raise InputError(
            f"{network.name} is no mesh, torus or hypercube by its name, channels and nodes",
            where="routing",
            hint="give a .csv file with a table of next hops",
        )
    strides = accumulate(extents[:-1], mul, initial=1)
    order = [*zip(strides, extents, strict=True)][:: ORDERS[word]]

    def next_hop(node: int, goal: int) -> int:
        for stride, extent in order:
            place = node // stride % extent
            ahead = goal // stride % extent - place
            if ahead:
                up = ahead > 0 if family != "torus" else 2 * (ahead % extent) <= extent
                return node + ((place + (1 if up else -1)) % extent - place) * stride
        return node

    nodes = range(network.nodes)
    return RoutingTable(tuple(tuple(next_hop(a, b) for b in nodes) for a in nodes), word)


def _is_numbered_like(family: Network, network: Network) -> bool:
    """Return whether a network has the channels of another, and no other names or positions."""
    same = {c[:2] for c in network.channels} == {c[:2] for c in family.channels}
    unnamed = network.node_names in (None, tuple(map(str, range(network.nodes))))
    return same and unnamed and network.positions in (None, family.positions)


def dependency_cycle(routing: Any, network: Network, collective: Collective | None = None) -> str:
    """Return a cycle of the channel dependency graph of a routing table; empty if there is none.

    It has an arc from a channel to each channel that some path uses directly after it, of all paths
    or of those that messages of a collective may take; the two directions of a half-duplex link are
    one channel. Without a cycle wormhole switching has no deadlock (Dally and Seitz 1987).

    Raises
    ------
    InputError
        It is no table for this network.
    """
    import networkx as nx

    table = routing_table(routing, network)
    if table is None:
        raise InputError("no routing table", where="routing", hint="use xy, e-cube or a .csv file")
    table.check(network)
    shared = {order for pair in network.half_duplex for order in (pair, pair[::-1])}
    used = _used(table, collective)
    graph = nx.DiGraph()
    for node, row in enumerate(table.hops):
        for goal, after in enumerate(row):
            last = table.hops[after][goal]
            if node != after != last and node in used[goal]:
                path = (last, after, node) if table.backwards else (node, after, last)
                hops = path[:2], path[1:]
                graph.add_edge(*(min(hop, hop[::-1]) if hop in shared else hop for hop in hops))
    try:
        cycle = nx.find_cycle(graph)
    except nx.NetworkXNoCycle:
        return ""
    return ", ".join("->".join(map(network.node_name, channel)) for channel, _ in cycle)


def _used(table: RoutingTable, collective: Collective | None) -> list[set[int]]:
    """Return the nodes whose next hops the messages of a collective may use, for each goal."""
    nodes = range(len(table.hops))
    if collective is None:
        return [{*nodes} for _ in nodes]
    starts = [0] * len(nodes)  # per goal a bit for each node where a path to it may begin
    for message in collective.messages[:: collective.chunks]:
        one, many = one_and_many(message)
        # The first member of a scan needs no part of another.
        some = (one, *many) if collective.kind == "allreduce" else many
        # Whatever has a message may forward it; of a reduction every source may get a part.
        ends = (some, (one, *many)) if collective.kind == "combine" else ((one, *many), some)
        first, last = reversed(ends) if table.backwards else ends
        mask = reduce(or_, (1 << node for node in first))
        for goal in last:
            starts[goal] |= mask
    used: list[set[int]] = [set() for _ in nodes]
    for goal, mask in enumerate(starts):
        for start in nodes:
            node = start if mask >> start & 1 else goal
            while node != goal and node not in used[goal]:
                used[goal].add(node)
                node = table.hops[node][goal]
    return used
