"""Networks: nodes and directed channels with a capacity."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple, NoReturn, TypeVar

from cchybrid.model.errors import InputError, with_context
from cchybrid.model.json_fields import expect, only_keys, read_integer, take, take_list
from cchybrid.model.shown import ShownNetwork
from cchybrid.model.text import described
from cchybrid.model.times import STEP, ChannelTime, channel_times, checked_groups, read_tick
from cchybrid.model.whole_numbers import MAX_CAPACITY, whole, whole_tuple

Numbers = TypeVar("Numbers", tuple[int, ...], list[Any])
MAX_NODES = 1_048_576
"""Larger networks are refused: a typing error in a file must not exhaust the memory."""


class Channel(NamedTuple):
    """A directed channel; ``capacity`` is the number of messages it carries in one step."""

    source: int
    target: int
    capacity: int = 1


@dataclass(frozen=True, repr=False)
class Network(ShownNetwork):
    """An interconnection network.

    Parameters
    ----------
    name
        The name shown to people, such as ``mesh-4x4``.
    nodes
        The number of nodes; they are called 0 to ``nodes - 1``.
    channels
        Directed channels, each ordered pair of nodes at most once. Parallel links are one
        channel of higher capacity.
    half_duplex
        Pairs ``(a, b)`` whose two opposite channels share their one capacity.
    endpoints
        Nodes without a switch (terminals): a path may begin or end there, never pass.
    positions
        Coordinates of every node for drawing, or ``None``.
    node_names
        A distinct name of every node, for people, or ``None``: then nodes are shown by number.
    switches
        Nodes without a processor: messages pass them, and no named collective includes them.
    times
        The times of the channels, in their order, where steps are ticks; nothing if every transfer
        takes one step.
    tick
        The microseconds of a tick, for people, or ``None``.
    groups
        Channels ``(a, b)`` that share the one capacity that each of them has, such as those of one
        network adapter; a channel is in one group or half-duplex pair at most.
    """

    name: str
    nodes: int
    channels: tuple[Channel, ...]
    half_duplex: tuple[tuple[int, int], ...] = ()
    endpoints: tuple[int, ...] = ()
    positions: tuple[tuple[float, ...], ...] | None = None
    node_names: tuple[str, ...] | None = None
    switches: tuple[int, ...] = ()
    times: tuple[ChannelTime, ...] = ()
    tick: Fraction | None = None
    groups: tuple[tuple[tuple[int, int], ...], ...] = ()

    def __post_init__(self) -> None:
        self._take_whole_numbers()
        if self.nodes < 1:
            raise InputError(f"{self.nodes} nodes", where="network.nodes", hint="use at least 1")
        if self.nodes > MAX_NODES:
            raise InputError(
                f"{self.nodes} nodes are too many",
                where="network.nodes",
                hint=f"use at most {MAX_NODES}",
            )
        seen: set[tuple[int, int]] = set()
        for index, (source, target, capacity) in enumerate(self.channels):
            known = 0 <= source < self.nodes and 0 <= target < self.nodes
            sound = source != target and 1 <= capacity <= MAX_CAPACITY
            if not known or not sound or (source, target) in seen:
                with with_context(f"network.channels[{index}]"):
                    self._refuse_channel(*self.channels[index])
            seen.add((source, target))
        self.__dict__["times"] = channel_times(self.times, len(self.channels))
        self.__dict__["tick"] = read_tick(self.tick)
        self._check_half_duplex()
        self.__dict__["groups"] = checked_groups(self)
        for key in ("endpoints", "switches"):
            nodes: tuple[int, ...] = getattr(self, key)
            for index, node in enumerate(nodes):
                with with_context(f"network.{key}[{index}]"):
                    self._check_node(node)
            if list(nodes) != sorted(set(nodes)):
                raise InputError(
                    f"the {key} are not sorted or not distinct",
                    where=f"network.{key}",
                    hint="write each once, in ascending order",
                )
        for node in set(self.switches) & set(self.endpoints):
            raise InputError(
                f"node {node} is an endpoint, too",
                where="network.switches",
                hint="an endpoint has no switch: keep one of the two",
            )
        self._check_lengths()
        self._check_positions()
        self._check_node_names()

    def _take_whole_numbers(self) -> None:
        """Accept whole numbers of any type, and channels as plain tuples."""
        channels = self.channels
        if not isinstance(self.name, str):
            raise InputError(
                f"{described(self.name)} is no name", where="network.name", hint="give a text"
            )
        for key in ("channels", "half_duplex", "positions", "node_names"):
            value = getattr(self, key)
            optional = key in ("positions", "node_names") and value is None
            if not optional and (isinstance(value, str) or not isinstance(value, Iterable)):
                raise InputError(
                    f"{described(value)} is no list", where=f"network.{key}", hint="give a list"
                )
        if type(channels) is not tuple or not all(
            type(channel) is Channel and set(map(type, channel)) == {int} for channel in channels
        ):
            channels = tuple(
                Channel(*_whole_channel(channel, f"network.channels[{index}]"))
                for index, channel in enumerate(channels)
            )
        pairs = tuple(
            whole_tuple(pair, f"network.half_duplex[{index}]")
            for index, pair in enumerate(self.half_duplex)
        )
        if self.node_names is not None:
            self.__dict__["node_names"] = tuple(self.node_names)
        self.__dict__.update(
            nodes=whole(self.nodes, "network.nodes"),
            channels=channels,
            half_duplex=pairs,
            endpoints=whole_tuple(self.endpoints, "network.endpoints"),
            switches=whole_tuple(self.switches, "network.switches"),
        )

    def _check_node(self, node: int) -> None:
        if not 0 <= node < self.nodes:
            raise InputError(f"no node {node} in this network", hint=f"use 0 to {self.nodes - 1}")

    def _refuse_channel(self, source: int, target: int, capacity: int) -> NoReturn:
        self._check_node(source)
        self._check_node(target)
        if source == target:
            raise InputError(f"node {source} is linked to itself", hint="drop it")
        if capacity < 1:
            raise InputError(f"capacity {capacity}", hint="use at least 1")
        if capacity > MAX_CAPACITY:
            raise InputError(f"capacity {str(capacity)[:20]}...", hint="use 1 to 2^128")
        raise InputError(
            f"channel {source}->{target} is listed twice",
            hint="write it once, with the sum of the capacities",
        )

    def _check_lengths(self) -> None:
        for key, what in (("positions", "position"), ("node_names", "name")):
            values = getattr(self, key)
            if values is not None and len(values) != self.nodes:
                raise InputError(
                    f"{len(values)} {what}s for {self.nodes} nodes",
                    where=f"network.{key}",
                    hint=f"give one {what} per node",
                )

    def _check_positions(self) -> None:
        if self.positions is None:
            return
        for index, position in enumerate(self.positions):
            where = f"network.positions[{index}]"
            if len(position) not in (2, 3) or len(position) != len(self.positions[0]):
                hint = "give every node 2, or every node 3"
                raise InputError(f"{len(position)} coordinates", where=where, hint=hint)
            if not all(isinstance(x, Real) and math.isfinite(x) for x in position):
                raise InputError(
                    "a coordinate is not finite", where=where, hint="use finite numbers"
                )
        self.__dict__["positions"] = tuple(map(tuple, self.positions))

    def _check_node_names(self) -> None:
        if self.node_names is None:
            return
        seen: set[str] = set()
        for index, name in enumerate(self.node_names):
            where, problem = f"network.node_names[{index}]", ""
            if not isinstance(name, str):
                problem = f"{described(name)} is no text"
            elif name in seen:
                problem = f"the name {name[:40]!r} is given twice"
            elif not name.strip():
                problem = "no name"
            if problem:
                raise InputError(problem, where=where, hint="give every node a name of its own")
            if name != name.strip():
                raise InputError(
                    f"the name {name[:40]!r} begins or ends with a space",
                    where=where,
                    hint="leave it out, as in lists of nodes",
                )
            seen.add(name)
        self.__dict__["node_names"] = tuple(self.node_names)

    def _check_half_duplex(self) -> None:
        capacity = {(source, target): size for source, target, size in self.channels}
        seen: set[tuple[int, int]] = set()
        for index, (a, b) in enumerate(self.half_duplex):
            with with_context(f"network.half_duplex[{index}]"):
                if (a, b) not in capacity or (b, a) not in capacity:
                    raise InputError(
                        f"{a} and {b} are not linked in both directions", hint="drop it"
                    )
                if capacity[a, b] != capacity[b, a]:
                    raise InputError(
                        f"channels {a}->{b} and {b}->{a} differ in capacity",
                        hint="give both the capacity that they share",
                    )
                if len({self.time_of((a, b)), self.time_of((b, a))}) > 1:
                    raise InputError(
                        f"channels {a}->{b} and {b}->{a} differ in time", hint="give both the same"
                    )
                if (a, b) in seen or (b, a) in seen:
                    raise InputError(f"the pair {a}, {b} is listed twice", hint="drop it")
            seen.add((a, b))

    @cached_property
    def shared(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """For every channel of a half-duplex pair or a group the first channel of that."""
        pairs = (((a, b), (b, a)) for a, b in self.half_duplex)
        return {channel: each[0] for each in (*pairs, *self.groups) for channel in each}

    @cached_property
    def channel_index(self) -> Mapping[tuple[int, int], int]:
        """The index in ``channels`` of each ordered pair of linked nodes."""
        return {(c.source, c.target): index for index, c in enumerate(self.channels)}

    def time_of(self, path: Sequence[int]) -> ChannelTime:
        """Return the time of a path: the sum of the latencies, and the largest length.

        A message has arrived after both together.
        """
        if not self.times:
            return STEP
        times = [self.times[self.channel_index[hop]] for hop in pairwise(path)]
        return ChannelTime(sum(each.latency for each in times), max(each.length for each in times))

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """For every node the nodes that its outgoing channels lead to, ascending."""
        lists: list[list[int]] = [[] for _ in range(self.nodes)]
        for channel in self.channels:
            lists[channel.source].append(channel.target)
        return tuple(tuple(sorted(targets)) for targets in lists)

    @cached_property
    def step_capacity(self) -> int:
        """The channel uses that one step has room for; a half-duplex pair has it once."""
        sizes = {self.shared.get(each[:2], each[:2]): each.capacity for each in self.channels}
        return sum(sizes.values())

    @cached_property
    def symmetric(self) -> bool:
        """Whether every channel has an opposite one of the same capacity and time."""
        channels = {(*channel, self.time_of(channel[:2])) for channel in self.channels}
        return all((b, a, size, time) in channels for a, b, size, time in channels)

    @cached_property
    def terminals(self) -> tuple[int, ...]:
        """The nodes that take part in collectives.

        The endpoints if there are any, otherwise every node with a channel that is no switch.
        """
        linked = {node for channel in self.channels for node in channel[:2]}
        linked.difference_update(self.switches)
        return tuple(
            node
            for node in (self.endpoints or range(self.nodes))
            if node in linked or self.nodes == 1
        )

    @property
    def has_switches(self) -> bool:
        """Whether a node with a channel takes no part in collectives, marked as a switch or not."""
        linked = {node for channel in self.channels for node in channel[:2]}
        return not linked <= {*self.terminals}

    def node_name(self, node: int) -> str:
        """Return the name by which people know a node: its own, or its number."""
        return str(node) if self.node_names is None else self.node_names[node]

    @cached_property
    def node_by_name(self) -> Mapping[str, int]:
        """The number of each node by the name that ``node_name`` returns."""
        return {self.node_name(node): node for node in range(self.nodes)}

    def reversed(self) -> "Network":
        """Return the network with every channel reversed."""
        return replace(
            self,
            name=f"{self.name} reversed",
            channels=tuple(Channel(target, source, size) for source, target, size in self.channels),
            groups=tuple(tuple((b, a) for a, b in group) for group in self.groups),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the ``network`` object of the instance format."""
        record: dict[str, Any] = {
            "name": self.name,
            "nodes": self.nodes,
            "channels": [list(c[:2]) if c.capacity == 1 else list(c) for c in self.channels],
        }
        if self.half_duplex:
            record["half_duplex"] = [list(pair) for pair in self.half_duplex]
        if self.endpoints:
            record["endpoints"] = list(self.endpoints)
        if self.positions is not None:
            record["positions"] = [list(position) for position in self.positions]
        if self.node_names is not None:
            record["node_names"] = list(self.node_names)
        if self.switches:
            record["switches"] = list(self.switches)
        if self.times:
            record["times"] = list(map(list, self.times))
        if self.tick is not None:
            record["tick"] = str(self.tick)
        if self.groups:
            record["groups"] = [list(map(list, group)) for group in self.groups]
        return record

    @classmethod
    def from_json(cls, record: Any, where: str = "network") -> "Network":
        """Read the ``network`` object of the instance format."""
        record = expect(record, dict, where)
        keys = (
            "name", "nodes", "channels", "half_duplex", "endpoints", "positions", "node_names",
            "switches", "times", "tick", "groups",
        )  # fmt: skip
        only_keys(record, keys, where)
        lists: dict[str, Any] = {"positions": _read_position, "node_names": _read_name}
        given = {key: take_list(record, key, lists[key], where) for key in lists if key in record}
        return cls(
            name=take(record, "name", str, where),
            nodes=take(record, "nodes", int, where),
            channels=take_list(record, "channels", _read_channel, where),
            half_duplex=take_list(record, "half_duplex", _read_pair, where, []),
            endpoints=take_list(record, "endpoints", read_integer, where, []),
            switches=take_list(record, "switches", read_integer, where, []),
            times=tuple(take(record, "times", list, where, [])),
            tick=record.get("tick"),
            groups=tuple(take(record, "groups", list, where, [])),
            **given,
        )

    @classmethod
    def from_links(
        cls, name: str, nodes: int, links: Iterable[tuple[int, int]], **rest: Any
    ) -> "Network":
        """Return the network of undirected links, each two channels; repeated links add capacity.

        ``rest`` takes the other fields of the class, such as ``positions``.
        """
        both = ((x, y) for a, b in links for x, y in ((a, b), (b, a)))
        return cls.from_arcs(name, nodes, both, **rest)

    @classmethod
    def from_arcs(
        cls, name: str, nodes: int, arcs: Iterable[tuple[int, int]], **rest: Any
    ) -> "Network":
        """Return the network of directed links; repeated links add capacity."""
        count = Counter(_whole_arc(arc, f"arcs[{index}]") for index, arc in enumerate(arcs))
        channels = tuple(Channel(a, b, size) for (a, b), size in sorted(count.items()))
        return cls(name, nodes, channels, **rest)


