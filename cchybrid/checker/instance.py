"""The checker's own class for an instance object, independent of the model layer."""

from collections import deque
from collections.abc import Mapping
from copy import copy
from itertools import chain
from typing import Any

from cchybrid.checker.reading import EvidenceError, list_of, only, whole, whole_numbers, whole_rows

__all__ = ["LABELS", "MAKE_ANEW", "EvidenceError", "Network", "TooLargeError"]

MAKE_ANEW = "make it anew: cchybrid prove, pareto or throughput"
"""The advice for evidence of another version."""

LABELS = "name", "positions", "node_names", "switches", "tick"
"""Fields of networks and collectives that restrict no schedule."""
FORMATS = "cchybrid-instance/1", "cchybrid-instance/2"
_MAX_NODES = 1 << 20
_MAX_MESSAGES = 1 << 22
_MAX_ROUNDS = _MAX_TICKS = 1_000_000
_ENDS = {
    "deliver": ("source", "destinations"), "combine": ("destination", "sources"),
    "allreduce": ("members",), "scan": ("members",), "exscan": ("members",),
}  # fmt: skip
"""The keys of a message per kind of collective."""


class TooLargeError(EvidenceError):
    """The check would need too much memory or time."""


class Network:
    """An instance as the checker reads it: always a ``deliver`` collective.

    A ``combine`` collective is reversed while reading: channels reversed, injection and
    acceptance exchanged, each reduction a broadcast from its destination to its sources.

    Attributes
    ----------
    backwards
        Whether the instance was reversed.
    nodes
        The number of nodes.
    channels
        ``(a, b) -> capacity`` of every channel in its step of most rounds, so that every bound
        for these capacities holds; the same for ``inject`` and ``accept``.
    times
        ``(a, b) -> (latency, length)`` of every channel in ticks; empty if steps are no ticks.
    half_duplex
        The pairs ``(a, b)`` whose two channels share their capacity.
    groups
        For every channel of a group, which share one capacity, the first of the group.
    endpoints
        Nodes that no path passes.
    messages
        Per message its source and its destinations; each chunk is a message.
    chunks
        The number of chunks of every message.
    rounds
        Per step its rounds; the last number, unlike the one before, holds for all further steps.
    hop_by_hop
        Whether switching is store-and-forward.
    periodic
        Whether the steps are the time slots of a period; then nothing is combined or added up.
    extra_hops
        Hops that a path may exceed the shortest by, less than ``nodes``; ``None`` for any simple
        path, or a table.
    table
        The routing table: per node and goal the next node on the path; empty for other routing.
    by_source
        Whether it has, per node and source, the node before it on the path.
    successors, predecessors
        Per node the targets of its outgoing channels, and the sources of its incoming ones.
    inject, accept
        Per node the messages it can send and accept per step: its ports or its channels' capacity.
    limited_ports
        Whether ports are limited at all.
    members
        For an ``allreduce`` or a scan the members of every message, otherwise nothing. Its
        ``messages`` are then the broadcasts of the first members' parts, which every schedule has.
    kind
        The kind of collective: of a ``scan`` a member needs the parts up to its own, of an
        ``exscan`` those before it, of an ``allreduce`` all.
    """

    def __init__(self, record: Any) -> None:
        """Read an object of the instance format, which may come from any source.

        Raises
        ------
        EvidenceError
            The object is not well-formed.
        """
        try:
            self._read(record)
        except (EvidenceError, KeyError, TypeError, ValueError, AttributeError):
            raise EvidenceError("the instance is not well-formed") from None

    def _read(self, record: Any) -> None:
        """Read and check every field; one of Python's errors says that it is not well-formed."""
        only(record, "format", "name", "network", "collective", "model")
        latest = FORMATS.index(record["format"]) == 1
        network, collective = record["network"], record["collective"]
        model = record.get("model", {})
        newer = ["times", "groups"] if latest else []
        only(network, "nodes", "channels", "half_duplex", "endpoints", *newer, *LABELS)
        only(collective, "name", "kind", "messages", *["chunks"][:latest])
        self.kind: str = collective["kind"]
        _require(latest or len(_ENDS[self.kind]) == 2)
        only(model, "switching", "ports", "routing", *["rounds"][:latest])
        self.nodes: int = whole(network["nodes"])
        _require(0 < self.nodes <= _MAX_NODES)
        self.rounds: list[int] = [*whole_numbers(model.get("rounds", []))] or [1]
        _require(min(self.rounds) > 0 and max(self.rounds) <= _MAX_ROUNDS)
        while len(self.rounds) > 1 and self.rounds[-1] == self.rounds[-2]:
            self.rounds.pop()
        self._read_channels(network)
        self._read_messages(collective)
        self._read_ports(model.get("ports", "all"))
        switching = model.get("switching", "wormhole")
        _require(switching in ("wormhole", "store-and-forward", *["tdm"][:latest]))
        self.hop_by_hop: bool = switching == "store-and-forward"
        self.periodic: bool = switching == "tdm"
        _require(not self.periodic or self.kind == "deliver")
        _require(not (self.periodic or self.times) or self.rounds == [1])
        _require(not self.times or not (self.periodic or self.members))
        routing = model.get("routing", "minimal")
        self.table: list[tuple[int, ...]] = []
        self.by_source = False
        if latest and isinstance(routing, dict):
            (key,) = {*routing} - {"name"}
            self.by_source = ("next", "previous").index(key) == 1
            self.table = whole_rows(routing[key], self.nodes, self.nodes)
            _require(len(self.table) == self.nodes > max(map(max, self.table)))
            _require(not self.hop_by_hop)
            routing = "any"
        hops = whole({"minimal": 0, "any": self.nodes}.get(routing, routing))
        # Simple paths have fewer hops than there are nodes.
        self.extra_hops: int | None = hops if hops < self.nodes else None
        if self.hop_by_hop:
            # Each hop is a path of its own, so routes are unrestricted and may touch endpoints.
            self.extra_hops = None
            self.endpoints.clear()
        self.backwards: bool = self.kind == "combine"
        if self.backwards:
            self._reverse()

    def _read_channels(self, network: Mapping[str, Any]) -> None:
        widest = max(self.rounds)
        self.channels: dict[tuple[int, int], int] = {}
        for row in list_of(network["channels"]):
            a, b, *rest = whole_numbers(row)
            _require(a != b and max(a, b) < self.nodes)
            _require((a, b) not in self.channels and len(rest) < 2 and 0 not in rest)
            self.channels[a, b] = widest * (rest[0] if rest else 1)
        times = whole_rows(network.get("times", []), 2, 2)
        _require(not times or len(times) == len(self.channels))
        _require(
            all(latency <= _MAX_TICKS and 1 <= length <= _MAX_TICKS for latency, length in times)
        )
        self.times: dict[tuple[int, int], tuple[int, ...]] = {}
        if set(times) - {(0, 1)}:
            self.times = dict(zip(self.channels, times, strict=True))
        self.half_duplex: set[tuple[int, int]] = set()
        for pair in list_of(network.get("half_duplex", [])):
            a, b = whole_numbers(pair)
            _require(self.channels[a, b] == self.channels[b, a])
            _require(not {(a, b), (b, a)} & self.half_duplex)
            _require(self.times.get((a, b)) == self.times.get((b, a)))
            self.half_duplex.add((a, b))
        self.groups: dict[tuple[int, ...], tuple[int, int]] = {}
        for group in list_of(network.get("groups", [])):
            hops = [(a, b) for a, b in whole_rows(group, 2, 2)]
            _require(len({(self.channels[hop], self.time(hop)) for hop in hops}) == 1)
            for a, b in hops:
                _require((a, b) not in self.groups)
                _require(not {(a, b), (b, a)} & self.half_duplex)
                self.groups[a, b] = hops[0]
        endpoints = [*whole_numbers(network.get("endpoints", []))]
        self.endpoints = set(endpoints)
        _require(endpoints == sorted(self.endpoints))
        _require(max(self.endpoints, default=0) < self.nodes)
        self.successors: list[list[int]] = [[] for _ in range(self.nodes)]
        self.predecessors: list[list[int]] = [[] for _ in range(self.nodes)]
        for a, b in self.channels:
            self.successors[a].append(b)
            self.predecessors[b].append(a)

    def _read_messages(self, collective: Mapping[str, Any]) -> None:
        messages = list_of(collective["messages"])
        self.chunks: int = whole(collective.get("chunks", 1))
        _require(0 < len(messages) * self.chunks <= _MAX_MESSAGES)
        *one, many = _ENDS[self.kind]
        found = [(*[each[key] for key in one], *list_of(each[many])) for each in messages]
        _require({*map(len, messages)} == {len(_ENDS[self.kind])})  # no other keys
        # The numbers of all messages together, which is faster: there can be millions.
        _require({*map(type, chain.from_iterable(found))} == {int})
        nodes = set(chain.from_iterable(found))
        _require(min(nodes) >= 0 and max(nodes) < self.nodes)
        _require(all(1 < len(ends) == len(set(ends)) for ends in found))
        found = [ends for ends in found for _ in range(self.chunks)]
        self.members: list[tuple[int, ...]] = [] if one else found
        self.messages: list[tuple[int, tuple[int, ...]]] = [(e[0], e[1:]) for e in found]

    def _read_ports(self, ports: Any) -> None:
        if not isinstance(ports, dict):
            ports = {"inject": ports, "accept": ports}
        only(ports, "inject", "accept")
        self.limited_ports = any(side != "all" for side in ports.values())
        flow_out, flow_in = [0] * self.nodes, [0] * self.nodes
        for (a, b), capacity in self.channels.items():
            flow_out[a] += capacity
            flow_in[b] += capacity
        self.inject = self._limits(ports["inject"], flow_out)
        self.accept = self._limits(ports["accept"], flow_in)

    def _limits(self, ports: Any, flow: list[int]) -> list[int]:
        if ports == "all":
            return flow
        each = whole_numbers(ports if isinstance(ports, list) else [ports] * self.nodes)
        widest = max(self.rounds)
        return [min(widest * limit, carried) for limit, carried in zip(each, flow, strict=True)]

    def _reverse(self) -> None:
        self.channels = {(b, a): capacity for (a, b), capacity in self.channels.items()}
        self.times = {(b, a): time for (a, b), time in self.times.items()}
        self.groups = {(b, a): (d, c) for (a, b), (c, d) in self.groups.items()}
        self.successors, self.predecessors = self.predecessors, self.successors
        self.inject, self.accept = self.accept, self.inject
        self.by_source = not self.by_source

    def time(self, hop: tuple[int, int]) -> tuple[int, ...]:
        """Return latency and length of a channel in ticks."""
        return self.times.get(hop, (0, 1))

    def in_step(self, step: int, capacity: int) -> int:
        """Return the part of a capacity that there is in a step, counted from 1."""
        rounds = self.rounds[min(step, len(self.rounds)) - 1]
        return capacity * rounds // max(self.rounds)

    def part(self, node: int, back: bool) -> "Network":
        """Return the broadcasts of a member's parts that every allreduce or scan contains.

        With ``back`` the reductions to that member, read backwards.
        """
        part = copy(self)
        part.members, part.messages = [], []
        for members in self.members:
            if node in members:
                before, after = members[: members.index(node)], members[members.index(node) + 1 :]
                ends = before + after if self.kind == "allreduce" else before if back else after
                # Later members may forward to a node; in wormhole switching no reduction has that.
                if ends and (self.hop_by_hop or not back or len(ends) == len(members) - 1):
                    part.messages.append((node, ends))
        if not part.messages:
            raise EvidenceError(f"node {node} has no such part")
        part.backwards = back
        if back:
            part._reverse()
            # Steps are counted from the last one, whose number is not known here.
            part.rounds = [max(self.rounds)]
        return part

    def with_any_routing(self) -> "Network":
        """Return the same network with any routing; its bounds hold for this network, too."""
        free = copy(self)
        free.extra_hops, free.table = None, []
        return free

    def hops(self, start: int, back: bool = False) -> dict[int, int]:
        """Return the hop distance to every node that a path reaches; with ``back`` from it."""
        beside = self.predecessors if back else self.successors
        distance = {start: 0}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            if node != start and node in self.endpoints:
                continue
            for other in beside[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    queue.append(other)
        return distance

    def link(self, a: int, b: int) -> tuple[int, int]:
        """Return the channel whose capacity counts: one of a half-duplex pair or of a group."""
        return (b, a) if (b, a) in self.half_duplex else self.groups.get((a, b), (a, b))

    def node_set(self, value: Any) -> set[int]:
        """Read a list of node numbers of evidence."""
        nodes = set(whole_numbers(value))
        if not nodes or max(nodes) >= self.nodes:
            raise EvidenceError("no nodes, or one that the network does not have")
        return nodes

    def message(self, value: Any) -> tuple[int, tuple[int, ...]]:
        """Read a message number of evidence; return its source and destinations."""
        number = whole(value)
        if number >= len(self.messages):
            raise EvidenceError("a message that the collective does not have")
        return self.messages[number]


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError
