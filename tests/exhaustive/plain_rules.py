"""The rules of a valid schedule, written from docs/valid-schedule.md alone.

It reads the JSON objects of an instance and of steps, uses no code of cchybrid, and is written for
reading, not for speed.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

Path = tuple[int, ...]
Parts = frozenset[int]
"""Members whose parts are added up as one sum."""

PATH_RULES = {
    "unknown-message", "path-too-short", "no-such-node", "no-such-channel", "path-not-simple",
    "passes-endpoint", "path-too-long", "path-off-table", "not-one-hop",
}  # fmt: skip
"""The rules about a transfer by itself."""


class Rules:
    """An instance, read so that messages go from one source to their destinations.

    A ``combine`` collective is read backwards, as rule 5 says: channels reversed, injection and
    acceptance exchanged, the rounds of the steps counted from the last one.
    """

    def __init__(self, instance: dict[str, Any]) -> None:
        network, collective = instance["network"], instance["collective"]
        model = instance.get("model", {})
        self.kind: str = collective["kind"]
        self.backwards = self.kind == "combine"
        self.nodes = range(network["nodes"])
        self.capacity: dict[tuple[int, int], int] = {}
        for a, b, *rest in network["channels"]:
            self.capacity[(b, a) if self.backwards else (a, b)] = rest[0] if rest else 1
        self.times: dict[tuple[int, int], tuple[int, int]] = {}
        for hop, (latency, length) in zip(self.capacity, network.get("times", []), strict=False):
            self.times[hop] = latency, length
        self.group: dict[tuple[int, int], tuple[int, int]] = {}
        for group in network.get("groups", []):
            hops = [(b, a) if self.backwards else (a, b) for a, b in group]
            self.group.update((hop, hops[0]) for hop in hops)
        self.half_duplex = {frozenset(pair) for pair in network.get("half_duplex", [])}
        self.endpoints = set(network.get("endpoints", []))
        switching = model.get("switching", "wormhole")
        self.one_hop, self.slots = switching == "store-and-forward", switching == "tdm"
        routing = model.get("routing", "minimal")
        self.table: dict[str, list[list[int]]] = routing if isinstance(routing, dict) else {}
        routing = "any" if self.table else routing
        self.extra_hops = {"minimal": 0, "any": math.inf}.get(routing, routing)
        ports = model.get("ports", "all")
        if not isinstance(ports, dict):
            ports = {"inject": ports, "accept": ports}
        self.inject, self.accept = self._ports(ports["inject"]), self._ports(ports["accept"])
        if self.backwards:
            self.inject, self.accept = self.accept, self.inject
        self.rounds: list[int] = model.get("rounds") or [1]
        self.may_be_empty = len(set(self.rounds)) > 1 or bool(self.times) or self.slots
        self.messages: list[tuple[int, frozenset[int]]] = []
        self.members: list[Parts] = []
        self.needs: list[dict[int, Parts]] = []
        for message in collective["messages"]:
            for _ in range(collective.get("chunks", 1)):
                if "members" in message:
                    self.members.append(frozenset(message["members"]))
                    self.needs.append(_needs(self.kind, message["members"]))
                elif self.backwards:
                    self.messages.append((message["destination"], frozenset(message["sources"])))
                else:
                    self.messages.append((message["source"], frozenset(message["destinations"])))

    def _ports(self, value: Any) -> list[float]:
        if value == "all":
            return [math.inf for _ in self.nodes]
        return list(value) if isinstance(value, list) else [value for _ in self.nodes]

    def rounds_in(self, step: int) -> int:
        """Return the rounds of a step, counted from 0 in the direction of reading."""
        return self.rounds[min(step, len(self.rounds) - 1)]

    def may_receive(self, message: int, node: int, parts: Parts | None = None) -> bool:
        """Return whether the switching lets a node other than the source receive a message.

        Of sums, whether it may receive these parts.
        """
        if self.one_hop:
            return True
        if parts is None:
            return node in self.messages[message][1]
        return node in self.members[message] and parts <= self.needs[message][node]

    def has_its_sum(self, message: int, node: int, values: Iterable[Parts]) -> bool:
        """Return whether a member that holds these values has the sum that it needs."""
        needed = self.needs[message][node]
        return frozenset().union(*(value for value in values if value <= needed)) == needed

    def paths(self, first: int, last: int) -> list[Path]:
        """Return the allowed paths between two nodes."""
        if self.one_hop:
            return [(first, last)] if (first, last) in self.capacity else []
        if self.table:
            return self._path_of_table(first, last)
        found = self._open_paths((first,), last)
        shortest = min(map(len, found), default=0)
        return [path for path in found if len(path) <= shortest + self.extra_hops]

    def _path_of_table(self, first: int, last: int) -> list[Path]:
        """Return the path between two nodes that the table gives, if it gives one.

        The table is about the direction of the instance, not that of reading.
        """
        start, end = (last, first) if self.backwards else (first, last)
        by_goal = "next" in self.table
        path = [start] if by_goal else [end]
        known = end if by_goal else start
        while path[-1] != known:
            after = self.table["next" if by_goal else "previous"][path[-1]][known]
            if after == path[-1]:
                return []
            path.append(after)
        return [tuple(path if path[0] == first else path[::-1])]

    def _open_paths(self, path: Path, last: int) -> list[Path]:
        """Return the simple paths that begin so and pass no endpoint."""
        if path[-1] == last:
            return [path]
        if len(path) > 1 and path[-1] in self.endpoints:
            return []
        return [
            longer
            for node in self.nodes
            if node not in path and (path[-1], node) in self.capacity
            for longer in self._open_paths((*path, node), last)
        ]

    def path_violations(self, path: Sequence[int]) -> set[str]:
        """Return the rules that a path breaks."""
        if len(path) < 2:
            return {"path-too-short"} | ({"no-such-node"} if set(path) - set(self.nodes) else set())
        found = set()
        hops = list(pairwise(path))
        if set(path) - set(self.nodes):
            found.add("no-such-node")
        if any(
            a in self.nodes and b in self.nodes and a != b and (a, b) not in self.capacity
            for a, b in hops
        ):
            found.add("no-such-channel")
        if len(set(path)) < len(path):
            found.add("path-not-simple")
        if self.endpoints & set(path[1:-1]):
            found.add("passes-endpoint")
        if self.one_hop:
            if len(hops) > 1:
                found.add("not-one-hop")
        elif not found and tuple(path) not in self.paths(path[0], path[-1]):
            found.add("path-off-table" if self.table else "path-too-long")
        return found

    def duration(self, path: Sequence[int]) -> int:
        """Return the steps that a transfer over existing channels takes: its ticks, or one."""
        if not self.times:
            return 1
        hops = list(pairwise(path))
        return sum(self.times[hop][0] for hop in hops) + max(self.times[hop][1] for hop in hops)

    def uses(self, path: Sequence[int]) -> list[tuple[str, Any, int]]:
        """Return what a transfer uses: the rule, the place and the tick, counted from its start.

        In time slots the slot, counted in the same way.
        """
        hops = list(pairwise(path))
        if self.slots:
            found = [("inject-overload", ("from", path[0]), 0)]
            found += [(*self._channel(hop), late) for late, hop in enumerate(hops)]
            return [*found, ("accept-overload", ("to", path[-1]), len(hops) - 1)]
        length = max(self.times[hop][1] for hop in hops)
        inject, accept = "inject-overload", "accept-overload"
        if self.backwards:
            inject, accept = accept, inject
        found = []
        for tick in range(length):
            late = tick
            found.append((inject, ("from", path[0]), late))
            for hop in hops:
                found.append((*self._channel(hop), late))
                late += self.times[hop][0]
            found.append((accept, ("to", path[-1]), late))
        return found

    def _channel(self, hop: tuple[int, int]) -> tuple[str, Any]:
        """Return the rule and the place of a channel: what has its capacity."""
        if frozenset(hop) in self.half_duplex:
            return "half-duplex-overload", tuple(sorted(hop))
        return (
            ("group-overload", self.group[hop]) if hop in self.group else ("channel-overload", hop)
        )

    def limit(self, rule: str, place: Any) -> float:
        """Return how often a place of ``uses`` may be used in a tick or slot."""
        if place[0] == "from":
            return self.inject[place[1]]
        return self.accept[place[1]] if place[0] == "to" else self.capacity[place]

    def overloads_in_ticks(
        self, starts: Iterable[tuple[int, Sequence[int]]], slots: int = 0
    ) -> set[str]:
        """Return the rules about capacities and ports that paths with their first ticks break.

        With ``slots`` these are slots of a period of this length, which is repeated.
        """
        used = Counter[tuple[str, Any, int]]()
        for start, path in starts:
            for rule, place, late in self.uses(path):
                used[rule, place, (start + late) % slots if slots else start + late] += 1
        return {rule for (rule, place, _), n in used.items() if n > self.limit(rule, place)}

    def overloads(self, step: int, paths: Iterable[Sequence[int]]) -> set[str]:
        """Return the rules about capacities and ports that the paths of one step break."""
        channels, pairs = Counter[tuple[int, int]](), Counter[frozenset[int]]()
        groups = Counter[tuple[int, int]]()
        firsts, lasts = Counter[int](), Counter[int]()
        for path in paths:
            firsts[path[0]] += 1
            lasts[path[-1]] += 1
            for hop in pairwise(path):
                channels[hop] += 1
                groups[self.group.get(hop, hop)] += 1
                pairs[frozenset(hop)] += 1
        times = self.rounds_in(step)
        found = set()
        for hop, uses in channels.items():
            if frozenset(hop) in self.half_duplex:
                if pairs[frozenset(hop)] > self.capacity[hop] * times:
                    found.add("half-duplex-overload")
            elif hop in self.group:
                if groups[self.group[hop]] > self.capacity[hop] * times:
                    found.add("group-overload")
            elif uses > self.capacity[hop] * times:
                found.add("channel-overload")
        inject, accept = "inject-overload", "accept-overload"
        if self.backwards:
            inject, accept = accept, inject
        if any(uses > self.inject[node] * times for node, uses in firsts.items()):
            found.add(inject)
        if any(uses > self.accept[node] * times for node, uses in lasts.items()):
            found.add(accept)
        return found


def _needs(kind: str, members: list[int]) -> dict[int, Parts]:
    """Return the members whose parts each member needs."""
    if kind == "allreduce":
        return dict.fromkeys(members, frozenset(members))
    own = int(kind == "scan")
    return {node: frozenset(members[: place + own]) for place, node in enumerate(members)}


def violations(instance: dict[str, Any], steps: list[list[dict[str, Any]]]) -> set[str]:
    """Return the names of the rules that a schedule breaks; none if it is valid.

    Where a transfer by itself breaks a rule, only rules of that kind are named.
    """
    rules = Rules(instance)
    read = [[(m["message"], tuple(m["path"]), m.get("sum")) for m in step] for step in steps]
    if rules.backwards:
        read = [[(m, path[::-1], parts) for m, path, parts in step] for step in reversed(read)]
    known = range(len(rules.members or rules.messages))
    found = set()
    for step in read:
        for message, path, _ in step:
            found |= rules.path_violations(path)
            if message not in known:
                found.add("unknown-message")
    if found:
        return found
    starts = [(number, path) for number, step in enumerate(read) for _, path, _ in step]
    if rules.slots:
        return rules.overloads_in_ticks(starts, len(read)) | _trees(rules, read)
    if rules.times:
        if any(number + rules.duration(path) > len(read) for number, path in starts):
            found.add("ends-too-late")
        return found | rules.overloads_in_ticks(starts) | _copies(rules, read)
    for number, step in enumerate(read):
        if not step and not rules.may_be_empty:
            found.add("empty-step")
        found |= rules.overloads(number, [path for _, path, _ in step])
    return found | (_sums(rules, read) if rules.members else _copies(rules, read))


def _trees(rules: Rules, steps: list[list[tuple[int, Path, Any]]]) -> set[str]:
    """Return the broken rules of causality and completeness in time slots."""
    found = set()
    for message, (source, goals) in enumerate(rules.messages):
        moves = [path for step in steps for m, path, _ in step if m == message]
        giver: dict[int, int] = {}
        for path in moves:
            first, last = path[0], path[-1]
            if last == source or last in giver:
                found.add("received-twice")
            elif last not in goals:
                found.add("not-a-destination")
            giver.setdefault(last, first)  # the second receipt is the one too many
        for node in {path[0] for path in moves}:
            for _ in rules.nodes:
                node = node if node == source else giver.get(node, node)
            if node != source:
                found.add("not-informed")
        if not goals <= set(giver):
            found.add("missing-destination")
    return found


def _copies(rules: Rules, steps: list[list[tuple[int, Path, Any]]]) -> set[str]:
    """Return the broken rules of causality and completeness."""
    found = set()
    holders = [{source} for source, _ in rules.messages]
    arrivals: dict[int, list[tuple[int, int]]] = {}
    for number, step in enumerate(steps):
        for message, path, _ in step:
            first, last = path[0], path[-1]
            if first not in holders[message]:
                found.add("not-informed")
            if last != rules.messages[message][0] and not rules.may_receive(message, last):
                found.add("not-a-destination")
            end = number + rules.duration(path) - 1
            arrivals.setdefault(end, []).append((message, last))
        for message, last in arrivals.pop(number, []):
            if last in holders[message]:
                found.add("received-twice")
            holders[message].add(last)
    # What is still under way is reported as such, and is no missing message.
    for message, last in chain.from_iterable(arrivals.values()):
        if last in holders[message]:
            found.add("received-twice")
        holders[message].add(last)
    if any(not goals <= holders[m] for m, (_, goals) in enumerate(rules.messages)):
        found.add("missing-destination")
    return found


def _sums(rules: Rules, steps: list[list[tuple[int, Path, Any]]]) -> set[str]:
    """Return the broken rules of sums."""
    found = set()
    values: list[dict[int, set[Parts]]] = [
        {node: {frozenset([node])} if node in members else set() for node in rules.nodes}
        for members in rules.members
    ]
    for step in steps:
        receipts = []
        for message, path, listed in step:
            parts = frozenset(listed)
            if not parts or len(parts) < len(listed) or not parts <= rules.members[message]:
                found.add("no-such-part")
                continue
            if not rules.may_receive(message, path[-1], parts):
                found.add("not-a-destination")
            if not can_send(values[message][path[0]], parts):
                found.add("not-informed")
            receipts.append((message, path[-1], parts))
        for message, node, parts in sorted(receipts, key=lambda receipt: -len(receipt[2])):
            rule = receipt_violation(values[message][node], parts)
            if rule is not None:
                found.add(rule)
            if rule != "received-twice":
                values[message][node].add(parts)
    for message, members in enumerate(rules.members):
        if not all(rules.has_its_sum(message, node, values[message][node]) for node in members):
            found.add("missing-destination")
    return found


def can_send(held: Iterable[Parts], parts: Parts) -> bool:
    """Return whether a sum is one of disjoint values that a node holds.

    Two values of a node are disjoint, or one contains the other: the largest ones inside the sum
    are disjoint.
    """
    return frozenset().union(*(value for value in held if value <= parts)) == parts


def receipt_violation(held: Iterable[Parts], parts: Parts) -> str | None:
    """Return the rule that is broken when a node that holds these values receives a sum."""
    held = list(held)
    if parts <= frozenset().union(*held):
        return "received-twice"
    if any(value & parts and not value <= parts for value in held):
        return "counted-twice"
    return None
