"""The checker's own verification of a schedule.

The same rules as in ``cchybrid.referee.verify``, implemented without shared code.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.routes import is_allowed

Moves = list[list[tuple[int, tuple[int, ...]]]]


def check_schedule(network: Network, steps: Moves) -> None:
    """Raise ``EvidenceError`` unless the steps are a valid schedule.

    ``steps`` are those of the file; for a ``combine`` collective they are read backwards, like the
    network.
    """
    if network.backwards:
        steps = [[(message, path[::-1]) for message, path in step] for step in reversed(steps)]
    has = [{source} for source, _ in network.messages]
    allowed: dict[tuple[int, ...], bool] = {}
    for number, step in enumerate(steps, 1):
        if not step and len(network.rounds) == 1:
            _refuse(number, "the step is empty")
        used: Counter[tuple[str, int, int]] = Counter()
        received: list[tuple[int, int]] = []
        for message, path in step:
            if message >= len(network.messages) or len(path) < 2:
                _refuse(number, "an invalid transfer")
            if any(node >= network.nodes for node in path):
                _refuse(number, "a node that the network does not have")
            if path not in allowed:
                allowed[path] = is_allowed(network, path)
            if not allowed[path]:
                _refuse(number, f"the path {list(path)} is not allowed")
            first, last = path[0], path[-1]
            if first not in has[message]:
                _refuse(number, f"node {first} does not have message {message} yet")
            if not network.hop_by_hop and last not in network.messages[message][1]:
                _refuse(number, f"node {last} is no destination of message {message}")
            received.append((message, last))
            used["inject", first, 0] += 1
            used["accept", last, 0] += 1
            for a, b in pairwise(path):
                used["channel", *network.link(a, b)] += 1
        for (kind, a, b), times in used.items():
            limit = network.channels[a, b] if kind == "channel" else getattr(network, kind)[a]
            if times > network.in_step(number, limit):
                _refuse(number, "more than the capacity of a channel or port")
        for message, node in received:
            if node in has[message]:
                _refuse(number, f"node {node} has message {message} already")
            has[message].add(node)
    for message, (_, destinations) in enumerate(network.messages):
        if not has[message].issuperset(destinations):
            raise EvidenceError(f"the schedule does not bring message {message} everywhere")


def _refuse(step: int, text: str) -> None:
    raise EvidenceError(f"the schedule is not valid: step {step} read forwards: {text}")
