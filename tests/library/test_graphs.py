"""Networks from graphs of NetworkX, nodes by name, matrices."""

import re
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

import cchybrid
from cchybrid.library.graphs import read_graph
from cchybrid.library.matrices import read_channels, read_matrix
from cchybrid.library.node_numbers import link_ends, node_number, node_numbers, node_pairs
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError
from tests.examples import examples
from tests.refusals import refused


def named(*names: str) -> Network:
    links = [(node, (node + 1) % len(names)) for node in range(len(names))]
    return Network.from_links("named", len(names), links, node_names=names)


@settings(max_examples=examples(60))
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]),
        st.integers(1, 9),
        min_size=1,
    )
)
def test_a_directed_graph_is_its_channels(arcs):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(8))
    graph.add_edges_from((*ends, {"capacity": np.int64(size)}) for ends, size in arcs.items())
    network = read_graph(graph, "g").network
    assert {(a, b): size for a, b, size in network.channels} == arcs
    assert network.node_names is None
    assert read_matrix(nx.to_numpy_array(graph, weight="capacity"), "g") == network
    sparse = coo_array(nx.to_numpy_array(graph, weight="capacity"))
    assert read_matrix(sparse, "g") == read_matrix(sparse.tocsr(), "g") == network
    assert read_channels([(*pair, size) for pair, size in arcs.items()], "g").nodes <= 8


def test_an_entry_that_a_sparse_matrix_stores_twice_is_refused():
    # SciPy adds them in the type of the entries, where 200 + 100 is 44.
    cells = np.array([200, 100], dtype=np.uint8), ([0, 0], [1, 1])
    with refused("channel 0->1 is listed twice"):
        read_matrix(coo_array(cells, shape=(2, 2)), "g")


def test_names_of_any_kind_are_kept():
    labels = [(0, 1), "<b>", "käse, 日", "3", frozenset({1}), "x-y"]
    graph = nx.path_graph(6)
    network = read_graph(nx.relabel_nodes(graph, dict(enumerate(labels))), "g").network
    assert network.node_names == tuple(map(str, labels))
    assert [node_number(label, network) for label in labels] == list(range(6))
    assert read_graph(nx.Graph([("0", "1")]), "g").network.node_names is None
    assert read_graph(nx.Graph([(1, 2)]), "g").network.node_names == ("1", "2")


def test_whole_numbers_are_names_in_any_type():
    for kind in (float, np.float32, np.int16, str, Decimal, lambda number: Decimal(f"{number}.0")):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, {0: kind(30), 1: kind(10), 2: kind(20)}, "label")
        network = read_graph(graph, "g").network
        assert network.node_names == ("10", "20", "30")
        assert [node_number(kind(number), network) for number in (30, 10, 20)] == [2, 0, 1]
    floats = read_graph(nx.Graph([(2.0, 1.0), (1.0, 0.0)]), "g").network
    assert floats.node_names is None
    assert (node_number(2.0, floats), floats.channels[0]) == (2, (0, 1, 1))
    large = nx.Graph([(float(2**53), 1.0)])
    with pytest.raises(InputError, match="may be rounded"):
        read_graph(large, "g")
    names = read_graph(
        nx.Graph([(2.0**53 - 1, 1.0), (Decimal("1E40"), 1.0)]), "g"
    ).network.node_names
    assert names == ("1", str(2**53 - 1), "1" + "0" * 40)
    assert read_graph(nx.Graph([(Decimal("Infinity"), 1.0)]), "g").network.node_names is not None
    halves = read_graph(nx.Graph([(2.5, 1.0)]), "g").network
    assert (halves.node_names, node_number(2.5, halves)) == (("2.5", "1"), 0)


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT], ids=str)
def test_a_missing_value_is_no_name(missing):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "x", 1: missing, 2: "y"}, "label")
    with refused("node 1: no label here, but at other nodes"):
        read_graph(graph, "g")
    assert read_graph(graph, "g", ignore_attributes=True).network.node_names is None
    nx.set_node_attributes(graph, missing, "label")
    assert read_graph(graph, "g").network.node_names is None
    if missing is not None:
        with refused("network.node_names[1]: no name; give every node a name"):
            read_graph(nx.Graph([("x", missing)]), "g")


