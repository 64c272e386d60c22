"""The examination notices wrong answers: here are some, put in the place of right ones."""

import copy
import random
from fractions import Fraction
from functools import cache

import pytest

from cchybrid.checker import payments
from tests.exhaustive import bounds, examine
from tests.exhaustive.features import Case, cases
from tests.exhaustive.neighbours import neighbours
from tests.exhaustive.plain_search import Search
from tests.exhaustive.report import not_tried


@cache
def some_cases() -> tuple[Case, ...]:
    """Return cases of three nodes with and without schedules, of every kind of messages."""
    found: dict[tuple[str, str, bool], Case] = {}
    for case in cases(True):
        if case.instance["network"]["nodes"] == 3:
            feasible = Search(case.instance, 0).is_feasible()
            kind = case.instance["collective"]["kind"]
            found.setdefault((case.values[0], kind, feasible), case)
    return tuple(found.values())


def disagreements() -> str:
    effort = examine.SHORT._replace(finders=1.0, rounds=0.0, refutations=0.0, schedules=1)
    _, wrong = examine.examine(iter(some_cases()), effort)
    return "\n".join(wrong)


def one_more(claims):
    def higher(*arguments):
        for claim in claims(*arguments):
            yield claim._replace(number=claim.number + 1)

    return higher


def test_right_answers_agree():
    assert disagreements() == ""


def test_a_bound_above_the_optimum_is_noticed(monkeypatch):
    monkeypatch.setattr(bounds, "step_claims", one_more(bounds.step_claims))
    assert "is above" in disagreements()


def test_an_accepted_mutant_above_the_optimum_is_noticed(monkeypatch):
    claims = bounds.step_claims

    def gullible(*arguments):
        for claim in claims(*arguments):
            yield claim._replace(
                shown=lambda evidence, claim=claim: (
                    claim.number if evidence == claim.evidence else Fraction(99)
                )
            )

    monkeypatch.setattr(bounds, "step_claims", gullible)
    assert "accepted for 99" in disagreements()


@pytest.mark.parametrize("answer", [True, False])
def test_a_checker_that_always_says_the_same_is_noticed(monkeypatch, answer):
    monkeypatch.setattr(bounds, "accepts_schedule", lambda record: answer)
    assert "checker: the opposite" in disagreements()


def test_a_referee_that_accepts_everything_is_noticed(monkeypatch):
    monkeypatch.setattr(examine, "verify", lambda instance, moves, sums: ())
    assert "referee: set()" in disagreements()


@pytest.mark.parametrize("answer", [True, False])
def test_a_wrong_word_about_reach_is_noticed(monkeypatch, answer):
    monkeypatch.setattr(bounds, "says_infeasible", lambda record: answer)
    assert "cchybrid says the opposite" in disagreements()


def test_evidence_that_nothing_is_reached_is_noticed(monkeypatch):
    monkeypatch.setattr(bounds, "accepts_unreachable", lambda record, evidence: True)
    assert "feasible, but the checker accepts" in disagreements()


def test_a_false_payment_is_noticed(monkeypatch):
    """Of the transfers that earn most, one less counts than may be sent."""
    right = payments._largest
    monkeypatch.setattr(payments, "_largest", lambda gains, n: right(gains, n and n - 1))
    assert "pays less than" in disagreements()


def test_a_false_clause_is_noticed(monkeypatch):
    from cchybrid.checker.clauses import Formula

    right = Formula._capacity
    monkeypatch.setattr(Formula, "_capacity", lambda self, name: right(self, name) - 1)
    assert "a clause of the formula" in disagreements()


def test_neighbours_differ_by_one_change():
    steps = [[{"message": 0, "path": [0, 1]}], [{"message": 0, "path": [1, 2]}]]
    record = {
        "network": {"nodes": 3, "channels": [[0, 1], [1, 2]]},
        "collective": {"kind": "deliver", "messages": [{"source": 0, "destinations": [1, 2]}]},
    }
    before = copy.deepcopy(steps)
    found = list(neighbours(record, steps, random.Random(0)))
    assert steps == before
    assert steps not in found
    assert [[], steps[1]] in found  # dropped
    assert [steps[1], steps[0]] in found  # exchanged
    assert [[*steps[0], *steps[1]]] not in found  # a step that is empty remains
    assert [[*steps[0], *steps[1]], []] in found  # moved
    assert [[{"message": 0, "path": [0, 2]}], steps[1]] in found  # another path
    assert [steps[0], [], steps[1]] in found  # a new empty step


def test_the_summary_counts_what_is_left_out():
    lines = not_tried({"tenth", "rest"})
    assert any("8,064 of 8,064 combinations" in line for line in lines)
