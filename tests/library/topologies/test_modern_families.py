"""Families of networks that are in use today, against what the literature says of them."""

from __future__ import annotations

import json
import re
import time
from importlib import resources

import networkx as nx
import pytest

from cchybrid.library.topologies import FAMILIES, network
from cchybrid.model.errors import InputError
from tests.network_graphs import assert_vertex_transitive, distances, graph_of

# name: nodes, channels, least and greatest out-degree, diameter
FACTS = {
    "hyperx-7": (7, 42, 6, 6, 1),
    "hyperx-4x4": (16, 96, 6, 6, 2),
    "hyperx-2x3x4": (24, 144, 6, 6, 3),
    "hyperx-1x5": (5, 20, 4, 4, 1),
    "de-bruijn-2-1": (2, 2, 1, 1, 1),
    "de-bruijn-2-4": (16, 30, 1, 2, 4),
    "de-bruijn-3-2": (9, 24, 2, 3, 2),
    "de-bruijn-4-3": (64, 252, 3, 4, 3),
    "ccc-3": (24, 72, 3, 3, 6),
    "ccc-4": (64, 192, 3, 3, 8),
    "ccc-5": (160, 480, 3, 3, 10),
    "ccc-6": (384, 1152, 3, 3, 13),
    "dragonfly-1x4": (5, 20, 4, 4, 1),
    "dragonfly-2x1": (6, 12, 2, 2, 3),
    "dragonfly-4x2": (36, 180, 5, 5, 3),
    "dragonfly-6x3": (114, 912, 8, 8, 3),
    "slim-fly-3": (18, 90, 5, 5, 2),
    "slim-fly-5": (50, 350, 7, 7, 2),
    "slim-fly-7": (98, 1078, 11, 11, 2),
    "slim-fly-11": (242, 4114, 17, 17, 2),
    "slim-fly-13": (338, 6422, 19, 19, 2),
    "2-ary-1-tree": (3, 4, 1, 2, 2),
    "2-ary-3-tree": (20, 48, 1, 4, 6),
    "4-ary-2-tree": (24, 64, 1, 8, 4),
    "4-ary-3-tree": (112, 384, 1, 8, 6),
    "random-regular-16-3-1": (16, 48, 3, 3, 5),
    "random-regular-9-6-4": (9, 54, 6, 6, 2),
    "random-geometric-20-6-1": (20, 88, 1, 7, 6),
    "random-links-20-36-1": (20, 72, 1, 7, 5),
    "scale-free-24-2-1": (24, 88, 2, 13, 4),
    "small-world-24-4-1": (24, 96, 3, 5, 5),
    "dgx-1": (8, 32, 4, 4, 2),
    "dgx-2": (17, 32, 1, 16, 2),
    "mi250-16": (16, 56, 3, 4, 5),
    "dgx-a100": (9, 16, 1, 8, 2),
    "dgx-a100-x2": (36, 96, 2, 8, 6),
    "mi250-x2": (33, 176, 4, 32, 2),
    "ndv2-x2": (16, 66, 4, 5, 5),
    "nsfnet-14": (14, 40, 2, 4, 4),
    "arpanet-20": (20, 60, 2, 4, 6),
    "italian-21": (21, 72, 2, 6, 7),
}
BENES = ["benes-2", "benes-4", "benes-16"]
TERMINALS = {"2-ary-1-tree": 2, "2-ary-3-tree": 8, "4-ary-2-tree": 16, "4-ary-3-tree": 64}
TERMINALS |= {"dgx-2": 16, "benes-2": 2, "benes-4": 4, "benes-16": 16}
LARGE = ["hyperx-5x6x7", "de-bruijn-2-12", "ccc-9", "dragonfly-12x6", "slim-fly-23", "benes-256"]
LARGE += ["5-ary-4-tree", "random-regular-2000-4-1"]
PROCESSORS = {"dgx-a100": 8, "dgx-a100-x2": 16, "mi250-x2": 32}
MULTIPLE = {"dgx-1", "mi250-16", "ndv2-x2", *PROCESSORS}


@pytest.mark.parametrize("name", FACTS)
def test_size_degree_and_diameter(name: str) -> None:
    net = network(name)
    degrees = [len(targets) for targets in net.successors]
    diameter = nx.diameter(graph_of(net))
    assert (net.nodes, len(net.channels), min(degrees), max(degrees), diameter) == FACTS[name]
    assert net.name == name


@pytest.mark.parametrize("name", [*FACTS, *BENES])
def test_terminals_reach_each_other(name: str) -> None:
    net = network(name)
    count = TERMINALS.get(name, net.nodes)
    processors = PROCESSORS.get(name, count)
    assert net.terminals == tuple(range(processors))
    assert net.switches == tuple(range(processors, count) if name in PROCESSORS else ())
    assert net.endpoints == (tuple(range(count)) if name in TERMINALS else ())
    assert len(distances(net)) == processors * (processors - 1)


@pytest.mark.parametrize("name", [*FACTS, *BENES])
def test_capacity_and_direction(name: str) -> None:
    net = network(name)
    assert ({channel.capacity for channel in net.channels} == {1}) == (name not in MULTIPLE)
    one_direction = name.startswith(("de-bruijn", "benes", "ndv2"))
    assert net.symmetric == (not one_direction or name in ("de-bruijn-2-1", "benes-2"))
    assert net.half_duplex == ()


