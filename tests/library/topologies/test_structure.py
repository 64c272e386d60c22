"""Families of networks keep their promises at every size."""

import math
import time
from itertools import pairwise

import pytest

from cchybrid.library.topologies import network
from cchybrid.library.topologies.fat_nodes import fat
from cchybrid.model import Network
from cchybrid.problem.routes import Routes
from cchybrid.referee.distances import hop_distances


@pytest.mark.parametrize("nodes", [*range(5, 40), 61, 85, 1000])
def test_midimew_has_the_minimum_diameter_of_degree_4_circulants(nodes):
    net = network(f"midimew-{nodes}")
    base = math.ceil(math.sqrt(nodes / 2))
    expected = base if nodes > 2 * base * (base - 1) + 1 else base - 1
    assert hop_distances(net, [0]).max() == expected


@pytest.mark.parametrize("nodes", [5, 7, 8, 9, 12, 15, 22, 36, 101])
def test_k_ring_has_two_rings_and_no_other_pair_of_rings_is_better(nodes):
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


def test_fat_networks_keep_capacities_and_half_duplex_links():
    slim = Network.from_links("n", 3, [(0, 1), (0, 1), (1, 2)], half_duplex=((2, 1),))
    net = fat(2, slim)
    assert net.channels[net.channel_index[6, 7]].capacity == 2
    assert net.half_duplex == ((8, 7),)
    assert net.positions is None
    assert net.name == "2-fat-n"


def test_omega_passes_the_published_exchange_of_all_with_all():
    # The targets of every terminal in seven steps.
    rows = ["4215367", "5602473", "0137654", "6450721", "2763510", "1374206", "7541032", "3026145"]
    routes = Routes(network("omega-8"), extra_hops=0)
    for step in range(7):
        paths = [next(routes.paths(source, int(row[step]))) for source, row in enumerate(rows)]
        links = [link for path in paths for link in pairwise(path)]
        assert len(set(links)) == len(links)


def test_a_random_network_is_that_of_its_seed():
    net = network("random-regular-64-3-5")
    assert net == network("random-regular-64-3-5")
    assert net.channels != network("random-regular-64-3-6").channels


def test_random_networks_are_connected():
    for seed in range(40):
        assert hop_distances(network(f"random-regular-8-3-{seed}"), [0]).min() >= 0


@pytest.mark.parametrize("nodes", [2, 16, 128])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_binomial_tree_informs_all_by_doubling_and_other_links_only_add_to_it(nodes, seed):
    tree = network(f"binomial-tree-{nodes}-0-{seed}")

    def steps(node: int, parent: int) -> int:
        """Return the steps in which a node informs its subtree, the slowest children first."""
        below = [steps(other, node) for other in tree.successors[node] if other != parent]
        return max((i + own for i, own in enumerate(sorted(below, reverse=True), 1)), default=0)

    assert 2 ** steps(0, -1) == nodes == len(tree.channels) // 2 + 1
    links = min(3 * nodes, nodes * (nodes - 1) // 2 - nodes + 1)
    more = network(f"binomial-tree-{nodes}-{links}-{seed}")
    assert len(more.channels) == len(tree.channels) + 2 * links
    assert more.channel_index.keys() >= tree.channel_index.keys()


def test_a_small_world_moves_a_fifth_of_the_links_unless_its_name_says_how_many():
    assert network("small-world-100-4-20-3").channels == network("small-world-100-4-3").channels
    ring = {(a, b) for a in range(100) for b in ((a + 1) % 100, (a + 2) % 100)}

    def moved(percent: int) -> int:
        net = network(f"small-world-100-4-{percent}-3")
        return sum(link not in net.channel_index for link in ring)

    assert (moved(0), len(ring)) == (0, 200)
    assert 5 < moved(10) < 35 < moved(30) < 85 < moved(100)


def test_dense_random_networks_are_quick():
    start = time.perf_counter()
    net = network("random-regular-120-110-1")
    assert {len(targets) for targets in net.successors} == {110}
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(("name", "lanes"), [("dgx-1", 6), ("mi250-16", 7)])
def test_every_accelerator_uses_all_its_lanes(name, lanes):
    net = network(name)
    for node in range(net.nodes):
        assert sum(size for source, _, size in net.channels if source == node) == lanes
