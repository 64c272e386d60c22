"""Quotient search: the run that an engine sees, and the time that groups get."""

import contextlib
from collections import Counter

import pytest

import cchybrid
from cchybrid.host.quotient_search import Candidate, QuotientOptions, QuotientRun, QuotientSearch
from cchybrid.model.errors import InputError
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Run, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import (
    GroupAction,
    NoQuotientError,
    QuotientOrigin,
    automorphisms,
    choices,
    quotient,
)
from cchybrid.toolkit.kernels.first_fit import first_fit


def problem_and_run(
    network: str, collective: str, lower: int, seconds: float = 60.0
) -> tuple[Problem, LocalRun]:
    problem = build_problem(cchybrid.instance(network, collective))
    return problem, LocalRun(problem, budget=Budget(seconds=seconds), first_lower=lower)


class Recorder:
    """An engine that counts its calls per group action, and offers what ``first_fit`` finds."""

    def __init__(self, stop: Stop, outer: LocalRun, offers: bool = False) -> None:
        self._stop = stop
        self._outer = outer
        self._offers = offers
        self.calls: Counter[str] = Counter()
        self.orders: list[int] = []

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        origin = problem.origin
        assert isinstance(origin, QuotientOrigin)
        group = origin.action.group
        self.calls[group.elements.tobytes() + origin.action.kernel.tobytes()] += 1
        self.orders.append(group.order)
        if self._offers:
            run.offer(first_fit(problem, run.seed))
        self._outer.stopped = max(self.calls.values()) > 2
        return self._stop


def search_of(engine: Recorder, problem: Problem, run: LocalRun) -> QuotientSearch:
    return QuotientSearch(engine, problem, automorphisms(problem.origin.instance), run)


def test_the_search_lifts_what_the_engine_offers():
    problem, run = problem_and_run("torus-4x4", "AAS", 8)
    search = search_of(Recorder(Stop.LIMIT, run, offers=True), problem, run)
    assert search.search() in (Stop.EXHAUSTED, Stop.LIMIT)
    assert (run.best(), run.violations, search.action) == (8, [], None)


@pytest.mark.slow
def test_a_refuted_group_is_not_tried_again():
    problem, run = problem_and_run("ring-bi-8", "AAS", 8)
    engine = Recorder(Stop.EXHAUSTED, run)
    assert search_of(engine, problem, run).search() is Stop.STALLED
    assert set(engine.calls.values()) == {1}  # new samples are drawn until one has no new group
    assert engine.orders[0] == max(engine.orders)


def test_the_better_half_gets_more_time():
    problem, run = problem_and_run("torus-4x4", "AAS", 8)
    engine = Recorder(Stop.LIMIT, run)
    assert search_of(engine, problem, run).search() is Stop.LIMIT
    assert max(engine.calls.values()) == 3
    # Every group gets the first slice, fewer groups the next ones.
    assert sum(count > 1 for count in engine.calls.values()) < len(engine.calls)


def divided_by(problem: Problem, steps_per_round: int) -> tuple[Problem, GroupAction]:
    instance = problem.origin.instance
    for choice in choices(instance, automorphisms(instance), 0):
        if choice.action.steps_per_round == steps_per_round:
            with contextlib.suppress(NoQuotientError):
                return quotient(problem, choice.action), choice.action
    raise AssertionError("no quotient")


@pytest.mark.parametrize("steps_per_round", [1, 2, 4])
def test_steps_are_converted_to_steps_of_the_quotient(steps_per_round):
    problem, run = problem_and_run("torus-4x4", "AAS", 8)
    divided, action = divided_by(problem, steps_per_round)
    candidate = Candidate(action, 0.5)
    inner = QuotientRun(run, divided, candidate, 5.0, 7)
    assert (inner.seed, inner.lower(), inner.best()) == (7, -(-8 // steps_per_round), None)
    run.offer(first_fit(problem, 0))
    best = run.best()
    # Fewer steps of the quotient are fewer steps of the schedule, and vice versa.
    assert (inner.best() - 1) * steps_per_round < best <= inner.best() * steps_per_round
    assert inner.wants(-(-8 // steps_per_round)) == (best > 8)
    inner.bound(-(-8 // steps_per_round) + 1)
    assert inner.lower() == -(-8 // steps_per_round) + 1
    assert run.lower() == 8
    run.target = 9
    limited = QuotientRun(run, divided, candidate, 5.0, 7)
    assert not limited.wants(9 // steps_per_round + 1)


def test_near_solutions_are_kept_for_the_next_slice():
    problem, run = problem_and_run("torus-4x4", "AAS", 8)
    divided, action = divided_by(problem, 1)
    inner = QuotientRun(run, divided, Candidate(action, 0.5), 5.0, 7)
    near = first_fit(divided, 0)
    assert inner.hint(near.steps) is None
    inner.suggest(near)
    assert inner.hint(near.steps) is near
    assert not run.suggestions


@pytest.mark.slow
def test_the_result_names_the_group():
    result = cchybrid.solve(
        cchybrid.instance("torus-4x4", "AAS"), engines=["colouring"], strategy="quotients",
        time_limit=20, options={"quotients": {"batch": 5}},
    )  # fmt: skip
    assert result.options["quotients"]["batch"] == 5
    assert (result.steps, result.engine) == (8, "colouring on quotients")
    best = [entry for entry in result.contributions if entry.what == "schedule"][-1]
    assert best.how.startswith("quotient by a group of order ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "more", "engine", "why"),
    [
        ("mesh-3x3", {"fail_links": ["0-1"]}, "colouring", "there is no symmetry to divide by"),
        ("ring-bi-6", {}, "classical", "quotients and routing tables fix the paths"),
    ],
)
def test_why_there_is_no_quotient_is_a_remark(network, more, engine, why):
    result = cchybrid.solve(
        cchybrid.instance(network, "AAS", **more), engines=[engine], strategy="quotients",
        time_limit=20, first_schedule=False, bounds=False,
    )  # fmt: skip
    assert (result.status, result.troubles) == ("unknown", ())
    assert result.remarks == (f"{engine} on quotients: {why}",)


@pytest.mark.parametrize("strategy", ["quotients", "race", "relay"])
def test_strategies_need_a_clock(strategy):
    with pytest.raises(InputError, match="strategy: engines with an evaluation budget run one aft"):
        cchybrid.solve("ring-bi-6", "AAS", strategy=strategy, evaluations=100)


def test_options_are_checked():
    for wrong in ({"first_slice_seconds": 0.0}, {"batch": 0}, {"finalists": 13}):
        with pytest.raises(ValueError, match=r"at least 1|above 0"):
            QuotientOptions(**wrong)
