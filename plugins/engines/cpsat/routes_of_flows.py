"""Flow decomposition: an integer flow becomes paths, one per message."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import networkx as nx

Place = TypeVar("Place")


class Hop(NamedTuple):
    """A transfer: a message takes a path in a step."""

    message: int
    path: tuple[int, ...]
    step: int


Amounts = Counter[tuple[int, int, int]]
"""The number of messages of one source that go from a node to a node in a step."""


def direct_routes(
    amount: Amounts,
    source: int,
    goals: Mapping[int, Sequence[int]],
    arrive: Mapping[tuple[int, int], int],
) -> list[Hop]:
    """Return a simple path per message; cycles of the flow are dropped.

    Parameters
    ----------
    amount
        The flow; reduced to 0 along the paths.
    goals
        The messages for every destination.
    arrive
        The number of messages that reach a destination (first key) in a step (second key).
    """
    found = []
    left = {goal: list(messages) for goal, messages in goals.items()}
    for (goal, step), count in arrive.items():
        for _ in range(count):
            arcs = [(a, b) for (a, b, when), flow in amount.items() if when == step and flow > 0]
            path = tuple(_search(arcs, source, goal))
            for a, b in pairwise(path):
                amount[a, b, step] -= 1
            found.append(Hop(left[goal].pop(), path, step))
    return found


def waiting_routes(
    amount: Amounts, source: int, goals: Mapping[int, Sequence[int]], steps: int
) -> list[Hop]:
    """Return the hops of all messages, which wait at nodes between them.

    Parameters
    ----------
    amount
        The flow; reduced to 0 along the paths.
    goals
        The messages for every destination.
    steps
        Steps of the schedule.
    """
    amount.update(_held(amount, source, steps))
    for step in range(steps):
        amount[source, source, step] = sum(map(len, goals.values()))
    found = []
    for goal, messages in goals.items():
        for message in messages:
            arcs = [((a, step), (b, step + 1)) for (a, b, step), flow in amount.items() if flow > 0]
            trace = _search(arcs, (source, 0), (goal, steps))
            for (a, step), (b, _) in pairwise(trace):
                amount[a, b, step] -= 1
            found += _hops(message, trace)
    return found


def _held(amount: Amounts, source: int, steps: int) -> Amounts:
    """Return the messages that each node but the source keeps in a step, as a flow to itself."""
    held: Amounts = Counter()
    nodes = {node for a, b, _ in amount for node in (a, b)} - {source}
    for node in nodes:
        count = 0
        for step in range(steps):
            count -= sum(n for (a, _, when), n in amount.items() if a == node and when == step)
            held[node, node, step] = count
            count += sum(n for (_, b, when), n in amount.items() if b == node and when == step)
    return held


def _hops(message: int, trace: Sequence[tuple[int, int]]) -> list[Hop]:
    """Return the hops of a walk in the time-expanded network, without its loops."""
    last = {node: place for place, (node, _) in enumerate(trace)}
    found: list[Hop] = []
    place = 0
    while True:
        place = last[trace[place][0]]
        if place == len(trace) - 1:
            return found
        (a, step), (b, _) = trace[place], trace[place + 1]
        found.append(Hop(message, (a, b), step))
        place += 1


def _search(arcs: Iterable[tuple[Place, Place]], start: Place, end: Place) -> list[Place]:
    """Return a path with the fewest hops, by breadth-first search; a flow always has one."""
    path: list[Place] = nx.single_source_shortest_path(nx.DiGraph(arcs), start)[end]
    return path
