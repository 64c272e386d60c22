"""The families of the papers against their definitions and what is known of them."""

from __future__ import annotations

import math

import networkx as nx
import pytest

from cchybrid.library.topologies import network
from cchybrid.library.topologies.fat_nodes import fat
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.problem.routes import Routes
from cchybrid.referee.distances import hop_distances
from tests.network_graphs import assert_vertex_transitive, graph_of

# name: nodes, terminals, channels, least and greatest out-degree, diameter
FACTS = {
    "levi-30": (30, 30, 90, 3, 3, 4),
    "circulant-3-1": (3, 3, 6, 2, 2, 1),
    "circulant-16-1x4": (16, 16, 64, 4, 4, 3),
    "circulant-8-1x4": (8, 8, 24, 3, 3, 2),
    "circulant-9-1x2x3x4": (9, 9, 72, 8, 8, 1),
    "midimew-5": (5, 5, 20, 4, 4, 1),
    "midimew-8": (8, 8, 32, 4, 4, 2),
    "midimew-13": (13, 13, 52, 4, 4, 2),
    "midimew-14": (14, 14, 56, 4, 4, 3),
    "midimew-50": (50, 50, 200, 4, 4, 5),
    "k-ring-5": (5, 5, 20, 4, 4, 1),
    "k-ring-8": (8, 8, 32, 4, 4, 2),
    "k-ring-15": (15, 15, 60, 4, 4, 3),
    "amp-8": (8, 8, 32, 4, 4, 2),
    "amp-23": (23, 23, 92, 4, 4, 3),
    "amp-32": (32, 32, 128, 4, 4, 3),
    "amp-42": (42, 42, 168, 4, 4, 4),
    "amp-53": (53, 53, 212, 4, 4, 4),
    "omega-2": (3, 2, 4, 1, 2, 2),
    "omega-8": (20, 8, 32, 1, 2, 4),
    "omega-64": (64 + 6 * 32, 64, 7 * 64, 1, 2, 7),
    "butterfly-8": (20, 8, 32, 1, 2, 4),
    "butterfly-16": (48, 16, 80, 1, 2, 5),
    "clos-12": (23, 12, 48, 1, 4, 4),
    "clos-16": (28, 16, 64, 1, 4, 4),
    "clos-2-3-5": (23, 10, 50, 1, 5, 4),
    "b-tree-2": (3, 2, 4, 1, 2, 2),
    "b-tree-8": (15, 8, 28, 1, 3, 6),
    "b-tree-16": (31, 16, 60, 1, 3, 8),
    "fat-tree-4": (8, 4, 16, 1, 4, 4),
    "fat-tree-8": (20, 8, 48, 1, 4, 6),
    "fat-tree-32": (112, 32, 320, 1, 4, 10),
    "full-tree-3": (3, 3, 4, 1, 2, 2),
    "full-tree-15": (15, 15, 28, 1, 3, 6),
    "2-fat-hypercube-8": (24, 16, 56, 1, 5, 5),
    "2-fat-spidergon-6": (18, 12, 42, 1, 5, 4),
    "3-fat-mesh-4x4": (64, 48, 144, 1, 7, 8),
    "1-fat-petersen-10": (20, 10, 50, 1, 4, 4),
    "2-fat-kautz-12": (36, 24, 84, 1, 5, 4),
}
ONE_DIRECTION = ("omega", "butterfly", "clos", "2-fat-kautz")
VERTEX_TRANSITIVE = ["levi-30", "circulant-12-2x3", "midimew-11", "k-ring-9", "k-ring-8"]


@pytest.mark.parametrize("name", FACTS)
def test_size_degree_and_diameter(name: str) -> None:
    net = network(name)
    hops = hop_distances(net, net.terminals)[:, list(net.terminals)]
    degrees = [len(targets) for targets in net.successors]
    found = (net.nodes, len(net.terminals), len(net.channels), min(degrees), max(degrees))
    assert hops.min() >= 0
    assert (*found, hops.max()) == FACTS[name]


@pytest.mark.parametrize("name", FACTS)
def test_channels_have_unit_capacity_and_links_both_directions(name: str) -> None:
    net = network(name)
    assert all(channel.capacity == 1 for channel in net.channels)
    assert net.symmetric == (not name.startswith(ONE_DIRECTION) or name == "omega-2")