def _whole_arc(arc: Any, where: str) -> tuple[int, ...]:
    return _of_length(whole_tuple(arc, where), (2,), where, "(from, to)")


def _whole_channel(channel: Any, where: str) -> tuple[int, ...]:
    parts = whole_tuple(channel, where)
    return _of_length(parts, (2, 3), where, "(from, to) or (from, to, capacity)")


def _read_pair(value: Any, where: str) -> tuple[int, int]:
    a, b = _of_length(expect(value, list, where), (2,), where, "[node, node]")
    return expect(a, int, where), expect(b, int, where)


def _read_channel(value: Any, where: str) -> Channel:
    parts = expect(value, list, where)
    _of_length(parts, (2, 3), where, "[from, to] or [from, to, capacity]")
    return Channel(*(expect(part, int, where) for part in parts))


def _of_length(parts: Numbers, lengths: tuple[int, ...], where: str, form: str) -> Numbers:
    """Return the numbers if there are as many as the form has."""
    if len(parts) not in lengths:
        raise InputError(f"{len(parts)} numbers", where=where, hint=f"write {form}")
    return parts


def _read_name(value: Any, where: str) -> str:
    return expect(value, str, where)


def _read_position(value: Any, where: str) -> tuple[float, ...]:
    parts = expect(value, list, where)
    try:
        return tuple(float(expect(part, float, where)) for part in parts)
    except OverflowError:
        raise InputError("a coordinate is too large", where=where, hint="scale it down") from None
