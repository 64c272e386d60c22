"""Routing tables by name, from files and lists; the check for deadlocks.

References
----------
W. J. Dally, C. L. Seitz, Deadlock-free message routing in multiprocessor interconnection networks,
IEEE Trans. Computers C-36 (1987) 547-553, doi:10.1109/TC.1987.1676939.
"""

from __future__ import annotations

import re
from itertools import accumulate
from operator import mul
from pathlib import Path
from typing import Any

from cchybrid.library.node_numbers import read_rows
from cchybrid.model import Network, RoutingTable
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text
from cchybrid.model.json_fields import parse_json

ORDERS = {"xy": 1, "e-cube": 1, "yx": -1}
"""Dimension orders: 1 if the coordinate that runs fastest in the numbers of nodes goes first."""


def routing_table(words: Any, network: Network) -> RoutingTable | None:
    """Return the table that a user means by a word, a file or rows; ``None`` for other routing.

    Raises
    ------
    InputError
        The file or the network is none for it.
    """
    if isinstance(words, RoutingTable):
        return words
    if isinstance(words, (list, tuple)):
        return RoutingTable(tuple(words))
    path = Path(str(words))
    if path.suffix == ".json":
        with with_context(path):
            return RoutingTable.from_json(parse_json(read_text(path)), "")
    if path.suffix == ".csv":
        hops = [[node] * network.nodes for node in range(network.nodes)]
        for node, goal, after in read_rows(path, ("node", "destination", "next"), network):
            hops[node][goal] = after
        return RoutingTable(tuple(map(tuple, hops)))
    word = str(words).lower()
    return _dimension_order(word, network) if word in ORDERS else None


def _dimension_order(word: str, network: Network) -> RoutingTable:
    """Return the table by which paths correct one coordinate after the other.

    On a torus along the shorter side; of two that are equally long, to the larger coordinates.
    """
    found = re.fullmatch(r"(mesh|torus)-(\d+(?:x\d+)*)|hypercube-(\d+)", network.name)
    if found is None:
        raise InputError(
            f"{network.name} is no mesh, torus or hypercube by its name",
            where="routing",
            hint="give a file with a table of next hops",
        )
    extents = [int(extent) for extent in (found[2] or "").split("x") if extent]
    extents = extents[::-1] or [2] * (network.nodes.bit_length() - 1)
    strides = [*accumulate(extents[:-1], mul, initial=1)]
    order = [*zip(strides, extents, strict=True)][:: ORDERS[word]]

    def next_hop(node: int, goal: int) -> int:
        for stride, extent in order:
            place = node // stride % extent
            ahead = goal // stride % extent - place
            if ahead:
                up = ahead > 0 if found[1] != "torus" else 2 * (ahead % extent) <= extent
                return node + ((place + (1 if up else -1)) % extent - place) * stride
        return node

    nodes = range(network.nodes)
    return RoutingTable(
        tuple(tuple(next_hop(node, goal) for goal in nodes) for node in nodes), word
    )


def dependency_cycle(table: RoutingTable) -> list[tuple[int, int]]:
    """Return channels in a cycle of the channel dependency graph; none if there is no cycle.

    It has an arc from a channel to each channel that some path uses directly after it. Without a
    cycle wormhole switching has no deadlock (Dally and Seitz 1987).
    """
    import networkx as nx

    arcs = set()
    for node, row in enumerate(table.hops):
        for goal, after in enumerate(row):
            last = table.hops[after][goal]
            if node != after != last:
                path = (last, after, node) if table.backwards else (node, after, last)
                arcs.add((path[:2], path[1:]))
    try:
        return [arc[0] for arc in nx.find_cycle(nx.DiGraph(sorted(arcs)))]
    except nx.NetworkXNoCycle:
        return []


def deadlock_text(table: RoutingTable, network: Network) -> str:
    """Return the result of the check in words."""
    cycle = dependency_cycle(table)
    if not cycle:
        return "the channel dependency graph has no cycle, so there is no deadlock"
    name = network.node_name
    shown = ", ".join(f"{name(a)}->{name(b)}" for a, b in cycle)
    return f"deadlock is possible: the channel dependency graph has the cycle {shown}"
