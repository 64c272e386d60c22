"""What the referee reports: the rules by name, a violation, and the words for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from cchybrid.model import Instance, Steps, Transfer

RULES: dict[str, str] = {
    "empty-step": "every step moves at least one message",
    "unknown-message": "a transfer carries a message of the collective",
    "path-too-short": "a path has at least two nodes",
    "no-such-node": "a path names nodes of the network",
    "no-such-channel": "every hop of a path is a channel of the network",
    "path-not-simple": "a path visits no node twice",
    "passes-endpoint": "a path begins or ends at an endpoint, it never passes one",
    "path-too-long": "a path exceeds the shortest by no more hops than the routing allows",
    "not-one-hop": "under store-and-forward a transfer is one hop",
    "channel-overload": "a channel carries no more messages in a step than its capacity",
    "half-duplex-overload": "both directions of a half-duplex link share its capacity",
    "inject-overload": "a node injects no more messages in a step than it has ports",
    "accept-overload": "a node accepts no more messages in a step than it has ports",
    "not-informed": "a node sends what it holds since an earlier step "
    "(combine: it receives parts only before its own part leaves)",
    "not-a-destination": "under wormhole only destinations receive a message "
    "(combine: only sources send)",
    "received-twice": "nobody receives a message that it holds already "
    "(combine: nobody sends its part twice)",
    "missing-destination": "every destination has the message in the end "
    "(combine: the part of every source has left it)",
}
"""Every rule by its stable name, as one line that says what is right."""


@dataclass(frozen=True)
class Violation:
    """One breach of one rule.

    Parameters
    ----------
    rule
        A key of ``RULES``.
    step, transfer
        Indices, from 0: the transfer is ``steps[step][transfer]``; -1 where none is to blame. Of
        an overload, the first transfer beyond the limit.
    message
        The message as the transfer names it; -1 where none is concerned.
    place
        The node, channel or path concerned, such as ``node 4`` or ``channel 3->4``; may be "".
    text
        The sentence for people, which counts steps and transfers from 1 (nodes and messages are
        called by the numbers that the file gives them, from 0).
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
    """Collects violations, in the user's words and numbers.

    The referee speaks of steps and transfers as it reads them: a ``combine`` schedule backwards.
    All turning back to what the user wrote happens here.
    """

    def __init__(self, instance: Instance, steps: Steps) -> None:
        self.instance, self.steps = instance, steps
        self.backwards = instance.collective.kind == "combine"
        self.violations: list[Violation] = []
        self._tell: dict[str, Callable[[Transfer, int], tuple[str, str]]] = {
            "unknown-message": self._no_message,
            "path-too-short": self._too_short,
            "no-such-node": self._no_node,
            "no-such-channel": self._no_channel,
            "path-not-simple": self._not_simple,
            "passes-endpoint": self._passes,
            "path-too-long": self._too_long,
            "not-one-hop": self._not_one_hop,
            "not-informed": self._uninformed,
            "not-a-destination": self._stranger,
            "received-twice": self._twice,
        }

    def written(self, step: int, transfer: int) -> Transfer:
        """Return the transfer that the referee calls so as the user wrote it."""
        return Transfer(*self.steps[self._user_step(step)][transfer])

    def transfer(self, rule: str, step: int, transfer: int, fact: int = -1) -> None:
        """Add a violation by one transfer.

        ``fact`` is for ``path-too-long`` the number of hops allowed, for ``not-informed`` the step
        that informs the sender (-1: none), for ``received-twice`` 1 if the receiver is the source.
        """
        written = self.written(step, transfer)
        place, text = self._tell[rule](written, fact)
        self._add(rule, step, transfer, written.message, place, text)

    def overload(self, rule: str, place: str, step: int, transfers: list[int], limit: int) -> None:
        """Add a violation by the transfers of one step that use a place more often than allowed."""
        messages = [_show(self.written(step, transfer).message) for transfer in transfers[:6]]
        more = ", ..." if len(transfers) > 6 else ""
        verb = {"inject-overload": "injects", "accept-overload": "accepts"}.get(rule, "carries")
        text = (
            f"{place} {verb} {len(transfers)} messages, {limit} at most "
            f"(messages {', '.join(messages)}{more})"
        )
        excess = transfers[limit]
        self._add(rule, step, excess, self.written(step, excess).message, place, text)

    def empty_step(self, step: int) -> None:
        """Add a violation by a step without transfers."""
        self._add("empty-step", step, -1, -1, "", "nothing is sent")

    def missing(self, message: int, node: int) -> None:
        """Add a violation by a message that does not reach one of its destinations."""
        text = f"message {message} never reaches its destination {node}"
        if self.backwards:
            text = f"source {node} never sends its part of message {message}"
        self._add("missing-destination", -1, -1, message, f"node {node}", text)

    def sorted(self) -> tuple[Violation, ...]:
        """Return the violations by step and transfer; what concerns more than these comes after."""
        rank = {rule: index for index, rule in enumerate(RULES)}
        end = len(self.steps)

        def key(violation: Violation) -> tuple[int, bool, int, int]:
            step = violation.step if violation.step >= 0 else end
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

    # Place and words for one transfer as the user wrote it.

    def _no_message(self, sent: Transfer, _: int) -> tuple[str, str]:
        name, last = f"message {_show(sent.message)}", len(self.instance.collective.messages) - 1
        return name, f"there is no {name}, the collective has 0 to {last}"

    def _too_short(self, sent: Transfer, _: int) -> tuple[str, str]:
        return "", f"{_path(sent)} has too few nodes ({len(sent.path)}), it takes two or more"

    def _no_node(self, sent: Transfer, _: int) -> tuple[str, str]:
        nodes = self.instance.network.nodes
        place = f"node {next(_show(node) for node in sent.path if not 0 <= node < nodes)}"
        return place, f"{_path(sent)} names {place}, the network has 0 to {nodes - 1}"

    def _no_channel(self, sent: Transfer, _: int) -> tuple[str, str]:
        nodes, channels = self.instance.network.nodes, self.instance.network.channel_index
        a, b = next(
            (a, b)
            for a, b in pairwise(sent.path)
            if a != b and 0 <= a < nodes and 0 <= b < nodes and (a, b) not in channels
        )
        place = f"channel {a}->{b}"
        return place, f"{_path(sent)} takes {place}, which the network does not have"

    def _not_simple(self, sent: Transfer, _: int) -> tuple[str, str]:
        seen: set[int] = set()
        for node in sent.path:
            if node in seen and 0 <= node < self.instance.network.nodes:
                break
            seen.add(node)
        return f"node {node}", f"{_path(sent)} visits node {node} twice"

    @cached_property
    def _endpoints(self) -> frozenset[int]:
        return frozenset(self.instance.network.endpoints)

    def _passes(self, sent: Transfer, _: int) -> tuple[str, str]:
        place = f"node {next(node for node in sent.path[1:-1] if node in self._endpoints)}"
        return place, f"{_path(sent)} passes {place}, which is an endpoint and cannot switch"

    def _too_long(self, sent: Transfer, fact: int) -> tuple[str, str]:
        place = f"path {sent.path[0]}->{sent.path[-1]}"
        return place, f"{_path(sent)} has {len(sent.path) - 1} hops, the routing allows {fact}"

    def _not_one_hop(self, sent: Transfer, _: int) -> tuple[str, str]:
        place = f"path {_show(sent.path[0])}->{_show(sent.path[-1])}"
        hops = len(sent.path) - 1
        return place, f"{_path(sent)} has {hops} hops, store-and-forward allows one in a step"

    def _uninformed(self, sent: Transfer, fact: int) -> tuple[str, str]:
        step = self._user_step(fact) + 1
        if self.backwards:
            place, does = f"node {sent.path[-1]}", "receives a part of"
            why = f"sends its own in step {step}" if fact >= 0 else "never sends its own"
        else:
            place, does = f"node {sent.path[0]}", "sends"
            why = f"receives it only in step {step}" if fact >= 0 else "never receives it"
        return place, f"{place} {does} message {sent.message} but {why}"

    def _stranger(self, sent: Transfer, _: int) -> tuple[str, str]:
        if self.backwards:
            place = f"node {sent.path[0]}"
            return place, f"{place} sends a part of message {sent.message} but is no source of it"
        place = f"node {sent.path[-1]}"
        return place, f"{place} receives message {sent.message} but is no destination of it"

    def _twice(self, sent: Transfer, fact: int) -> tuple[str, str]:
        if self.backwards:
            place, does, own = f"node {sent.path[0]}", "sends a part of", "is its destination"
            again = f"{place} sends its part of message {sent.message} more than once"
        else:
            place, does, own = f"node {sent.path[-1]}", "receives", "is its source"
            again = f"{place} receives message {sent.message} more than once"
        return place, f"{place} {does} message {sent.message} but {own}" if fact == 1 else again


def _path(sent: Transfer) -> str:
    return f"the path of message {_show(sent.message)}"


def _show(number: int) -> str:
    """Return a number that a file may hold, short enough for a line."""
    return str(number) if number.bit_length() <= 64 else f"(a number of {number.bit_length()} bits)"
