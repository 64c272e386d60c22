"""The blackboard: schedules are verified, evidence is checked, claims are withdrawn."""

import pytest

from cchybrid.host.api import instance
from cchybrid.host.blackboard import MAX_DRAFTS, Blackboard, Draft
from cchybrid.host.task import ContractError
from cchybrid.model import Schedule, Transfer

RING = instance("ring-bi-4", "OAB")
GOOD = ((Transfer(0, (0, 1)), Transfer(0, (0, 3))), (Transfer(0, (1, 2)),))
GROWTH = {
    "kind": "linear", "steps": 2,
    "groups": [{"messages": [0], "worth": [[1, 1], [2, 1], [3, 1]]}],
}  # fmt: skip
"""Node 0 reaches two of the three others in one step."""


def test_fewer_channel_uses_break_ties():
    blackboard = Blackboard(RING)
    detour = (GOOD[0], (Transfer(0, (0, 1, 2)),))
    assert blackboard.offer("a", Schedule(RING, detour))
    assert blackboard.offer("b", Schedule(RING, GOOD))
    assert blackboard.schedule.channel_uses == 3


def test_evidence_is_checked_before_it_counts():
    blackboard = Blackboard(RING)
    with pytest.raises(ContractError, match="evidence for 2 steps, not for 3"):
        blackboard.prove("a", 3, GROWTH)
    with pytest.raises(ContractError, match="proves nothing"):
        blackboard.prove("a", 2, {**GROWTH, "steps": 3})
    assert blackboard.lower == 1
    assert blackboard.prove("a", 2, GROWTH)
    assert not blackboard.prove("b", 2, GROWTH)
    assert (blackboard.lower, blackboard.certified.steps, blackboard.certified_by) == (2, 2, "a")


def test_numbers_that_no_array_holds_are_a_breach():
    for transfer in (Transfer(0, (0, 10**30)), Transfer(10**30, (0, 1))):
        with pytest.raises(ContractError):
            Blackboard(RING).offer("a", Schedule(RING, ((transfer,),)))


def test_near_solutions_of_another_author_replace_none():
    blackboard = Blackboard(RING)
    late, none = (GOOD[1], GOOD[0]), ()
    assert blackboard.suggest("a", 2, late) == 0
    assert blackboard.suggest("b", 2, none) == 0
    assert blackboard.suggest("b", 2, none) is None  # no better
    assert blackboard.suggest("b", 3, none) == 0
    assert {count: list(drafts) for count, drafts in blackboard.drafts.items()} == {
        2: ["a", "b"],
        3: ["b"],
    }
    (better,), (worse,) = (blackboard.drafts[2][author] for author in "ab")
    assert 0 < better.violations < worse.violations


BOTH_DIRECTIONS = tuple(
    tuple(Transfer(0, hop) for hop in hops)
    for hops in (((0, 1), (0, 5)), ((1, 2), (5, 4)), ((2, 3),))
)
"""A broadcast around a ring of six nodes; ``ONE_DIRECTION`` has two of its transfers."""

ONE_DIRECTION = tuple((Transfer(0, (n % 6, n - 1)),) for n in range(6, 1, -1))


def test_of_near_solutions_that_resemble_each_other_the_better_is_kept():
    blackboard = Blackboard(instance("ring-bi-6", "OAB"))
    assert blackboard.suggest("a", 5, BOTH_DIRECTIONS[:2]) == 0
    assert blackboard.suggest("a", 5, BOTH_DIRECTIONS) == 0
    assert blackboard.suggest("a", 5, BOTH_DIRECTIONS[:2]) is None
    assert blackboard.suggest("a", 5, ONE_DIRECTION) == 1
    assert [draft.steps for draft in blackboard.drafts[5]["a"]] == [BOTH_DIRECTIONS, ONE_DIRECTION]


def test_a_few_near_solutions_are_kept_and_a_better_one_takes_the_place_of_the_worst(monkeypatch):
    monkeypatch.setattr(Draft, "resembles", lambda *_: False)
    blackboard = Blackboard(RING)
    empty = [blackboard.suggest("a", 2, ()) for _ in range(MAX_DRAFTS + 1)]
    assert empty == [*range(MAX_DRAFTS), None]
    assert blackboard.suggest("a", 2, (GOOD[0],)) == 0
    assert blackboard.suggest("a", 2, (GOOD[0],)) == 1
    news = [line for line in blackboard.news() if "draft" in line]
    assert [line["number"] for line in news] == list(range(MAX_DRAFTS))


def test_large_near_solutions_are_not_compared(monkeypatch):
    apart = Draft(1, BOTH_DIRECTIONS), Draft(1, ONE_DIRECTION)
    assert not apart[0].resembles(apart[1])
    monkeypatch.setattr("cchybrid.host.blackboard.MAX_COMPARED", 1)
    assert apart[0].resembles(apart[1])
