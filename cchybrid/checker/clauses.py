"""The propositional formula "there is a schedule of at most S steps".

Variables, numbered in the order in which they are first named:

- ``("gets", m, v, t)``: node v receives message m in step t;
- ``("has", m, v, t)``: it has received it in step t or earlier;
- ``("path", m, v, p, t)``: it receives it in step t over path p (a tuple of nodes);
- ``("over", m, v, a, b, t)``: over some path that passes channel (a, b);
- ``("from", m, v, u, t)``: over some path that begins at u;
- ``("count", ...)``: at least j of the first i literals of a limit are true (sequential counter).

Every valid schedule of at most S steps satisfies all clauses with these meanings; with ``order``,
some renumbering of its steps does. Steps are counted from 1.

References
----------
C. Sinz, "Towards an optimal CNF encoding of Boolean cardinality constraints", CP 2005,
doi:10.1007/11564751_73.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.routes import Path, allowed_paths

MAX_LITERALS = 8_000_000
"""Literals of all clauses together; larger formulas are refused to limit the memory."""
MAX_PAIRWISE = 5
"""Literals up to which an at-most-one constraint is encoded pairwise."""

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
        The number of the variable of every name.
    ways
        The allowed paths by message and receiver.
    """

    def __init__(self, network: Network, steps: int, order: Sequence[int] = ()) -> None:
        self.clauses: list[Clause] = []
        self.number: dict[Name, int] = {}
        self._literals = 0
        self.network = network
        self.steps = range(1, steps + 1)
        self._limits: dict[Name, list[int]] = {}
        allowed = allowed_paths(network)
        self.paths = {
            (message, node): self._paths_to(message, node, allowed)
            for message in range(len(network.messages))
            for node in self._receivers(message)
        }
        # A lower estimate without counters, so that huge formulas are refused before they are made.
        each = sum(2 * len(path) + 3 for paths in self.paths.values() for path in paths)
        if steps * each > MAX_LITERALS:
            raise TooLargeError("a formula of more literals than fit into memory")
        for (message, node), paths in self.paths.items():
            for t in self.steps:
                self._deliver(message, node, paths, t)
        for message, (_, destinations) in enumerate(network.messages):
            for node in destinations:
                self._add([self._gets(message, node, t) for t in self.steps])
        for name, literals in self._limits.items():
            self._add_cardinality_limit(self._capacity(name), literals, name)
        self.pin(order)

    # Transfers

    def _receivers(self, message: int) -> Iterable[int]:
        """Return the nodes that may receive the message."""
        source, destinations = self.network.messages[message]
        others = range(self.network.nodes) if self.network.hop_by_hop else destinations
        return (node for node in others if node != source)

    def _paths_to(
        self, message: int, node: int, allowed: dict[tuple[int, int], list[Path]]
    ) -> list[Path]:
        source = self.network.messages[message][0]
        senders = [source, *(u for u in self._receivers(message) if u != node)]
        return [path for sender in senders for path in allowed.get((sender, node), [])]

    def _deliver(self, m: int, v: int, paths: list[Path], t: int) -> None:
        """Add the clauses of node v receiving message m in step t."""
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
        taken = [self._taken(m, v, path, t) for path in paths]
        if len(paths) != 1:
            self._add([-gets, *taken])
            for literal in taken:
                self._add([-literal, gets])
        senders: dict[int, list[int]] = {}
        channels: dict[tuple[int, int], list[int]] = {}
        for path, literal in zip(paths, taken, strict=True):
            senders.setdefault(path[0], []).append(literal)
            for hop in pairwise(path):
                channels.setdefault(hop, []).append(literal)
        for u, literals in senders.items():
            sent = self._any(("from", m, v, u, t), literals, gets, len(paths))
            if u != source:
                self._add([-sent, self._variable("has", m, u, t - 1)] if t > 1 else [-sent])
            self._count(("inject", u, t), sent)
        for (a, b), literals in channels.items():
            used = self._any(("over", m, v, a, b, t), literals, gets, len(paths))
            self._count(("channel", *self.network.link(a, b), t), used)
        self._count(("accept", v, t), gets)

    def _taken(self, m: int, v: int, path: Path, t: int) -> int:
        if len(self.paths[m, v]) == 1:
            return self._gets(m, v, t)
        return self._variable("path", m, v, path, t)

    def _any(self, name: Name, literals: list[int], gets: int, path_count: int) -> int:
        """Return a literal that is true if one of these is; for all paths together it is "gets"."""
        if len(literals) == 1:
            return literals[0]
        if len(literals) == path_count:
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

    def _capacity(self, name: Name) -> int:
        kind, place = name[0], name[1:-1]
        if kind == "channel":
            capacity = self.network.channels[place]
        else:
            capacity = (self.network.inject if kind == "inject" else self.network.accept)[place[0]]
        return self.network.in_step(name[-1], capacity)

    def _add_cardinality_limit(self, limit: int, literals: list[int], name: Name) -> None:
        if len(literals) <= limit:
            return
        if limit == 0:
            for literal in literals:
                self._add([-literal])
        elif limit == 1 and len(literals) <= MAX_PAIRWISE:
            for one, other in combinations(literals, 2):
                self._add([-one, -other])
        else:
            self._counter(limit, literals, name)

    def _counter(self, limit: int, literals: list[int], name: Name) -> None:
        """Add a sequential counter: at least j of the first i literals are true."""
        before: list[int] = []
        for i, literal in enumerate(literals):
            if len(before) == limit:
                self._add([-literal, -before[-1]])
            if i == len(literals) - 1:
                return
            now = [self._variable("count", *name, i, j) for j in range(min(i + 1, limit))]
            self._add([-literal, now[0]])
            for j, counted in enumerate(before):
                self._add([-counted, now[j]])
                if j + 1 < len(now):
                    self._add([-literal, -counted, now[j + 1]])
            before = now

    # Interchangeable steps

    @property
    def interchangeable(self) -> bool:
        """Whether the steps of a schedule may be permuted: one destination per message."""
        network = self.network
        alone = all(len(goals) == 1 for _, goals in network.messages)
        return alone and not network.hop_by_hop and len(network.rounds) == 1

    def bottlenecks(self, message: int) -> set[Name]:
        """Return the channels and ports of capacity 1 that a message uses on every path."""
        source, (goal,) = self.network.messages[message]
        paths = self.paths[message, goal]
        certain: set[Name] = {("inject", source), ("accept", goal)}
        if paths:
            links = [{self.network.link(a, b) for a, b in pairwise(path)} for path in paths]
            certain |= {("channel", *link) for link in set.intersection(*links)}
        return {name for name in certain if self._capacity((*name, 0)) == 1}

    def pin(self, order: Sequence[int]) -> None:
        """Fix these messages to the first steps, which breaks the symmetry of the steps.

        Raises
        ------
        EvidenceError
            Steps are not interchangeable, or two of the messages may share a step.
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
        if self._literals > MAX_LITERALS:
            raise TooLargeError("a formula of more literals than fit into memory")
        self.clauses.append(clause)
