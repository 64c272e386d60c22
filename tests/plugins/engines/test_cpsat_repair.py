"""Repair by CP-SAT: its schedules are valid, its refutations are right, others' work is used."""

from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.engines.cpsat.engine import CpSat
from cchybrid_plugins.engines.cpsat.repair import PATIENCE, Repair, Repairs
from cchybrid_plugins.engines.cpsat.targets import Targets
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop, cut_to
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.referee.verify import verify
from cchybrid.toolkit.cpsat.model import build
from cchybrid.toolkit.cpsat.solve import Answer, decide, small_solver
from cchybrid.toolkit.cpsat.windows import Windows
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.usage_matrix import UsageMatrix
from tests.examples import drawn
from tests.random_instances import instances

RANDOM = drawn(80)
BUDGET = Budget(evaluations=1)
"""Repeatable."""


def damaged(problem: Problem, steps: int, seed: int) -> Assignment:
    """Return a greedy schedule whose late deliveries, and some others, are at random places."""
    found = first_fit(problem, seed)
    random = np.random.default_rng(seed)
    wrong = (found.step >= steps) | (random.random(problem.deliveries) < 0.2)
    for delivery in np.flatnonzero(wrong & problem.required):
        found.option[delivery] = random.integers(*problem.option_start[delivery : delivery + 2])
        found.step[delivery] = random.integers(steps)
    return found


def tried(repair: Repair) -> Answer:
    return repair.try_neighbourhood(BUDGET, 10.0, lambda: True, lambda: False)


def run_to_the_end(repair: Repair, tries: int = 1000) -> None:
    for _ in range(tries):
        if not repair.unscheduled or repair.is_refuted:
            return
        before = repair.unscheduled
        tried(repair)
        assert repair.unscheduled <= before


def assert_valid(problem: Problem, found: Assignment, steps: int) -> None:
    schedule = problem.lift(found)
    assert not verify(schedule.instance, schedule.steps)
    assert len(schedule.steps) <= steps


@RANDOM
@given(instances(), st.integers(0, 1000), st.integers(1, 4))
def test_repairs_are_valid_and_refutations_agree_with_the_whole_model(instance, seed, steps):
    problem = build_problem(instance)
    uses = UsageMatrix.of(problem)
    repair = Repair(problem, uses, damaged(problem, steps, seed), steps, seed)
    run_to_the_end(repair)
    windows = Windows.of(problem, uses, steps, symmetry=False)
    whole = decide(
        lambda: build(problem, uses, windows), small_solver(BUDGET, 0, 60.0), lambda: True,
        lambda: False,
    )  # fmt: skip
    assert whole.solvable is not None
    assert repair.is_refuted is not whole.solvable
    if whole.solvable:
        assert_valid(problem, repair.assignment(), steps)


def repaired_run(run: LocalRun) -> LocalRun:
    """Run the repairs alone, without a whole model."""
    uses = UsageMatrix.of(run.problem)
    Repairs(run.problem, uses, run, Targets(run), lambda *_: True, run.offer).run_all()
    assert not run.violations
    return run


def test_without_near_solution_and_schedule_there_are_no_repairs():
    run = repaired_run(heawood())
    assert (run.spent, run.schedules) == (0, [])


def heawood(**settings: Any) -> LocalRun:
    problem = build_problem(cchybrid.instance("heawood-14", "AAB"))
    return LocalRun(problem, budget=Budget(evaluations=100_000), first_lower=5, **settings)


def repaired_heawood() -> tuple[LocalRun, Assignment]:
    """Return a run of repairs, and its schedule with three deliveries in the wrong step."""
    run = heawood()
    run.offer(first_fit(run.problem, 0))
    near = run.problem.match(repaired_run(run).schedules[-1].steps)
    near.step[np.flatnonzero(run.problem.required)[:3]] = 0
    return run, near


@pytest.mark.long
def test_the_best_schedule_is_repaired_step_by_step():
    run = heawood()
    first = first_fit(run.problem, 0)
    assert first.steps > 6
    run.offer(first)
    assert repaired_run(run).best() == 5
    counts = [len(schedule.steps) for schedule in run.schedules]
    assert counts == list(range(first.steps, 4, -1))
    again = heawood()
    again.offer(first)
    assert repaired_run(again).schedules == run.schedules


@pytest.mark.slow
def test_a_near_solution_is_repaired_without_any_schedule():
    run, found = repaired_heawood()
    near = heawood(target=5, hints={5: found})
    assert repaired_run(near).best() == 5
    assert near.spent < run.spent / 2


@pytest.mark.slow
def test_a_repair_goes_on_from_a_better_start_that_comes():
    plain, near = repaired_heawood()
    arrivals: list[Assignment] = []
    origins: list[Assignment] = []

    class Alone(LocalRun):
        def started_from(self, given: Assignment) -> None:
            origins.append(given)

    class Run(Alone):
        def migrant(self, steps: int) -> Assignment | None:
            return arrivals.pop() if arrivals and len(self.notes) == 1 else None

    spent = []
    for kind in (Alone, Run):
        arrivals[:], origins[:] = [near], []
        run = kind(plain.problem, budget=plain.budget, first_lower=5, target=5)
        run.offer(first_fit(plain.problem, 0))
        assert repaired_run(run).best() == 5
        spent.append(run.spent)
        (origin,) = origins
        assert (origin is near) == (kind is Run)
        left = [note["unscheduled"] for note in run.notes]
        assert (left[1] <= 3 < left[0]) == (kind is Run)
    assert spent[1] < spent[0]


