"""Blind runs: no bound ends them; the conflicts left and the effort are recorded."""

from typing import Any

import pytest

import cchybrid
from cchybrid.host.effort_counter import EffortCounter
from cchybrid.host.events import End
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import Stop

INSTANCE = cchybrid.instance("mesh-3x3", "AAS")
PURE = {"umda": {"sweeps": 0, "moves": 1, "population": 20}}


def blind(*engines: str, **rest: Any) -> cchybrid.Result:
    rest = {"evaluations": 400, "options": PURE if "umda" in engines else None, **rest}
    return cchybrid.solve(INSTANCE, engines=engines, steps=3, blind=True, **rest)


@pytest.mark.long
def test_a_bound_does_not_end_it():
    result = blind("umda")
    assert (result.status, result.steps, result.lower_bound.steps) == ("unknown", None, 1)
    assert result.conflicts > 0
    spent = result.evaluations["umda"]
    assert 400 <= spent < 460  # it stops between generations
    assert result.search_seconds["umda"]["processor"] > 0
    record = result.to_json()
    assert (record["conflicts"], record["evaluations_to_best"]) == (result.conflicts, None)
    # With the bound there is nothing to do.
    seen = cchybrid.solve(INSTANCE, engines=["umda"], steps=3, evaluations=400, options=PURE)
    assert (seen.status, seen.conflicts, dict(seen.evaluations)) == ("infeasible", None, {})


def test_it_needs_a_number_of_steps():
    with pytest.raises(InputError, match="blind: a blind run without a number of steps"):
        cchybrid.solve(INSTANCE, blind=True)


def test_the_effort_of_several_starts_adds_up():
    effort = EffortCounter(4)
    effort.start("a")
    effort.progress(4, 7)
    effort.progress(5, 1)
    effort.end("a", End(Stop.LIMIT, 5, 6))
    effort.start("a")
    effort.best("a", 2, done=False)
    effort.end("a", End(Stop.LIMIT, 5))
    effort.start("b")
    facts = effort.facts(scheduled=True, by_engine=True)
    assert facts["evaluations"] == {"a": 10, "b": None}
    assert (facts["evaluations_to_best"], facts["conflicts"]) == (7, 0)
    assert effort.facts(scheduled=False, by_engine=False)["conflicts"] == 6


def test_evaluations_after_the_case_is_closed_do_not_count():
    effort = EffortCounter(None)
    effort.start("a")
    effort.best("a", 2, done=True)
    effort.end("a", End(Stop.LIMIT, 5))
    assert effort.facts(scheduled=True, by_engine=True)["evaluations"] == {"a": 2}
