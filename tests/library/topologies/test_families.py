"""Every family of networks: its size, its wiring, and the graph of NetworkX that it is."""

import hashlib
import json
from dataclasses import replace
from importlib import resources

import networkx as nx
import pytest

import cchybrid
from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies import FAMILIES, network
from cchybrid.library.topologies.names import rates_of
from cchybrid.model.errors import InputError
from cchybrid.referee.distances import hop_distances
from tests.network_graphs import graph_of

TABLE = """
    hypercube-2 2 2 2 1 1 1 a1bc69, hypercube-8 8 8 24 3 3 3 c5149d,
    hypercube-64 64 64 384 6 6 6 271c60, ring-bi-3 3 3 6 2 2 1 63fead,
    ring-bi-16 16 16 32 2 2 8 301d1d, ring-uni-2 2 2 2 1 1 1 a1bc69, ring-uni-8 8 8 8 1 1 7 a5fded,
    mesh-1x8 8 8 14 1 2 7 f82ec9, mesh-4x4 16 16 48 2 4 6 7c18e8, mesh-4x8 32 32 104 2 4 10 e7388e,
    mesh-2x3x4 24 24 92 3 5 6 e5802f, torus-3x3 9 9 36 4 4 2 27fec2,
    torus-4x8 32 32 128 4 4 6 2ea602, torus-4x4x4 64 64 384 6 6 6 5eb227,
    torus-2x4 8 8 24 3 3 3 a3a722, torus-1x5 5 5 10 2 2 2 78ccf9, spidergon-4 4 4 12 3 3 1 6ae327,
    spidergon-6 6 6 18 3 3 2 a1e889, spidergon-8 8 8 24 3 3 2 5a199f,
    spidergon-32 32 32 96 3 3 8 fd6d9b, petersen-10 10 10 30 3 3 2 5fb3eb,
    heawood-14 14 14 42 3 3 3 e17a88, kautz-4 4 4 12 3 3 1 6ae327, kautz-12 12 12 36 3 3 2 8e881a,
    kautz-36 36 36 108 3 3 3 1c2fd4, kautz-108 108 108 324 3 3 4 d5bb7b,
    complete-2 2 2 2 1 1 1 a1bc69, complete-8 8 8 56 7 7 1 a64636, hyperx-7 7 7 42 6 6 1 ab1083,
    hyperx-4x4 16 16 96 6 6 2 224726, hyperx-2x3x4 24 24 144 6 6 3 cdf922,
    hyperx-1x5 5 5 20 4 4 1 5d7b39, de-bruijn-2-1 2 2 2 1 1 1 a1bc69,
    de-bruijn-2-4 16 16 30 1 2 4 c32352, de-bruijn-3-2 9 9 24 2 3 2 11a01e,
    de-bruijn-4-3 64 64 252 3 4 3 7dccaa, ccc-3 24 24 72 3 3 6 6e7d23, ccc-4 64 64 192 3 3 8 67dd30,
    ccc-5 160 160 480 3 3 10 a94de7, ccc-6 384 384 1152 3 3 13 fbb050,
    dragonfly-1x4 5 5 20 4 4 1 5d7b39, dragonfly-2x1 6 6 12 2 2 3 e247cc,
    dragonfly-4x2 36 36 180 5 5 3 a9a777, dragonfly-6x3 114 114 912 8 8 3 283e91,
    slim-fly-3 18 18 90 5 5 2 4f9bc7, slim-fly-5 50 50 350 7 7 2 f3fefc,
    slim-fly-7 98 98 1078 11 11 2 7d8565, slim-fly-11 242 242 4114 17 17 2 67bc0f,
    slim-fly-13 338 338 6422 19 19 2 b6370d, 2-ary-1-tree 3 2 4 1 2 2 95725c,
    2-ary-3-tree 20 8 48 1 4 6 e0f2b8, 4-ary-2-tree 24 16 64 1 8 4 c2253c,
    4-ary-3-tree 112 64 384 1 8 6 396fbd, random-regular-16-3-1 16 16 48 3 3 5 ca9d3b,
    random-regular-9-6-4 9 9 54 6 6 2 e17d2a, random-geometric-20-6-1 20 20 88 1 7 6 7d1721,
    random-links-20-36-1 20 20 72 1 7 5 f93271, scale-free-24-2-1 24 24 88 2 13 4 87e55d,
    small-world-24-4-1 24 24 96 3 5 5 faa4e0, dgx-1 8 8 32 4 4 2 b2d6b7,
    dgx-2 17 16 32 1 16 2 212dad, mi250-16 16 16 56 3 4 5 83f67f, mi250 16 16 56 3 4 5 83f67f,
    dgx-a100 9 8 16 1 8 2 62d5a8, dgx-a100-x2 36 16 96 2 8 6 e0749a,
    mi250-x2 33 32 176 4 32 2 cfeaef, dgx-h100 9 8 16 1 8 2 ab1fe6, mi300x 8 8 56 7 7 1 a64636,
    ndv2 8 8 32 4 4 2 b2d6b7, dgx-h100-x4 37 32 128 2 32 2 941699,
    dgx-h100-rails-x4 44 32 128 2 8 4 95ed85, dgx-2-x3 52 48 144 1 24 6 dd60bb,
    mi300x-rails-x2 24 16 144 2 8 3 0e472a, ndv2-x4 33 32 136 4 5 6 d694b8,
    rails-2x4 14 8 32 2 4 4 3b628a, cluster-2x4x3 11 8 32 2 8 2 dc9618,
    ndv2-x2 16 16 66 4 5 5 97cf00, nsfnet-14 14 14 40 2 4 4 5c62c1,
    arpanet-20 20 20 60 2 4 6 1de87c, italian-21 21 21 72 2 6 7 f3747d,
    levi-30 30 30 90 3 3 4 bbc7f3, circulant-3-1 3 3 6 2 2 1 63fead,
    circulant-16-1x4 16 16 64 4 4 3 a37836, circulant-8-1x4 8 8 24 3 3 2 5a199f,
    circulant-9-1x2x3x4 9 9 72 8 8 1 a3c3b7, midimew-5 5 5 20 4 4 1 5d7b39,
    midimew-8 8 8 32 4 4 2 4e8c0b, midimew-13 13 13 52 4 4 2 f9f136,
    midimew-14 14 14 56 4 4 3 ed31a3, midimew-50 50 50 200 4 4 5 a704e6,
    k-ring-5 5 5 20 4 4 1 5d7b39, k-ring-8 8 8 32 4 4 2 b500e1, k-ring-15 15 15 60 4 4 3 110de4,
    amp-8 8 8 32 4 4 2 f0d8ac, amp-23 23 23 92 4 4 3 354240, amp-32 32 32 128 4 4 3 43a67c,
    amp-42 42 42 168 4 4 4 b6448e, amp-53 53 53 212 4 4 4 751baf, omega-2 3 2 4 1 2 2 95725c,
    omega-8 20 8 32 1 2 4 0c7ace, omega-64 256 64 448 1 2 7 0ff0c2,
    butterfly-8 20 8 32 1 2 4 a8ce1b, butterfly-16 48 16 80 1 2 5 3a0882,
    clos-12 23 12 48 1 4 4 8b6040, clos-16 28 16 64 1 4 4 fc87ce, clos-2-3-5 23 10 50 1 5 4 058f5e,
    b-tree-2 3 2 4 1 2 2 95725c, b-tree-8 15 8 28 1 3 6 500a64, b-tree-16 31 16 60 1 3 8 75dfa3,
    fat-tree-4 8 4 16 1 4 4 42e5c7, fat-tree-8 20 8 48 1 4 6 e0f2b8,
    fat-tree-32 112 32 320 1 4 10 0bf566, full-tree-3 3 3 4 1 2 2 202602,
    full-tree-15 15 15 28 1 3 6 677016, 2-fat-hypercube-8 24 16 56 1 5 5 7476cc,
    2-fat-spidergon-6 18 12 42 1 5 4 713456, 3-fat-mesh-4x4 64 48 144 1 7 8 f55ca0,
    1-fat-petersen-10 20 10 50 1 4 4 bf90b1, 2-fat-kautz-12 36 24 84 1 5 4 5b9277,
    benes-2 3 2 4 1 2 2 95725c, benes-4 10 4 16 1 2 4 d592bf, benes-16 72 16 128 1 2 8 29ec46,
    ring-uni-9 9 9 9 1 1 8 751e5f, omega-16 48 16 80 1 2 5 83ec6e, clos-3-5-2 15 6 32 1 5 4 fe0428,
    harary-6-3 6 6 18 3 3 2 a1e889, harary-17-3 17 17 52 3 4 5 be239e,
    harary-30-8 30 30 240 8 8 4 8b527b, de-bruijn-bi-2-1 2 2 2 1 1 1 a1bc69,
    de-bruijn-bi-2-4 16 16 58 2 4 4 69ba7d, de-bruijn-bi-3-3 27 27 150 4 6 3 89e89f,
    shuffle-exchange-1 2 2 2 1 1 1 a1bc69, shuffle-exchange-2 4 4 6 1 2 3 673894,
    shuffle-exchange-6 64 64 186 1 3 11 c6971a, wrapped-butterfly-3 24 24 96 4 4 4 68ab74,
    wrapped-butterfly-5 160 160 640 4 4 7 5baae0, binomial-tree-2-0-1 2 2 2 1 1 1 a1bc69,
    binomial-tree-32-17-1 32 32 96 1 9 7 132cc7,
    binomial-tree-256-1608-2 256 256 3726 5 27 4 47f970,
    small-world-24-4-20-1 24 24 96 3 5 5 faa4e0, small-world-100-6-10-1 100 100 600 4 8 7 0a6e21,
    small-world-100-2-10-1 100 100 200 1 3 67 6de38b, rails-4x8 44 32 128 2 8 4 95ed85,
    rails-2x3x2 11 6 24 2 3 4 2fad10, cluster-4x8 37 32 128 2 32 2 941699,
    cluster-3x2x1 10 6 24 2 6 2 912d20
"""
FACTS = {name: facts for name, *facts in map(str.split, TABLE.split(","))}
"""Of every name: nodes, terminals, channels, least and greatest out-degree, diameter, and the
beginning of a digest of the channels, which were compared with the literature."""

