"""Every node of every network has a place of its own."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.drawing.positions import MIN_DISTANCE, positions

import cchybrid
from cchybrid.library.topologies import FAMILIES, network
from cchybrid.model import Network

EXAMPLES = sorted({family.example for family in FAMILIES})
SMALL = [name for name in EXAMPLES if network(name).nodes <= 64][::3]


def closest(points: np.ndarray) -> float:
    apart = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    return float((apart + 1e9 * np.eye(len(points))).min())


@pytest.mark.parametrize("computed", [False, True], ids=["given", "computed"])
@pytest.mark.parametrize("name", SMALL)
def test_nodes_of_a_topology_are_apart(name, computed):
    net = network(name)
    if computed:
        net = replace(net, positions=None)
    found = positions(net)
    assert found == positions(replace(net, name="equal"))
    points = np.array(found)
    assert points.shape == (net.nodes, 2)
    assert net.nodes < 2 or closest(points) > 0.25


@pytest.mark.parametrize("name", ["mesh-3x5", "torus-4x4", "ring-bi-9", "omega-8"])
def test_given_positions_keep_their_shape(name):
    net = network(name)
    given, found = np.array(net.positions), np.array(positions(net))
    scale = np.ptp(found[:, 0]) / np.ptp(given[:, 0])
    assert np.allclose(given - given[0], (found - found[0]) / scale, atol=1e-3)


def test_a_mesh_without_positions_is_a_grid_of_units():
    points = np.array(positions(replace(network("mesh-4x4"), positions=None)))
    lengths = [np.hypot(*(points[a] - points[b])) for a, b, _ in network("mesh-4x4").channels]
    assert 0.8 < min(lengths) <= max(lengths) < 1.3
    corners = points[[0, 3, 12, 15]]
    assert closest(corners) > 2.5


def test_three_coordinates_are_projected_without_hiding_a_node():
    places = tuple((float(x), float(y), float(z)) for x in (0, 1) for y in (0, 1) for z in (0, 1))
    cube = replace(network("hypercube-8"), positions=places)
    assert closest(np.array(positions(cube))) > 0.5
    # In the usual projection these two would be one point.
    hidden = Network.from_links(
        "hidden", 3, [(0, 1), (1, 2)], positions=((0.37, 0.29, 0.0), (0.0, 0.0, 1.0), (1.0, 0, 0))
    )
    assert closest(np.array(positions(hidden))) > 0.05


@pytest.mark.parametrize(
    "places",
    [
        ((0.0, 0.0),) * 4,
        ((0.0, 0.0), (0.0, 0.0), (5.0, 0.0), (5.0, 0.0)),
        ((1e308, 1e308), (-1e308, -1e308), (0.0, 0.0), (0.0, 0.0)),
        ((5e-324, 0.0), (0.0, 5e-324), (0.0, 0.0), (5e-324, 5e-324)),
        ((0.0, 0.0), (1e-9, 0.0), (1.0, 0.0), (1e6, 0.0)),
    ],
)
def test_bad_positions_are_repaired(places):
    found = positions(Network.from_links("bad", 4, [(0, 1), (1, 2), (2, 3)], positions=places))
    assert len(set(found)) == 4
    assert np.isfinite(found).all()
    if places != ((0.0, 0.0),) * 4:
        assert closest(np.array(found)) > 0.7 * MIN_DISTANCE


def test_pieces_of_a_network_are_beside_each_other():
    links = [(0, 1), (1, 2), (2, 0), (3, 4), (5, 6)]
    points = np.array(positions(Network.from_links("pieces", 9, links)))
    assert closest(points) > 0.5


def test_fat_trees_stand_on_their_endpoints():
    fat = replace(network("2-ary-3-tree"), positions=None)
    heights = np.array(positions(fat))[:, 1]
    assert set(np.flatnonzero(heights == heights.min())) == set(fat.endpoints)


@pytest.mark.parametrize("nodes", [1, 2, 3, 600])
def test_any_size_has_positions(nodes):
    links = [(node, node + 1) for node in range(nodes - 1)]
    assert len(set(positions(Network.from_links("path", nodes, links)))) == nodes


@pytest.mark.long
def test_a_large_network_has_positions():
    net = replace(network("torus-150x150"), positions=None)
    assert len(set(positions(net))) == net.nodes


def test_a_graph_file_gives_positions(tmp_path):
    """As docs/draw.md says."""
    graph = nx.grid_2d_graph(2, 3)
    for (row, column), data in graph.nodes(data=True):
        data.update(x=10 * column, y=10 * row)
    nx.write_graphml(nx.relabel_nodes(graph, str), tmp_path / "mesh.graphml")
    found = positions(cchybrid.network(tmp_path / "mesh.graphml"))
    assert sorted(found) == [(x, y) for x in (-1.0, 0.0, 1.0) for y in (-0.5, 0.5)]
