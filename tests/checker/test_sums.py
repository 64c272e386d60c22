"""Sums of an allreduce, one transfer at a time."""

from __future__ import annotations

from typing import Any

import pytest

from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.sums import PartialSums
from tests.checker.by_hand import network


def sums(members: tuple[int, ...] = (0, 1, 2), **model: Any) -> PartialSums:
    """Return the values of two messages in a complete network of four, before the first step."""
    channels = [[a, b] for a in range(4) for b in range(4) if a != b]
    return PartialSums(network(channels, members, (0, 3), kind="allreduce", **model))


def after(held: PartialSums, *steps: list[tuple[int, int, int, set[int]]]) -> PartialSums:
    """Return the values after these steps of transfers: message, sender, receiver and parts."""
    for step in steps:
        for message, sender, receiver, parts in step:
            held.send(message, sender, receiver, frozenset(parts))
        held.end_step()
    return held


def refused(text: str) -> Any:
    return pytest.raises(EvidenceError, match=f"^{text}$")


def test_a_whole_allreduce() -> None:
    held = after(
        sums(),
        [(0, 1, 0, {1}), (0, 0, 1, {0}), (1, 3, 0, {3})],
        [(0, 2, 1, {2}), (0, 0, 2, {0, 1})],
        [(0, 1, 0, {0, 1, 2})],
    )
    with refused("node 3 has not all parts of message 1"):
        held.end()
    after(held, [(1, 0, 3, {0, 3})]).end()


CANNOT = "node {} cannot send parts {} of message 0 yet"
NO_SUM = "a sum without parts, or of a node that is no member"
OWN: list[tuple[int, int, int, set[int]]] = [(0, 0, 1, {0})]
BACK: list[tuple[int, int, int, set[int]]] = [(0, 1, 0, {1})]
"""Node 0 sends its part to node 1, and gets that of node 1."""


@pytest.mark.parametrize(
    ("before", "move", "text"),
    [
        ([], (0, 0, 1, set()), NO_SUM),
        ([], (0, 0, 1, {3}), NO_SUM),
        ([], (0, 0, 1, {0, 3}), NO_SUM),
        ([], (1, 0, 3, {1}), NO_SUM),
        ([], (0, 0, 1, {0, 1}), CANNOT.format(0, r"\[0, 1\]")),
        ([], (0, 3, 0, {1}), CANNOT.format(3, r"\[1\]")),
        # Values are not taken apart.
        ([BACK, [(0, 0, 2, {0, 1})]], (0, 2, 0, {1}), CANNOT.format(2, r"\[1\]")),
        # Under wormhole only members receive.
        ([], (0, 0, 3, {0}), "node 3 does not need all these parts of message 0"),
    ],
)
def test_what_cannot_be_sent(before: Any, move: Any, text: str) -> None:
    held = after(sums(), *before)
    with refused(text):
        held.send(*move[:3], frozenset(move[3]))


def test_what_is_received_in_a_step_is_held_after_it() -> None:
    held = sums()
    held.send(0, 1, 0, frozenset({1}))
    with refused(CANNOT.format(0, r"\[0, 1\]")):
        held.send(0, 0, 2, frozenset({0, 1}))
    held.end_step()
    held.send(0, 0, 2, frozenset({0, 1}))


def test_others_than_members_receive_hop_by_hop() -> None:
    after(sums(switching="store-and-forward"), [(0, 0, 3, {0})], [(0, 3, 1, {0})])


AGAIN = "node {} has these parts of message 0 already"
TWICE = "node 3 would count a part of message 0 twice"


@pytest.mark.parametrize(
    ("members", "before", "last", "text"),
    [
        # In the second step, the own part of node 0 is contained.
        ((0, 1, 2, 3), [OWN, [(0, 1, 0, {0, 1})]], OWN, AGAIN.format(1)),
        ((0, 1, 2, 3), [[*OWN, (0, 2, 0, {2})]], [(0, 1, 3, {0, 1}), (0, 0, 3, {0, 2})], TWICE),
        # A sum of what a node has in parts brings nothing new.
        ((0, 1, 2), [[(0, 1, 0, {1}), *OWN]], [(0, 1, 0, {0, 1})], AGAIN.format(0)),
        # Larger sums of a step come first; the smaller one then brings nothing new, whatever its
        # place in the file.
        ((0, 1, 2), [BACK], [(0, 1, 2, {1}), (0, 0, 2, {0, 1})], AGAIN.format(2)),
        ((0, 1, 2), [BACK], [(0, 0, 2, {0, 1}), (0, 1, 2, {1})], AGAIN.format(2)),
    ],
)
def test_every_receipt_brings_a_new_part_and_counts_none_twice(
    members: tuple[int, ...], before: Any, last: Any, text: str
) -> None:
    held = after(sums(members), *before)
    with refused(text):
        after(held, last)


def test_what_a_step_brought_is_not_brought_again() -> None:
    after(sums(), [(0, 1, 0, {1})], [])


@pytest.mark.parametrize("kind", ["scan", "exscan"])
def test_a_scan_ends_with_prefixes(kind: str) -> None:
    channels = [[a, b] for a in range(4) for b in range(4) if a != b]
    held = after(PartialSums(network(channels, (3, 1, 0), kind=kind)), [(0, 3, 1, {3})])
    with refused("node 0 has not all parts of message 0"):
        held.end()
    after(held, [(0, 1, 0, {1, 3})]).end()
    for first, last in ((1, 3), (0, 1), (3, 2)):
        with refused(f"node {last} does not need all these parts of message 0"):
            held.send(0, first, last, frozenset({first}))


@pytest.mark.parametrize("kind", ["scan", "exscan"])
def test_a_sum_with_other_parts_is_no_part_of_a_prefix(kind: str) -> None:
    hops = {"switching": "store-and-forward"}
    held = PartialSums(network([[2, 0], [0, 1], [1, 2]], (0, 1, 2), kind=kind, **hops))
    after(held, [(0, 2, 0, {2})], [(0, 0, 1, {0, 2})], [(0, 1, 2, {0, 1, 2})])
    with refused("node 1 has not all parts of message 0"):
        held.end()


def test_long_sums_are_cut() -> None:
    line = [[a, a + 1] for a in range(99)]
    held = PartialSums(network(line, range(100), kind="allreduce"))
    shown = str(list(range(100)))[:80].replace("[", r"\[")
    with refused(f"node 0 cannot send parts {shown} of message 0 yet"):
        held.send(0, 0, 1, frozenset(range(100)))
