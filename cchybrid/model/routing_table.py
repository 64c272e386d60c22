"""Routing tables: a fixed path for every pair of nodes, by the next hop at every node."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import only_keys, take, take_list
from cchybrid.model.network import Network
from cchybrid.model.whole_numbers import whole_tuple


@dataclass(frozen=True)
class RoutingTable:
    """A table of next hops.

    Parameters
    ----------
    hops
        Shape (nodes, nodes): ``hops[node][goal]`` is the next node on the path to the goal; the
        node itself at the goal, and where no path leads there.
    name
        The word for it in names of instances, such as ``xy``; may be empty.
    backwards
        Whether paths are read from the goal: ``hops[node][source]`` is then the node before
        ``node`` on the path from the source.
    """

    hops: tuple[tuple[int, ...], ...]
    name: str = ""
    backwards: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[\w.+-]{0,40}", self.name):
            raise InputError("the name is no word", where="model.routing.name", hint="use letters")
        rows = self.hops if isinstance(self.hops, (list, tuple)) else ()
        self.__dict__["hops"] = tuple(whole_tuple(row, "model.routing") for row in rows)

    def __str__(self) -> str:
        return self.name or "table"

    def path(self, source: int, goal: int) -> tuple[int, ...]:
        """Return the nodes of the path; an empty tuple where there is none."""
        if self.backwards:
            return self.reversed().path(goal, source)[::-1]
        path = [source]
        while path[-1] != goal:
            path.append(self.hops[path[-1]][goal])
            if path[-1] == path[-2]:
                return ()
        return tuple(path)

    def check(self, network: Network) -> None:
        """Raise an ``InputError`` unless all paths arrive, and are paths of the network.

        A path takes channels, passes no endpoint, and visits no node twice.
        """
        nodes, order = network.nodes, -1 if self.backwards else 1
        if [*map(len, self.hops)] != [nodes] * nodes or {*chain(*self.hops)} - {*range(nodes)}:
            raise InputError(
                f"no {nodes} rows of {nodes} nodes, one for each node of {network.name}",
                where="model.routing",
                hint="give every node a row with the next node on the path to each",
            )
        for goal in range(nodes):
            arrived = {goal} if self.hops[goal][goal] == goal else set()
            for source in range(nodes):
                path = [source]
                while path[-1] not in arrived:
                    path.append(self.hops[path[-1]][goal])
                    if path == [source, source] and source != goal:
                        break  # no path leads there
                    passed = path[-1] != goal and path[-1] in network.endpoints
                    hop = tuple(path[-2:][::order])
                    if hop not in network.channel_index or len(path) > nodes or passed:
                        names = [network.node_name(node) for node in path[::order]]
                        raise InputError(
                            f"{' '.join(names)}, where {network.node_name(goal)} is the "
                            f"{'source' if self.backwards else 'goal'}, is no path of the network",
                            where="model.routing",
                            hint="use channels that lead there, and no endpoint or node twice",
                        )
                else:
                    arrived.update(path)

    def reversed(self) -> RoutingTable:
        """Return the table of the reversed network, in which every path is read backwards."""
        return replace(self, backwards=not self.backwards)

    def to_json(self) -> dict[str, Any]:
        """Return the ``routing`` object of the instance format."""
        name = {"name": self.name} if self.name else {}
        return {**name, "previous" if self.backwards else "next": [*map(list, self.hops)]}

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> RoutingTable:
        """Read the ``routing`` object of the instance format."""
        key = "previous" if "previous" in record else "next"
        only_keys(record, ("name", key), where)
        hops = take_list(record, key, whole_tuple, where)
        return cls(hops, take(record, "name", str, where, ""), key == "previous")
