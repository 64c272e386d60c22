"""Least payments of messages: against the theorems read plainly, by hand, and in schedules."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.linear import read_groups
from cchybrid.checker.payments import NEVER, Spread, paid_for_routes, paid_for_sets
from cchybrid.checker.prices import Prices
from tests.checker.by_hand import HOPS
from tests.checker.by_hand import network as by_hand
from tests.checker.plain_payments import Plain, PlainIncomes
from tests.checker.random_evidence import any_group, any_network, any_prices


def random_case(seed: int) -> tuple[random.Random, Plain]:
    """Return random prices of a random instance for one to four steps."""
    rng = random.Random(seed)
    network, steps = any_network(rng), rng.randint(1, 4)
    evidence = any_prices(network, steps, rng) if rng.random() < 0.8 else {}
    return rng, Plain(network, evidence, steps)


@pytest.mark.parametrize("seed", range(20))
def test_incomes_read_plainly(seed: int) -> None:
    for case in range(10):
        rng, plain = random_case(10 * seed + case)
        network, messages = plain.network, [*range(len(plain.network.messages))]
        group = any_group(network, plain.steps, rng, messages)
        # Worth beyond what prices take.
        group["worth"] = [[node, rng.choice((1, 4)) * amount] for node, amount in group["worth"]]
        any_rounds = network.hop_by_hop and rng.random() < 0.3
        prices = Prices(network, plain.evidence, plain.steps)
        alike: defaultdict[Any, list[int]] = defaultdict(list)
        for source, goals in network.messages:
            incomes = PlainIncomes(plain, group, any_rounds, [source], goals)
            alone = Spread(network, prices, group, any_rounds)
            message = network.messages.index((source, goals))
            assert alone.paid([message]) == incomes.paid()
            alike[frozenset(incomes.holders), frozenset(incomes.amounts.items())].append(message)
        # Messages of the same worth share a table.
        paid = 0
        for together in alike.values():
            sources = [network.messages[message][0] for message in together]
            goals = network.messages[together[0]][1]
            paid += PlainIncomes(plain, group, any_rounds, sources, goals).paid()
        assert Spread(network, prices, group, any_rounds).paid(messages) == paid


@pytest.mark.parametrize("seed", range(20))
def test_routes_read_plainly(seed: int) -> None:
    for case in range(10):
        _, plain = random_case(10 * seed + case)
        network = plain.network
        prices = Prices(network, plain.evidence, plain.steps)
        paid = [plain.routes(*message) for message in network.messages]
        for message, each in enumerate(paid):
            assert paid_for_routes(network, prices, [message]) == each
        assert paid_for_routes(network, prices, [*range(len(paid))]) == sum(paid)


CHAIN = [[0, 1], [1, 2], [2, 3]]


def spread(network: Network, evidence: Any, steps: int, group: Any) -> int:
    """Return what message 0 pays at least for the worth of a group."""
    return Spread(network, Prices(network, evidence, steps), group, any_rounds=False).paid([0])


def chain(*messages: tuple[int, list[int]], **model: Any) -> Network:
    return by_hand(CHAIN, *messages, **model)


def test_a_channel_carries_one_of_several_best_transfers() -> None:
    """In one step, nodes 1 and 3 are worth 4 over the same channel, node 2 costs its worth."""
    network = by_hand([[0, 1], [1, 3], [0, 2]], (0, [1, 2, 3]))
    group = {"worth": [[1, 4], [2, 5], [3, 4]]}
    assert spread(network, {"channels": [[0, 2, 5]]}, 1, group) == 13 - 4


def test_the_best_transfers_to_a_block_count() -> None:
    network = by_hand([[0, 1], [1, 2]], (0, [1, 2]))
    group = {"worth": [[1, 4], [2, 4]], "blocks": [[1, 2]]}
    # Of a worth of 8, the last step earns 4 - 3 at node 1; the first one 8 - 3, not 8 - 6.
    assert spread(network, {"channels": [[0, 1, 3], [1, 2, 3]]}, 2, group) == 8 - (1 + 5)
    # Each of two destinations costs its worth, and both together are worth twice as much: the block
    # earns before the last step, its nodes do not.
    assert spread(network, {"channels": [[0, 1, 4]]}, 3, group) == 8 - 2 * 4
    # The block is worth 4 - 1 to node 0, once, and nothing to itself; node 3 costs its worth.
    network = by_hand([[0, 1], [1, 2], [0, 3]], (0, [1, 2, 3]), **HOPS)
    group = {"worth": [[1, 2], [2, 2], [3, 9]], "blocks": [[1, 2]]}
    assert spread(network, {"accept": [[1, 1], [2, 1], [3, 9]]}, 3, group) == 13 - 3


def test_no_path_begins_with_a_channel_that_makes_it_too_long() -> None:
    """The path by node 1 is free, and one hop too long."""
    network = by_hand([[0, 1], [1, 2], [0, 2]], (0, [2]))
    assert spread(network, {"channels": [[0, 2, 5]]}, 1, {"worth": [[2, 7]]}) == 5


def test_steps_that_change_nothing_count_one_by_one() -> None:
    """With one port, steps 2 to 4 earn 1 each at node 1, and step 1 earns 10."""
    network = by_hand([[0, 1], [0, 2]], (0, [1, 2]), **HOPS, ports=1)
    evidence = {"channels": [[0, 1, 2, 4, 9], [0, 2, 2, 4, 10]]}
    assert spread(network, evidence, 4, {"worth": [[1, 10], [2, 10]]}) == 20 - (3 * 1 + 10)


@pytest.mark.parametrize(
    ("charge", "paid"),
    [
        # In step 3 node 1 costs its worth, in step 1 the charge takes it, in step 2 it earns 5.
        ([1, 1, 1, 5], 12 - 5 - 5),
        ([1, 1, 1, 0], 12 - 0 - 5),
        ([1, 1, 2, 5], 12 - 5 - 0),
        ([1, 2, 2, 5], 12 - 5 - 5),
        ([1, 1, 2, 3], 12 - 3 - 2),
    ],
)
def test_charges_are_for_their_steps(charge: list[int], paid: int) -> None:
    network = by_hand([[0, 1], [0, 2]], (0, [1, 2]), **HOPS)
    group = {"worth": [[1, 5], [2, 7]], "once": [charge]}
    assert spread(network, {"accept": [[1, 3, 3, 5], [2, 7]]}, 3, group) == paid


def test_one_source_may_forward_messages_of_another() -> None:
    network = by_hand([[1, 0], [0, 2]], (0, [2]), (1, [2]), **HOPS)
    paid = Spread(network, Prices(network, {}, 2), {"worth": [[2, 1]]}, any_rounds=False)
    assert paid.paid([0, 1]) == 0


def test_without_a_step_no_message_arrives() -> None:
    network = chain((0, [3]))
    none = Prices(network, {}, 0)
    assert paid_for_routes(network, none, []) == 0
    assert paid_for_routes(network, none, [0]) == NEVER
    assert spread(network, {}, 0, {"worth": [[3, 7]]}) == 7
    assert paid_for_sets(network, none, [[5, 3]], [0]) == 5


@pytest.mark.parametrize(
    ("model", "work"),
    [
        # Two pairs of a source and stops, 3 channels; hop by hop one pair, and 2 intervals.
        ({}, 2 * 3),
        (HOPS, 3 * 2),
    ],
)
def test_the_work_for_routes(model: Any, work: int) -> None:
    network = chain((0, [1]), (0, [2]), (0, [1, 2]), **model)
    prices = Prices(network, {"channels": [[0, 1, 2, 2, 1]]}, 2)
    before = prices.work
    assert paid_for_routes(network, prices, [0, 1, 2]) == 0
    assert prices.work == before + work


@pytest.mark.parametrize(
    ("model", "evidence", "work"),
    [
        # In each of two steps: 3 holders; 3 channels hop by hop; in wormhole switching with prices
        # 3 channels, 2 destinations for each, and once 3 channels for walks behind each.
        ({}, {}, 2 * 3),
        (HOPS, {}, 2 * 3),
        ({}, {"accept": [[3, 1]]}, 2 * (3 + 3 * 2) + 3 * 3),
        # A destination that costs its worth does not count.
        ({}, {"channels": [[1, 2, 1]]}, 2 * (3 + 3 * 1) + 3 * 3),
    ],
)
def test_the_work_for_incomes(model: Any, evidence: Any, work: int) -> None:
    network = chain((0, [1, 2]), **model)
    prices, group = Prices(network, evidence, 2), {"worth": [[1, 1], [2, 1]]}
    before = prices.work
    assert Spread(network, prices, group, False).paid([0]) == 0
    assert prices.work == before + work


@pytest.mark.parametrize(
    ("model", "charged"),
    [({"ports": {"inject": [1, 1, 1, 0], "accept": "all"}}, [1, 2]), (HOPS, [1])],
    ids=["wormhole", "store-and-forward"],
)
def test_incomes_that_grow_in_every_step_are_refused(
    model: Any, charged: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all worth is at node 1, where charges take it; others earn 1 more in every step."""
    ring = [[a, (a + d) % 4] for a in range(4) for d in (1, 3)]
    network = by_hand(ring, (0, [1, 2, 3]), **model)
    steps, great = 1 << 39, 10**39
    prices = {"accept": [[1, steps, steps, great]]}
    charges = [[node, 1, steps - 1, 2 * great] for node in charged]
    group = {"worth": [[1, great], [2, 1], [3, 1]], "once": charges}
    monkeypatch.setattr("cchybrid.checker.prices.MAX_WORK", 1000)
    with pytest.raises(TooLargeError):
        spread(network, prices, steps, group)


