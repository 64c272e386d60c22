"""List scheduling in ticks: optima of tiny instances, never less, and what it refuses."""

from dataclasses import replace

import pytest
from cchybrid_plugins.engines.list_scheduling.engine import ListScheduling
from hypothesis import given

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, NoOptions, Stop
from cchybrid.problem import build_problem
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.proof.optimum import fewest_steps
from tests.random_instances import TICKS, valid_schedules


def engine():
    return ListScheduling(NoOptions())


def timed(name, *times, **changes):
    """Return a network whose channels have these times in turn."""
    network = cchybrid.network(name)
    found = tuple(times[k % len(times)] for k in range(len(network.channels)))
    return replace(network, times=found, **changes)


def test_it_reaches_nearly_all_optima_and_never_beats_one():
    missed = []

    @given(valid_schedules(**TICKS, max_nodes=4, max_messages=4))
    @drawn(60)
    def compare(schedule):
        instance = schedule.instance
        optimum = fewest_steps(instance, len(schedule.steps))
        budget = Budget(seconds=None, evaluations=400)
        run, stop = solved(engine(), instance, lower=optimum, budget=budget)
        assert optimum <= run.best()
        assert stop is (Stop.EXHAUSTED if run.best() == optimum else Stop.LIMIT)
        missed.append(run.best() > optimum)

    compare()
    assert sum(missed) <= max(1, 0.1 * len(missed))


@pytest.mark.parametrize(
    ("network", "times", "collective", "model", "ticks"),
    [
        # One tick more for every latency on the way, and as many as the length for each message.
        ("ring-uni-4", [(0, 2)], "AAB", {}, 6),
        ("ring-bi-4", [(1, 1)], "OAB", {"switching": "store-and-forward"}, 4),
        ("hypercube-8", [(0, 3)], "OAB", {"switching": "store-and-forward", "ports": 1}, 9),
        ("ring-bi-4", [(0, 2)], "AAS", {}, 4),
        ("mesh-3x3", [(1, 2)], "reduce", {"switching": "store-and-forward"}, 12),
    ],
)
def test_known_optima(network, times, collective, model, ticks):
    instance = cchybrid.instance(timed(network, *times), collective, **model)
    run, stop = solved(engine(), instance, lower=ticks, budget=Budget(seconds=20))
    assert (run.best(), stop) == (ticks, Stop.EXHAUSTED)


@pytest.mark.parametrize("seed", [3, 4])
def test_the_same_seed_and_evaluations_repeat_exactly(seed):
    instance = cchybrid.instance(timed("mesh-3x3", (1, 2), (0, 1), (2, 3)), "AAB")
    found = []
    for _ in range(2):
        run, _ = solved(engine(), instance, seed=seed, budget=Budget(seconds=None, evaluations=200))
        found.append([schedule.steps for schedule in run.schedules])
    assert found[0] == found[1]


@pytest.mark.slow
def test_it_refuses_steps_and_slots():
    for model in ({}, {"switching": "tdm"}):
        problem = build_problem(cchybrid.instance("mesh-2x2", "AAS", **model))
        assert engine().unsupported(problem) == "steps are no ticks"
    found = cchybrid.solve("mesh-2x2", "AAS", engines=["list-scheduling"], time_limit=10)
    assert found.remarks == ("list-scheduling: no ticks",)


def test_it_stops_when_the_run_does():
    run = LocalRun(build_problem(cchybrid.instance(timed("mesh-4x4", (1, 2)), "AAS")))
    run.should_stop = lambda: True
    assert engine().solve(run.problem, run) is Stop.LIMIT


@pytest.mark.slow
def test_engines_of_steps_refuse_ticks():
    instance = cchybrid.instance(timed("mesh-2x2", (1, 2)), "AAS")
    found = cchybrid.solve(instance, engines=["tabu", "lns"], time_limit=20)
    assert {"tabu: ticks", "lns: ticks"} <= set(found.remarks)


@pytest.mark.slow
def test_the_run_of_a_user_is_valid_and_certified():
    ring = cchybrid.instance(timed("ring-bi-4", (1, 2)), "OAB", switching="store-and-forward")
    found = cchybrid.solve(ring, time_limit=10, threads=1)
    assert cchybrid.verify_schedule(found.schedule) == ()
    assert (found.status, found.certified, found.troubles) == ("optimal", True, ())
