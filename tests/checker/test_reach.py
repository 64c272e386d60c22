"""Destinations out of reach: by channels, endpoints and ports."""

from __future__ import annotations

from typing import Any

import pytest

from cchybrid.checker import EvidenceError, proves_infeasible
from cchybrid.checker.instance import Network
from cchybrid.checker.reach import check_unreachable, out_of_reach
from tests.checker.by_hand import HOPS, record
from tests.checker.by_hand import network as by_hand

LINE = [[0, 1], [1, 2], [2, 3], [3, 4]]


def network(*messages: tuple[int, list[int]], endpoints: tuple[int, ...] = (), **model: Any):
    """Return a line of five nodes that is passed in one direction only."""
    return by_hand(LINE, *messages, endpoints=endpoints, **model)


EVERYONE = (0, [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        (network((2, [0, 1, 3, 4])), {0, 1}),
        (network((2, [0, 1, 3, 4]), **HOPS), {0, 1}),
        (network((0, [2, 4]), endpoints=(2,)), set()),  # node 2 sends on
        (network((0, [1, 4]), endpoints=(2,)), {4}),
        (network((0, [1, 4]), endpoints=(2,), **HOPS), set()),
        (network(EVERYONE, ports={"inject": [0, 1, 1, 1, 1], "accept": 1}), {1, 2, 3, 4}),
        (network(EVERYONE, ports={"inject": 1, "accept": [0, 1, 1, 0, 1]}), {3}),
        (network(EVERYONE, ports={"inject": 1, "accept": [0, 1, 1, 0, 1]}, **HOPS), {3, 4}),
        (network(EVERYONE, ports={"inject": [1, 1, 0, 1, 1], "accept": 1}), set()),
        (network(EVERYONE, ports={"inject": [1, 1, 0, 1, 1], "accept": 1}, **HOPS), {3, 4}),
        # Nodes that are no destination forward only hop by hop.
        (network((0, [4]), ports={"inject": 1, "accept": [1, 1, 0, 1, 1]}), set()),
        (network((0, [4]), ports={"inject": 1, "accept": [1, 1, 0, 1, 1]}, **HOPS), {4}),
        (network((0, [1, 3]), endpoints=(2,), ports={"inject": [1, 0, 1, 1, 1], "accept": 1}), {3}),
        # One node without ports does not end the search elsewhere.
        (network((0, [1, 2]), ports={"inject": [1, 0, 0, 1, 1], "accept": 1}), set()),
    ],
)
def test_out_of_reach(given: Network, lost: set[int]) -> None:
    assert out_of_reach(given, 0) == lost


def test_the_search_goes_on_beside_a_node_without_ports() -> None:
    ports = {"inject": [9, 1, 0, 1, 1], "accept": 9}
    star = by_hand([[0, 1], [0, 2], [1, 3], [2, 4]], (0, [3, 4]), ports=ports, **HOPS)
    assert out_of_reach(star, 0) == {4}
    star.inject = [9, 0, 1, 1, 1]
    assert out_of_reach(star, 0) == {3}


def test_a_destination_that_the_routing_table_does_not_reach() -> None:
    # The table sends what is for node 2 from node 0 over a channel that is none.
    routing = {"next": [[0, 1, 2], [0, 1, 2], [2, 2, 2]]}
    assert out_of_reach(by_hand([[0, 1], [1, 2]], (0, [2]), routing=routing), 0) == {2}
    assert out_of_reach(by_hand([[0, 1], [1, 2]], (0, [1, 2]), routing=routing), 0) == set()
    # From node 1 it gives no path, and node 2 has one.
    routing = {"next": [[0, 1, 2, 3], [0, 1, 0, 0], [0, 1, 2, 3], [3, 3, 3, 3]]}
    channels, message = [[0, 1], [0, 2], [1, 3], [2, 3]], (0, [1, 2, 3])
    assert out_of_reach(by_hand(channels, message, routing=routing), 0) == set()
    channels[-1] = [3, 2]
    assert out_of_reach(by_hand(channels, message, routing=routing), 0) == {3}


def test_evidence() -> None:
    given = network((0, [1]), (2, [1, 3]))
    check_unreachable(given, {"kind": "unreachable", "message": 1, "destination": 1})
    for evidence, message in (
        ({"message": 1, "destination": 3}, "the destination can be reached, or"),
        ({"message": 1, "destination": 1, "steps": 9}, "the destination can be reached, or"),
        ({"message": 0, "destination": 1}, "the destination can be reached, or"),
        ({"message": 1}, "or is none of the message"),
        ({"message": 1, "destination": 0}, "or is none of the message"),
        ({"message": 1, "destination": True}, "or is none of the message"),
        ({"message": 1, "destination": "1"}, "or is none of the message"),
        ({"message": 1, "destination": 1.0}, "or is none of the message"),
        ({"message": 2, "destination": 1}, "a message that the collective does not have"),
        ({"destination": 1, "goal": 1}, "'None' is no whole number"),
    ):
        with pytest.raises(EvidenceError, match=message):
            check_unreachable(given, {"kind": "unreachable", **evidence})


DIRECTED = [[0, 1], [1, 2]]


def lost(destination: int, message: int = 0) -> dict[str, Any]:
    return {"kind": "unreachable", "message": message, "destination": destination}


def test_only_unreachable_destinations_make_an_instance_infeasible() -> None:
    given = record(DIRECTED, (0, [2]), (2, [0]))
    proves_infeasible(given, lost(0, 1))
    named = {"message": 1, "destination": 0}
    for evidence in (None, [], "unreachable", named, {"kind": "Unreachable", **named}):
        with pytest.raises(EvidenceError, match="only unreachable destinations make"):
            proves_infeasible(given, evidence)
    with pytest.raises(EvidenceError, match="part: not proved for delivering"):
        proves_infeasible(given, {"kind": "part", "from": 2, "evidence": lost(0)})


@pytest.mark.parametrize("switching", ["wormhole", "store-and-forward"])
def test_a_part_of_an_allreduce_that_is_unreachable(switching: str) -> None:
    given = record(DIRECTED, [0, 1, 2], kind="allreduce", switching=switching)
    # No other node reaches node 0; the parts of node 0 reach all others.
    for side, member, destination in (("to", 0, 1), ("to", 0, 2), ("from", 1, 0), ("from", 2, 1)):
        proves_infeasible(given, {"kind": "part", side: member, "evidence": lost(destination)})
    for wrong, text in (
        ({"from": 0, "evidence": lost(1)}, "can be reached"),
        ({"to": 2, "evidence": lost(0)}, "can be reached"),
        ({"from": 2, "evidence": lost(2)}, "none of the message"),
        ({"from": 2, "evidence": lost(1, 1)}, "does not have"),
        ({"from": 3, "evidence": lost(1)}, "no such part"),
        ({"from": False, "evidence": lost(1)}, "the member that the evidence is about is missing"),
        ({"from": 0, "to": 0, "evidence": lost(1)}, "the member that the evidence is about"),
        ({"evidence": lost(1)}, "the member that the evidence is about is missing"),
        ({"to": 0}, "only unreachable destinations"),
        ({"to": 0, "evidence": {"kind": "exchanges"}}, "only unreachable destinations"),
        ({"to": 0, "evidence": {"kind": "part", "to": 0, "evidence": lost(1)}}, "only unreachable"),
    ):
        with pytest.raises(EvidenceError, match=text):
            proves_infeasible(given, {"kind": "part", **wrong})
    with pytest.raises(EvidenceError, match="not proved for allreduce"):
        proves_infeasible(given, lost(1))
