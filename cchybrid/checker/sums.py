"""Partial sums: the parts of messages that every node holds, by the checker's own rules.

Sums of an allreduce or scan have parts of members; a message that is copied has one, its source's.
A node holds values: its own part, and every sum that it has received. Two values of a node are
disjoint, or one contains the other, so no part is ever counted twice.
"""

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
        self._step = 0
        self._received: defaultdict[int, list[tuple[int, int, Parts]]] = defaultdict(list)

    def send(self, message: int, first: int, last: int, parts: Parts, ticks: int = 1) -> None:
        """Check one transfer; of an allreduce or scan it carries these parts as one sum.

        It arrives at the end of this step, or of a later one if it takes several ``ticks``.
        """
        parts = parts if self._network.members else self._sums[message]
        if not parts or not parts <= self._sums[message]:
            raise EvidenceError("a sum without parts, or of a node that is no member")
        if not self._network.hop_by_hop and not parts <= self._needed(message, last):
            raise EvidenceError(f"node {last} does not need all these parts of message {message}")
        if not self._has(message, first, parts):
            shown = str(sorted(parts))[:80]
            raise EvidenceError(f"node {first} cannot send parts {shown} of message {message} yet")
        self._received[self._step + ticks - 1].append((message, last, parts))

    def end_step(self) -> None:
        """Give the receivers of the step their new values."""
        # Larger sums first, so that a sum inside another one of the same step is nothing new.
        received = self._received.pop(self._step, [])
        self._step += 1
        for message, node, parts in sorted(received, key=lambda entry: -len(entry[2])):
            values = self._values[message, node]
            if parts <= frozenset().union(*values):
                raise EvidenceError(f"node {node} has these parts of message {message} already")
            if any(parts & value and not value <= parts for value in values):
                raise EvidenceError(f"node {node} would count a part of message {message} twice")
            values.add(parts)

    def end(self) -> None:
        """Check that every destination or member has the sum that it needs, of what it holds."""
        if self._received:
            raise EvidenceError("a message is still under way after the last step")
        for message, members in enumerate(self._members):
            for node in members:
                if not self._has(message, node, self._needed(message, node)):
                    raise EvidenceError(f"node {node} has not all parts of message {message}")

    def _needed(self, message: int, node: int) -> Parts:
        """Return the parts that a node needs: none if it is no destination or member."""
        takes_part, kind = node in self._members[message], self._network.kind
        if takes_part and kind in ("scan", "exscan"):
            members = self._network.members[message]
            return frozenset(members[: members.index(node) + (kind == "scan")])
        return self._sums[message] if takes_part else frozenset()

    def _has(self, message: int, node: int, parts: Parts) -> bool:
        """Return whether values of the node add up to these parts."""
        # Values are disjoint or nested, so the union of those inside is the sum of the largest.
        return frozenset().union(*(v for v in self._values[message, node] if v <= parts)) == parts
