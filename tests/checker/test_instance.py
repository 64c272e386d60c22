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


def test_defaults() -> None:
    bare = record()
    del bare["model"], bare["collective"]["chunks"]
    del bare["network"]["half_duplex"], bare["network"]["endpoints"]
    for given in (bare, record()):
        network = Network(given)
        assert network.nodes == 5
        assert network.backwards is False
        assert network.channels == {
            (0, 1): 3, (1, 0): 1, (1, 2): 1, (2, 1): 1, (2, 3): 1, (3, 2): 1, (3, 0): 1,
            (0, 3): 1, (0, 4): 1, (4, 0): 1,
        }  # fmt: skip
        assert network.half_duplex == set()
        assert network.endpoints == set()
        assert network.messages == [(0, (1, 2)), (3, (4,))]
        assert network.members == []
        assert network.chunks == 1
        assert network.rounds == [1]
        assert network.hop_by_hop is False
        assert network.extra_hops == 0
        assert network.inject == [5, 2, 2, 2, 1]
        assert network.accept == [3, 4, 2, 2, 1]
        assert network.successors == [[1, 3, 4], [0, 2], [1, 3], [2, 0], [0]]
        assert network.predecessors == [[1, 3, 4], [0, 2], [1, 3], [2, 0], [0]]


def test_a_reduction_is_read_backwards() -> None:
    given = record("combine", ports={"inject": [1, 2, 9, 9, 9], "accept": 2})
    given["network"]["half_duplex"] = [[2, 3]]
    given["network"]["endpoints"] = [4]
    network = Network(given)
    assert network.backwards is True
    assert network.channels[1, 0] == 3
    assert network.channels[0, 1] == 1
    assert network.successors == network.predecessors == [[1, 3, 4], [0, 2], [1, 3], [2, 0], [0]]
    assert network.messages == [(0, (1, 2)), (3, (4,))]
    assert network.half_duplex == {(2, 3)}
    assert network.endpoints == {4}
    assert network.inject == [2, 2, 2, 2, 1]
    assert network.accept == [1, 2, 2, 2, 1]


def test_ports() -> None:
    apart = Network(record(ports={"inject": [1, 2, 9, 9, 9], "accept": 2}))
    assert apart.inject == [1, 2, 2, 2, 1]
    assert apart.accept == [2, 2, 2, 2, 1]
    assert Network(record(ports=1)).inject == [1] * 5
    assert Network(record(ports=[0, 1, 2, 3, 4])).accept == [0, 1, 2, 2, 1]
    assert [Network(record(ports=p)).limited_ports for p in ("all", 1)] == [False, True]
    mixed = Network(record(ports={"inject": "all", "accept": 1}))
    assert mixed.limited_ports
    assert (mixed.inject, mixed.accept) == ([5, 2, 2, 2, 1], [1] * 5)


def test_switching_and_routing() -> None:
    for routing, extra in (("minimal", 0), ("any", None), (0, 0), (3, 3), (4, 4), (5, None)):
        assert Network(record(routing=routing)).extra_hops == extra
    given = record(switching="store-and-forward", routing=2)
    given["network"]["endpoints"] = [4]
    network = Network(given)
    assert network.hop_by_hop is True
    assert network.extra_hops is None
    assert network.endpoints == set()
    given["model"]["switching"] = "wormhole"
    assert Network(given).endpoints == {4}
    assert Network(given).hop_by_hop is False
    free = Network(given).with_any_routing()
    assert free.extra_hops is None
    assert free.messages == [(0, (1, 2)), (3, (4,))]
    assert Network(given).extra_hops == 2