@pytest.mark.parametrize("name", FACTS)
def test_positions_are_in_the_plane_and_distinct(name: str) -> None:
    net = network(name)
    assert net.positions is not None
    assert all(len(position) == 2 for position in net.positions)
    assert len(set(net.positions)) == net.nodes


@pytest.mark.parametrize("name", FACTS)
def test_terminals_come_first_and_have_one_port_where_there_are_switches(name: str) -> None:
    net = network(name)
    assert net.terminals == tuple(range(len(net.terminals)))
    assert net.endpoints in ((), net.terminals)
    if net.endpoints:
        targets = [channel.target for channel in net.channels]
        assert all(len(net.successors[node]) == targets.count(node) == 1 for node in net.terminals)


@pytest.mark.parametrize("name", FACTS)
def test_minimal_routing_has_a_path_between_any_two_terminals(name: str) -> None:
    net = network(name)
    routes = Routes(net, extra_hops=0)
    pairs = [(a, b) for a in net.terminals for b in net.terminals if a != b]
    assert min(routes.count(a, b, 99) for a, b in pairs) > 0


@pytest.mark.parametrize("name", VERTEX_TRANSITIVE)
def test_vertex_transitive(name: str) -> None:
    assert_vertex_transitive(network(name))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("levi", nx.LCF_graph(30, [-13, -9, 7, -7, 9, 13], 5)),
        ("circulant-12-2x3", nx.circulant_graph(12, [2, 3])),
        ("circulant-8-1x4", network("spidergon-8")),
        ("midimew-8", nx.circulant_graph(8, [1, 2])),
        ("midimew-20", nx.circulant_graph(20, [3, 4])),
        ("k-ring-8", nx.circulant_graph(8, [1, 3])),
        ("b-tree-16", nx.balanced_tree(2, 4)),
        ("full-tree-31", nx.balanced_tree(2, 4)),
    ],
)
def test_isomorphic_to_a_known_graph(name: str, reference: nx.Graph | Network) -> None:
    if isinstance(reference, Network):
        reference = graph_of(reference).to_undirected()
    assert nx.is_isomorphic(graph_of(network(name)).to_undirected(), reference)


def test_levi_is_the_cage_of_girth_8() -> None:
    assert nx.girth(graph_of(network("levi")).to_undirected()) == 8


@pytest.mark.parametrize("nodes", [*range(5, 40), 61, 85, 1000])
def test_midimew_has_the_minimum_diameter_of_degree_4_circulants(nodes: int) -> None:
    net = network(f"midimew-{nodes}")
    base = math.ceil(math.sqrt(nodes / 2))
    expected = base if nodes > 2 * base * (base - 1) + 1 else base - 1
    assert hop_distances(net, [0]).max() == expected


