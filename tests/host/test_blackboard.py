"""The blackboard: schedules are verified, evidence is checked, claims are withdrawn."""

import pytest

from cchybrid.host.api import instance
from cchybrid.host.blackboard import Blackboard
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


def test_near_solutions_of_another_author_do_not_replace_a_worse_one():
    blackboard = Blackboard(RING)
    late, none = (GOOD[1], GOOD[0]), ()
    assert blackboard.suggest("a", 2, late)
    assert blackboard.suggest("b", 2, none)
    assert not blackboard.suggest("b", 2, none)  # no better
    assert not blackboard.suggest("a", 2, none)
    assert blackboard.suggest("b", 3, none)
    assert {count: list(drafts) for count, drafts in blackboard.drafts.items()} == {
        2: ["a", "b"],
        3: ["b"],
    }
    assert 0 < blackboard.drafts[2]["a"].violations < blackboard.drafts[2]["b"].violations