LARGE = """hypercube-512 mesh-5x6x7 mesh-2x3x2x3x2x3 torus-3x40x4 kautz-324 hyperx-5x6x7 ccc-9
    harary-4097-5 de-bruijn-2-12 de-bruijn-bi-2-12 shuffle-exchange-12 wrapped-butterfly-8
    binomial-tree-1024-13000-1 small-world-1000-4-30-1 dragonfly-12x6 slim-fly-23 benes-256
    5-ary-4-tree random-regular-2000-4-1 rails-128x8 cluster-128x8"""
CLUSTERS = (
    *("dgx-a100-x2", "mi250-x2", "dgx-h100-x4", "dgx-h100-rails-x4", "dgx-2-x3"),
    *("mi300x-rails-x2", "ndv2-x4", "rails-2x4", "cluster-2x4x3"),
)
BARE = ("rails-4x8", "rails-2x3x2", "cluster-4x8", "cluster-3x2x1")
SWITCHED = ("dgx-a100", "dgx-h100", *CLUSTERS, *BARE)
MULTIPLE = {"dgx-1", "mi250-16", "mi250", "ndv2", "ndv2-x2", "dgx-a100", *CLUSTERS, *BARE[:3]}
ONE_DIRECTION = (
    *("ring-uni", "kautz", "omega", "butterfly", "clos", "2-fat-kautz"),
    *("de-bruijn-2", "de-bruijn-3", "de-bruijn-4", "benes", "ndv2-x", "dgx-2-x"),
)
BOTH = ("ring-uni-2", "kautz-4", "omega-2", "de-bruijn-2-1", "benes-2")
VERTEX_TRANSITIVE = """hypercube-16 ring-bi-9 ring-uni-7 torus-3x4 torus-3x3 torus-2x4 spidergon-12
    petersen-10 heawood-14 kautz-12 complete-6 levi-30 circulant-12-2x3 midimew-11 k-ring-9 k-ring-8
    hyperx-3x4 ccc-3 wrapped-butterfly-3 harary-12-5 dragonfly-2x1 dragonfly-1x5 slim-fly-5"""
