"""The checker's own class for an instance object, independent of the model layer."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from copy import copy
from typing import Any


class EvidenceError(Exception):
    """The evidence does not prove its claim, or cannot be read."""


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
    half_duplex
        The pairs ``(a, b)`` whose two channels share their capacity.
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
    extra_hops
        Hops that a path may exceed the shortest by, less than ``nodes``; ``None`` for any simple
        path.
    successors, predecessors
        Per node the targets of its outgoing channels, and the sources of its incoming ones.
    inject, accept
        Per node the messages it can send and accept per step: its ports or its channels' capacity.
    limited_ports
        Whether ports are limited at all.
    members
        For an ``allreduce`` the members of every message, otherwise nothing. Its ``messages`` are
        then the broadcasts of the first members' parts, which every schedule contains.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        network, collective = record["network"], record["collective"]
        model = record.get("model", {})
        back = collective["kind"] == "combine"
        self.backwards: bool = back
        self.nodes: int = network["nodes"]
        self.channels: dict[tuple[int, int], int] = {}
        self.rounds: list[int] = [*(model.get("rounds") or [1])]
        while len(self.rounds) > 1 and self.rounds[-1] == self.rounds[-2]:
            self.rounds.pop()
        widest = max(self.rounds)
        for a, b, *rest in network["channels"]:
            self.channels[(b, a) if back else (a, b)] = widest * (rest[0] if rest else 1)
        self.half_duplex = {(a, b) for a, b in network.get("half_duplex", [])}
        self.endpoints = set(network.get("endpoints", []))
        one, many = ("destination", "sources") if back else ("source", "destinations")
        self.chunks: int = collective.get("chunks", 1)
        listed = [m for m in collective["messages"] for _ in range(self.chunks)]
        self.members: list[tuple[int, ...]] = []
        self.messages: list[tuple[int, tuple[int, ...]]] = []
        if collective["kind"] == "allreduce":
            self.members = [tuple(m["members"]) for m in listed]
            self.messages = [(first, tuple(rest)) for first, *rest in self.members]
        else:
            self.messages = [(m[one], tuple(m[many])) for m in listed]
        self._record = record
        self.hop_by_hop = model.get("switching", "wormhole") == "store-and-forward"
        routing = model.get("routing", "minimal")
        if self.hop_by_hop:
            # Each hop is a path of its own, so routes are unrestricted and may touch endpoints.
            routing = "any"
            self.endpoints = set()
        self.extra_hops: int | None = {"minimal": 0, "any": None}.get(routing, routing)
        if self.extra_hops is not None and self.extra_hops >= self.nodes:
            self.extra_hops = None  # simple paths have fewer hops
        ports = model.get("ports", "all")
        if not isinstance(ports, dict):
            ports = {"inject": ports, "accept": ports}
        self.limited_ports = any(side != "all" for side in ports.values())
        flow_out, flow_in = [0] * self.nodes, [0] * self.nodes
        for (a, b), capacity in self.channels.items():
            flow_out[a] += capacity
            flow_in[b] += capacity
        send, take = ("accept", "inject") if back else ("inject", "accept")
        self.inject = self._limits(ports[send], flow_out)
        self.accept = self._limits(ports[take], flow_in)
        self.successors: list[list[int]] = [[] for _ in range(self.nodes)]
        self.predecessors: list[list[int]] = [[] for _ in range(self.nodes)]
        for a, b in self.channels:
            self.successors[a].append(b)
            self.predecessors[b].append(a)

    def _limits(self, ports: Any, flow: list[int]) -> list[int]:
        if ports == "all":
            return flow
        each = ports if isinstance(ports, list) else [ports] * self.nodes
        widest = max(self.rounds)
        return [min(widest * limit, carried) for limit, carried in zip(each, flow, strict=True)]

    def in_step(self, step: int, capacity: int) -> int:
        """Return the part of a capacity that there is in a step, counted from 1."""
        rounds = self.rounds[min(step, len(self.rounds)) - 1]
        return capacity * rounds // max(self.rounds)

    def part(self, node: int, back: bool) -> Network:
        """Return the broadcasts of a member's parts that every allreduce contains.

        With ``back`` the reductions to that member, read backwards.
        """
        collective = self._record["collective"]
        one, many = ("destination", "sources") if back else ("source", "destinations")
        messages = [
            {one: node, many: [member for member in message["members"] if member != node]}
            for message in collective["messages"]
            if node in message["members"]
        ]
        if not messages:
            raise EvidenceError(f"node {node} is no member")
        kind = "combine" if back else "deliver"
        model = self._record.get("model", {})
        if back and "rounds" in model:
            # Read backwards, steps are counted from the last one, whose number is not known here.
            model = {**model, "rounds": [max(self.rounds)]}
        messages_of_part = {**collective, "kind": kind, "messages": messages}
        part = Network({**self._record, "model": model, "collective": messages_of_part})
        part.extra_hops = self.extra_hops
        return part

    def with_any_routing(self) -> Network:
        """Return the same network with any routing; its bounds hold for this network, too."""
        free = copy(self)
        free.extra_hops = None
        return free

    def hops(self, source: int) -> dict[int, int]:
        """Return the hop distance to every node that a path from ``source`` reaches."""
        return self._spread(source, self.successors)

    def hops_to(self, goal: int) -> dict[int, int]:
        """Return the hop distance from every node from which a path reaches ``goal``."""
        return self._spread(goal, self.predecessors)

    def _spread(self, start: int, beside: list[list[int]]) -> dict[int, int]:
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
        """Return the channel whose capacity counts: one of the two of a half-duplex pair."""
        return (b, a) if (b, a) in self.half_duplex else (a, b)

    def node_set(self, value: Any) -> set[int]:
        """Read a list of node numbers of evidence."""
        if not isinstance(value, list) or not value:
            raise EvidenceError("a list of nodes is missing")
        if not all(type(node) is int and 0 <= node < self.nodes for node in value):
            raise EvidenceError("a node that the network does not have")
        return set(value)

    def message(self, value: Any) -> tuple[int, tuple[int, ...]]:
        """Read a message number of evidence; return its source and destinations."""
        if type(value) is not int or not 0 <= value < len(self.messages):
            raise EvidenceError("a message that the collective does not have")
        return self.messages[value]
