"""The blackboard: schedules are verified, evidence is checked, claims are withdrawn."""

from __future__ import annotations

import pytest

from cchybrid.host.api import instance
from cchybrid.host.blackboard import Blackboard, ContractError
from cchybrid.model import Transfer

RING = instance("ring-bi-4", "OAB")
GOOD = ((Transfer(0, (0, 1)), Transfer(0, (0, 3))), (Transfer(0, (1, 2)),))
LONGER = ((Transfer(0, (0, 1)),), (Transfer(0, (0, 3)),), (Transfer(0, (1, 2)),))
GROWTH = {"kind": "growth", "message": 0}


def test_a_valid_offer_becomes_the_best() -> None:
    board = Blackboard(RING)
    assert board.offer("a", LONGER)
    assert board.offer("b", GOOD)
    assert (board.best, board.found_by) == (2, "b")
    assert not board.offer("c", LONGER)
    assert not board.offer("c", GOOD)
    assert board.found_by == "b"


def test_fewer_channel_uses_break_ties() -> None:
    board = Blackboard(RING)
    detour = (GOOD[0], (Transfer(0, (0, 1, 2)),))
    assert board.offer("a", detour)
    assert board.offer("b", GOOD)
    assert board.schedule is not None
    assert board.schedule.channel_uses == 3


def test_an_invalid_offer_is_a_breach_and_changes_nothing() -> None:
    board = Blackboard(RING)
    with pytest.raises(ContractError, match=r"invalid schedule: .* \(and 1 more\)"):
        board.offer("a", (GOOD[0][:1],))
    assert board.schedule is None


def test_evidence_is_checked_before_it_counts() -> None:
    board = Blackboard(RING)
    with pytest.raises(ContractError, match="evidence for 2 steps, not for 3"):
        board.prove("a", 3, GROWTH)
    with pytest.raises(ContractError, match="proves nothing"):
        board.prove("a", 2, {"kind": "growth", "message": 7})
    assert board.lower == 1
    assert board.prove("a", 2, GROWTH)
    assert not board.prove("b", 2, GROWTH)
    assert (board.lower, board.certified.steps, board.certified_by) == (2, 2, "a")


def test_a_schedule_withdraws_the_claims_that_it_refutes() -> None:
    board = Blackboard(RING)
    liar, honest = 1, 2
    assert board.claim(liar, 9)
    assert board.claim(honest, 2) is False
    assert board.best_claim == liar
    board.offer("a", GOOD)
    assert board.refuted_claims() == [liar]
    assert (board.lower, board.best_claim) == (2, honest)
    board.prove("checked", 2, GROWTH)
    assert board.best_claim is None


def test_the_draft_with_fewest_violations_is_kept() -> None:
    board = Blackboard(RING)
    clash = ((Transfer(0, (0, 1)), Transfer(0, (0, 1, 2)), Transfer(0, (0, 3))),)
    assert board.suggest(1, clash)
    assert not board.suggest(1, clash)
    assert not board.suggest(1, (clash[0][:1],))
    assert board.suggest(2, GOOD)
    assert board.drafts[2][0] == 0


def test_numbers_that_no_array_holds_are_a_breach() -> None:
    with pytest.raises(ContractError):
        Blackboard(RING).offer("a", ((Transfer(0, (0, 10**30)),),))
    with pytest.raises(ContractError):
        Blackboard(RING).offer("a", ((Transfer(10**30, (0, 1)),),))