def test_a_label_and_a_name_of_a_node_are_the_same():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: "a", 1: "b"}, "label")
    nx.set_node_attributes(graph, {0: "a", 1: "c"}, "name")
    with refused("node 1: the name 'c' contradicts the label 'b'; give all nodes different names"):
        read_graph(graph, "g")
    found = read_graph(graph, "g", ignore_attributes=True)
    assert found.network.node_names == ("a", "b")
    assert found.notes[0].startswith("ignored attribute of nodes: name (node 1: the name 'c'")
    graph.nodes[1]["name"] = "b"
    assert read_graph(graph, "g").network.node_names == ("a", "b")
    nx.set_node_attributes(graph, None, "label")
    assert read_graph(graph, "g").network.node_names == ("a", "b")


def test_capacities_are_scaled_exactly():
    sizes = (0.1, np.float64(0.3), Fraction(1, 2))
    graph = nx.Graph([(node, node + 1, {"capacity": size}) for node, size in enumerate(sizes)])
    network, notes, *_ = read_graph(graph, "g")
    assert [channel.capacity for channel in network.channels] == [1, 1, 3, 3, 5, 5]
    assert notes == ("capacity 1 is written capacity 0.1",)
    found = read_graph(nx.Graph([(0, 1, {"capacity": 4})]), "g")
    assert found[:2] == (Network("g", 2, (Channel(0, 1, 4), Channel(1, 0, 4))), ())


@pytest.mark.parametrize(
    ("edge", "node", "message"),
    [
        ({"capacity": 2, "bandwidth": 2}, {}, "edge a b: capacity and bandwidth in one graph"),
        ({"bandwidth": 2}, {}, "edge b c: no bandwidth here, but on other edges"),
        ({"duplex": "simplex"}, {}, "edge a b: duplex is 'simplex'; use half or full"),
        ({"duplex": "full", "half_duplex": 1}, {}, "contradict each other"),
        ({"capacity": "nan"}, {}, "the capacity 'nan' is no number above 0"),
        ({"capacity": 1e-12}, {}, "the capacity as a whole number is 1000000000000"),
        ({}, {"switch": "maybe"}, "node a: switch is 'maybe', which is no truth value"),
        ({}, {"switch": True, "endpoint": True}, "an endpoint cannot be a switch"),
        ({}, {"endpoint": True, "terminal": False}, "contradict each other"),
        ({}, {"terminal": False}, "node a: it is no terminal, and no node of the graph is one"),
        ({}, {"x": 1}, "node a: a coordinate is missing"),
        ({}, {"pos": (1, 2, 3, 4)}, "node a: no valid position"),
        ({}, {"swich": True}, "'swich' has no meaning here; did you mean switch?"),
    ],
)
def test_wrong_attributes(edge, node, message):
    graph = nx.Graph([("a", "b", edge), ("b", "c")])
    graph.nodes["a"].update(node)
    with refused(message):
        read_graph(graph, "g")


def test_nodes_that_are_no_terminals_are_switches_or_beside_terminals():
    graph = nx.Graph([("hub", "a"), ("hub", "b")])
    graph.nodes["hub"].update({"switch": True, "terminal": False})
    assert read_graph(graph, "g").network.terminals == (1, 2)
    del graph.nodes["hub"]["switch"]
    graph.nodes["a"]["terminal"] = graph.nodes["b"]["terminal"] = True
    assert read_graph(graph, "g").network.terminals == (1, 2)


