"""The checker's own verification of a schedule.

The same rules as in ``cchybrid.referee.verify``, implemented without shared code.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.reading import read_network, read_steps, read_sums
from cchybrid.checker.routes import is_allowed
from cchybrid.checker.sums import PartialSums

Moves = list[list[tuple[int, tuple[int, ...]]]]


class _Copies:
    """The nodes that have each message, while the steps of a schedule are checked."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._has = [{source} for source, _ in network.messages]
        self._received: list[tuple[int, int]] = []

    def send(self, step: int, slot: int, message: int, first: int, last: int) -> None:
        if first not in self._has[message]:
            _refuse(step, f"node {first} does not have message {message} yet")
        if not self._network.hop_by_hop and last not in self._network.messages[message][1]:
            _refuse(step, f"node {last} is no destination of message {message}")
        self._received.append((message, last))

    def end_step(self, step: int) -> None:
        for message, node in self._received:
            if node in self._has[message]:
                _refuse(step, f"node {node} has message {message} already")
            self._has[message].add(node)
        self._received.clear()

    def end(self) -> None:
        for message, (_, destinations) in enumerate(self._network.messages):
            if not self._has[message].issuperset(destinations):
                raise EvidenceError(f"the schedule does not bring message {message} everywhere")


def checked_schedule(record: Any) -> tuple[Network, Moves]:
    """Return the network and the steps of a schedule object, which is valid.

    Raises
    ------
    EvidenceError
        It is not; the error says why. Steps are counted as they are checked: those of a
        ``combine`` collective backwards, like its network.
    """
    steps = forward = read_steps(record)
    network = read_network(record.get("instance"))
    require(network, "schedule")
    if network.backwards:
        forward = [[(message, path[::-1]) for message, path in step] for step in reversed(steps)]
    holds = PartialSums(network, read_sums(record)) if network.members else _Copies(network)
    allowed: dict[tuple[int, ...], bool] = {}
    for number, step in enumerate(forward, 1):
        if not step and len(network.rounds) == 1:
            _refuse(number, "the step is empty")
        used: Counter[tuple[str, int, int]] = Counter()
        for slot, (message, path) in enumerate(step):
            if message >= len(network.messages) or len(path) < 2:
                _refuse(number, "an invalid transfer")
            if any(node >= network.nodes for node in path):
                _refuse(number, "a node that the network does not have")
            if path not in allowed:
                allowed[path] = is_allowed(network, path)
            if not allowed[path]:
                _refuse(number, f"the path {str(list(path))[:80]} is not allowed")
            first, last = path[0], path[-1]
            holds.send(number, slot, message, first, last)
            used["inject", first, 0] += 1
            used["accept", last, 0] += 1
            for a, b in pairwise(path):
                used["channel", *network.link(a, b)] += 1
        for (kind, a, b), times in used.items():
            limit = network.channels[a, b] if kind == "channel" else getattr(network, kind)[a]
            if times > network.in_step(number, limit):
                _refuse(number, "more than the capacity of a channel or port")
        holds.end_step(number)
    holds.end()
    return network, steps


def _refuse(step: int, text: str) -> None:
    raise EvidenceError(f"the schedule is not valid: step {step} read forwards: {text}")
