"""Networks in epochs, and their lower bounds."""

from fractions import Fraction

import pytest
from cchybrid_plugins.exchange.epoch_networks import (
    KNOWN,
    EpochNetwork,
    dgx2,
    epoch_bound,
    ndv2,
    recognise,
)


def test_clusters_have_the_links_of_their_sources():
    assert [len(each.gpus) for each in KNOWN] == [16, 32, 32]
    assert [len(each.links) for each in KNOWN] == [2 * 32 + 2, 4 * 32 + 8, 2 * 32 + 16]
    for each in KNOWN:
        degrees = {sum(a == gpu for a, _ in each.links) for gpu in each.gpus}
        assert degrees <= {1, 2, 4, 5}


@pytest.mark.parametrize(
    ("network", "fast", "slow"), [(ndv2(4), 99, 26), (dgx2(), 31, 4)], ids=["ndv2", "dgx2"]
)
def test_bounds_of_allgathers_by_hand(network, fast, slow):
    # One chunk of each GPU; an epoch lasts a chunk on the fastest link, or on the slowest.
    demands = {(gpu, 0): network.gpus - {gpu} for gpu in network.gpus}
    for pick, epochs in ((max, fast), (min, slow)):
        unit = pick(network.links.values())
        rates = {link: Fraction(rate) / unit for link, rate in network.links.items()}
        assert epoch_bound(network, network.switches, demands, rates, parts=False)[0] == epochs


def test_parts_of_chunks_may_share_a_slow_link():
    network = ndv2(2)
    demands = {(a, b): frozenset({b}) for a in network.gpus for b in network.gpus if a != b}
    rates = {link: Fraction(rate, 50) for link, rate in network.links.items()}
    bound, reason = epoch_bound(network, network.switches, demands, rates, parts=True)
    assert bound == 256
    assert reason == "64 chunks into GPUs 0 to 7 over 1 link: 256 epochs"


def test_a_network_is_recognised_by_its_links_only_if_they_fit():
    assert recognise(range(16), [(0, 1), (8, 1)]) == ndv2(2)
    assert recognise(range(16), [(0, 5)]) is None
    assert recognise(range(3), [(0, 1)]) is None


def test_epoch_bound_of_parts_of_chunks_is_lower_than_that_of_whole_ones():
    # Two routes carry half a chunk per epoch each: three chunks enter in three epochs in parts,
    # and in four where chunks are whole, whatever the number of destinations of a chunk.
    links = dict.fromkeys([(0, 1), (0, 2), (1, 3), (2, 3)], Fraction(1))
    network = EpochNetwork("routes", frozenset(range(4)), frozenset(), links, ())
    rates = dict.fromkeys(links, Fraction(1, 2))
    demands = {(0, chunk): frozenset({3}) for chunk in range(3)}
    found = {
        parts: epoch_bound(network, frozenset(), demands, rates, parts=parts)[0]
        for parts in (True, False)
    }
    assert found == {True: 3, False: 4}


def test_epoch_bound_lets_the_last_chunk_leave_a_switch_in_the_last_epoch():
    # Into the switch a chunk takes an epoch, out of it four: chunks leave in epochs 1 and 5, and
    # have then arrived.
    links = {(1, 0): Fraction(4), (2, 0): Fraction(4), (0, 3): Fraction(1)}
    network = EpochNetwork("star", frozenset({1, 2, 3}), frozenset({0}), links, ())
    rates = {link: rate / 4 for link, rate in links.items()}
    demands = {(source, 0): frozenset({3}) for source in (1, 2)}
    assert epoch_bound(network, network.switches, demands, rates, parts=False)[0] == 5