SHUFFLED = ["01", "12", "14", "23", "24", "35", "36", "45", "56", "67"]
"""The links of the shuffle-exchange network of 8 nodes."""


@pytest.mark.parametrize("name", FACTS)
def test_size_degree_diameter_and_wiring(name):
    net = network(name)
    hops = hop_distances(net, net.terminals)[:, list(net.terminals)]
    degrees = [len(targets) for targets in net.successors]
    found = (net.nodes, len(net.terminals), len(net.channels), min(degrees), max(degrees))
    channels = " ".join(str(tuple(channel)) for channel in net.channels)
    digest = hashlib.sha256(channels.encode()).hexdigest()[:6]
    assert [*map(str, found), str(hops.max()), digest] == FACTS[name]
    assert (hops.min(), net.name) == (0, name)


@pytest.mark.parametrize("name", FACTS)
def test_terminals_capacity_and_direction(name):
    net = network(name)
    assert net.terminals == tuple(range(len(net.terminals)))
    assert net.switches == (tuple(range(len(net.terminals), net.nodes)) if name in SWITCHED else ())
    assert net.endpoints in ((), net.terminals)
    if net.endpoints:
        targets = [channel.target for channel in net.channels]
        assert all(len(net.successors[node]) == targets.count(node) == 1 for node in net.terminals)
    assert ({channel.capacity for channel in net.channels} == {1}) == (name not in MULTIPLE)
    assert net.symmetric == (not name.startswith(ONE_DIRECTION) or name in BOTH)
    assert net.half_duplex == ()


