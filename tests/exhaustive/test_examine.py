"""The examination notices wrong answers: here are some, put in the place of right ones."""

import copy
import random
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import islice
from types import SimpleNamespace

import pytest

from cchybrid.checker import payments, schedule
from cchybrid.checker.clauses import Formula
from cchybrid.referee import verify as referee
from tests.exhaustive import bounds, examine
from tests.exhaustive.features import Case, cases
from tests.exhaustive.neighbours import neighbours
from tests.exhaustive.plain_search import Search
from tests.exhaustive.report import not_tried


@cache
def some_cases() -> tuple[Case, ...]:
    """Return cases of three nodes with and without schedules, of every kind of messages.

    And some more in time slots.
    """
    found: dict[tuple[str, str, bool], Case] = {}
    for case in cases(True):
        if case.instance["network"]["nodes"] == 3:
            feasible = Search(case.instance, 0).is_feasible()
            kind = case.instance["collective"]["kind"]
            found.setdefault((case.values[0], kind, feasible), case)
    slots = (case for case in cases(True) if case.values[0] == "tdm")
    return (*found.values(), *islice(slots, 8))


def disagreements(until: str | None = None) -> str:
    """Return what disagrees, up to the first case with such a text."""
    effort = examine.SHORT._replace(finders=1.0, rounds=0.0, refutations=0.0, schedules=1)
    wrong = ""
    for case in some_cases():
        _, texts = examine.examine(iter([case]), effort)
        wrong += "\n".join(texts)
        if until is not None and until in wrong:
            break
    return wrong


def one_more(claims):
    def higher(*arguments):
        for claim in claims(*arguments):
            yield claim._replace(number=claim.number + 1)

    return higher


def gullible(*arguments, claims=bounds.step_claims):
    """Yield claims of which all other evidence is accepted for 99."""
    for claim in claims(*arguments):
        numbers = defaultdict(lambda: Fraction(99), {repr(claim.evidence): claim.number})
        yield claim._replace(shown=lambda evidence, numbers=numbers: numbers[repr(evidence)])


def test_right_answers_agree():
    assert disagreements() == ""


LARGEST, CAPACITY = payments._largest, Formula._capacity
TRACED = referee._traced


def use_at_once(network, path, start, uses, use=schedule._use):
    """Count all channels in the slot of the start."""
    return use(SimpleNamespace(periodic=False, link=network.link), path, start, uses)


ANSWERS = [
    (bounds, "step_claims", one_more(bounds.step_claims), "is above"),
    (bounds, "step_claims", gullible, "accepted for 99"),
    (bounds, "accepts_schedule", lambda record: True, "checker: the opposite"),
    (bounds, "accepts_schedule", lambda record: False, "checker: the opposite"),
    (examine, "verify", lambda instance, moves, sums: (), "referee: set()"),
    (bounds, "says_infeasible", lambda record: True, "cchybrid says the opposite"),
    (bounds, "says_infeasible", lambda record: False, "cchybrid says the opposite"),
    (bounds, "accepts_unreachable", lambda *_: True, "feasible, but the checker accepts"),
    # Of the transfers that earn most, one less counts than may be sent.
    (payments, "_largest", lambda gains, n: LARGEST(gains, n and n - 1), "pays less than"),
    (Formula, "_capacity", lambda self, name: CAPACITY(self, name) - 1, "a clause of the formula"),
    # In time slots: no channel is used later, no cycle is found.
    (schedule, "_use", use_at_once, "checker: the opposite"),
    (referee, "_traced", lambda *given: TRACED(*given) * 0, "'not-informed'"),
]


@pytest.mark.parametrize(("place", "name", "answer", "text"), ANSWERS)
def test_a_wrong_answer_is_noticed(monkeypatch, place, name, answer, text):
    monkeypatch.setattr(place, name, answer)
    assert text in disagreements(text)


def test_neighbours_differ_by_one_change():
    steps = [[{"message": 0, "path": [0, 1]}], [{"message": 0, "path": [1, 2]}]]
    record = {
        "network": {"nodes": 3, "channels": [[0, 1], [1, 2]]},
        "collective": {"kind": "deliver", "messages": [{"source": 0, "destinations": [1, 2]}]},
    }
    before = copy.deepcopy(steps)
    found = list(neighbours(record, steps, random.Random(0)))
    assert steps == before
    first, second = steps
    for changed in (
        [[], second],  # dropped
        [second, first],  # exchanged
        [[*first, *second], []],  # moved; a step that is empty remains
        [[{"message": 0, "path": [0, 2]}], second],  # another path
        [first, [], second],  # a new empty step
    ):
        assert changed in found
    assert steps not in found
    assert [[*first, *second]] not in found


def test_the_summary_counts_what_is_left_out():
    lines = not_tried({"tenth", "rest"})
    assert any("14,784 of 14,784 combinations" in line for line in lines)
