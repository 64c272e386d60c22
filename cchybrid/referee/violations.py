"""The rules of the referee by name, violations, and their texts."""

from dataclasses import dataclass
from itertools import pairwise

from cchybrid.model import Instance, Steps, Transfer

RULES: dict[str, str] = {
    "empty-step": "every step moves at least one message, unless steps have different numbers of "
    "rounds or are time slots or ticks",
    "unknown-message": "a transfer carries a message of the collective",
    "path-too-short": "a path has at least two nodes",
    "no-such-node": "a path names nodes of the network",
    "no-such-channel": "every hop of a path is a channel of the network",
    "path-not-simple": "a path visits no node twice",
    "passes-endpoint": "a path begins or ends at an endpoint, but never passes one",
    "path-too-long": "a path exceeds the shortest by no more hops than the routing allows",
    "path-off-table": "the path between two nodes is the one that the routing table gives",
    "ends-too-late": "a transfer ends within the steps of the schedule (ticks)",
    "not-one-hop": "under store-and-forward a transfer is one hop",
    "channel-overload": "a channel carries no more messages in a step than its capacity "
    "(tdm: a message uses the channels of its path in consecutive steps; the last step is followed "
    "by the first)",
    "half-duplex-overload": "both directions of a half-duplex link share its capacity",
    "group-overload": "the channels of a group share their capacity",
    "inject-overload": "a node injects no more messages in a step than it has ports",
    "accept-overload": "a node accepts no more messages in a step than it has ports "
    "(tdm: in the step of the last channel of the path)",
    "not-informed": "a node sends what it holds since an earlier step "
    "(tdm: what reaches it from the source, in any slots; combine: it receives parts only before "
    "its own part leaves; allreduce, scan: it sends a sum of values that it holds)",
    "not-a-destination": "under wormhole and tdm only destinations receive a message "
    "(combine: only sources send; allreduce, scan: only members receive, and only "
    "parts that they need)",
    "received-twice": "no node receives a message that it holds already "
    "(combine: no node sends its part twice; allreduce, scan: every receipt brings a new "
    "part)",
    "missing-destination": "every destination has the message in the end "
    "(combine: the part of every source has left it; allreduce, scan: every member has "
    "its whole sum)",
    "no-such-part": "the sum that a transfer of an allreduce or a scan carries adds up parts of "
    "members, each once",
    "counted-twice": "no node of an allreduce or a scan receives a sum that shares parts with "
    "another one that it holds, unless it contains that one",
}
"""Every rule by its stable name, as one line."""


@dataclass(frozen=True)
class Violation:
    """One breach of one rule.

    Parameters
    ----------
    rule
        A key of ``RULES``.
    step, transfer
        Indices, from 0: the transfer is ``steps[step][transfer]``; -1 if there is none. For
        an overload, the first transfer beyond the limit.
    message
        The message number of the transfer; -1 if there is none.
    place
        The node, channel or path concerned, such as ``node 4`` or ``channel 3->4``; may be "".
    text
        The violation as a sentence, which counts steps and transfers from 1 (messages from 0, as in
        the file) and has the names of nodes.
    """

    rule: str
    step: int
    transfer: int
    message: int
    place: str
    text: str

    def __str__(self) -> str:
        return self.text


