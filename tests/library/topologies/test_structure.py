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
