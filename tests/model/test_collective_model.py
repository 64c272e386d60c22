"""Collectives: what they refuse, and JSON."""

import pickle
from typing import Any

import pytest

from cchybrid.model import (
    AllReduction,
    Collective,
    Exscan,
    Instance,
    Message,
    Network,
    Reduction,
    Scan,
)
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


def test_the_order_of_a_scan_says_what_its_members_need() -> None:
    scan, without = Scan((3, 0, 2)), Exscan((3, 0, 2))
    assert [scan.needed(node) for node in (3, 0, 2)] == [(3,), (3, 0), (3, 0, 2)]
    assert [without.needed(node) for node in (3, 0, 2)] == [(), (3,), (3, 0)]
    assert [scan.needing(node) for node in (3, 0, 2)] == [(0, 2), (2,), ()]
    everyone = AllReduction((3, 0, 2))
    assert (everyone.needed(0), everyone.needing(0)) == ((3, 0, 2), (3, 2))


@pytest.mark.parametrize(("form", "kind"), [(Scan, "scan"), (Exscan, "exscan")])
def test_scans_are_kinds_of_their_own(form: Any, kind: str) -> None:
    found = Collective("x", (form([2, 0, 1]),)).in_chunks(2)
    assert (found.kind, found.with_sums, found.messages) == (kind, True, (form((2, 0, 1)),) * 2)
    record = found.to_json()
    assert record["messages"] == [{"members": [2, 0, 1]}]
    assert Collective.from_json(record) == found
    assert pickle.loads(pickle.dumps(found)) == found
    others = [Collective("x", (other((2, 0, 1)),)) for other in (AllReduction, Scan, Exscan)]
    assert pickle.loads(pickle.dumps(found)).flat == found.flat
    assert [*map(list, found.flat)] == [[2, 2], [2, 2], [0, 1, 0, 1]]
    assert len({each.kind for each in others}) == 3
    assert len({*others}) == 3
    for members in ((1,), (1, 2, 1)):
        with refused("less than two members, or one is listed twice"):
            Collective("x", (form(members),))
    with refused("messages of several kinds"):
        Collective("x", (form((0, 1)), AllReduction((0, 1))))
    with refused("cchybrid-instance/1 has no kind"):
        instance = Instance(
            Network.from_links("pair", 2, [(0, 1)]), Collective("x", (form((0, 1)),))
        )
        Instance.from_json({**instance.to_json(), "format": "cchybrid-instance/1"})
