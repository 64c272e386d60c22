"""The families of the papers against their definitions and what is known of them."""

import math

import pytest

from cchybrid.library.topologies import network
from cchybrid.library.topologies.fat_nodes import fat
from cchybrid.model import Network
from cchybrid.referee.distances import hop_distances


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
