"""Sums of an allreduce or a scan: the parts that every node holds, by the checker's own rules.

A node holds values: its own part, and every sum that it has received. Two values of a node are
disjoint, or one contains the other, so no part is ever counted twice.
"""

from __future__ import annotations

from cchybrid.checker.instance import EvidenceError, Network

Parts = frozenset[int]


class PartialSums:
    """Values of all nodes while the steps of a schedule are checked one after another."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._members = list(map(frozenset, network.members))
        self._values: dict[tuple[int, int], set[Parts]] = {
            (message, node): {frozenset([node])}
            for message, members in enumerate(network.members)
            for node in members
        }
        self._received: list[tuple[int, int, Parts]] = []

    def send(self, message: int, first: int, last: int, parts: Parts) -> None:
        """Check one transfer, which carries the parts of these members as one sum."""
        if not parts or not parts <= self._members[message]:
            raise EvidenceError("a sum without parts, or of a node that is no member")
        if not self._network.hop_by_hop and not parts <= self._needed(message, last):
            raise EvidenceError(f"node {last} does not need all these parts of message {message}")
        inside = [value for value in self._values.get((message, first), ()) if value <= parts]
        # The values inside are disjoint or nested, so their union is the sum of the largest ones.
        if frozenset().union(*inside) != parts:
            shown = str(sorted(parts))[:80]
            raise EvidenceError(f"node {first} cannot add up {shown} of message {message} yet")
        self._received.append((message, last, parts))

    def end_step(self) -> None:
        """Give the receivers of the step their new values."""
        # Larger sums first, so that a sum inside another one of the same step is nothing new.
        for message, node, parts in sorted(self._received, key=lambda entry: -len(entry[2])):
            values = self._values.setdefault((message, node), set())
            if parts <= frozenset().union(*values):
                raise EvidenceError(f"node {node} has these parts of message {message} already")
            if any(parts & value and not value <= parts for value in values):
                raise EvidenceError(f"node {node} would count a part of message {message} twice")
            values.add(parts)
        self._received.clear()

    def end(self) -> None:
        """Check that every member has the sum that it needs, of values that it holds."""
        for message, members in enumerate(self._members):
            for node in members:
                needed = self._needed(message, node)
                inside = [value for value in self._values[message, node] if value <= needed]
                if frozenset().union(*inside) != needed:
                    raise EvidenceError(f"node {node} has not all parts of message {message}")

    def _needed(self, message: int, node: int) -> Parts:
        """Return the members whose parts a node needs: none if it is no member."""
        members = self._network.members[message]
        if node not in members:
            return frozenset()
        place = members.index(node)
        return frozenset(members[: {"scan": place + 1, "exscan": place}.get(self._network.kind)])
