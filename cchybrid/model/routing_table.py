"""Routing tables: a fixed path for every pair of nodes, by the next hop at every node."""

import re
from collections import defaultdict
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
        return f"routing table {self.name}".strip()

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
        """Raise an ``InputError`` unless all paths arrive, over channels and past no endpoint."""
        nodes, order = range(network.nodes), -1 if self.backwards else 1
        sizes = {len(self.hops), *map(len, self.hops)}
        if sizes != {len(nodes)} or {*chain(*self.hops)} - {*nodes}:
            raise InputError(
                f"no {len(nodes)} rows of {len(nodes)} nodes, one for each node of {network.name}",
                where="model.routing",
                hint="give every node a row with the next node on the path to each",
            )
        for goal in nodes:
            ahead = {node: row[goal] for node, row in enumerate(self.hops) if row[goal] != node}
            before = defaultdict(list)
            for node, after in ahead.items():
                before[after].append(node)
            arrived, fresh = {goal}, {goal}
            while fresh:
                fresh = {node for after in fresh for node in before[after]} - arrived
                arrived |= fresh
            for node, after in ahead.items():
                known = (node, after)[::order] in network.channel_index
                stops = after != goal and after in network.endpoints
                if node == goal or node not in arrived or stops or not known:
                    names = tuple(map(network.node_name, (node, goal, after)))
                    raise InputError(
                        "no path between {} and {} over {}".format(*names),
                        where="model.routing",
                        hint="take channels that lead there, and pass no endpoint",
                    )

    def reversed(self) -> "RoutingTable":
        """Return the table of the reversed network, in which every path is read backwards."""
        return replace(self, backwards=not self.backwards)

    def to_json(self) -> dict[str, Any]:
        """Return the ``routing`` object of the instance format."""
        name = {"name": self.name} if self.name else {}
        return {**name, "previous" if self.backwards else "next": [*map(list, self.hops)]}

    @classmethod
    def from_json(cls, record: dict[str, Any], where: str) -> "RoutingTable":
        """Read the ``routing`` object of the instance format."""
        key = "previous" if "previous" in record else "next"
        only_keys(record, ("name", key), where)
        hops = take_list(record, key, whole_tuple, where)
        return cls(hops, take(record, "name", str, where, ""), key == "previous")
