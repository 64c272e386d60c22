"""Partial sums: the parts of messages that every node holds, by the checker's own rules.

The sum of an allreduce has a part of every member; a message that is copied has one, its source's.
A node holds values: its own part, and every sum that it has received. Two values of a node are
disjoint, or one contains the other, so no part is ever counted twice.
"""

from __future__ import annotations

from collections import defaultdict

from cchybrid.checker.instance import EvidenceError, Network

Parts = frozenset[int]


class PartialSums:
    """Values of all nodes while the steps of a schedule are checked one after another."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._members = [frozenset((source, *goals)) for source, goals in network.messages]
        sources = [frozenset([source]) for source, _ in network.messages]
        self._sums = self._members if network.members else sources
        self._values: defaultdict[tuple[int, int], set[Parts]] = defaultdict(set)
        for message, parts in enumerate(self._sums):
            self._values.update(((message, node), {frozenset([node])}) for node in parts)
        self._received: list[tuple[int, int, Parts]] = []

    def send(self, message: int, first: int, last: int, parts: Parts) -> None:
        """Check one transfer; of an allreduce it carries the parts of these members as one sum."""
        parts = parts if self._network.members else self._sums[message]
        if not parts or not parts <= self._sums[message]:
            raise EvidenceError("a sum without parts, or of a node that is no member")
        if not self._network.hop_by_hop and last not in self._members[message]:
            raise EvidenceError(f"node {last} is no destination or member of message {message}")
        inside = [value for value in self._values[message, first] if value <= parts]
        # The values inside are disjoint or nested, so their union is the sum of the largest ones.
        if frozenset().union(*inside) != parts:
            shown = str(sorted(parts))[:80]
            raise EvidenceError(
                f"node {first} does not have the parts {shown} of message {message} yet"
            )
        self._received.append((message, last, parts))

    def end_step(self) -> None:
        """Give the receivers of the step their new values."""
        # Larger sums first, so that a sum inside another one of the same step is nothing new.
        for message, node, parts in sorted(self._received, key=lambda entry: -len(entry[2])):
            values = self._values[message, node]
            if parts <= frozenset().union(*values):
                raise EvidenceError(f"node {node} has these parts of message {message} already")
            if any(parts & value and not value <= parts for value in values):
                raise EvidenceError(f"node {node} would count a part of message {message} twice")
            values.add(parts)
        self._received.clear()

    def end(self) -> None:
        """Check that every destination or member has the whole sum."""
        for message, members in enumerate(self._members):
            for node in members:
                if frozenset().union(*self._values[message, node]) != self._sums[message]:
                    raise EvidenceError(f"node {node} has not all parts of message {message}")