class Report:
    """Collector of violations, in the user's words and numbers.

    The referee reads a ``combine`` schedule backwards; the numbers of its steps and transfers are
    converted back to those of the user here.
    """

    def __init__(self, instance: Instance, steps: Steps) -> None:
        self.instance, self.steps = instance, steps
        self.backwards = instance.collective.kind == "combine"
        self.violations: list[Violation] = []
        self._endpoints = frozenset(instance.network.endpoints)

    def node(self, node: int) -> str:
        """Return a node by its name, or its number if it has none, or is none."""
        network = self.instance.network
        known = 0 <= node < network.nodes
        return network.node_name(node) if known else shown_number(node)

    def written(self, step: int, transfer: int) -> Transfer:
        """Return the user's transfer for a step and transfer of the referee."""
        return Transfer(*self.steps[self._user_step(step)][transfer])

    def transfer(self, rule: str, step: int, transfer: int, fact: int = -1) -> None:
        """Add a violation by one transfer.

        ``fact`` is for ``path-too-long`` the number of hops allowed, for ``not-informed`` the step
        that informs the sender (-1: none; -2, in time slots: one of a cycle), for
        ``received-twice`` 1 if the receiver is the source.
        """
        written = self.written(step, transfer)
        place, text = self._words(rule, written, fact)
        self._add(rule, step, transfer, written.message, place, text)

    def worded(self, rule: str, step: int, transfer: int, place: str, text: str) -> None:
        """Add a violation by one transfer, with its text."""
        self._add(rule, step, transfer, self.written(step, transfer).message, place, text)

    def overload(
        self, rule: str, place: str, step: int, transfers: list[tuple[int, int]], limit: int
    ) -> None:
        """Add a violation by transfers that use a resource above its limit in one step.

        Of each transfer its own step, and its index there; in time slots it may begin earlier.
        """
        messages = [shown_number(self.written(*transfer).message) for transfer in transfers[:6]]
        more = ", ..." if len(transfers) > 6 else ""
        verb = {"inject-overload": "injects", "accept-overload": "accepts"}.get(rule, "carries")
        slot = f" in slot {step + 1}" if self.instance.model.periodic else ""
        slot = f" in tick {step + 1}" if self.instance.network.times else slot
        text = (
            f"{place} {verb} {len(transfers)} messages{slot}, {limit} at most "
            f"(messages {', '.join(messages)}{more})"
        )
        excess = transfers[limit]
        self._add(rule, *excess, self.written(*excess).message, place, text)

    def empty_step(self, step: int) -> None:
        """Add a violation by a step without transfers."""
        self._add("empty-step", step, -1, -1, "", "nothing is sent")

    def missing(self, message: int, node: int) -> None:
        """Add a violation by a message that does not reach one of its destinations."""
        name = self.node(node)
        text = f"message {message} never reaches its destination {name}"
        if self.backwards:
            text = f"source {name} never sends its part of message {message}"
        if self.instance.collective.with_sums:
            text = f"member {name} never has its whole sum of message {message}"
        self._add("missing-destination", -1, -1, message, f"node {name}", text)

    def sorted(self) -> tuple[Violation, ...]:
        """Return the violations by step and transfer; those without one come after."""
        rank = {rule: index for index, rule in enumerate(RULES)}
        last = len(self.steps)

        def key(violation: Violation) -> tuple[int, bool, int, int]:
            step = violation.step if violation.step >= 0 else last
            return step, violation.transfer < 0, violation.transfer, rank[violation.rule]

        return tuple(sorted(self.violations, key=key))

    def _add(
        self, rule: str, step: int, transfer: int, message: int, place: str, text: str
    ) -> None:
        if step >= 0:
            step = self._user_step(step)
            where = (
                f"step {step + 1}, transfer {transfer + 1}" if transfer >= 0 else f"step {step + 1}"
            )
            text = f"{where}: {text}"
        self.violations.append(Violation(rule, step, transfer, message, place, text))

    def _user_step(self, step: int) -> int:
        return len(self.steps) - 1 - step if self.backwards else step

    def _words(self, rule: str, sent: Transfer, fact: int) -> tuple[str, str]:
        """Return place and text for one transfer of the user."""
        network, message, nodes = self.instance.network, shown_number(sent.message), sent.path
        path, hops = f"the path of message {message}", len(nodes) - 1
        match rule:
            case "unknown-message":
                place, last = f"message {message}", len(self.instance.collective.messages) - 1
                return place, f"there is no {place}, the collective has 0 to {last}"
            case "path-too-short":
                return "", f"{path} has too few nodes ({len(nodes)}), it takes two or more"
            case "no-such-node":
                wrong = next(node for node in nodes if not 0 <= node < network.nodes)
                place = f"node {shown_number(wrong)}"
                return place, f"{path} names {place}, the network has 0 to {network.nodes - 1}"
            case "no-such-channel":
                inside = range(network.nodes)
                ends = (
                    (a, b) for a, b in pairwise(nodes) if a != b and a in inside and b in inside
                )
                a, b = next(hop for hop in ends if hop not in network.channel_index)
                place = f"channel {self.node(a)}->{self.node(b)}"
                return place, f"{path} takes {place}, which the network does not have"
            case "path-not-simple":
                twice = (node for k, node in enumerate(nodes) if node in nodes[:k])
                place = f"node {self.node(next(n for n in twice if 0 <= n < network.nodes))}"
                return place, f"{path} visits {place} twice"
            case "passes-endpoint":
                passed = next(node for node in nodes[1:-1] if node in self._endpoints)
                place = f"node {self.node(passed)}"
                return place, f"{path} passes {place}, which is an endpoint and cannot switch"
            case "path-too-long":
                place = f"path {self.node(nodes[0])}->{self.node(nodes[-1])}"
                return place, f"{path} has {hops} hops, the routing allows {fact}"
            case "path-off-table":
                place = f"path {self.node(nodes[0])}->{self.node(nodes[-1])}"
                return place, f"{path} is not the one that the routing table gives"
            case "ends-too-late":
                return "", f"message {message} is still under way after the last step"
            case "not-one-hop":
                place = f"path {self.node(nodes[0])}->{self.node(nodes[-1])}"
                return place, f"{path} has {hops} hops, store-and-forward allows one in a step"
        # The remaining rules are about sender and receiver, exchanged if the collective combines.
        sender, receiver = self.node(nodes[0]), self.node(nodes[-1])
        sends, receives = "sends message", "receives message"
        source, goal, again = "source", "destination", receives
        if self.backwards:
            sender, receiver, sends, receives = (
                receiver,
                sender,
                "receives a part of message",
                "sends a part of message",
            )
            source, goal, again = "destination", "source", "sends its part of message"
        if rule == "not-informed":
            informed = "sends its own" if self.backwards else "receives it"
            when = f"in step {self._user_step(fact) + 1}"
            known = f"never {informed}"
            if fact == -2:
                known = f"{informed} only in a cycle"
            if fact >= 0:
                known = f"{informed} {when}" if self.backwards else f"{informed} only {when}"
            return f"node {sender}", f"node {sender} {sends} {message} but {known}"
        place = f"node {receiver}"
        if rule == "not-a-destination":
            return place, f"{place} {receives} {message} but is no {goal} of it"
        if fact == 1:
            return place, f"{place} {receives} {message} but is its {source}"
        return place, f"{place} {again} {message} more than once"


def shown_number(number: int) -> str:
    """Return a number of any size as a short text."""
    return str(number) if number.bit_length() <= 64 else f"(a number of {number.bit_length()} bits)"
