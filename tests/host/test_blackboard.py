"""The blackboard: schedules are verified, evidence is checked, claims are withdrawn."""

from __future__ import annotations

import pytest

from cchybrid.host.api import instance
from cchybrid.host.blackboard import Blackboard
from cchybrid.host.task import ContractError
from cchybrid.model import Schedule, Transfer

RING = instance("ring-bi-4", "OAB")
GOOD = ((Transfer(0, (0, 1)), Transfer(0, (0, 3))), (Transfer(0, (1, 2)),))
LONGER = ((Transfer(0, (0, 1)),), (Transfer(0, (0, 3)),), (Transfer(0, (1, 2)),))
GROWTH = {
    "kind": "linear", "steps": 2,
    "groups": [{"messages": [0], "worth": [[1, 1], [2, 1], [3, 1]]}],
}  # fmt: skip
"""Node 0 reaches two of the three others in one step."""


def test_a_valid_offer_becomes_the_best() -> None:
    blackboard = Blackboard(RING)
    assert blackboard.offer("a", Schedule(RING, LONGER))
    assert blackboard.offer("b", Schedule(RING, GOOD))
    assert (blackboard.best, blackboard.incumbent and blackboard.incumbent.author) == (2, "b")
    assert not blackboard.offer("c", Schedule(RING, LONGER))
    assert not blackboard.offer("c", Schedule(RING, GOOD))
    assert blackboard.incumbent is not None
    assert blackboard.incumbent.author == "b"


def test_fewer_channel_uses_break_ties() -> None:
    blackboard = Blackboard(RING)
    detour = (GOOD[0], (Transfer(0, (0, 1, 2)),))
    assert blackboard.offer("a", Schedule(RING, detour))
    assert blackboard.offer("b", Schedule(RING, GOOD))
    assert blackboard.schedule is not None
    assert blackboard.schedule.channel_uses == 3


def test_an_invalid_offer_is_a_breach_and_changes_nothing() -> None:
    blackboard = Blackboard(RING)
    with pytest.raises(ContractError, match=r"invalid schedule: .* \(and 1 more\)"):
        blackboard.offer("a", Schedule(RING, (GOOD[0][:1],)))
    assert blackboard.schedule is None


def test_evidence_is_checked_before_it_counts() -> None:
    blackboard = Blackboard(RING)
    with pytest.raises(ContractError, match="evidence for 2 steps, not for 3"):
        blackboard.prove("a", 3, GROWTH)
    with pytest.raises(ContractError, match="proves nothing"):
        blackboard.prove("a", 2, {**GROWTH, "steps": 3})
    assert blackboard.lower == 1
    assert blackboard.prove("a", 2, GROWTH)
    assert not blackboard.prove("b", 2, GROWTH)
    assert (blackboard.lower, blackboard.certified.steps, blackboard.certified_by) == (2, 2, "a")


def test_a_schedule_withdraws_the_claims_that_it_refutes() -> None:
    blackboard = Blackboard(RING)
    wrong, right = 1, 2
    assert blackboard.claim(wrong, 9)
    assert blackboard.claim(right, 2) is False
    assert blackboard.best_claim == wrong
    blackboard.offer("a", Schedule(RING, GOOD))
    assert blackboard.refuted_claims(blackboard.best) == [wrong]
    assert (blackboard.lower, blackboard.best_claim) == (2, right)
    blackboard.prove("checked", 2, GROWTH)
    assert blackboard.best_claim is None


def test_the_draft_with_fewest_violations_is_kept() -> None:
    blackboard = Blackboard(RING)
    clash = ((Transfer(0, (0, 1)), Transfer(0, (0, 1, 2)), Transfer(0, (0, 3))),)
    assert blackboard.suggest("a", 1, clash)
    assert not blackboard.suggest("b", 1, clash)
    assert not blackboard.suggest("b", 1, (clash[0][:1],))
    assert blackboard.suggest("b", 2, GOOD)
    assert blackboard.drafts[1].author == "a"
    assert blackboard.drafts[2].violations == 0


def test_numbers_that_no_array_holds_are_a_breach() -> None:
    with pytest.raises(ContractError):
        Blackboard(RING).offer("a", Schedule(RING, ((Transfer(0, (0, 10**30)),),)))
    with pytest.raises(ContractError):
        Blackboard(RING).offer("a", Schedule(RING, ((Transfer(10**30, (0, 1)),),)))
