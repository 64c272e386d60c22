"""The checker's reading of an instance: every field of one that uses all features, and defaults."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from cchybrid.checker.instance import EvidenceError, Network
from tests.checker.by_hand import record as by_hand

# A ring of four in both directions, one channel of capacity 3, and a node that hangs on 0.
LINKS = [[0, 1, 3], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2], [3, 0], [0, 3], [0, 4], [4, 0]]


PAIRS = (0, [1, 2]), (3, [4])
"""Of messages from 0 and 3, or of reductions to them."""


def record(kind: str = "deliver", **model: Any) -> dict[str, Any]:
    messages = ([2, 0, 3], [1, 4]) if kind == "allreduce" else PAIRS
    return by_hand(LINKS, *messages, kind=kind, **model)


def fields(network: Network, names: str) -> list[Any]:
    return [getattr(network, name) for name in names.split()]


NEXT = [[1, 3, 4], [0, 2], [1, 3], [2, 0], [0]]
"""The neighbours of every node."""


def test_defaults() -> None:
    bare = record()
    del bare["model"], bare["collective"]["chunks"]
    del bare["network"]["half_duplex"], bare["network"]["endpoints"]
    for given in (bare, record()):
        network = Network(given)
        assert network.channels == {(a, b): size[0] if size else 1 for a, b, *size in LINKS}
        assert fields(network, "nodes half_duplex endpoints messages members chunks rounds") == [
            5,
            set(),
            set(),
            [(0, (1, 2)), (3, (4,))],
            [],
            1,
            [1],
        ]
        assert fields(network, "backwards hop_by_hop extra_hops inject accept") == [
            False,
            False,
            0,
            [5, 2, 2, 2, 1],
            [3, 4, 2, 2, 1],
        ]
        assert fields(network, "successors predecessors") == [NEXT, NEXT]


def test_a_reduction_is_read_backwards() -> None:
    given = record("combine", ports={"inject": [1, 2, 9, 9, 9], "accept": 2})
    given["network"] |= {"half_duplex": [[2, 3]], "endpoints": [4]}
    network = Network(given)
    assert (network.channels[1, 0], network.channels[0, 1]) == (3, 1)
    assert fields(network, "backwards messages half_duplex endpoints inject accept") == [
        True,
        [(0, (1, 2)), (3, (4,))],
        {(2, 3)},
        {4},
        [2, 2, 2, 2, 1],
        [1, 2, 2, 2, 1],
    ]
    assert fields(network, "successors predecessors") == [NEXT, NEXT]


@pytest.mark.parametrize(
    ("ports", "limited", "inject", "accept"),
    [
        ({"inject": [1, 2, 9, 9, 9], "accept": 2}, True, [1, 2, 2, 2, 1], [2, 2, 2, 2, 1]),
        ("all", False, [5, 2, 2, 2, 1], [3, 4, 2, 2, 1]),
        (1, True, [1] * 5, [1] * 5),
        ([0, 1, 2, 3, 4], True, [0, 1, 2, 2, 1], [0, 1, 2, 2, 1]),
        ({"inject": "all", "accept": 1}, True, [5, 2, 2, 2, 1], [1] * 5),
    ],
)
def test_ports(ports: Any, limited: bool, inject: list[int], accept: list[int]) -> None:
    found = Network(record(ports=ports))
    assert fields(found, "limited_ports inject accept") == [limited, inject, accept]


def test_switching_and_routing() -> None:
    for routing, extra in (("minimal", 0), ("any", None), (0, 0), (3, 3), (4, 4), (5, None)):
        assert Network(record(routing=routing)).extra_hops == extra
    given = record(switching="store-and-forward", routing=2)
    given["network"]["endpoints"] = [4]
    assert fields(Network(given), "hop_by_hop extra_hops endpoints") == [True, None, set()]
    given["model"]["switching"] = "wormhole"
    free = Network(given).with_any_routing()
    assert fields(free, "extra_hops messages") == [None, [(0, (1, 2)), (3, (4,))]]
    assert fields(Network(given), "hop_by_hop extra_hops endpoints") == [False, 2, {4}]


def test_capacities_are_those_of_the_step_of_the_largest_number_of_rounds() -> None:
    network = Network(record(rounds=[2, 6, 3], ports=1))
    assert fields(network, "rounds inject") == [[2, 6, 3], [6] * 5]
    assert (network.channels[0, 1], network.channels[1, 0]) == (18, 6)
    steps = range(1, 6)
    assert [network.in_step(step, 18) for step in steps] == [6, 18, 9, 9, 9]
    assert [network.in_step(step, 6) for step in steps] == [2, 6, 3, 3, 3]
    # Equal numbers at the end are one, which holds for all further steps.
    given = [], [3, 3], [1, 3, 3, 3], [3, 1, 3]
    assert [Network(record(rounds=each)).rounds for each in given] == [[1], [3], [1, 3], [3, 1, 3]]
    assert Network(record()).in_step(7, 3) == 3


def test_chunks_are_messages() -> None:
    network = Network(record(chunks=2))
    assert fields(network, "chunks messages") == [2, [(0, (1, 2))] * 2 + [(3, (4,))] * 2]


def test_members_of_an_allreduce() -> None:
    network = Network(record("allreduce", chunks=2))
    assert network.members == [(2, 0, 3), (2, 0, 3), (1, 4), (1, 4)]
    assert network.messages == [(2, (0, 3)), (2, (0, 3)), (1, (4,)), (1, (4,))]
    assert network.backwards is False


OVERLAPPING = [{"members": [2, 0, 3]}, {"members": [0, 4]}]


def test_parts_of_an_allreduce() -> None:
    given = record("allreduce", rounds=[1, 4, 2], routing=2, ports={"inject": 1, "accept": 2})
    given["collective"] |= {"messages": OVERLAPPING, "chunks": 2}
    before = copy.deepcopy(given)
    network = Network(given)
    names = "messages members backwards rounds extra_hops inject"
    sent = [(0, (2, 3))] * 2 + [(0, (4,))] * 2
    there = network.part(0, back=False)
    assert fields(there, names) == [sent, [], False, [1, 4, 2], 2, [4] * 5]
    # Steps are counted from the last one, so all get the most rounds.
    back = network.part(3, back=True)
    assert fields(back, names) == [[(3, (2, 0))] * 2, [], True, [4], 2, [8, 8, 8, 8, 4]]
    assert (back.channels[1, 0], back.accept) == (12, [4] * 5)
    assert given == before
    with pytest.raises(EvidenceError, match="node 1 has no such part"):
        network.part(1, back=False)
    plain = record("allreduce")
    del plain["model"]
    assert Network(plain).part(2, back=True).rounds == [1]
    free = Network(plain).with_any_routing()
    assert free.part(2, back=False).extra_hops is None


@pytest.mark.parametrize("kind", ["scan", "exscan"])
def test_parts_of_a_scan(kind: str) -> None:
    given = record("allreduce")
    given["collective"] |= {"kind": kind, "messages": OVERLAPPING}
    network = Network(given)
    assert network.members == [(2, 0, 3), (0, 4)]
    # In wormhole switching, a reduction to a member only where all others come before it.
    assert network.part(0, back=False).messages == [(0, (3,)), (0, (4,))]
    assert network.part(2, back=False).messages == [(2, (0, 3))]
    assert network.part(3, back=True).messages == [(3, (2, 0))]
    for node, back in ((3, False), (2, True), (0, True), (1, False)):
        with pytest.raises(EvidenceError, match=f"node {node} has no such part"):
            network.part(node, back)
    given["model"]["switching"] = "store-and-forward"
    assert Network(given).part(0, back=True).messages == [(0, (2,))]
    given["format"] = "cchybrid-instance/1"
    with pytest.raises(EvidenceError, match="not well-formed"):
        Network(given)


def test_hops_end_at_endpoints_but_begin_there() -> None:
    given = record()
    # One way around, so that distances from a node and to it differ.
    given["network"]["channels"] = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]
    given["network"]["endpoints"] = [2]
    network = Network(given)
    assert [network.hops(node, back=back) for back in (False, True) for node in (0, 2)] == [
        {0: 0, 1: 1, 2: 2},
        {2: 0, 3: 1, 4: 2, 0: 3, 1: 4},
        {0: 0, 4: 1, 3: 2, 2: 3},
        {2: 0, 1: 1, 0: 2, 4: 3, 3: 4},
    ]


def test_links() -> None:
    given = record()
    given["network"]["half_duplex"] = [[2, 1]]
    network = Network(given)
    assert [network.link(*hop) for hop in ((2, 1), (1, 2), (2, 3))] == [(2, 1), (2, 1), (2, 3)]


def test_nodes_and_messages_of_evidence() -> None:
    network = Network(record())
    assert network.node_set([0, 4, 4]) == {0, 4}
    assert [network.message(number) for number in (0, 1)] == [(0, (1, 2)), (3, (4,))]
    no_number = (-1, True, 1.0, "1", None)
    for read, values, text in (
        (network.node_set, (None, {0}, "01", (0, 1)), "a list is missing"),
        (network.node_set, ([], [0, 5]), "no nodes, or one that the network does not have"),
        (network.node_set, [[0, node] for node in no_number], "is no whole number"),
        (network.message, no_number, "is no whole number"),
        (network.message, (2,), "a message that the collective does not have"),
    ):
        for value in values:
            with pytest.raises(EvidenceError, match=text):
                read(value)