def test_the_work_for_paths_of_a_table() -> None:
    """A look at each of three channels, and at each node of the path."""
    network = chain((0, [2]), routing={"next": [[0, 1, 1, 1], [1, 1, 2, 2], [2, 2, 2, 3], [3] * 4]})
    prices = Prices(network, {"channels": [[0, 1, 2]]}, 2)
    before = prices.work
    assert paid_for_routes(network, prices, [0]) == 2
    assert prices.work == before + 3 + 3


def test_many_charges_are_refused() -> None:
    """Every charge is looked at for every step at which one begins or ends."""
    number = 16_000
    once = [[1, step, step, 1] for step in range(1, number)]
    network = by_hand([[0, 1], [1, 2], [2, 0]], (0, [1, 2]))
    group = {"worth": [[1, 1], [2, 1]], "once": once}
    with pytest.raises(TooLargeError):
        spread(network, {}, number, group)


SETS = [[2, 1, 2, 3], [1, 2, 3], [3, 3]]


def test_messages_pay_for_the_sets_that_they_enter() -> None:
    network = chain((0, [3]), (0, [1, 2]), (2, [3]))
    prices = Prices(network, {"channels": [[0, 1, 2], [1, 2, 1], [2, 3, 3], [0, 1, 1, 1, 4]]}, 2)
    for messages, paid in (([0], 6), ([1], 3), ([2], 3), ([0, 1, 2], 12), ([], 0)):
        assert paid_for_sets(network, prices, SETS, messages) == paid
    assert paid_for_sets(network, prices, [[9, 0, 1, 2, 3]], [0, 1, 2]) == 0
    long = by_hand([*CHAIN, [3, 4], [4, 5]], (0, [5]))
    entered = {"channels": [[0, 1, 2]]}
    assert paid_for_sets(long, Prices(long, entered, 1), [[2, 1, 2, 3, 4, 5]], [0]) == 2


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([[3, 1, 2, 3]], "the sets weigh more than a channel into them costs"),
        ([[1, 1], [2, 1, 2]], "the sets weigh more than a channel into them costs"),
        ([[1]], "a row of the evidence has the wrong length"),
        ([[1, 0, 1, 2, 3, 3]], "a row of the evidence has the wrong length"),
        ([[1, 4]], "no nodes, or one that the network does not have"),
    ],
)
def test_what_are_no_sets(rows: Any, text: str) -> None:
    network = chain((0, [3]))
    # The lowest price of the first channel is 2.
    prices = Prices(network, {"channels": [[0, 1, 2], [1, 2, 9], [2, 3, 9], [0, 1, 1, 1, 4]]}, 2)
    with pytest.raises(EvidenceError, match=f"^{text}$"):
        paid_for_sets(network, prices, rows, [0])


def test_the_work_for_sets() -> None:
    """Three sets, three channels, two messages."""
    network = chain((0, [3]), (0, [3]))
    prices = Prices(network, {"channels": [[0, 1, 2], [1, 2, 1], [2, 3, 3]]}, 2)
    before = prices.work
    assert paid_for_sets(network, prices, SETS, [0, 1]) == 12
    assert prices.work == before + 3 * (3 + 2)


def test_a_group_without_a_list_has_all_messages_that_are_left() -> None:
    network = chain((0, [1]), (0, [2]), (0, [3]))
    first, second = {"worth": [], "messages": [2, 0], "once": [], "blocks": []}, {"sets": []}
    groups = [first, second, {"worth": []}]
    assert [*read_groups(network, groups)] == [(first, [2, 0]), (second, [1]), (groups[2], [])]
