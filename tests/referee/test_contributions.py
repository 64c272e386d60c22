"""Sums of an allreduce: mistakes by hand, and random schedules against three independent readings.

The checker reads the same rules with sets. ``totals`` adds up real numbers: in a valid schedule
every member ends with the exact sum.
"""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import AllReduction, Collective, Instance, Network, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import RULES, refuse_invalid, verify, verify_schedule
from tests.broken_schedules import MISTAKES as OTHER_MISTAKES
from tests.examples import examples
from tests.exhaustive.plain_search import Search, TooLargeError
from tests.random_instances import models, networks

LINE = Network.from_links("line", 4, [(0, 1), (1, 2), (2, 3)])


def allreduce(network: Network, *members: int) -> Instance:
    return Instance(network, Collective("sum", (AllReduction(members),)))


INSTANCE = allreduce(LINE, 0, 1, 2, 3)
"""Both halves of a line add up their own parts, then the two middle nodes exchange sums."""
STEPS = [
    [((0, 1), [0]), ((3, 2), [3])],
    [((1, 2), [0, 1]), ((2, 1), [2, 3])],
    [((1, 0), [0, 1, 2, 3]), ((2, 3), [0, 1, 2, 3])],
]


def schedule(rows, instance=INSTANCE) -> Schedule:
    steps = tuple(tuple(Transfer(0, path) for path, _ in step) for step in rows)
    return Schedule(instance, steps, sums=tuple(tuple(tuple(s) for _, s in step) for step in rows))


def changed(step: int, slot: int, row) -> Schedule:
    rows = [list(entries) for entries in STEPS]
    rows[step][slot] = row
    return schedule(rows)


def test_a_valid_allreduce():
    assert verify_schedule(schedule(STEPS)) == ()
    assert adds_up(schedule(STEPS))


