"""The propositional formula "there is a schedule of so many steps".

Variables, numbered in the order in which they are first named:

- ``("gets", m, v, t)``: node v receives message m in step t;
- ``("has", m, v, t)``: it has received it in step t or earlier;
- ``("path", m, v, p, t)``: it receives it in step t over path p (a tuple of nodes);
- ``("over", m, v, a, b, t)``: over some path that passes channel (a, b);
- ``("from", m, v, u, t)``: over some path that begins at u;
- ``("count", ...)``: at least j of the first i literals of a limit are true (sequential counter,
  C. Sinz, CP 2005).

Every valid schedule of so many steps, or of fewer, satisfies all clauses with these meanings; with
``order``, some renumbering of its steps does. Steps are counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.routes import Path, allowed_paths

MOST_LITERALS = 8_000_000
"""Literals of all clauses together; a formula beyond that fills the memory."""
PAIRWISE = 5
"""Literals of which "at most one" is said pair by pair."""

Name = tuple[Any, ...]
Clause = list[int]


class Formula:
    """The clauses of one instance and one number of steps, in a fixed order.

    Attributes
    ----------
    network, steps
        The instance, and the numbers of the steps.
    clauses
        Lists of literals; the clause at index i has the number i + 1.
    number
        The variable of every name.
    ways
        Per message and receiver the paths over which it may come.
    """

    def __init__(self, network: Network, steps: int, order: Sequence[int] = ()) -> None:
        self.clauses: list[Clause] = []
        self.number: dict[Name, int] = {}
        self._literals = 0
        self.network = network
        self.steps = range(1, steps + 1)
        self._limits: dict[Name, list[int]] = {}
        paths = allowed_paths(network)
        self.ways = {
            (message, node): self._ways_to(message, node, paths)
            for message in range(len(network.messages))
            for node in self._takers(message)
        }
        # What every path in every step takes, without counters: so that it need not be tried.
        each = sum(2 * len(path) + 3 for ways in self.ways.values() for path in ways)
        if steps * each > MOST_LITERALS:
            raise TooLargeError("a formula of more literals than fit into memory")
        for (message, node), ways in self.ways.items():
            for t in self.steps:
                self._deliver(message, node, ways, t)
        for message, (_, destinations) in enumerate(network.messages):
            for node in destinations:
                self._add([self._gets(message, node, t) for t in self.steps])
        for name, literals in self._limits.items():
            self._at_most(self._room(name), literals, name)
        self.pin(order)

    # What happens

    def _takers(self, message: int) -> Iterable[int]:
        """Return who may receive the message."""
        source, destinations = self.network.messages[message]
        others = range(self.network.nodes) if self.network.hop_by_hop else destinations
        return (node for node in others if node != source)

    def _ways_to(
        self, message: int, node: int, paths: dict[tuple[int, int], list[Path]]
    ) -> list[Path]:
        source = self.network.messages[message][0]
        senders = [source, *(u for u in self._takers(message) if u != node)]
        return [path for sender in senders for path in paths.get((sender, node), [])]

    def _deliver(self, m: int, v: int, ways: list[Path], t: int) -> None:
        """Say what it takes for node v to receive message m in step t."""
        source = self.network.messages[m][0]
        gets, has = self._gets(m, v, t), self._variable("has", m, v, t)
        self._add([-gets, has])
        if t > 1:
            had = self._variable("has", m, v, t - 1)
            self._add([-had, has])
            self._add([-had, -gets])
            self._add([-has, had, gets])
        else:
            self._add([-has, gets])
        taken = [self._taken(m, v, path, t) for path in ways]
        if len(ways) != 1:
            self._add([-gets, *taken])
            for literal in taken:
                self._add([-literal, gets])
        senders: dict[int, list[int]] = {}
        channels: dict[tuple[int, int], list[int]] = {}
        for path, literal in zip(ways, taken, strict=True):
            senders.setdefault(path[0], []).append(literal)
            for hop in pairwise(path):
                channels.setdefault(hop, []).append(literal)
        for u, literals in senders.items():
            sent = self._any(("from", m, v, u, t), literals, gets, len(ways))
            if u != source:
                self._add([-sent, self._variable("has", m, u, t - 1)] if t > 1 else [-sent])
            self._count(("inject", u, t), sent)
        for (a, b), literals in channels.items():
            used = self._any(("over", m, v, a, b, t), literals, gets, len(ways))
            self._count(("channel", *self.network.link(a, b), t), used)
        self._count(("accept", v, t), gets)

    def _taken(self, m: int, v: int, path: Path, t: int) -> int:
        if len(self.ways[m, v]) == 1:
            return self._gets(m, v, t)
        return self._variable("path", m, v, path, t)

    def _any(self, name: Name, literals: list[int], gets: int, ways: int) -> int:
        """Return a literal that is true if one of these is; all ways together are "gets"."""
        if len(literals) == 1:
            return literals[0]
        if len(literals) == ways:
            return gets
        found = self._variable(*name)
        for literal in literals:
            self._add([-literal, found])
        return found

    def _gets(self, m: int, v: int, t: int) -> int:
        return self._variable("gets", m, v, t)

    # Limits

    def _count(self, name: Name, literal: int) -> None:
        self._limits.setdefault(name, []).append(literal)

    def _room(self, name: Name) -> int:
        kind, place = name[0], name[1:-1]
        if kind == "channel":
            return self.network.channels[place]
        ports = self.network.inject if kind == "inject" else self.network.accept
        return ports[place[0]]

    def _at_most(self, most: int, literals: list[int], name: Name) -> None:
        if len(literals) <= most:
            return
        if most == 0:
            for literal in literals:
                self._add([-literal])
        elif most == 1 and len(literals) <= PAIRWISE:
            for one, other in combinations(literals, 2):
                self._add([-one, -other])
        else:
            self._counter(most, literals, name)

    def _counter(self, most: int, literals: list[int], name: Name) -> None:
        """Add the sequential counter: of the first i literals at least j are true."""
        before: list[int] = []
        for i, literal in enumerate(literals):
            if len(before) == most:
                self._add([-literal, -before[-1]])
            if i == len(literals) - 1:
                return
            now = [self._variable("count", *name, i, j) for j in range(min(i + 1, most))]
            self._add([-literal, now[0]])
            for j, counted in enumerate(before):
                self._add([-counted, now[j]])
                if j + 1 < len(now):
                    self._add([-literal, -counted, now[j + 1]])
            before = now

    # Interchangeable steps

    @property
    def interchangeable(self) -> bool:
        """Whether any order of the steps of a schedule will do: one destination per message."""
        messages = self.network.messages
        return not self.network.hop_by_hop and all(len(goals) == 1 for _, goals in messages)

    def bottlenecks(self, message: int) -> set[Name]:
        """Return the channels and ports of capacity 1 that a message uses whatever its path."""
        source, (goal,) = self.network.messages[message]
        ways = self.ways[message, goal]
        certain: set[Name] = {("inject", source), ("accept", goal)}
        if ways:
            links = [{self.network.link(a, b) for a, b in pairwise(path)} for path in ways]
            certain |= {("channel", *link) for link in set.intersection(*links)}
        return {name for name in certain if self._room((*name, 0)) == 1}

    def pin(self, order: Sequence[int]) -> None:
        """Name the first steps after these messages, having checked that each needs its own.

        Raises
        ------
        EvidenceError
            If steps are not interchangeable, or two of the messages may share one.
        """
        if not order:
            return
        if not self.interchangeable:
            raise EvidenceError("the steps are not interchangeable")
        ends = [self.network.message(message) for message in order]
        if len(set(order)) < len(order) or len(order) > len(self.steps):
            raise EvidenceError("an order of the steps that names more than there are")
        if not set.intersection(*map(self.bottlenecks, order)):
            raise EvidenceError("messages that may share a step")
        for step, message, (_, (node,)) in zip(self.steps, order, ends, strict=False):
            self._add([self._gets(message, node, step)])

    # Clauses and variables

    def _variable(self, *name: Any) -> int:
        return self.number.setdefault(name, len(self.number) + 1)

    def _add(self, clause: Clause) -> None:
        self._literals += len(clause)
        if self._literals > MOST_LITERALS:
            raise TooLargeError("a formula of more literals than fit into memory")
        self.clauses.append(clause)
