"""Collectives: what they refuse, and JSON."""

from typing import Any

import pytest

from cchybrid.model import Collective, Message, Reduction
from tests.refusals import refused

SCATTER: dict[str, Any] = {
    "name": "two",
    "kind": "deliver",
    "messages": [{"source": 0, "destinations": [1, 2]}, {"source": 1, "destinations": [0]}],
}


def test_a_reduction_backwards_is_a_delivery() -> None:
    assert Collective("x", (Reduction((1, 2), 0),)).deliver_messages == (Message(0, (1, 2)),)
    assert Collective("x", (Message(0, (1, 2)),)).deliver_messages == (Message(0, (1, 2)),)


def message(**changes: Any) -> dict[str, Any]:
    return {"messages": [{"source": 0, "destinations": [1]} | changes]}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"messages": []}, "collective.messages: no messages; name at least one"),
        ({"messages": 5}, "collective.messages: 5 is not a list"),
        ({"messages": [5]}, "collective.messages[0]: 5 is not an object"),
        ({"messages": [{}]}, "collective.messages[0].source: the key is missing; add an integer"),
        (message(destinations=[]),
         "collective.messages[0]: no destinations or no sources; name at"),
        (message(destinations=[1, 1]), "collective.messages[0]: a node is listed twice; name each"),
        (message(destinations=[1, 0]), "node 0 would send to itself; leave it out"),
        (message(destinations=[True]), "collective.messages[0].destinations[0]: true is not an in"),
        (message(source="0"), 'collective.messages[0].source: "0" is not an integer'),
        (message(sources=[0]), "collective.messages[0].sources: the format has no such key; use"),
        ({"kind": "combine"}, "collective.messages[0].source: the format has no such key; use"),
        ({"kind": "scatter"},
         "collective.kind: unknown kind 'scatter'; use deliver, combine, allreduce, scan, exscan"),
        ({"kind": None}, "collective.kind: null is not a string"),
        ({"root": 0}, "collective.root: the format has no such key; use name, kind, messages"),
    ],
)  # fmt: skip
def test_refusals(changes: dict[str, Any], text: str) -> None:
    with refused(text):
        Collective.from_json(SCATTER | changes)


def test_messages_may_come_from_a_generator() -> None:
    found = Collective("g", (Message(0, (node,)) for node in (1, 2)))  # type: ignore[arg-type]
    assert found.messages == (Message(0, (1,)), Message(0, (2,)))
    with refused("collective.messages: no messages"):
        Collective("g", (message for message in ()))  # type: ignore[arg-type]