SUM = "the sum of the parts of"
FIRST = f"{SUM} 0, 1 of message 0"
WHOLE = f"{SUM} 0, 1, 2, 3 of message 0"
UNFORMED = "which it cannot form from what it holds since an earlier step"
NO_PART = "names a node twice, or one that is no member"
LOST = [
    f"step 2, transfer 1: node 1 sends {FIRST}, {UNFORMED}",
    f"step 3, transfer 1: node 1 sends {WHOLE}, {UNFORMED}",
    "member 1 never has its whole sum of message 0",
]
"""Consequences of a part of node 0 that never reaches node 1."""
LOST_AT_0 = "member 0 never has its whole sum of message 0"
MISTAKES = {
    **{
        name: (
            changed(0, 0, ((0, 1), parts)),
            "no-such-part",
            [f"step 1, transfer 1: {SUM} {shown} of message 0 {NO_PART}", *LOST],
        )
        for name, parts, shown in (
            ("a part of no member", [0, 7], "0, 7"),
            ("no part at all", [], "no node"),
            ("a part twice", [0, 0], "0, 0"),
            ("a negative part", [-1], "-1"),
        )
    },
    "six parts, and seven": (
        schedule([[((0, 1), range(6)), ((2, 1), range(7))]]),
        "no-such-part",
        [
            f"step 1, transfer 1: {SUM} 0, 1, 2, 3, 4, 5 of message 0 {NO_PART}",
            f"step 1, transfer 2: {SUM} 0, 1, 2, 3, 4, 5, ... of message 0 {NO_PART}",
            *[f"member {node} never has its whole sum of message 0" for node in range(4)],
        ],
    ),
    "a part that it does not hold": (
        changed(0, 0, ((0, 1), [0, 2])),
        "not-informed",
        [
            f"step 1, transfer 1: node 0 sends {SUM} 0, 2 of message 0, {UNFORMED}",
            f"step 2, transfer 1: node 1 sends {FIRST}, {UNFORMED}",
            "step 2, transfer 2: node 1 receives a sum of message 0 that counts the part of node 2"
            " again, in a sum that does not replace its own",
        ],
    ),
    "half of a sum": (
        changed(2, 0, ((1, 0), [1, 2])),
        "not-informed",
        [f"step 3, transfer 1: node 1 sends {SUM} 1, 2 of message 0, {UNFORMED}", LOST_AT_0],
    ),
    "nothing new": (
        changed(2, 0, ((1, 0), [0])),
        "received-twice",
        [
            "step 3, transfer 1: node 0 receives a sum of message 0 that holds no part which is"
            " new to it",
            LOST_AT_0,
        ],
    ),
    "a part counted twice": (
        changed(1, 0, ((1, 2), [1])),
        "not-informed",
        [
            f"step 3, transfer 2: node 2 sends {WHOLE}, {UNFORMED}",
            "member 2 never has its whole sum of message 0",
        ],
    ),
    "a sum is never complete": (
        schedule(STEPS[:2]),
        "missing-destination",
        [f"member {node} never has its whole sum of message 0" for node in (0, 3)],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name):
    broken, rule, texts = MISTAKES[name]
    found = verify_schedule(broken)
    assert list(map(str, found)) == texts
    assert rule == found[0].rule
    assert {violation.message for violation in found} == {0}
    with pytest.raises(EvidenceError):
        checked_schedule(broken.to_json())


def test_places_of_the_rules_of_sums():
    for name, place in (
        ("a part twice", "message 0"), ("half of a sum", "node 1"), ("nothing new", "node 0"),
        ("a part that it does not hold", "node 0"), ("a sum is never complete", "node 0"),
    ):  # fmt: skip
        assert verify_schedule(MISTAKES[name][0])[0].place == place


def test_what_another_rule_reports_does_not_hide_the_transfers_after_it():
    """One violation each, and the sums of the transfers after it count."""
    for broken, parts, rule in (
        (Transfer(1, (0, 1)), (0,), "unknown-message"),
        (Transfer(-1, (0, 1)), (0,), "unknown-message"),
        (Transfer(0, ()), (0,), "path-too-short"),
        (Transfer(0, (0,)), (0,), "path-too-short"),
        (Transfer(0, (0, 1, 0)), (0,), "path-not-simple"),
        (Transfer(0, (3, 2)), (3, 3), "no-such-part"),
    ):
        good = schedule(STEPS)
        steps = ((broken, *good.steps[0]), *good.steps[1:])
        found = verify(INSTANCE, steps, ((parts, *good.sums[0]), *good.sums[1:]))
        assert [(v.rule, v.step, v.transfer) for v in found if "overload" not in v.rule] == [
            (rule, 0, 0)
        ]
    # A path that stands still once has two ends: its receiver gets the sum.
    steps = ((Transfer(0, (0, 0, 1)), *good.steps[0][1:]), *good.steps[1:])
    assert [v.rule for v in verify(INSTANCE, steps, good.sums)] == ["path-not-simple"]


def test_larger_sums_of_a_step_count_first():
    """A sum inside another one of its step brings nothing new, in any order of the file."""
    both = [((1, 2), [1]), ((0, 2), [0, 1])]
    instance = allreduce(cchybrid.network("complete-3"), 0, 1, 2)
    for order in (both, both[::-1]):
        found = verify_schedule(schedule([[((1, 0), [1])], order], instance))
        small = order.index(both[0])
        assert [(v.rule, v.transfer) for v in found if v.step == 1] == [("received-twice", small)]
    # Sums of one size count in their order.
    for order in ([((0, 2), [0]), ((1, 2), [0])], [((1, 2), [0]), ((0, 2), [0])]):
        found = verify_schedule(schedule([[((0, 1), [0])], order], instance))
        assert [(v.rule, v.transfer) for v in found if v.step == 1] == [("received-twice", 1)]


def test_a_part_is_not_received_again_where_node_0_is_no_member():
    whole = [[((1, 2), [1]), ((2, 1), [2])], [((1, 2), [1])]]
    found = verify_schedule(schedule(whole, allreduce(LINE, 1, 2)))
    assert [(v.rule, v.step, v.transfer) for v in found] == [("received-twice", 1, 0)]


def test_ends_of_a_path_that_are_no_nodes_receive_nothing():
    instance = allreduce(LINE, 1, 2)
    whole = [[((1, 2), [1]), ((2, 1), [2])]]
    assert verify_schedule(schedule(whole, instance)) == ()
    for last, rules in ((0, ["not-a-destination"]), (4, ["no-such-node"]), (-1, ["no-such-node"])):
        found = verify_schedule(schedule([[*whole[0], ((1, last), [1])]], instance))
        assert [v.rule for v in found] == rules


def test_overlapping_sums_are_counted_twice():
    instance = allreduce(cchybrid.network("complete-4"), 0, 1, 2, 3)
    first = [((0, 1), [0]), ((0, 2), [0])]
    found = verify_schedule(schedule([first, [((1, 3), [0, 1]), ((2, 3), [0, 2])]], instance))
    assert [(v.rule, v.step, v.transfer, v.place) for v in found if v.step >= 0] == [
        ("counted-twice", 1, 1, "node 3")
    ]
    # Node 1 holds the part of node 0; a sum that contains it replaces it.
    found = verify_schedule(schedule([first, [((2, 1), [0, 2])]], instance))
    assert [v for v in found if v.step >= 0] == []


def test_only_members_receive_under_wormhole():
    instance = allreduce(LINE, 0, 3)
    rows = [[((0, 1), [0])], [((1, 2, 3), [0]), ((3, 2, 1, 0), [3])]]
    found = [(v.rule, v.place) for v in verify_schedule(schedule(rows, instance))]
    assert found == [("not-a-destination", "node 1")]
    hops = instance.with_model(switching="store-and-forward")
    rows = [[((0, 1), [0])], [((1, 2), [0])], [((2, 3), [0]), ((3, 2), [3])], [((2, 1), [3])]]
    assert verify_schedule(schedule([*rows, [((1, 0), [3])]], hops)) == ()


def test_every_rule_of_sums_has_a_mistake():
    named = {rule for _, _, expected in OTHER_MISTAKES.values() for rule, *_ in expected}
    named |= {rule for _, rule, _ in MISTAKES.values()} | {"counted-twice"}
    assert named == set(RULES)


def test_sums_of_the_wrong_shape_are_refused():
    with pytest.raises(InputError) as caught:
        verify(INSTANCE, schedule(STEPS).steps)
    assert str(caught.value) == "sums: not one sum for each transfer; see Schedule.sums"
    with pytest.raises(InputError, match="one sum for each transfer"):
        Schedule(INSTANCE, schedule(STEPS).steps)
    with pytest.raises(InputError, match="not a valid schedule"):
        refuse_invalid(schedule(STEPS[:1]))


@st.composite
def allreduces(draw: st.DrawFn) -> Instance:
    """Random instances of one or two messages."""
    network = draw(networks(5))
    nodes = st.lists(st.integers(0, network.nodes - 1), min_size=2, unique=True)
    messages = draw(st.lists(nodes.map(tuple).map(AllReduction), min_size=1, max_size=2))
    return Instance(network, Collective("sum", tuple(messages)), draw(models(network.nodes)))


def random_schedule(instance: Instance, rng: random.Random) -> Schedule | None:
    """Return a valid schedule of random transfers, one per step; ``None`` at a dead end."""
    try:
        found = Search(instance.to_json(), 2000).greedy(rng, 40)
    except TooLargeError:
        return None
    if found is None:
        return None
    moves = [move for step in found for move in step]
    steps = tuple((Transfer(message, path),) for message, path, _ in moves)
    return Schedule(instance, steps, sums=tuple((tuple(sorted(parts)),) for *_, parts in moves))


def totals(found: Schedule) -> dict[tuple[int, int], dict[int, int]]:
    """Return, per message and member, how often its final value counts each part."""
    values = defaultdict(dict)
    for index, message in enumerate(found.instance.collective.messages):
        for node in message.members:
            values[index, node][frozenset([node])] = {node: 1}

    def form(message: int, node: int, parts: frozenset[int]) -> dict[int, int]:
        inside = [value for value in values[message, node] if value <= parts]
        largest = [v for v in inside if not any(v < other for other in inside)]
        total = defaultdict(int)
        for value in largest:
            for part, times in values[message, node][value].items():
                total[part] += times
        return dict(total)

    for step, carried in zip(found.steps, found.sums, strict=True):
        sent = [
            (message, path[-1], frozenset(parts), form(message, path[0], frozenset(parts)))
            for (message, path), parts in zip(step, carried, strict=True)
        ]
        for message, node, parts, value in sent:
            values[message, node][parts] = value
    return {
        (index, node): form(index, node, frozenset(message.members))
        for index, message in enumerate(found.instance.collective.messages)
        for node in message.members
    }


def adds_up(found: Schedule) -> bool:
    messages = found.instance.collective.messages
    return all(
        counts == dict.fromkeys(messages[m].members, 1) for (m, _), counts in totals(found).items()
    )


def mutated(found: Schedule, rng: random.Random) -> Schedule:
    """Return the schedule with one random change."""
    steps, sums = [list(s) for s in found.steps], [list(s) for s in found.sums]
    at, other = rng.randrange(len(steps)), rng.randrange(len(steps))
    kind = rng.choice(("drop", "swap", "merge", "part", "sum", "message", "path"))
    if kind == "drop":
        del steps[at], sums[at]
    elif kind == "swap":
        steps[at], steps[other] = steps[other], steps[at]
        sums[at], sums[other] = sums[other], sums[at]
    elif kind == "merge" and at != other:
        steps[at] += steps[other]
        sums[at] += sums[other]
        del steps[other], sums[other]
    elif kind == "part":
        parts = list(sums[at][0])
        parts[rng.randrange(len(parts))] = rng.randrange(found.instance.network.nodes)
        sums[at][0] = tuple(parts)
    elif kind == "sum":
        sums[at], sums[other] = sums[other], sums[at]
    elif kind == "message":
        last = len(found.instance.collective.messages)
        steps[at][0] = Transfer(rng.randrange(last + 1), steps[at][0].path)
    elif kind == "path":
        steps[at][0] = Transfer(steps[at][0].message, steps[at][0].path[::-1])
    return Schedule(found.instance, tuple(map(tuple, steps)), sums=tuple(map(tuple, sums)))


def accepted_by_the_checker(found: Schedule) -> bool:
    try:
        checked_schedule(found.to_json())
    except EvidenceError:
        return False
    return True


@settings(max_examples=examples(120))
@given(allreduces(), st.integers(0, 2**32 - 1))
def test_random_schedules_are_valid_and_add_up(instance, seed):
    found = random_schedule(instance, random.Random(seed))
    assume(found is not None)
    assert verify_schedule(found) == ()
    assert accepted_by_the_checker(found)
    assert adds_up(found)
    assert Schedule.from_json(found.to_json()) == found


@settings(max_examples=examples(200))
@given(allreduces(), st.integers(0, 2**32 - 1))
def test_changed_schedules_get_the_verdict_of_the_checker(instance, seed):
    rng = random.Random(seed)
    found = random_schedule(instance, rng)
    assume(found is not None)
    for _ in range(6):
        mutant = mutated(found, rng)
        valid = verify_schedule(mutant) == ()
        assert valid == accepted_by_the_checker(mutant)
        if valid:
            assert adds_up(mutant)


@pytest.mark.parametrize("part", [0.0, "0", None])
def test_parts_that_are_no_whole_numbers_are_refused(part):
    instance = cchybrid.instance("ring-bi-3", "allreduce")
    with pytest.raises(InputError) as caught:
        verify(instance, ((Transfer(0, (0, 1)),),), (((part,),),))
    assert str(caught.value) == "sums: a sum names what is no node; parts are whole numbers"


def test_parts_of_numpy_are_whole_numbers_of_any_size():
    instance = cchybrid.instance("ring-bi-70", "allreduce")
    steps = ((Transfer(0, (np.int64(69), np.int64(0))),),)
    found = verify(instance, steps, (((np.int64(69),),),))
    assert {each.rule for each in found} == {"missing-destination"}