def test_capacities_are_those_of_the_step_of_the_largest_number_of_rounds() -> None:
    network = Network(record(rounds=[2, 6, 3], ports=1))
    assert network.rounds == [2, 6, 3]
    assert network.channels[0, 1] == 18
    assert network.channels[1, 0] == 6
    assert network.inject == [6] * 5
    steps = range(1, 6)
    assert [network.in_step(step, 18) for step in steps] == [6, 18, 9, 9, 9]
    assert [network.in_step(step, 6) for step in steps] == [2, 6, 3, 3, 3]
    assert Network(record(rounds=[])).rounds == [1]
    # Equal numbers at the end are one, which holds for all further steps.
    assert Network(record(rounds=[3, 3])).rounds == [3]
    assert Network(record(rounds=[1, 3, 3, 3])).rounds == [1, 3]
    assert Network(record(rounds=[3, 1, 3])).rounds == [3, 1, 3]
    assert Network(record()).in_step(7, 3) == 3


def test_chunks_are_messages() -> None:
    given = record()
    given["collective"]["chunks"] = 2
    network = Network(given)
    assert network.chunks == 2
    assert network.messages == [(0, (1, 2)), (0, (1, 2)), (3, (4,)), (3, (4,))]


def test_members_of_an_allreduce() -> None:
    given = record("allreduce")
    given["collective"]["chunks"] = 2
    network = Network(given)
    assert network.members == [(2, 0, 3), (2, 0, 3), (1, 4), (1, 4)]
    assert network.messages == [(2, (0, 3)), (2, (0, 3)), (1, (4,)), (1, (4,))]
    assert network.backwards is False


def test_parts_of_an_allreduce() -> None:
    given = record("allreduce", rounds=[1, 4, 2], routing=2, ports={"inject": 1, "accept": 2})
    given["collective"]["messages"] = [{"members": [2, 0, 3]}, {"members": [0, 4]}]
    given["collective"]["chunks"] = 2
    before = copy.deepcopy(given)
    network = Network(given)
    there = network.part(0, back=False)
    assert there.messages == [(0, (2, 3))] * 2 + [(0, (4,))] * 2
    assert there.members == []
    assert (there.backwards, there.rounds, there.extra_hops) == (False, [1, 4, 2], 2)
    assert there.inject == [4] * 5
    back = network.part(3, back=True)
    assert back.messages == [(3, (2, 0))] * 2
    assert back.backwards is True
    # Steps are counted from the last one, so all get the most rounds.
    assert (back.rounds, back.extra_hops) == ([4], 2)
    assert back.channels[1, 0] == 12
    assert (back.inject, back.accept) == ([8, 8, 8, 8, 4], [4] * 5)
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
    given["collective"] |= {"kind": kind, "messages": [{"members": [2, 0, 3]}, {"members": [0, 4]}]}
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
    assert network.hops(0) == {0: 0, 1: 1, 2: 2}
    assert network.hops(2) == {2: 0, 3: 1, 4: 2, 0: 3, 1: 4}
    assert network.hops(0, back=True) == {0: 0, 4: 1, 3: 2, 2: 3}
    assert network.hops(2, back=True) == {2: 0, 1: 1, 0: 2, 4: 3, 3: 4}


def test_links() -> None:
    given = record()
    given["network"]["half_duplex"] = [[2, 1]]
    network = Network(given)
    assert network.link(2, 1) == (2, 1)
    assert network.link(1, 2) == (2, 1)
    assert network.link(2, 3) == (2, 3)


def test_nodes_and_messages_of_evidence() -> None:
    network = Network(record())
    assert network.node_set([0, 4, 4]) == {0, 4}
    for value in (None, {0}, "01", (0, 1)):
        with pytest.raises(EvidenceError, match="a list is missing"):
            network.node_set(value)
    for value in ([], [0, 5]):
        with pytest.raises(EvidenceError, match="no nodes, or one that the network does not have"):
            network.node_set(value)
    for node in (-1, True, 1.0, "1", None):
        with pytest.raises(EvidenceError, match="is no whole number"):
            network.node_set([0, node])
    assert network.message(0) == (0, (1, 2))
    assert network.message(1) == (3, (4,))
    with pytest.raises(EvidenceError, match="a message that the collective does not have"):
        network.message(2)
    for number in (-1, True, 1.0, "1", None):
        with pytest.raises(EvidenceError, match="is no whole number"):
            network.message(number)