@pytest.mark.parametrize("name", [*FACTS, *LARGE.split()])
def test_positions_are_in_the_plane_and_distinct(name):
    net = network(name)
    assert all(len(position) == 2 for position in net.positions)
    assert len(set(net.positions)) == net.nodes


@pytest.mark.parametrize("name", VERTEX_TRANSITIVE.split())
def test_vertex_transitive(name):
    """Check that some automorphism leads from node 0 to each other node."""
    net = network(name)
    graph = graph_of(net).to_undirected() if net.symmetric else graph_of(net)
    nx.set_node_attributes(graph, {node: node == 0 for node in graph}, "pinned")
    for node in range(1, net.nodes):
        other = graph.copy()
        nx.set_node_attributes(other, {each: each == node for each in graph}, "pinned")
        assert nx.vf2pp_is_isomorphic(graph, other, node_label="pinned")


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
        ("levi", nx.LCF_graph(30, [-13, -9, 7, -7, 9, 13], 5)),
        ("circulant-12-2x3", nx.circulant_graph(12, [2, 3])),
        ("circulant-8-1x4", graph_of(network("spidergon-8")).to_undirected()),
        ("harary-17-5", nx.hkn_harary_graph(5, 17)),
        ("harary-8-7", nx.complete_graph(8)),
        ("harary-9-2", nx.cycle_graph(9)),
        ("de-bruijn-bi-2-2", nx.Graph([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])),
        ("shuffle-exchange-3", nx.Graph(SHUFFLED)),
        ("small-world-24-4-0-1", nx.circulant_graph(24, [1, 2])),
        ("binomial-tree-32-0-1", nx.binomial_tree(5)),
        ("midimew-8", nx.circulant_graph(8, [1, 2])),
        ("midimew-20", nx.circulant_graph(20, [3, 4])),
        ("k-ring-8", nx.circulant_graph(8, [1, 3])),
        ("b-tree-16", nx.balanced_tree(2, 4)),
        ("full-tree-31", nx.balanced_tree(2, 4)),
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
def test_isomorphic_to_the_graph_of_networkx(name, reference):
    assert nx.vf2pp_is_isomorphic(graph_of(network(name)).to_undirected(), reference)