def test_parallel_edges_together_have_a_limit_without_a_unit():
    graph = nx.MultiGraph([("a", "b", {"capacity": 60}), ("a", "b", {"capacity": 60})])
    with pytest.raises(InputError, match="edge a b: a step would carry 120 messages"):
        read_graph(graph, "g")
    assert read_graph(graph, "g", unit=1).network.channels[0].capacity == 120


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("key", ["capacity", "bandwidth"])
def test_parallel_edges_are_added_before_rounding(kind, key):
    graph = kind([("a", "b", {key: 3}), ("a", "b", {key: 3}), ("b", "c", {key: 6})])
    network, notes, *_ = read_graph(graph, "g", unit=2)
    assert {channel.capacity for channel in network.channels} == {3}
    assert notes == (f"capacity 1 is {'written ' * (key == 'capacity')}{key} 2",)
    found = read_graph(graph, "g", unit=4)
    assert {channel.capacity for channel in found.network.channels} == {1}
    assert found.notes == (f"{notes[0][:-1]}4, and others are rounded down",)


def test_half_duplex_of_directed_edges_needs_both():
    graph = nx.DiGraph([("a", "b"), ("b", "a")])
    graph["a"]["b"]["duplex"] = "half"
    with pytest.raises(InputError, match="needs both directions, both half duplex"):
        read_graph(graph, "g")
    graph["b"]["a"]["duplex"] = "HALF"
    assert read_graph(graph, "g").network.half_duplex == ((0, 1),)


@pytest.mark.parametrize("value", ["(1, 2)", "1,2", [1, 2], np.array([1.0, 2.0])])
def test_positions(value):
    graph = nx.Graph([("a", "b")])
    nx.set_node_attributes(graph, value, "pos")
    assert read_graph(graph, "g").network.positions == ((1, 2), (1, 2))
    del graph.nodes["a"]["pos"]
    network, notes, *_ = read_graph(graph, "g")
    assert network.positions is None
    assert notes == ("positions of 1 of 2 nodes are not used",)


def test_nodes_by_name_and_number():
    network = named("R1", "R,2", "a-b", "b", "c", "a>b")
    assert node_numbers("R1,R,2,a-b", network) == (0, 1, 2)
    assert node_number("3", network) == node_number(np.int64(3), network) == 3
    assert node_numbers("1-3", network) == (1, 2, 3)
    assert node_pairs("R1>R,2,R,2>b", network) == [(0, 1), (1, 3)]
    assert link_ends("R,2-a-b", network) == (1, 2, True)
    assert link_ends("a-b>b", network) == (2, 3, False)
    assert node_pairs("a>b>R1", network) == [(5, 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R11", "no node 'R11' in named; did you mean R1"),
        ("zz", "its nodes are R1"),
        ("9", "use 0 to"),
    ],
)
def test_unknown_nodes(text, message):
    with pytest.raises(InputError, match=message):
        node_numbers(text, named("R1", "R2"))


def test_ambiguous_names_are_refused():
    ions = named("Cl-", "Cl", "Na+")
    for read, text, network in (
        (node_numbers, "a,b", named("a", "b", "a,b")),
        (link_ends, "a-b-c", named("a", "b-c", "a-b", "c")),
        (node_pairs, "Cl->Na+", ions),
        (link_ends, "Cl->Na+", ions),
    ):
        with refused(f"'{text}' can be read in two ways"):
            read(text, network)
    assert node_pairs("Cl-->Na+,Cl>Na+,Na+->Cl", ions) == [(0, 2), (1, 2), (2, 1)]
    assert link_ends("a->b", named("a-", "b")) == (0, 1, False)


@pytest.mark.parametrize(
    "matrix",
    [np.ones((2, 2)), np.zeros((2, 3)), np.array([[0, -1], [1, 0]]), np.array([[0, 0.5], [1, 0]]),
     np.array([[0, np.inf], [1, 0]]), np.zeros(3)],
)  # fmt: skip
def test_wrong_matrices(matrix):
    with pytest.raises(InputError, match="the matrix: "):
        read_matrix(matrix, "m")


