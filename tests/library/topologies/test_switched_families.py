"""Multistage networks and trees: how they are wired."""

from itertools import pairwise

import networkx as nx
import pytest

from cchybrid.library.topologies import network
from cchybrid.model import Network
from cchybrid.problem.routes import Routes
from tests.network_graphs import graph_of


def path_between(net: Network, source: int, target: int) -> tuple[int, ...]:
    (path,) = Routes(net, extra_hops=0).paths(source, target)
    return path


@pytest.mark.parametrize("name", ["omega-16", "butterfly-16"])
def test_one_path_leads_from_terminal_to_terminal(name: str) -> None:
    net = network(name)
    routes = Routes(net, extra_hops=0)
    lengths = {
        (routes.count(a, b, 99), len(path_between(net, a, b)) - 1)
        for a in net.terminals
        for b in net.terminals
        if a != b
    }
    assert lengths == {(1, 5)}


@pytest.mark.parametrize("name", ["omega-8", "butterfly-8", "omega-16", "butterfly-16"])
def test_every_link_carries_the_same_load_but_for_messages_to_oneself(name: str) -> None:
    net = network(name)
    load = dict.fromkeys(net.channel_index, 0)
    for source in net.terminals:
        for target in net.terminals:
            if source != target:
                for link in pairwise(path_between(net, source, target)):
                    load[link] += 1
    assert set(load.values()) == {len(net.terminals) - 1}


def test_omega_passes_the_published_exchange_of_all_with_all() -> None:
    # The targets of every terminal in seven steps.
    rows = ["4215367", "5602473", "0137654", "6450721", "2763510", "1374206", "7541032", "3026145"]
    net = network("omega-8")
    for step in range(7):
        paths = [path_between(net, source, int(row[step])) for source, row in enumerate(rows)]
        links = [link for path in paths for link in pairwise(path)]
        assert len(set(links)) == len(links)


def test_omega_shuffles() -> None:
    net = network("omega-8")
    # Switches 8 to 11, 12 to 15, 16 to 19; line 1 = 001 comes out as 010, line 4 = 100 as 001.
    assert [net.successors[node] for node in (0, 1, 4)] == [(8,), (9,), (8,)]
    assert net.successors[8] == (12, 13)
    assert net.successors[9] == (14, 15)
    assert net.successors[16] == (0, 1)
    assert net.successors[19] == (6, 7)


def test_butterfly_joins_the_lines_of_one_bit_after_the_other() -> None:
    net = network("butterfly-8")
    fed = [[node for node in range(8) if net.successors[node] == (switch,)] for switch in (8, 9)]
    assert fed == [[0, 4], [1, 5]]
    assert net.successors[16] == (0, 1)


@pytest.mark.parametrize("terminals", [2, 4, 8, 32])
def test_butterfly_is_omega_with_other_switch_numbers(terminals: int) -> None:
    graphs = [graph_of(network(f"{family}-{terminals}")) for family in ("omega", "butterfly")]
    for graph in graphs:
        labels = {node: min(node, terminals) for node in graph}
        nx.set_node_attributes(graph, labels, "terminal")
    assert nx.is_isomorphic(*graphs, node_match=lambda a, b: bool(a == b))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("clos-12", (3, 3, 4)),
        ("clos-16", (4, 4, 4)),
        ("clos-8", (2, 2, 4)),
        ("clos-3-5-2", (3, 5, 2)),
    ],
)
def test_clos(name: str, shape: tuple[int, int, int]) -> None:
    inputs, middle, outer = shape
    net = network(name)
    terminals = inputs * outer
    assert [net.successors[node][0] - terminals for node in range(terminals)] == [
        node // inputs for node in range(terminals)
    ]
    second = tuple(range(terminals + outer, terminals + outer + middle))
    third = tuple(range(second[-1] + 1, net.nodes))
    assert len(third) == outer
    assert all(net.successors[terminals + switch] == second for switch in range(outer))
    assert all(net.successors[switch] == third for switch in second)
    assert net.successors[third[0]] == tuple(range(inputs))
    assert Routes(net, extra_hops=0).count(0, terminals - 1, 99) == middle


def test_general_and_short_names_of_clos_networks_agree() -> None:
    assert network("clos-12").channels == network("clos-3-3-4").channels


def bisection(net: Network) -> int:
    """Return the least capacity between the lower and the upper half of the terminals."""
    graph = graph_of(net)
    half = len(net.terminals) // 2
    for node in net.terminals:
        edge = ("from", node) if node < half else (node, "to")
        graph.add_edge(*edge, capacity=net.nodes)
    return int(nx.maximum_flow_value(graph, "from", "to"))


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("b-tree-8", 1),
        ("b-tree-16", 1),
        ("fat-tree-8", 4),
        ("fat-tree-16", 8),
        ("omega-8", 4),
        ("butterfly-16", 8),
        ("clos-16", 8),
        ("2-fat-hypercube-8", 4),
        ("2-fat-ring-bi-8", 2),
    ],
)
def test_capacity_between_the_halves(name: str, links: int) -> None:
    assert bisection(network(name)) == links


def test_numbers_of_tree_nodes() -> None:
    assert network("full-tree-7").successors[:3] == ((1, 2), (0, 3, 4), (0, 5, 6))
    tree = network("b-tree-4")  # the root is 4
    assert tree.successors == ((5,), (5,), (6,), (6,), (5, 6), (0, 1, 4), (2, 3, 4))


def test_fat_tree_has_the_published_wiring() -> None:
    # The leaves 0, 1 under A, ..., then E to H and I to L above them.
    letters = dict(enumerate("01234567ABCDEFGHIJKL"))
    net = network("fat-tree-8")
    linked = {letters[node] + letters[other] for node, other, _ in net.channels if node < other}
    bottom = {"0A", "1A", "2B", "3B", "4C", "5C", "6D", "7D"}
    middle = {"AE", "AF", "BE", "BF", "CG", "CH", "DG", "DH"}
    assert linked == bottom | middle | {"EI", "EK", "FJ", "FL", "GI", "GK", "HJ", "HL"}


@pytest.mark.parametrize(("name", "count"), [("fat-tree-8", 4), ("b-tree-8", 1)])
def test_number_of_shortest_paths_between_distant_leaves(name: str, count: int) -> None:
    assert Routes(network(name), extra_hops=0).count(0, 7, 99) == count
