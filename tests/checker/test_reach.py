"""Destinations out of reach: by channels, endpoints and ports."""

from __future__ import annotations

from typing import Any

import pytest

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.reach import check_unreachable, out_of_reach

LINE = [[0, 1], [1, 2], [2, 3], [3, 4]]


def network(*messages: tuple[int, list[int]], endpoints: tuple[int, ...] = (), **model: Any):
    """Return a line of five nodes that is passed in one direction only."""
    listed = [{"source": source, "destinations": goals} for source, goals in messages]
    return Network(
        {
            "format": "cchybrid-instance/2",
            "network": {"nodes": 5, "channels": LINE, "endpoints": list(endpoints)},
            "collective": {"kind": "deliver", "messages": listed},
            "model": model,
        }
    )


HOPS = {"switching": "store-and-forward"}
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
    star = Network({
        "format": "cchybrid-instance/2",
        "network": {"nodes": 5, "channels": [[0, 1], [0, 2], [1, 3], [2, 4]]},
        "collective": {"kind": "deliver", "messages": [{"source": 0, "destinations": [3, 4]}]},
        "model": {"switching": "store-and-forward", "ports": {"inject": [9, 1, 0, 1, 1],
                                                              "accept": 9}},
    })  # fmt: skip
    assert out_of_reach(star, 0) == {4}
    star.inject = [9, 0, 1, 1, 1]
    assert out_of_reach(star, 0) == {3}


def test_evidence() -> None:
    given = network((0, [1]), (2, [1, 3]))
    check_unreachable(given, {"message": 1, "destination": 1})
    for evidence, message in (
        ({"message": 1, "destination": 3}, "the destination can be reached, or"),
        ({"message": 0, "destination": 1}, "the destination can be reached, or"),
        ({"message": 1}, "or is none of the message"),
        ({"message": 1, "destination": 0}, "or is none of the message"),
        ({"message": 1, "destination": True}, "or is none of the message"),
        ({"message": 1, "destination": None}, "or is none of the message"),
        ({"message": 2, "destination": 1}, "a message that the collective does not have"),
        ({"destination": 1}, "'None' is no whole number"),
    ):
        with pytest.raises(EvidenceError, match=message):
            check_unreachable(given, evidence)