def test_wrong_lists_of_channels():
    for pairs in ([(0, 1), 5], [(0,)], ["ab"], [(0, 1, 2, 3)], [([], 1)]):
        with pytest.raises(InputError, match="is no channel; write"):
            read_channels(pairs, "l")


def cluster(nic: float, links: str = "bandwidth") -> nx.Graph:
    """Return two pairs of nodes on fast links, joined by one slow link."""
    sizes = {(0, 1): 300, (2, 3): 300, (1, 2): nic}
    return nx.Graph([(*ends, {links: size}) for ends, size in sizes.items()])


@pytest.mark.parametrize(
    ("graph", "line"),
    [
        (cluster(23.7), "carry 1000 messages over this link, as capacity 1 is bandwidth 0.3"),
        (cluster(23.7, "capacity"), "as capacity 1 is written capacity 0.3"),
        (cluster(25, "capacity"), "carry 300 messages over this link, as capacity 1 is written"),
    ],
)
def test_enormous_steps_need_a_unit(graph, line):
    with pytest.raises(InputError, match=line) as caught:
        read_graph(graph, "g", ignore_attributes=False)
    assert "--unit 2" in str(caught.value)  # the smallest link's, 23.7 or 25


@pytest.mark.parametrize(
    ("attribute", "hint"),
    [
        ({"capacity": 65}, "--unit 65"),
        ({"capcity": 65}, "did you mean capacity?; to ignore it: --ignore-attributes"),
        ({"colour": 65}, "half_duplex; to ignore it: --ignore-attributes"),
    ],
)
def test_a_hint_names_only_options_that_there_are(attribute, hint):
    graph = nx.Graph([("a", "b", attribute)])
    with refused(hint):
        read_graph(graph, "g", ignore_attributes=False)
    with pytest.raises(InputError) as caught:
        read_graph(graph, "g")
    assert not re.search("--|ignore|Python", str(caught.value))


def test_a_divisor_below_the_slowest_edge_needs_a_unit():
    with pytest.raises(InputError, match="carry 2 messages over this link, the slowest") as caught:
        read_graph(cluster(40), "g", ignore_attributes=False)
    assert "edge 1 2" in str(caught.value)
    assert "--unit 40" in str(caught.value)
    exact = read_graph(cluster(23.7), "g", unit="exact")
    assert {channel.capacity for channel in exact.network.channels} == {79, 1000}
    assert exact.unit_bandwidth == Fraction("0.3")
    # Whole capacities say what a step carries.
    whole = nx.Graph([("a", "b", {"capacity": 4}), ("b", "c", {"capacity": 2})])
    assert {channel.capacity for channel in read_graph(whole, "g").network.channels} == {4, 2}


def test_a_unit_is_a_message_per_step():
    found = read_graph(cluster(23.7), "g", unit="23.7")
    assert [channel.capacity for channel in found.network.channels] == [12, 12, 1, 1, 12, 12]
    assert found.notes == ("capacity 1 is bandwidth 23.7, and others are rounded down",)
    assert found.unit_bandwidth == Fraction("23.7")
    exact = read_graph(cluster(25), "g", unit=25)
    assert exact.network == read_graph(cluster(25), "g").network
    # Who says so may have any step.
    whole = read_graph(cluster(25, "capacity"), "g", unit=1)
    assert (whole.network.channels[0].capacity, whole.unit_bandwidth) == (300, None)
    with pytest.raises(InputError, match="edge 1 2: 25 is less than a capacity of 1; use a unit"):
        read_graph(cluster(25), "g", unit=26)
    with pytest.raises(InputError, match="the unit '0' is no number above 0"):
        read_graph(cluster(25), "g", unit=0)


def test_masked_entries_of_a_matrix_are_no_channels():
    masked = np.ma.masked_array(np.ones((2, 2), int), mask=[[True, False], [True, True]])
    assert cchybrid.network(masked).channels == ((0, 1, 1),)
