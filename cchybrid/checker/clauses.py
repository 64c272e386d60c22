"""The propositional formula "there is a schedule of at most S steps".

Variables, numbered in the order in which they are first named:

- ``("gets", m, v, t)``: node v receives message m in step t;
- ``("has", m, v, t)``: it has received it in step t or earlier;
- ``("path", m, v, p, t)``: it receives it in step t over path p (a tuple of nodes);
- ``("uses", m, v, ..., t)``: over some path that uses a channel or an injection port;
- ``("count", ...)``: at least j of the first i literals of a limit are true (sequential counter).

Theorem. Every valid schedule of at most S steps satisfies all clauses with these meanings. A node
receives a message once, over one path, from its source or from a node that has received it in an
earlier step; every destination receives it; the paths that are taken in a step keep to the capacity
of every channel and port. With ``order``, some renumbering of the steps
of a schedule satisfies them: where every message has one destination, all steps are alike, and the
listed messages need different steps, since they share a channel or port of capacity 1.

References
----------
C. Sinz, "Towards an optimal CNF encoding of Boolean cardinality constraints", CP 2005,
doi:10.1007/11564751_73.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.routes import Path, allowed_paths

MAX_LITERALS = 8_000_000
"""Literals of all clauses together; larger formulas are refused to limit the memory."""

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
    paths
        The allowed paths by message and receiver.
    """

    def __init__(self, network: Network, steps: int, order: Sequence[int] = ()) -> None:
        self.clauses: list[Clause] = []
        self.number: dict[Name, int] = {}
        self._literals = 0
        self.network = network
        self.steps = range(1, steps + 1)
        self._used: defaultdict[Name, list[int]] = defaultdict(list)
        allowed = allowed_paths(network)
        self.paths: dict[tuple[int, int], list[Path]] = {}
        for message, (source, goals) in enumerate(network.messages):
            holders = range(network.nodes) if network.hop_by_hop else (source, *goals)
            for node in holders:
                if node != source:
                    self.paths[message, node] = [
                        path for u in holders if u != node for path in allowed.get((u, node), [])
                    ]
        # A lower estimate without counters, so that huge formulas are refused before they are made.
        each = sum(2 * len(path) + 3 for paths in self.paths.values() for path in paths)
        if steps * each > MAX_LITERALS:
            raise TooLargeError("a formula of more literals than fit into memory")
        for (message, node), paths in self.paths.items():
            for t in self.steps:
                self._deliver(message, node, paths, t)
        for message, (_, goals) in enumerate(network.messages):
            for node in goals:
                self._add([self._variable("gets", message, node, t) for t in self.steps])
        for name, literals in self._used.items():
            self._add_limit(self._capacity(name), literals, name)
        self.pin(order)

    def _deliver(self, m: int, v: int, paths: list[Path], t: int) -> None:
        """Add the clauses of node v receiving message m in step t."""
        source = self.network.messages[m][0]
        gets, has = self._variable("gets", m, v, t), self._variable("has", m, v, t)
        self._add([-gets, has])
        if t > 1:
            had = self._variable("has", m, v, t - 1)
            self._add([-had, has])
            self._add([-had, -gets])
            self._add([-has, had, gets])
        else:
            self._add([-has, gets])
        taken = [gets]
        if len(paths) != 1:
            taken = [self._variable("path", m, v, path, t) for path in paths]
            self._add([-gets, *taken])
        users: defaultdict[Name, list[int]] = defaultdict(list, {("accept", v): taken})
        for path, literal in zip(paths, taken, strict=True):
            if literal != gets:
                self._add([-literal, gets])
            if path[0] != source:
                had_before = [self._variable("has", m, path[0], t - 1)] if t > 1 else []
                self._add([-literal, *had_before])
            users["inject", path[0]].append(literal)
            # A path may take two channels that share one capacity.
            for link in dict.fromkeys(self.network.link(a, b) for a, b in pairwise(path)):
                users["channel", *link].append(literal)
        for name, literals in users.items():
            # What every path uses is used if the message is received.
            used = gets if len(literals) == len(paths) else literals[0]
            if 1 < len(literals) < len(paths):
                used = self._variable("uses", m, v, *name, t)
                for literal in literals:
                    self._add([-literal, used])
            self._used[*name, t].append(used)

    def _capacity(self, name: Name) -> int:
        kind, *place, t = name
        ports = self.network.inject if kind == "inject" else self.network.accept
        full = self.network.channels[place[0], place[1]] if len(place) == 2 else ports[place[0]]
        return self.network.in_step(t, full)

    def _add_limit(self, limit: int, literals: list[int], name: Name) -> None:
        """Add that at most ``limit`` of the literals are true, by a sequential counter."""
        if len(literals) <= limit:
            return
        before: list[int] = []
        for i, literal in enumerate(literals):
            if len(before) == limit:
                self._add([-literal, *(-count for count in before[-1:])])
            if i == len(literals) - 1:
                return
            now = [self._variable("count", *name, i, j) for j in range(min(i + 1, limit))]
            self._add([-literal, *now[:1]])
            for j, counted in enumerate(before):
                self._add([-counted, now[j]])
                if j + 1 < len(now):
                    self._add([-literal, -counted, now[j + 1]])
            before = now

    def pin(self, order: Sequence[int]) -> None:
        """Fix these messages to the first steps, which breaks the symmetry of the steps.

        Raises
        ------
        EvidenceError
            Steps are not alike, or two of the messages may share a step.
        """
        network = self.network
        if not order:
            return
        alone = all(len(goals) == 1 for _, goals in network.messages)
        if not alone or network.hop_by_hop or len(network.rounds) > 1:
            raise EvidenceError("the steps are not alike")
        shared: list[set[Name]] = []
        for t, message in enumerate(order, 1):
            source, (goal,) = network.message(message)
            self._add([self._variable("gets", message, goal, t)])
            used = [{network.link(a, b) for a, b in pairwise(p)} for p in self.paths[message, goal]]
            shared.append({("inject", source), ("accept", goal)})
            shared[-1] |= {("channel", *hop) for hop in set.intersection(*used or [set()])}
        tight = {name for name in set.intersection(*shared) if self._capacity((*name, 1)) == 1}
        if len(set(order)) < len(order) or not tight:
            raise EvidenceError("messages that may share a step")

    def _variable(self, *name: Any) -> int:
        return self.number.setdefault(name, len(self.number) + 1)

    def _add(self, clause: Clause) -> None:
        self._literals += len(clause)
        if self._literals > MAX_LITERALS:
            raise TooLargeError("a formula of more literals than fit into memory")
        self.clauses.append(clause)