@pytest.mark.parametrize("nodes", [5, 7, 8, 9, 12, 15, 22, 36, 101])
def test_k_ring_has_two_rings_and_no_other_pair_of_rings_is_better(nodes: int) -> None:
    net = network(f"k-ring-{nodes}")
    (second,) = {min(node, nodes - node) for node in net.successors[0]} - {1}
    assert math.gcd(second, nodes) == 1

    def quality(candidate: Network) -> tuple[int, int]:
        hops = hop_distances(candidate, [0])
        return int(hops.max()), int(hops.sum())

    others = [
        network(f"circulant-{nodes}-1x{stride}")
        for stride in range(2, nodes // 2 + 1)
        if math.gcd(stride, nodes) == 1
    ]
    assert quality(net) == min(map(quality, others))


def test_octagon_is_a_spidergon() -> None:
    assert network("octagon").channels == network("spidergon-8").channels
    assert network("octagon").name == "octagon"


def test_the_published_amp() -> None:
    rows = network("amp-8").successors
    assert rows[0] == (1, 2, 3, 4)
    assert rows[1] == (0, 4, 5, 6)
    assert rows[7] == (3, 4, 5, 6)


@pytest.mark.parametrize(("nodes", "total"), [(23, 23 * 46), (32, 32 * 73), (42, 4358), (53, 7508)])
def test_distances_of_our_own_amps(nodes: int, total: int) -> None:
    assert hop_distances(network(f"amp-{nodes}"), range(nodes)).sum() == total


def test_fat_networks_keep_the_slim_one_among_the_switches() -> None:
    slim = network("kautz-12")
    net = network("3-fat-kautz-12")
    among = [(a - 36, b - 36) for a, b, _ in net.channels if min(a, b) >= 36]
    assert sorted(among) == [(a, b) for a, b, _ in slim.channels]
    assert all(net.successors[end] == (36 + end // 3,) for end in range(36))


def test_fat_networks_keep_capacities_and_half_duplex_links() -> None:
    slim = Network.from_links("n", 3, [(0, 1), (0, 1), (1, 2)], half_duplex=((2, 1),))
    net = fat(2, slim)
    assert net.channels[net.channel_index[6, 7]].capacity == 2
    assert net.half_duplex == ((8, 7),)
    assert net.positions is None
    assert net.name == "2-fat-n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("levi-31", "levi-31: this graph has 30 nodes; use levi-30"),
        ("circulant-2-1", "at least 3 nodes; use circulant-3-1"),
        ("circulant-16-1x9", "stride 9 is not between 1 and 8; use 7 in its place"),
        ("circulant-16-0", "stride 0 is not between 1 and 8; use 1 in its place"),
        ("circulant-16-3x3", "a stride is listed twice; use circulant-16-3"),
        ("circulant-16-4x4", "a stride is listed twice; use circulant-16-1x4"),
        ("circulant-16-2x4", "2 components; use circulant-16-1x2x4"),
        ("circulant-16", "did you mean circulant-16-1x4"),
        ("midimew-4", "at least 5 nodes; use midimew-5"),
        ("k-ring-4", "at least 5 nodes; use k-ring-5"),
        ("k-ring-6", "6 nodes have no second ring; use k-ring-5 or k-ring-7"),
        ("k-ring-10000", "use at most 4096, or give its stride: circulant-10000-1x100"),
        ("amp-16", "use amp-8, amp-23, amp-32, amp-42 or amp-53"),
        ("omega-1", "1 is less than 2; use omega-2"),
        ("omega-12", "12 is no power of two; use omega-8 or omega-16"),
        ("butterfly-9", "9 is no power of two; use butterfly-8 or butterfly-16"),
        ("clos-2", "at least 4 terminals here; use clos-4"),
        ("clos-13", "13 is prime, so it cannot be divided among switches; use clos-12 or"),
        ("clos-0-3-4", "no switches in a stage; use clos-1-3-4"),
        ("clos-1-1-1", "fewer than 2 terminals or no switches in a stage; use clos-1-1-2"),
        ("b-tree-6", "6 is no power of two; use b-tree-4 or b-tree-8"),
        ("fat-tree-0", "0 is less than 2; use fat-tree-2"),
        ("full-tree-8", "do not fill the rows of a binary tree; use full-tree-7 or full-tree-15"),
        ("full-tree-1", "use full-tree-3"),
        ("0-fat-mesh-2x2", "no terminals at the switches; use 1-fat-mesh-2x2"),
        ("2-fat-omega-8", "omega-8 has switches and terminals of its own"),
        ("2-fat-hypercub-8", "unknown network 'hypercub-8'; did you mean hypercube-8?"),
        ("2-fat-2-fat-mesh-2x2", "unknown network '2-fat-mesh-2x2'"),
        ("2-fat-ring-bi-2", "2-fat-ring-bi-2: ring-bi-2: a ring-bi has at least 3 nodes"),
        ("fat", "write F-fat-X, such as 2-fat-hypercube-8"),
    ],
)
def test_senseless_parameters_name_sensible_ones(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        network(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "circulant-99999999-1x2",
        "circulant-60000-" + "x".join(map(str, range(1, 40))),
        "midimew-65537",
        "omega-65536",
        "omega-99999999999999",
        "clos-99999999-9999999-999999",
        "clos-99999999999999",
        "b-tree-65536",
        "full-tree-131071",
        "fat-tree-32768",
        "99999999-fat-mesh-9x9",
        "2-fat-mesh-999999x9",
        "9" * 5000 + "-fat-mesh-2x2",
    ],
)
def test_absurd_sizes_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"too (many|large)"):
        network(name)