def test_examples_resolve():
    for family in FAMILIES:
        assert network(family.example).name == family.example


def test_rates_of_machines_and_their_clusters():
    def rates(name: str) -> dict[tuple[int, int], tuple[float, float]]:
        net = network(name)
        found = rates_of(net, FAMILIES)
        assert found.sources
        figures = [tuple(map(float, each)) for each in found.of(net)]
        if name != "ndv2-x2":
            widths = [float(found.unit * channel.capacity) for channel in net.channels]
            assert widths == [width for width, _ in figures]
        return {channel[:2]: each for channel, each in zip(net.channels, figures, strict=True)}

    assert rates("dgx-1")[0, 1] == rates("ndv2-x4")[8, 9] == (50, 0.7)
    assert rates("ndv2-x2")[0, 9] == (12.5, 2.6)
    assert rates("ndv2-x4")[8, 32] == rates("ndv2-x4")[32, 9] == (12.5, 1.3)
    links = rates("dgx-a100-x2")
    assert (links[0, 32], links[0, 16], links[16, 34]) == ((300, 0.35), (25, 0), (25, 1.3))
    assert rates("dgx-h100-rails-x2")[1, 19] == (50, 1.3)
    links = rates("mi250-x2")
    assert (links[0, 32], links[16, 17]) == ((16, 1.3), (200, 0.7))
    assert rates_of(network("nsfnet-14"), FAMILIES) is None


@pytest.mark.parametrize(
    "name", ["dgx-h100-x1", "ndv2-x0", "rails-1x8", "rails-2x0", "cluster-2x4x0"]
)
def test_what_is_no_cluster_is_refused(name):
    with pytest.raises(InputError, match=r"two boxes|a box has a GPU"):
        network(name)


def test_digests_of_clusters_in_stored_results_stay():
    """Names, positions and the order in which clusters are built do not count."""
    digests = {"dgx-a100-x2": "66895d85", "mi250-x2": "282ce663", "ndv2-x2": "d4a1f2da"}
    for name, digest in digests.items():
        assert cchybrid.instance(name, "AAB").digest.startswith(digest)


def test_machines_say_where_their_facts_are_from():
    file = resources.files("cchybrid.library.topologies") / "machines.json"
    records = json.loads(file.read_text(encoding="utf-8"))
    assert list(records) == [name for name in FACTS if name in records]
    assert len(records) == 12
    for record in records.values():
        if "like" in record:
            record = {**records[record["like"]], **record}
        assert record["source"]
        assert len({tuple(link[:2]) for link in record["links"]}) == len(record["links"])
        assert ("figures" in record) == ("latency" in record) == ("bandwidth" in record)
        assert "figures" in record.get("cluster", {"figures": []})


def test_a_name_of_two_families_is_refused_whatever_their_order():
    line, ring = (
        TopologyInfo(word, f"{word}-N", r"yyy-(\d+)", lambda n: network("ring-bi-4"), "-", "yyy-4")
        for word in ("line", "own-ring")
    )
    for pair in ((line, ring), (ring, line)):
        with pytest.raises(InputError, match=r"yyy-4: the families .* both have this name"):
            network("yyy-4", [*FAMILIES, *pair])
    greedy = TopologyInfo("greedy", "greedy", "(.+)", lambda name: network("ring-bi-4"), "-", "x")
    assert network("mesh-2x3", [greedy, *FAMILIES]).nodes == 6
    copies = [replace(family, summary="wrapped by a plugin host") for family in FAMILIES]
    assert network("mesh-2x3", [greedy, *copies]).nodes == 6
