"""CP-SAT in ticks: optima of tiny instances, claims that hold, and shorter schedules of others."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from cchybrid_plugins.engines.cpsat import ticks
from cchybrid_plugins.engines.cpsat.engine import CpSat
from cchybrid_plugins.engines.cpsat.ticks import build, left_shifted
from hypothesis import given
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Assignment, build_problem
from cchybrid.toolkit.kernels.list_scheduling import NEVER
from cchybrid.toolkit.list_scheduling import ListScheduler, tables_of
from cchybrid.toolkit.solver import StoppedError
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.proof.optimum import fewest_steps
from tests.random_instances import TICKS, WITH_GROUPS, valid_schedules

ENGINE = CpSat(CpSat.Options())


@pytest.mark.slow
@given(valid_schedules(**TICKS, **WITH_GROUPS, max_nodes=4, max_messages=4))
@drawn(60)
def test_it_finds_and_claims_the_optimum_of_tiny_instances(schedule):
    optimum = fewest_steps(schedule.instance, len(schedule.steps))
    run, stop = solved(ENGINE, schedule.instance, budget=Budget(seconds=60))
    assert (run.best(), run.lower(), stop) == (optimum, optimum, Stop.EXHAUSTED)


@pytest.mark.slow
@given(valid_schedules(**TICKS, **WITH_GROUPS, max_nodes=4, max_messages=4))
@drawn(60)
def test_parts_of_a_schedule_reach_nearly_all_optima(schedule):
    """Without a model of all deliveries, from the first list schedule."""
    optimum = fewest_steps(schedule.instance, len(schedule.steps))
    budget = Budget(seconds=None, evaluations=20_000)
    with patch.object(ticks, "left_shifted", return_value=None):
        run, _ = solved(ENGINE, schedule.instance, lower=optimum, budget=budget)
    assert optimum <= run.best() <= 1.25 * optimum + 1
    assert run.bounds == []


def ring_problem():
    """Return the Problem of an allgather on a ring of channels of three lengths."""
    network = cchybrid.network("ring-bi-4")
    times = tuple((1, 2 + (a + b) % 3) for a, b, _ in network.channels)
    return build_problem(cchybrid.instance(replace(network, times=times), "AAB"))


def first_schedule(problem):
    """Return the first list schedule of a Problem."""
    scheduler = ListScheduler(problem, np.random.default_rng(0))
    scheduler.restart()
    scheduler.made(NEVER, np.zeros(1, dtype=np.bool_))
    return scheduler.assignment()


def test_what_is_not_free_stays(monkeypatch):
    problem = ring_problem()
    known = first_schedule(problem)
    free = known.step >= np.sort(known.step)[-4]
    everywhere = np.arange(known.steps)
    model = build(problem, tables_of(problem), known, free, everywhere, known.steps)
    solver = cp_model.CpSolver()
    assert solver.solve(model.model) == cp_model.OPTIMAL
    _, found = model.solution(np.array(solver.response_proto.solution))
    assert problem.violations(found) == []
    assert (found.option[~free] == known.option[~free]).all()
    assert (found.step[~free] == known.step[~free]).all()
    monkeypatch.setattr(ticks, "MAX_BOOLEANS", 3)
    with pytest.raises(StoppedError):
        build(problem, tables_of(problem), known, free, everywhere, known.steps)


def test_a_left_shifted_schedule_starts_in_the_listed_ticks():
    """Nothing starts in between: every start is 0 or a sum of lengths and latencies."""
    problem = ring_problem()
    known = first_schedule(problem)
    starts = problem.start_of(known.option, known.step)
    listed = left_shifted(problem, known.steps, 10_000)
    assert set(starts.tolist()) <= set(listed.tolist())
    assert left_shifted(problem, known.steps, 3) is None


def test_the_same_seed_and_evaluations_repeat_exactly():
    found = []
    for _ in range(2):
        budget = Budget(seconds=None, evaluations=3_000)
        run, _ = solved(ENGINE, ring_problem(), seed=2, budget=budget)
        found.append([schedule.steps for schedule in run.schedules])
    assert found[0] == found[1]


def test_it_starts_from_the_best_schedule_of_others():
    problem = ring_problem()
    known = first_schedule(problem)
    late = Assignment(known.option, np.where(known.step < 0, -1, known.step + 3).astype(np.int32))
    run = LocalRun(problem, first_lower=known.steps, budget=Budget(seconds=60))
    run.offer(late)
    assert ENGINE.solve(problem, run) is Stop.EXHAUSTED
    assert (run.best(), run.violations) == (known.steps, [])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:mi300x-x2")
def test_a_claim_in_ticks_is_no_certificate():
    """The first schedule is optimal; the bound of the cut is weaker."""
    instance = cchybrid.instance("mi300x-x2", "AAB", size="64MiB", tick=20)
    found = cchybrid.solve(instance, engines=["cpsat"], time_limit=60, threads=1)
    assert (found.steps, found.status, found.certified) == (124, "optimal", False)
    assert (found.lower_bound.steps, found.lower_bound.evidence) == (124, {})
    assert found.troubles == ()
