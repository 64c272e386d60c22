"""Nested sets against the theorem read plainly: sets as sets, channels counted one by one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from cchybrid.checker import nested_sets
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.nested_sets import nested_set_steps
from tests.checker.by_hand import network as by_hand


def random_network(rng: random.Random) -> Network:
    """Return a tree with some channels more, many of them at times from node 0, and one message."""
    nodes = rng.randrange(3, 12)
    channels = {}
    for node in range(1, nodes):
        other = rng.randrange(max(0, node - 3), node)
        channels[node, other] = channels[other, node] = rng.choice((1, 1, 1, 2, 3))
    if rng.random() < 0.5:
        near = [node for node in range(1, nodes) if rng.random() < 0.7]
        channels.update({(0, node): rng.choice((1, 4)) for node in near})
    for _ in range(rng.randrange(6)):
        a, b = rng.sample(range(nodes), 2)
        channels[a, b] = rng.choice((1, 2))
    source = rng.choice((0, 0, rng.randrange(nodes)))
    goals = [node for node in range(nodes) if node != source]
    if rng.random() < 0.5:
        goals = rng.sample(goals, rng.randrange(1, nodes))
    some = [rng.randrange(1, 4) for _ in range(nodes)]
    ports = rng.choice(("all", 1, 2, some, [1] + [9] * (nodes - 1)))
    if rng.random() < 0.05:
        ports = [rng.randrange(2) for _ in range(nodes)]
    return by_hand(
        [(a, b, c) for (a, b), c in channels.items()], (source, goals), nodes=nodes,
        switching=rng.choice(("wormhole", "store-and-forward")),
        ports={"inject": ports, "accept": "all"},
    )  # fmt: skip


def random_sets(network: Network, rng: random.Random) -> list[list[int]]:
    """Return rows of evidence: some of the nodes, in a random tree of sets, none of them empty."""
    others = [node for node in range(network.nodes) if node != network.messages[0][0]]
    rng.shuffle(others)
    count = rng.randrange(1, min(5, len(others) + 1))
    rows = [[rng.randrange(number), others.pop()] for number in range(1, count + 1)]
    for node in others:
        number = rng.randrange(count + 1)
        if number:
            rows[number - 1].append(node)
    return rows


def plain_steps(network: Network, rows: list[list[int]]) -> int | str:
    """Return T of all nodes but the source, or the error."""
    source, destinations = network.messages[0]
    hop_by_hop = network.hop_by_hop
    holders = set(range(network.nodes)) if hop_by_hop else {source, *destinations}
    own: dict[int, set[int]] = {k: set(row[1:]) for k, row in enumerate(rows, 1)}
    inside = {k: [j for j, row in enumerate(rows, 1) if row[0] == k] for k in range(len(rows) + 1)}
    listed = set().union(*own.values())
    own[0] = set(range(network.nodes)) - listed - {source}

    def members(number: int) -> set[int]:
        return own[number].union(*map(members, inside[number]))

    def ports(nodes: set[int]) -> int:
        return sum(network.inject[node] for node in nodes & holders)

    def carried(senders: set[int], receivers: set[int]) -> int:
        used = [hop for hop in network.channels if hop[0] in senders and hop[1] in receivers]
        if hop_by_hop:
            return sum(min(network.inject[a], n) for a, n in Counter(a for a, _ in used).items())
        return sum(network.channels[hop] for hop in used)

    def leaving(nodes: set[int]) -> int:
        sizes = [c for (a, b), c in network.channels.items() if a in nodes and b not in nodes]
        return len(sizes) if hop_by_hop else sum(sizes)

    def bound(number: int) -> int:
        everyone = members(number)
        rest = set(range(network.nodes)) - everyone
        parts = [({node}, int(node in destinations)) for node in sorted(own[number] & holders)]
        parts += [(members(k), bound(k)) for k in inside[number]]
        longest = sorted((t for _, t in parts if t), reverse=True)
        if not longest:
            raise EvidenceError("a set without a destination")
        beside = sorted(
            (min(ports(nodes), carried(nodes, everyone - nodes)) for nodes, _ in parts),
            reverse=True,
        )
        out = sorted((min(ports(nodes), leaving(nodes)) for nodes, _ in parts), reverse=True)
        into, outside = carried(rest, everyone), ports(rest)
        steps = later = reached = 0
        while reached < len(longest):
            steps = max(steps, later + longest[reached])
            new = min(into + sum(beside[:reached]), outside + sum(out[:reached]))
            if not new:
                raise EvidenceError("the informed set does not grow")
            reached += new
            later += 1
        if hop_by_hop:
            steps = max([steps, *(1 + t for nodes, t in parts if not leaving_to(rest, nodes))])
        return steps

    def leaving_to(senders: set[int], receivers: set[int]) -> bool:
        return any(a in senders and b in receivers for a, b in network.channels)

    try:
        # Inner sets come last in the evidence and are looked at first.
        for number in reversed(range(len(rows) + 1)):
            found = bound(number)
    except EvidenceError as error:
        return str(error)
    return found


def steps_or_error(network: Network, rows: Any, message: Any = 0) -> int | str:
    try:
        return nested_set_steps(network, {"message": message, "sets": rows})
    except EvidenceError as error:
        return str(error)


def test_the_theorem_read_plainly() -> None:
    rng = random.Random(0)
    found = set()
    for _ in range(400):
        network = random_network(rng)
        rows = random_sets(network, rng)
        steps = steps_or_error(network, rows)
        assert steps == plain_steps(network, rows), (network._record, rows)
        found.add(steps)
    assert {1, 2, 3, 4, "a set without a destination"} <= found


def line() -> Network:
    return by_hand([(0, 1), (1, 2), (2, 3)], (0, [1, 2, 3]))


def test_one_channel_after_the_other() -> None:
    # Three nodes behind one channel, each of which has one channel on.
    for rows in ([[0, 1, 2, 3]], [[0, 1], [0, 2, 3]], [[0, 1], [0, 2], [2, 3]], []):
        assert steps_or_error(line(), rows) == 2
    no_port = line()
    no_port.inject = [0] * 4
    assert steps_or_error(no_port, [[0, 1, 2, 3]]) == "the informed set does not grow"


def test_ports_inside_a_set_send_no_more_than_leaves_it() -> None:
    """Each of four destinations sends to a node without ports beside it, and to the next one.

    The source has one port, so one destination is informed, then two by it and the first, then
    the last one; with both ports of the first, two steps would be enough.
    """
    first, second = range(1, 5), range(5, 9)
    channels = [[0, node, 5] for node in first]
    channels += [[a, b] for a, b in zip(first, second, strict=True)]
    channels += [[1, 2], [2, 3], [3, 4], [4, 1]]
    ports = {"inject": [1, 2, 2, 2, 2, 0, 0, 0, 0], "accept": "all"}
    network = by_hand(channels, (0, [1, 2, 3, 4]), ports=ports)
    rows = [[0, a, b] for a, b in zip(first, second, strict=True)]
    assert steps_or_error(network, rows) == plain_steps(network, rows) == 3


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (None, "a list is missing"),
        ({0: [0, 1]}, "a list is missing"),
        ([[]], "a row of the evidence has the wrong length"),
        ([[0, 1, 2, 3, 1]], "a row of the evidence has the wrong length"),
        ([(0, 1)], "a list is missing"),
        ([[0, True]], "'True' is no whole number from 0 to 10^40"),
        ([[0, 1], [0, "2"]], "'2' is no whole number from 0 to 10^40"),
        ([[-1, 1]], "'-1' is no whole number from 0 to 10^40"),
        ([[0, -1]], "'-1' is no whole number from 0 to 10^40"),
        ([[1, 1]], "a set inside another one that does not precede it"),
        ([[0, 1], [2, 2]], "a set inside another one that does not precede it"),
        ([[0, 0]], "a set with the source, or with a node that does not exist"),
        ([[0, 4]], "a set with the source, or with a node that does not exist"),
        ([[0, 1, 1]], "a node is listed twice"),
        ([[0, 1], [0, 2, 1]], "a node is listed twice"),
        ([[0]], "a set without a destination"),
    ],
)
def test_what_are_no_sets(rows: Any, text: str) -> None:
    assert steps_or_error(line(), rows) == text


def test_messages() -> None:
    assert steps_or_error(line(), [[0, 1]], 1) == "a message that the collective does not have"
    assert steps_or_error(line(), [[0, 1]], None).startswith("'None' is no whole number")


def test_crossings_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sets, one of them that of all nodes but the source, four nodes, three channels."""
    rows = [[0, 1, 2, 3]]
    monkeypatch.setattr(nested_sets, "MAX_CROSSINGS", 14)
    assert steps_or_error(line(), rows) == 2
    monkeypatch.setattr(nested_sets, "MAX_CROSSINGS", 13)
    with pytest.raises(TooLargeError, match="too many nodes and channels beside the sets"):
        nested_set_steps(line(), {"message": 0, "sets": rows})
