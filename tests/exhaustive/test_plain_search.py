"""The plain search by hand, and with every step tried instead of the full ones only."""

from itertools import islice, product
from math import prod

import pytest

from tests.checker.by_hand import record
from tests.exhaustive.features import FEATURES, KINDS, cases, message_sets
from tests.exhaustive.networks import COUNTS, all_graphs, is_strong, some_graphs
from tests.exhaustive.plain_rules import violations
from tests.exhaustive.plain_search import Move, Search, TooLargeError, steps_of_file
from tests.exhaustive.plain_slots import search_of
from tests.exhaustive.test_plain_rules import BOTH, RING, STORE, instance

FIVE = "deliver", [(0, [1])] * 5
SWAP = "deliver", [(0, [1]), (1, [0])]
GATHER = "deliver", [(1, [0]), (2, [0]), (3, [0])]
OPTIMA = {
    "one way, by forwarding along the ring": (instance(RING, "deliver", [(0, [1, 2, 3])]), 2),
    "one way, hop by hop": (instance(RING, "deliver", [(0, [1, 2, 3])], **STORE), 3),
    "both ways": (instance(BOTH, "deliver", [(0, [1, 2, 3])]), 2),
    "both ways, read backwards": (instance(BOTH, "combine", [(0, [1, 2, 3])]), 2),
    "five messages over one channel": (instance(RING, *FIVE), 5),
    "in steps of 1, 2, 2 rounds": (instance(RING, *FIVE, rounds=[1, 2]), 3),
    "there and back, half duplex": (instance(BOTH, *SWAP, half_duplex=[[0, 1]]), 2),
    "three messages to one port": (instance(BOTH, *GATHER, ports=1), 3),
    "an allreduce of two": (instance(BOTH, "allreduce", [[0, 1]]), 1),
    "an allreduce of four, by pairs": (instance(BOTH, "allreduce", [[0, 1, 2, 3]], ports=1), 2),
}


@pytest.mark.parametrize("name", OPTIMA)
def test_optima_by_hand(name):
    given, fewest = OPTIMA[name]
    search = Search(given, 100_000)
    assert search.is_feasible()
    assert search.fewest_steps() == fewest


def test_all_schedules_of_a_message_over_two_paths():
    """Two hops take one way or the other; with one step more, one hop is made in two steps."""
    given = instance(BOTH, "deliver", [(0, [2])], **STORE)
    search = Search(given, 100_000)
    assert search.fewest_steps() == 2
    found = list(search.schedules(2))
    # The way over node 1 or node 3; the other neighbour of either end gets a copy or not.
    assert all(violations(given, steps_of_file(search.rules, each)) == set() for each in found)
    assert len(found) == len({tuple(map(frozenset, each)) for each in found})
    last_hops = [
        [move.path for step in each for move in step if move.path[-1] == 2] for each in found
    ]
    assert last_hops.count([(1, 2)]) == last_hops.count([(3, 2)]) == len(found) / 2
    # First step: to the one neighbour, or to both; second step: from a neighbour to node 2, and,
    # if the other one has no copy yet, perhaps from node 0 to it.
    assert len(found) == 2 * (1 + 2)


def test_no_schedule():
    ports, two = {"inject": 1, "accept": [1, 0, 1, 1]}, ("deliver", [(0, [2])])
    for given, feasible in (
        (instance(RING[:-1], "deliver", [(3, [0])]), False),
        (instance(RING, *two, endpoints=[1]), False),
        (instance(RING, *two, endpoints=[1], **STORE), True),
        (instance(RING, *two, ports=ports, **STORE), False),
        (instance(RING[:-1], "allreduce", [[0, 3]]), False),
    ):
        assert Search(given, 1).is_feasible() == feasible


def test_the_limit_of_the_work():
    with pytest.raises(TooLargeError):
        Search(instance(BOTH, "allreduce", [[0, 1, 2, 3]], **STORE), 20).fewest_steps()


def test_full_steps_lose_no_optimum():
    """The one short cut of the search, against every set of moves."""

    class Everything(Search):
        def steps_from(self, state, done, only_full=False):
            return super().steps_from(state, done)

    compared = 0
    for case in islice(cases(True), 80):
        try:
            plain, short = Everything(case.instance, 3000), Search(case.instance, 3000)
            if plain.is_feasible():
                assert plain.fewest_steps() == short.fewest_steps()
                compared += 1
        except TooLargeError:
            continue
    assert compared > 25


def test_a_period_may_be_too_long():
    """The only path uses a group in its first and its fourth slot: not in a period of three."""
    line = [[a, a + 1] for a in range(4)]
    given = record(line, (0, [4]), switching="tdm")
    given["network"]["groups"] = [[[0, 1], [3, 4]]]
    search = search_of(given, 100)
    assert search.fewest_steps() == 2
    assert [len(list(search.schedules(slots))) for slots in (1, 2, 3, 4)] == [0, 2, 0, 4]


@pytest.mark.slow
def test_every_schedule_in_time_slots_is_found_once():
    """Every choice of a path and a slot for every destination, judged by the plain rules."""
    compared = valid = 0
    for case in cases(True):
        search = search_of(case.instance, 100_000)
        rules = search.rules
        if not rules.slots or not search.is_feasible():
            continue
        for slots in (1, 2, 3):
            starts = [
                [
                    (slot, Move(message, path, None))
                    for sender in (source, *goals)
                    if sender != goal
                    for path in rules.paths(sender, goal)
                    for slot in range(slots)
                ]
                for message, (source, goals) in enumerate(rules.messages)
                for goal in goals
            ]
            if prod(map(len, starts)) > 200:
                break
            right = []
            for chosen in product(*starts):
                steps = [[move for s, move in chosen if s == slot] for slot in range(slots)]
                if not violations(case.instance, steps_of_file(rules, steps)):
                    right.append(sorted(chosen))
            found = [
                sorted((slot, move) for slot, step in enumerate(each) for move in step)
                for each in search.schedules(slots)
            ]
            assert sorted(found) == sorted(right)
            if found:
                assert search.fewest_steps() <= slots
            compared, valid = compared + 1, valid + len(found)
    assert compared > 40 < valid


@pytest.mark.parametrize("nodes", COUNTS)
def test_every_graph_is_there_once(nodes):
    assert len(all_graphs(nodes)) == COUNTS[nodes]


def test_the_sample_of_five():
    assert all(is_strong(5, arcs) for arcs in some_graphs(5, 10))


def test_collectives_of_four_nodes():
    numbers = {kind: len(message_sets(kind, 4)) for kind in KINDS}
    assert numbers["broadcast"] == numbers["scatter"] == numbers["gather"] == numbers["reduce"] == 4
    assert numbers["allgather"] == numbers["alltoall"] == numbers["reduce-scatter"] == 1
    assert numbers["multicast"] == 4 * 7
    assert numbers["permutation"] == 24 - 1
    assert numbers["allreduce"] == 6 + 4 + 1
    # Any senders and receivers, but for a single node that would send to itself only.
    assert numbers["many-to-many"] == 15 * 15 - 4


def test_every_feature_is_in_the_tenth():
    values = [case.values for case in cases(True)]
    for place, (name, several) in enumerate(FEATURES.items()):
        assert {each[place] for each in values} == set(several), name
    assert {each[-1] for each in values} == set(KINDS)
