"""Networks: what they refuse, what they derive, and JSON."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from cchybrid.model import Channel, Network
from cchybrid.model.network import MAX_NODES
from tests.examples import examples
from tests.model.model_strategies import networks
from tests.refusals import refused

LINE: dict[str, Any] = {"name": "line", "nodes": 3, "channels": [[0, 1], [1, 0], [1, 2, 2]]}


@settings(max_examples=examples(60))
@given(networks())
def test_turning_round_twice_changes_nothing(network: Network) -> None:
    twice = network.reversed().reversed()
    assert twice.channels == network.channels
    assert twice.half_duplex == network.half_duplex
    assert network.reversed().symmetric == network.symmetric


def test_derived_properties() -> None:
    network = Network.from_json(LINE)
    assert network.successors == ((1,), (0, 2), ())
    assert network.channel_index[1, 2] == 2
    assert not network.symmetric
    assert network.terminals == (0, 1, 2)


def test_terminals_are_the_linked_endpoints() -> None:
    links = [(0, 3), (1, 3)]
    assert Network.from_links("n", 5, links).terminals == (0, 1, 3)
    assert Network.from_links("n", 5, links, endpoints=(0, 2)).terminals == (0,)
    assert Network("dot", 1, ()).terminals == (0,)


def test_switches_take_no_part_and_names_belong_to_nodes() -> None:
    network = Network.from_links(
        "n", 3, [(0, 1), (1, 2)], switches=(1,), node_names=("left", "S", "right")
    )
    assert network.terminals == (0, 2)
    assert [network.node_name(node) for node in range(3)] == ["left", "S", "right"]
    assert network.node_by_name == {"left": 0, "S": 1, "right": 2}
    assert Network.from_json(network.to_json()) == network
    plain = Network.from_json(LINE)
    assert plain.node_name(2) == "2"
    assert plain.node_by_name["2"] == 2


def test_a_node_without_a_channel_is_no_switch() -> None:
    links = [(0, 1), (1, 2)]
    assert not Network.from_links("line and a node", 4, links).has_switches
    assert Network.from_links("marked", 4, links, switches=(1,)).has_switches
    assert Network.from_links("ends", 4, links, endpoints=(0, 2)).has_switches


def test_repeated_links_add_capacity() -> None:
    network = Network.from_links("n", 3, [(0, 1), (1, 0), (1, 2)])
    assert network.channels == ((0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1))
    assert network.symmetric
    assert Network.from_arcs("n", 2, [(0, 1), (0, 1)]).channels == (Channel(0, 1, 2),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": 0}, "network.nodes: 0 nodes; use at least 1"),
        ({"nodes": 10**12}, f"network.nodes: {10**12} nodes are too many; use at most {MAX_NODES}"),
        ({"nodes": 3.0}, "network.nodes: 3.0 is not an integer"),
        ({"name": 5}, "network.name: 5 is not a string; write a string"),
        ({"nodez": 5}, "network.nodez: the format has no such key; use name, nodes, channels"),
        ({"channels": [5]}, "network.channels[0]: 5 is not a list"),
        ({"channels": [[0]]}, "network.channels[0]: 1 numbers; write [from, to] or [from, to, cap"),
        ({"channels": [[0, "1"]]}, 'network.channels[0]: "1" is not an integer'),
        ({"channels": [[0, 3]]}, "network.channels[0]: no node 3 in this network; use 0 to 2"),
        ({"channels": [[0, 1], [1, 1]]}, "network.channels[1]: node 1 is linked to itself; drop"),
        ({"channels": [[0, 1, 0]]}, "network.channels[0]: capacity 0; use at least 1"),
        ({"channels": [[0, 1, 10**4000]]}, "capacity 10000000000000000000...; use 1 to 2^128"),
        ({"channels": [[0, 1], [0, 1]]},
         "network.channels[1]: channel 0->1 is listed twice; write"),
        ({"half_duplex": [[1, 2]]}, "network.half_duplex[0]: 1 and 2 are not linked in both"),
        ({"half_duplex": [[0]]}, "network.half_duplex[0]: 1 numbers; write [node, node]"),
        ({"half_duplex": [[0, 1], [1, 0]]},
         "network.half_duplex[1]: the pair 1, 0 is listed twice"),
        ({"channels": [[0, 1, 2], [1, 0]], "half_duplex": [[0, 1]]},
         "network.half_duplex[0]: channels 0->1 and 1->0 differ in capacity; give both"),
        ({"endpoints": [3]}, "network.endpoints[0]: no node 3 in this network"),
        ({"endpoints": [1, 0]}, "network.endpoints: the endpoints are not sorted or not distinct"),
        ({"node_names": ["a", "b"]}, "network.node_names: 2 names for 3 nodes; give one name"),
        ({"node_names": ["a", "b", "a"]}, "network.node_names[2]: the name 'a' is given twice"),
        ({"node_names": ["a", " ", "c"]}, "network.node_names[1]: no name; give every node"),
        ({"node_names": ["a", "a ", "c"]}, "network.node_names[1]: the name 'a ' begins or ends"),
        ({"switches": [3]}, "network.switches[0]: no node 3 in this network"),
        ({"switches": [1, 0]}, "network.switches: the switches are not sorted or not distinct"),
        ({"switches": [1], "endpoints": [1]}, "network.switches: node 1 is an endpoint, too"),
        ({"positions": [[0, 0]]}, "network.positions: 1 positions for 3 nodes; give one position"),
        ({"positions": [[0, 0], [1, 1], [2]]}, "network.positions[2]: 1 coordinates; give every"),
        ({"positions": [[0, 0], [1, 1], [0, "x"]]}, 'network.positions[2]: "x" is not a number'),
        ({"positions": [[0, 0], [1, 1], [0, 10**400]]}, "network.positions[2]: a coordinate is"),
        ({"positions": [[0, 0], [1, 1], [0, float("inf")]]}, "a coordinate is not finite"),
    ],
)  # fmt: skip
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with refused(message):
        Network.from_json(LINE | changes)


def test_positions_and_names_may_be_lists() -> None:
    network = Network("pair", 2, [(0, 1)], positions=[[0, 0], [1, 0]], node_names=["a", "b"])
    assert (network.positions, network.node_names) == (((0, 0), (1, 0)), ("a", "b"))
    assert hash(network)


def test_arcs_are_pairs_of_any_type() -> None:
    expected = Network.from_arcs("x", 2, [(0, 1), (1, 0)])
    assert Network.from_arcs("x", 2, [[0, 1], [1, 0]]) == expected  # type: ignore[list-item]
    assert Network.from_arcs("x", 2, np.array([[0, 1], [1, 0]])) == expected
    with refused("arcs[0]: 3 numbers; write (from, to)"):
        Network.from_arcs("x", 2, [(0, 1, 1)])  # type: ignore[list-item]
