"""Every family of networks against what the literature says of it."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from cchybrid.library.topologies import FAMILIES, network
from tests.network_graphs import assert_vertex_transitive, graph_of

# name: nodes, channels, least and greatest out-degree, diameter
FACTS = {
    "hypercube-2": (2, 2, 1, 1, 1),
    "hypercube-8": (8, 24, 3, 3, 3),
    "hypercube-64": (64, 384, 6, 6, 6),
    "ring-bi-3": (3, 6, 2, 2, 1),
    "ring-bi-16": (16, 32, 2, 2, 8),
    "ring-uni-2": (2, 2, 1, 1, 1),
    "ring-uni-8": (8, 8, 1, 1, 7),
    "mesh-1x8": (8, 14, 1, 2, 7),
    "mesh-4x4": (16, 48, 2, 4, 6),
    "mesh-4x8": (32, 104, 2, 4, 10),
    "mesh-2x3x4": (24, 92, 3, 5, 6),
    "torus-3x3": (9, 36, 4, 4, 2),
    "torus-4x8": (32, 128, 4, 4, 6),
    "torus-4x4x4": (64, 384, 6, 6, 6),
    "torus-2x4": (8, 24, 3, 3, 3),
    "torus-1x5": (5, 10, 2, 2, 2),
    "spidergon-4": (4, 12, 3, 3, 1),
    "spidergon-6": (6, 18, 3, 3, 2),
    "spidergon-8": (8, 24, 3, 3, 2),
    "spidergon-32": (32, 96, 3, 3, 8),
    "petersen-10": (10, 30, 3, 3, 2),
    "heawood-14": (14, 42, 3, 3, 3),
    "kautz-4": (4, 12, 3, 3, 1),
    "kautz-12": (12, 36, 3, 3, 2),
    "kautz-36": (36, 108, 3, 3, 3),
    "kautz-108": (108, 324, 3, 3, 4),
    "complete-2": (2, 2, 1, 1, 1),
    "complete-8": (8, 56, 7, 7, 1),
}
VERTEX_TRANSITIVE = [
    "hypercube-16",
    "ring-bi-9",
    "ring-uni-7",
    "torus-3x4",
    "torus-3x3",
    "torus-2x4",
    "spidergon-12",
    "petersen-10",
    "heawood-14",
    "kautz-12",
    "complete-6",
]
LARGE = ["hypercube-512", "mesh-5x6x7", "mesh-2x3x2x3x2x3", "torus-3x40x4", "kautz-324"]


@pytest.mark.parametrize("name", FACTS)
def test_size_degree_and_diameter(name: str) -> None:
    net = network(name)
    graph = graph_of(net)
    degrees = [len(targets) for targets in net.successors]
    found = (net.nodes, len(net.channels), min(degrees), max(degrees), nx.diameter(graph))
    assert found == FACTS[name]


@pytest.mark.parametrize("name", FACTS)
def test_channels_have_unit_capacity_and_links_both_directions(name: str) -> None:
    net = network(name)
    assert all(channel.capacity == 1 for channel in net.channels)
    one_direction = name.startswith(("ring-uni", "kautz"))
    assert net.symmetric == (not one_direction or name in ("ring-uni-2", "kautz-4"))
    assert net.terminals == tuple(range(net.nodes))


@pytest.mark.parametrize("name", [*FACTS, *LARGE])
def test_positions_are_in_the_plane_and_distinct(name: str) -> None:
    net = network(name)
    assert net.positions is not None
    assert all(len(position) == 2 for position in net.positions)
    assert len(set(net.positions)) == net.nodes


@pytest.mark.parametrize("name", VERTEX_TRANSITIVE)
def test_vertex_transitive(name: str) -> None:
    assert_vertex_transitive(network(name))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("hypercube-16", nx.hypercube_graph(4)),
        ("petersen", nx.petersen_graph()),
        ("heawood", nx.heawood_graph()),
        ("mesh-3x5", nx.grid_2d_graph(3, 5)),
        ("torus-3x5", nx.grid_2d_graph(3, 5, periodic=True)),
        ("torus-3x4x5", nx.grid_graph((3, 4, 5), periodic=True)),
        ("spidergon-10", nx.circulant_graph(10, [1, 5])),
        ("complete-7", nx.complete_graph(7)),
        ("torus-2x2x2", nx.hypercube_graph(3)),
    ],
)
def test_isomorphic_to_the_graph_of_networkx(name: str, reference: nx.Graph) -> None:
    assert nx.is_isomorphic(graph_of(network(name)).to_undirected(), reference)


@pytest.mark.parametrize(("size", "diameter"), [(4, 1), (12, 2), (36, 3)])
def test_kautz_is_the_digraph_of_words_without_repeated_neighbours(
    size: int, diameter: int
) -> None:
    words = [
        word
        for word in itertools.product("abcd", repeat=diameter)
        if all(x != y for x, y in itertools.pairwise(word))
    ]
    arcs = [(a, b) for a in words for b in words if a[1:] == b[:-1] and a[-1] != b[-1]]
    if diameter == 1:
        arcs = [(a, b) for a in words for b in words if a != b]
    assert nx.is_isomorphic(graph_of(network(f"kautz-{size}")), nx.DiGraph(arcs))


@pytest.mark.parametrize(("size", "diameter"), [(12, 2), (108, 4), (972, 6)])
def test_kautz_has_one_walk_of_the_two_greatest_lengths_between_any_two_nodes(
    size: int, diameter: int
) -> None:
    adjacency = np.zeros((size, size))
    for source, target, _ in network(f"kautz-{size}").channels:
        adjacency[source, target] = 1
    walks = np.linalg.matrix_power(adjacency, diameter - 1)
    assert (walks + walks @ adjacency == 1).all()


def test_kautz_12_has_the_published_numbering() -> None:
    rows = {
        (3, 4, 5): (0, 6, 10),
        (6, 7, 8): (1, 5, 9),
        (9, 10, 11): (2, 4, 8),
        (0, 1, 2): (3, 7, 11),
    }
    expected = {node: row for row, nodes in rows.items() for node in nodes}
    assert dict(enumerate(network("kautz-12").successors)) == expected


def test_meshes_are_numbered_row_by_row() -> None:
    net = network("mesh-4x8")
    assert net.successors[0] == (1, 8)
    assert net.successors[9] == (1, 8, 10, 17)
    assert net.positions is not None
    assert net.positions[9] == (1.0, -1.0)


def test_hypercube_neighbours_differ_in_one_bit() -> None:
    net = network("hypercube-16")
    assert all((source ^ target).bit_count() == 1 for source, target, _ in net.channels)


def test_girth_of_the_cages() -> None:
    assert nx.girth(graph_of(network("petersen")).to_undirected()) == 5
    assert nx.girth(graph_of(network("heawood")).to_undirected()) == 6


@pytest.mark.parametrize("extents", [(2, 2), (2, 2, 2), (1, 2, 3), (2, 5, 1, 2)])
def test_torus_of_extent_two_has_no_double_channels(extents: tuple[int, ...]) -> None:
    net = network("torus-" + "x".join(map(str, extents)))
    degree = sum({1: 0, 2: 1}.get(extent, 2) for extent in extents)
    assert all(len(targets) == degree for targets in net.successors)
    assert {channel.capacity for channel in net.channels} == {1}
    assert net.nodes == math.prod(extents)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_examples_resolve(family: object) -> None:
    example = family.example  # type: ignore[attr-defined]
    assert network(example).name == example
