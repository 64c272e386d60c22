"""Structure and capacity of the families in use today."""

import itertools
import random
import time

import networkx as nx
import numpy as np
import pytest

from cchybrid.library.topologies import network
from cchybrid.model import Channel, Network
from tests.network_graphs import distances, graph_of

PINNED = {(0, 1), (0, 3), (0, 4), (1, 4), (1, 7), (2, 3), (2, 5), (2, 6), (3, 7), (4, 6)}
PINNED |= {(5, 6), (5, 7)}


def links_of(net: Network) -> set[tuple[int, int]]:
    return {(source, target) for source, target, _ in net.channels if source < target}


def narrowest_halving(net: Network) -> int:
    nodes = range(1, net.nodes)
    return min(
        sum(size for a, b, size in net.channels if a in half and b not in half)
        for others in itertools.combinations(nodes, net.nodes // 2 - 1)
        for half in [{0, *others}]
    )


@pytest.mark.parametrize(
    ("name", "width"), [("hyperx-8", 16), ("hyperx-4x4", 16), ("dgx-1", 6), ("mi250-16", 6)]
)
def test_bisection_width(name: str, width: int) -> None:
    assert narrowest_halving(network(name)) == width


@pytest.mark.parametrize(("degree", "diameter"), [(2, 1), (2, 4), (3, 3), (5, 2)])
def test_de_bruijn_has_one_walk_of_its_diameter_between_any_two_words(
    degree: int, diameter: int
) -> None:
    net = network(f"de-bruijn-{degree}-{diameter}")
    words = list(itertools.product(range(degree), repeat=diameter))
    arcs = {(words[source], words[target]) for source, target, _ in net.channels}
    assert arcs == {(a, b) for a in words for b in words if a[1:] == b[:-1] and a != b}
    adjacency = np.zeros((net.nodes, net.nodes))
    for source, target, _ in net.channels:
        adjacency[source, target] = 1
    for digit in range(degree):
        word = words.index((digit,) * diameter)
        adjacency[word, word] = 1
    assert (np.linalg.matrix_power(adjacency, diameter) == 1).all()


def test_cube_connected_cycles_contract_to_the_hypercube() -> None:
    net = network("ccc-4")
    outside = {(a // 4, b // 4) for a, b, _ in net.channels if a // 4 != b // 4}
    assert outside == {(a, b) for a, b, _ in network("hypercube-16").channels}
    assert all(a % 4 == b % 4 for a, b, _ in net.channels if a // 4 != b // 4)


@pytest.mark.parametrize(("routers", "ports"), [(2, 1), (4, 2), (3, 4)])
def test_dragonfly_has_one_link_between_any_two_groups(routers: int, ports: int) -> None:
    net = network(f"dragonfly-{routers}x{ports}")
    groups = routers * ports + 1
    pairs = [
        (a // routers, b // routers) for a, b, _ in net.channels if a // routers < b // routers
    ]
    assert sorted(pairs) == list(itertools.combinations(range(groups), 2))
    for node, targets in enumerate(net.successors):
        away = [target // routers for target in targets if target // routers != node // routers]
        others = [group for group in range(groups) if group != node // routers]
        place = node % routers * ports
        assert away == others[place : place + ports]


@pytest.mark.parametrize("order", [3, 5, 7, 11, 13, 17, 19])
def test_slim_fly_has_diameter_two_and_the_published_degree(order: int) -> None:
    net = network(f"slim-fly-{order}")
    degree = (3 * order - (1 if order % 4 == 1 else -1)) // 2
    assert {len(targets) for targets in net.successors} == {degree}
    adjacency = np.zeros((net.nodes, net.nodes))
    for source, target, _ in net.channels:
        adjacency[source, target] = 1
    assert (adjacency + adjacency @ adjacency > 0).all()


def test_a_k_ary_n_tree_carries_any_half_of_its_terminals() -> None:
    net = network("2-ary-3-tree")
    assert net.successors[5] == (10,)
    assert net.successors[10] == (4, 5, 12 + 2, 12 + 3)
    for others in itertools.combinations(range(1, 8), 3):
        graph = graph_of(net)
        for node in range(8):
            arc = ("from", node) if node in (0, *others) else (node, "to")
            graph.add_edge(*arc, capacity=1)
        assert nx.maximum_flow_value(graph, "from", "to") == 4


def test_a_k_ary_n_tree_has_one_path_down_from_every_root() -> None:
    net = network("3-ary-3-tree")
    graph = graph_of(net)
    down = graph.edge_subgraph([(a, b) for a, b in graph.edges if a > b])
    for root in range(27 + 18, 54):
        assert all(len(list(nx.all_simple_paths(down, root, end))) == 1 for end in range(27))


@pytest.mark.parametrize("size", [2, 4, 16])
def test_benes_is_made_of_stages(size: int) -> None:
    net = network(f"benes-{size}")
    bits = size.bit_length() - 1
    assert net.nodes == size + (2 * bits - 1) * size // 2
    assert len(net.channels) == 2 * bits * size
    assert set(distances(net).values()) == {2 * bits}
    graph = graph_of(net)
    assert {graph.degree(node) for node in range(size)} == {2}
    assert {graph.in_degree(node) for node in range(size, net.nodes)} == {2}
    assert {graph.out_degree(node) for node in range(size, net.nodes)} == {2}
    assert [net.successors[node] for node in range(size)] == [
        (size + node // 2,) for node in range(size)
    ]
    assert net.successors[net.nodes - 1] == (size - 2, size - 1)


def routable(net: Network, goals: list[int]) -> bool:
    """Return whether disjoint paths lead from every terminal to its goal, by trying them all."""
    paths: list[list[list[int]]] = [[] for _ in goals]
    for source, goal in enumerate(goals):
        stack = [[source]]
        while stack:
            path = stack.pop()
            for node in net.successors[path[-1]]:
                if node == goal:
                    paths[source].append([*path, node])
                elif node not in net.endpoints:
                    stack.append([*path, node])

    def place(source: int, used: frozenset[tuple[int, int]]) -> bool:
        if source == len(goals):
            return True
        return any(
            used.isdisjoint(arcs) and place(source + 1, used.union(arcs))
            for path in paths[source]
            for arcs in [list(itertools.pairwise(path))]
        )

    return place(0, frozenset())


def test_benes_routes_every_permutation() -> None:
    for goals in itertools.permutations(range(4)):
        assert routable(network("benes-4"), list(goals))
    stream = random.Random(1)
    for _ in range(20):
        assert routable(network("benes-8"), stream.sample(range(8), 8))


def test_a_random_network_is_that_of_its_seed() -> None:
    net = network("random-regular-64-3-5")
    assert net == network("random-regular-64-3-5")
    assert links_of(net) != links_of(network("random-regular-64-3-6"))
    assert {len(targets) for targets in net.successors} == {3}
    # Other networks of these names, from another NetworkX, would be another benchmark.
    assert links_of(network("random-regular-8-3-1")) == PINNED


@pytest.mark.parametrize("name", [f"random-regular-8-3-{seed}" for seed in range(40)])
def test_random_networks_are_connected(name: str) -> None:
    assert nx.is_strongly_connected(graph_of(network(name)))


def test_dense_random_networks_are_quick() -> None:
    start = time.perf_counter()
    net = network("random-regular-120-110-1")
    assert {len(targets) for targets in net.successors} == {110}
    assert links_of(network("random-regular-6-5-1")) == links_of(network("complete-6"))
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(("name", "lanes"), [("dgx-1", 6), ("mi250-16", 7)])
def test_every_accelerator_uses_all_its_lanes(name: str, lanes: int) -> None:
    net = network(name)
    for node in range(net.nodes):
        assert sum(size for source, _, size in net.channels if source == node) == lanes


def test_dgx_2_sends_and_receives_once_per_step() -> None:
    net = network("dgx-2")
    assert net.successors[:16] == ((16,),) * 16
    assert set(distances(net).values()) == {2}


def test_ndv2_is_two_dgx_1_with_a_channel_in_each_direction() -> None:
    server = network("dgx-1").channels
    both = {*server, *(Channel(a + 8, b + 8, size) for a, b, size in server)}
    assert set(network("ndv2-x2").channels) - both == {Channel(0, 9), Channel(8, 1)}
    assert both < set(network("ndv2-x2").channels)


def test_backbones_survive_any_one_failure() -> None:
    for name in ("nsfnet-14", "arpanet-20", "italian-21"):
        graph = graph_of(network(name)).to_undirected()
        assert nx.edge_connectivity(graph) == 2
