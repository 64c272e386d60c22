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


def refused(text: str) -> Any:
    return pytest.raises(EvidenceError, match=f"^{text}$")


def test_a_whole_allreduce() -> None:
    held = sums()
    held.send(0, 1, 0, frozenset({1}))
    held.send(0, 0, 1, frozenset({0}))
    held.send(1, 3, 0, frozenset({3}))
    held.end_step()
    held.send(0, 2, 1, frozenset({2}))
    held.send(0, 0, 2, frozenset({0, 1}))
    held.end_step()
    held.send(0, 1, 0, frozenset({0, 1, 2}))
    held.end_step()
    with pytest.raises(EvidenceError, match=r"^node 3 has not all parts of message 1$"):
        held.end()
    held.send(1, 0, 3, frozenset({0, 3}))
    held.end_step()
    held.end()


def test_parts_are_those_of_members() -> None:
    held = sums()
    for parts in (frozenset(), {3}, {0, 3}):
        with refused("a sum without parts, or of a node that is no member"):
            held.send(0, 0, 1, frozenset(parts))
    with refused("a sum without parts, or of a node that is no member"):
        held.send(1, 0, 3, frozenset({1}))


def test_a_sum_is_added_up_from_what_is_held() -> None:
    held = sums()
    with refused(r"node 0 cannot send parts \[0, 1\] of message 0 yet"):
        held.send(0, 0, 1, frozenset({0, 1}))
    with refused(r"node 3 cannot send parts \[1\] of message 0 yet"):
        held.send(0, 3, 0, frozenset({1}))
    held.send(0, 1, 0, frozenset({1}))
    # What is received in a step is held after it.
    with refused(r"node 0 cannot send parts \[0, 1\] of message 0 yet"):
        held.send(0, 0, 2, frozenset({0, 1}))
    held.end_step()
    held.send(0, 0, 2, frozenset({0, 1}))
    # Values are not taken apart.
    held.end_step()
    with refused(r"node 2 cannot send parts \[1\] of message 0 yet"):
        held.send(0, 2, 0, frozenset({1}))


def test_only_members_receive_under_wormhole() -> None:
    with refused("node 3 does not need all these parts of message 0"):
        sums().send(0, 0, 3, frozenset({0}))
    held = sums(switching="store-and-forward")
    held.send(0, 0, 3, frozenset({0}))
    held.end_step()
    held.send(0, 3, 1, frozenset({0}))
    held.end_step()


def test_every_receipt_brings_a_new_part_and_counts_none_twice() -> None:
    held = sums(members=(0, 1, 2, 3))
    held.send(0, 0, 1, frozenset({0}))
    held.end_step()
    held.send(0, 1, 0, frozenset({0, 1}))  # its own part is contained
    held.end_step()
    held.send(0, 0, 1, frozenset({0}))
    with refused("node 1 has these parts of message 0 already"):
        held.end_step()
    held = sums(members=(0, 1, 2, 3))
    held.send(0, 0, 1, frozenset({0}))
    held.send(0, 2, 0, frozenset({2}))
    held.end_step()
    held.send(0, 1, 3, frozenset({0, 1}))
    held.send(0, 0, 3, frozenset({0, 2}))
    with refused("node 3 would count a part of message 0 twice"):
        held.end_step()


def test_a_sum_of_what_a_node_has_in_parts_brings_nothing_new() -> None:
    held = sums()
    held.send(0, 1, 0, frozenset({1}))
    held.send(0, 0, 1, frozenset({0}))
    held.end_step()
    held.send(0, 1, 0, frozenset({0, 1}))
    with refused("node 0 has these parts of message 0 already"):
        held.end_step()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_larger_sums_of_a_step_come_first(order: tuple[int, int]) -> None:
    """The smaller one then brings nothing new, whatever its place in the file."""
    held = sums()
    held.send(0, 1, 0, frozenset({1}))
    held.end_step()
    for slot in order:
        held.send(0, 1 - slot, 2, frozenset([{1}, {0, 1}][slot]))
    with refused("node 2 has these parts of message 0 already"):
        held.end_step()


def test_what_a_step_brought_is_not_brought_again() -> None:
    held = sums()
    held.send(0, 1, 0, frozenset({1}))
    held.end_step()
    held.end_step()


@pytest.mark.parametrize("kind", ["scan", "exscan"])
def test_a_scan_ends_with_prefixes(kind: str) -> None:
    channels = [[a, b] for a in range(4) for b in range(4) if a != b]
    held = PartialSums(network(channels, (3, 1, 0), kind=kind))
    held.send(0, 3, 1, frozenset({3}))
    held.end_step()
    with refused("node 0 has not all parts of message 0"):
        held.end()
    held.send(0, 1, 0, frozenset({1, 3}))
    held.end_step()
    held.end()
    for last, parts in ((3, {1}), (1, {0}), (2, {3})):
        with refused(f"node {last} does not need all these parts of message 0"):
            held.send(0, next(iter(parts)), last, frozenset(parts))


@pytest.mark.parametrize("kind", ["scan", "exscan"])
def test_a_sum_with_other_parts_is_no_part_of_a_prefix(kind: str) -> None:
    hops = {"switching": "store-and-forward"}
    held = PartialSums(network([[2, 0], [0, 1], [1, 2]], (0, 1, 2), kind=kind, **hops))
    held.send(0, 2, 0, frozenset({2}))
    held.end_step()
    held.send(0, 0, 1, frozenset({0, 2}))
    held.end_step()
    held.send(0, 1, 2, frozenset({0, 1, 2}))
    held.end_step()
    with refused("node 1 has not all parts of message 0"):
        held.end()


def test_long_sums_are_cut() -> None:
    line = [[a, a + 1] for a in range(99)]
    held = PartialSums(network(line, range(100), kind="allreduce"))
    shown = str(list(range(100)))[:80].replace("[", r"\[")
    with refused(f"node 0 cannot send parts {shown} of message 0 yet"):
        held.send(0, 0, 1, frozenset(range(100)))
