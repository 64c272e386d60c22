"""Searches on quotients: what an engine sees on them, and which groups get more time."""

from __future__ import annotations

from collections import Counter

import pytest

import cchybrid
from cchybrid.host.quotient_search import Candidate, QuotientOptions, QuotientRun, QuotientSearch
from cchybrid.model.errors import InputError
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Run, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import (
    Division,
    NoQuotientError,
    QuotientOrigin,
    automorphisms,
    choices,
    quotient,
)
from cchybrid.toolkit.kernels.first_fit import first_fit


def setting(
    network: str, collective: str, lower: int, seconds: float = 60.0
) -> tuple[Problem, LocalRun]:
    problem = build_problem(cchybrid.instance(network, collective))
    return problem, LocalRun(problem, budget=Budget(seconds=seconds), first_lower=lower)


class Recorder:
    """An engine that writes down where it was, and offers what ``first_fit`` finds."""

    def __init__(self, stop: Stop, outer: LocalRun, offers: bool = False) -> None:
        self._stop = stop
        self._outer = outer
        self._offers = offers
        self.places: Counter[str] = Counter()
        self.orders: list[int] = []

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        origin = problem.origin
        assert isinstance(origin, QuotientOrigin)
        group = origin.division.group
        self.places[group.elements.tobytes() + origin.division.kernel.tobytes()] += 1
        self.orders.append(group.order)
        if self._offers:
            run.offer(first_fit(problem, run.seed))
        self._outer.stopped = max(self.places.values()) > 2
        return self._stop


def test_the_search_lifts_what_the_engine_offers() -> None:
    problem, run = setting("torus-4x4", "AAS", 8)
    engine = Recorder(Stop.LIMIT, run, offers=True)
    search = QuotientSearch(engine, problem, automorphisms(problem.origin.instance), run)  # type: ignore[arg-type]
    assert search.search() in (Stop.EXHAUSTED, Stop.LIMIT)
    assert run.best() == 8
    assert not run.violations
    assert search.division is None


def test_a_refuted_group_is_not_tried_again() -> None:
    problem, run = setting("ring-bi-8", "AAS", 8)
    engine = Recorder(Stop.EXHAUSTED, run)
    search = QuotientSearch(engine, problem, automorphisms(problem.origin.instance), run)  # type: ignore[arg-type]
    assert search.search() is Stop.STALLED
    assert set(engine.places.values()) == {1}  # the groups are drawn anew until none is new
    assert engine.orders[0] == max(engine.orders)


def test_what_came_nearest_gets_more_time() -> None:
    problem, run = setting("torus-4x4", "AAS", 8)
    engine = Recorder(Stop.LIMIT, run)
    search = QuotientSearch(engine, problem, automorphisms(problem.origin.instance), run)  # type: ignore[arg-type]
    assert search.search() is Stop.LIMIT
    assert max(engine.places.values()) == 3
    # The first round goes everywhere, the others to ever fewer.
    assert sum(count > 1 for count in engine.places.values()) < len(engine.places)


def divided_by(problem: Problem, stretch: int) -> tuple[Problem, Division]:
    instance = problem.origin.instance
    for choice in choices(instance, automorphisms(instance), 0):
        division = choice.division
        if division.stretch == stretch:
            try:
                return quotient(problem, division), division
            except NoQuotientError:
                continue
    raise AssertionError("no quotient")


@pytest.mark.parametrize("stretch", [1, 2, 4])
def test_steps_are_counted_as_the_quotient_counts_them(stretch: int) -> None:
    problem, run = setting("torus-4x4", "AAS", 8)
    divided, division = divided_by(problem, stretch)
    candidate = Candidate(division, 0.5)
    inner = QuotientRun(run, divided, candidate)
    inner.begin(5.0, 7)
    assert (inner.seed, inner.lower(), inner.best()) == (7, -(-8 // stretch), None)
    run.offer(first_fit(problem, 0))
    best = run.best()
    assert best is not None
    # Fewer steps of the quotient than this are fewer steps of the schedule, and the other way.
    assert (inner.best() - 1) * stretch < best <= inner.best() * stretch  # type: ignore[operator]
    assert inner.wants(-(-8 // stretch)) == (best > 8)
    inner.bound(-(-8 // stretch) + 1)
    assert inner.lower() == -(-8 // stretch) + 1
    assert run.lower() == 8
    run.target = 9
    asked = QuotientRun(run, divided, candidate)
    asked.begin(5.0, 7)
    assert not asked.wants(9 // stretch + 1)


def test_near_solutions_are_kept_for_the_next_slice() -> None:
    problem, run = setting("torus-4x4", "AAS", 8)
    divided, division = divided_by(problem, 1)
    inner = QuotientRun(run, divided, Candidate(division, 0.5))
    near = first_fit(divided, 0)
    assert inner.hint(near.steps) is None
    inner.suggest(near)
    assert inner.hint(near.steps) is near
    assert not run.suggestions


def test_the_host_tells_what_was_divided_by_what() -> None:
    result = cchybrid.solve(
        cchybrid.instance("torus-4x4", "AAS"), engines=["colouring"], strategy="quotients",
        time_limit=20,
    )  # fmt: skip
    assert result.steps == 8
    assert result.engine == "colouring on quotients"
    best = [entry for entry in result.contributions if entry.what == "schedule"][-1]
    assert best.how.startswith("quotient by a group of order ")


def test_without_symmetry_there_is_no_quotient() -> None:
    result = cchybrid.solve(
        cchybrid.instance("mesh-3x3", "AAS", fail_links=["0-1"], root=None), engines=["colouring"],
        strategy="quotients", time_limit=20, first_schedule=False,
    )  # fmt: skip
    assert result.status == "unknown"
    assert result.remarks == ("colouring on quotients: there is no symmetry to divide by",)
    assert not result.troubles


def test_an_engine_that_takes_no_quotient_says_why() -> None:
    result = cchybrid.solve(
        cchybrid.instance("ring-bi-6", "AAS"), engines=["classical"], strategy="quotients",
        time_limit=20,
    )  # fmt: skip
    assert result.remarks == ("classical on quotients: a quotient has no network of its own",)


def test_searches_on_quotients_need_a_clock() -> None:
    with pytest.raises(InputError, match="by the clock"):
        cchybrid.solve(
            cchybrid.instance("ring-bi-6", "AAS"), strategy="quotients", evaluations=100
        )  # fmt: skip


def test_options_are_checked() -> None:
    for wrong in ({"first_slice_seconds": 0.0}, {"batch": 0}, {"finalists": 13}):
        with pytest.raises(ValueError, match=r"at least 1|above 0"):
            QuotientOptions(**wrong)  # type: ignore[arg-type]