@pytest.mark.parametrize("name", [*FACTS, *BENES, *LARGE])
def test_positions_are_in_the_plane_and_distinct(name: str) -> None:
    net = network(name)
    assert net.positions is not None
    assert all(len(position) == 2 for position in net.positions)
    assert len(set(net.positions)) == net.nodes


@pytest.mark.parametrize(
    "name", ["hyperx-3x4", "ccc-3", "dragonfly-2x1", "dragonfly-1x5", "slim-fly-5"]
)
def test_vertex_transitive(name: str) -> None:
    assert_vertex_transitive(network(name))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("slim-fly-5", nx.hoffman_singleton_graph()),
        ("hyperx-2x2x2", nx.hypercube_graph(3)),
        ("hyperx-6", nx.complete_graph(6)),
        ("hyperx-3x5", nx.line_graph(nx.complete_bipartite_graph(3, 5))),
        ("hyperx-2x5", nx.cartesian_product(nx.complete_graph(2), nx.complete_graph(5))),
        ("dragonfly-1x4", nx.complete_graph(5)),
        ("dragonfly-2x1", nx.cycle_graph(6)),
        ("2-ary-1-tree", nx.path_graph(3)),
        ("dgx-2", nx.star_graph(16)),
    ],
)
def test_isomorphic_to_the_graph_of_networkx(name: str, reference: nx.Graph) -> None:
    assert nx.vf2pp_is_isomorphic(graph_of(network(name)).to_undirected(), reference)


def test_a_hyperx_of_extents_two_is_the_hypercube() -> None:
    assert network("hyperx-2x2x2").channels == network("hypercube-8").channels


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hyperx-0x3", "an extent of 0 leaves no nodes; use hyperx-1x3"),
        ("hyperx-1x1", "one node alone is no network; use hyperx-1x2"),
        ("hyperx-1", "one node alone is no network; use hyperx-2"),
        ("de-bruijn-1-4", "degree 1 leads from a word to no other; use de-bruijn-2-4"),
        ("de-bruijn-2-0", "words need at least one digit; use de-bruijn-2-1"),
        ("ccc-2", "cube-connected cycles have at least 3 dimensions; use ccc-3"),
        ("ccc-13", "13 dimensions have too many nodes; use at most ccc-12"),
        ("dragonfly-0x2", "there is no network; use dragonfly-1x2"),
        ("dragonfly-4x0", "there is no network; use dragonfly-4x1"),
        ("slim-fly-9", "9 is no odd prime; use slim-fly-7 or slim-fly-11"),
        ("slim-fly-2", "2 is no odd prime; use slim-fly-3"),
        ("slim-fly-89", "89 is too large; use slim-fly-83"),
        ("1-ary-3-tree", "such a tree has no two terminals; use 2-ary-3-tree"),
        ("4-ary-0-tree", "such a tree has no two terminals; use 4-ary-1-tree"),
        ("benes-12", "12 is no power of two; use benes-8 or benes-16"),
        ("benes-1", "use benes-2"),
        ("random-regular-9-3-1", "half a link; use random-regular-10-3-1"),
        ("random-regular-9-2-1", "too low for a random network; use a degree of 3 or more"),
        ("random-regular-4-4-1", "degree 4 is too high for 4 nodes; use at least 5 nodes"),
        (
            "random-geometric-40-3-1",
            "is connected; use more links, a higher degree, or fewer nodes",
        ),
        ("random-links-20-18-1", "18 links cannot connect 20 nodes, each pair at most once"),
        ("random-links-4-7-1", "use 3 to 6 links"),
        ("scale-free-4-4-1", "4 nodes cannot have 4 links each; use 1 to 3"),
        ("small-world-24-5-1", "no degree of 5; use small-world-24-6-1"),
        ("dragonfly", "the parameters are missing; write dragonfly-AxH, such as dragonfly-4x2"),
        ("dgx-3", "did you mean dgx-1"),
        ("nsfnet", "did you mean nsfnet-14?"),
        ("4-ary-tree", "did you mean 4-ary-2-tree"),
        ("slimfly-5", "did you mean slim-fly-5?"),
    ],
)
def test_senseless_parameters_name_sensible_ones(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        network(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "hyperx-65536",
        "hyperx-300x300x300",
        "de-bruijn-2-17",
        "de-bruijn-3000-1",
        "de-bruijn-2-999999999999999",
        "ccc-999999999999999",
        "dragonfly-999999x999999",
        "slim-fly-999999999999",
        "2-ary-999999999999999-tree",
        "2-ary-16-tree",
        "benes-65536",
        "random-regular-65538-3-1",
        "random-regular-65536-64-1",
        "random-regular-8-3-9999999999999999",
        "random-geometric-65536-64-1",
        "random-links-65536-9999999-1",
        "scale-free-65536-64-1",
        "small-world-65538-4-1",
    ],
)
def test_absurd_sizes_are_refused_at_once(name: str) -> None:
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"too (many|large)"):
        network(name)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("name", [*FACTS, *BENES])
def test_one_family_alone_knows_the_name(name: str) -> None:
    assert sum(bool(re.fullmatch(family.pattern, name)) for family in FAMILIES) == 1


def test_machines_say_where_their_facts_are_from() -> None:
    text = (resources.files("cchybrid.library.topologies") / "machines.json").read_text(
        encoding="utf-8"
    )
    records = json.loads(text)
    assert list(records) == [name for name in FACTS if name in records]
    assert len(records) == 10
    for record in records.values():
        assert record["source"]
        assert len({tuple(link[:2]) for link in record["links"]}) == len(record["links"])