@pytest.mark.slow
def test_after_all_starts_the_repairs_without_gain_go_on_for_longer(monkeypatch):
    plain, _ = repaired_heawood()
    first = first_fit(plain.problem, 0)
    near = plain.problem.match(plain.schedules[-1].steps)
    last = np.flatnonzero(near.step == 4)[:2]  # none is required by others
    near.option[last], near.step[last] = -1, -1
    arrivals = [cut_to(first, 5), near]
    started: list[tuple[int, float]] = []

    class Run(LocalRun):
        def migrant(self, steps: int) -> Assignment | None:
            return arrivals.pop() if arrivals else None

    def stall(self: Repairs, repair: Repair, *_: object) -> Repair:
        started.append((repair.unscheduled, repair._patience))
        repair._idle = 2.0 * repair._patience
        assert repair.is_over
        return repair

    run = Run(plain.problem, budget=plain.budget, first_lower=5, target=5)
    run.offer(first)
    monkeypatch.setattr(Repairs, "_run_one", stall)
    repaired_run(run)
    (few, _), (many, _), *again = started
    assert few == 2 < many  # the near-solution, then the schedule without its last steps
    assert again == [(few, 2.0 * PATIENCE), (few, 4.0 * PATIENCE)]
    assert run.suggestions


@pytest.mark.slow
def test_the_engine_begins_with_the_repair_of_a_near_solution():
    problem = build_problem(cchybrid.instance("heawood-14", "AAB"))
    first = first_fit(problem, 3)
    hints = {steps: damaged(problem, steps, 3) for steps in range(5, first.steps)}
    for limit in (None, 1_000_000):
        run = LocalRun(problem, budget=Budget(seconds=60.0, evaluations=limit), hints=hints)
        run.offer(first)
        assert CpSat(CpSat.Options()).solve(problem, run) is Stop.EXHAUSTED
        assert run.best() == 5
        assert not run.violations


@pytest.mark.parametrize(("number", "largest"), [(1, 1 << 20), (1, 1), (2, 1 << 20)])
@pytest.mark.parametrize("news", ["near-solution", "schedule", ""])
def test_what_others_find_during_a_decision_is_repaired_first(news, number, largest, monkeypatch):
    """Except during a first trial of a small model, if others work at larger numbers of steps."""
    monkeypatch.setattr("cchybrid_plugins.engines.cpsat.engine.MIN_LOCAL", 1 << 20)
    monkeypatch.setattr("cchybrid_plugins.engines.cpsat.engine.MAX_TRIAL", largest)
    problem = build_problem(cchybrid.instance("random-regular-30-3-25", "AAB"))
    first = first_fit(problem, 0)
    events: list[str] = []

    class Run(LocalRun):
        def migrant(self, steps: int) -> Assignment | None:
            arrives = news == "near-solution" and events.count("decision") == number
            return damaged(problem, steps, 1) if arrives and events[-1] == "decision" else None

        def best(self) -> int:
            arrived = news == "schedule" and events.count("decision") >= number
            return first.steps - arrived

    def decision(make: Any, solver: Any, useful: Any, should_stop: Any, seconds: Any) -> Answer:
        events.append("decision")
        events.append("goes on" if useful() else "ends")
        run.stopped = len(events) > 7
        return Answer()

    run = Run(problem, first_lower=first.steps - 3)
    run.offer(first)
    monkeypatch.setattr("cchybrid_plugins.engines.cpsat.engine.decide", decision)
    monkeypatch.setattr(Repairs, "run_all", lambda self: events.append("repairs"))
    CpSat(CpSat.Options()).solve(problem, run)
    ends = {number} if news and (number, largest) != (1, 1 << 20) else set()
    assert events[:3] == ["decision", "ends" if 1 in ends else "goes on", "repairs"]
    assert events[3:5] == ["decision", "ends" if 2 in ends else "goes on"]


@pytest.mark.parametrize(("lower", "tried"), [(1, []), (2, [-2, -1]), (5, [-5, -3, -2, -1])])
def test_where_local_search_fails_more_steps_are_tried_before_repairs(lower, tried, monkeypatch):
    """One step less than the best schedule is tried by repair first."""
    problem = build_problem(cchybrid.instance("random-regular-30-3-25", "AAB"))
    first = first_fit(problem, 0)
    targets: list[int] = []
    monkeypatch.setattr(
        "cchybrid_plugins.engines.cpsat.engine._Search._ask",
        lambda search, target, stage, limit: targets.append(target) or Answer(),
    )
    run = LocalRun(problem, first_lower=first.steps - lower)
    run.offer(first)

    def repair(self: Repairs) -> None:
        run.stopped = True

    monkeypatch.setattr(Repairs, "run_all", repair)
    CpSat(CpSat.Options()).solve(problem, run)
    assert targets == [first.steps + step for step in tried]
