"""Engine against engine: the exact one's optimum lies between certified bounds and all others."""

from typing import Any

import pytest
from hypothesis import given

from cchybrid.checker import proven_steps
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun, conformance_instances
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import build_problem
from cchybrid.proof.asking import bounds_of
from cchybrid.proof.records import load_target
from tests.examples import drawn
from tests.random_instances import instances

REGISTRY = load_registry()
HEURISTICS = [info for info in REGISTRY.engines.values() if not info.proves]


def made(target: str) -> Any:
    kind = load_target(target)
    return kind(kind.Options())


def optimum(instance: Instance) -> int:
    """Return what the exact engine finds and proves."""
    run = LocalRun(build_problem(instance), budget=Budget(seconds=60.0))
    name = "rounds" if instance.model.rounds else "cpsat"
    stop = made(REGISTRY.engine(name).target).solve(run.problem, run)
    assert stop is Stop.EXHAUSTED
    assert run.violations == []
    assert run.best() == run.lower()
    return run.lower()


def certified(instance: Instance) -> int:
    """Return the best bound of the providers that the checker confirms."""
    record = instance.to_json()
    return max(
        proven_steps(record, bound.evidence)
        for info in REGISTRY.bounds.values()
        for bound in bounds_of(info, instance)
    )


CASES = [
    case
    for case in conformance_instances()
    if case.instance.horizon == "steps"  # of ticks there is no exact engine
    and ("rounds" in REGISTRY.engines or not case.instance.model.rounds)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_known_optima_are_optimal(case):
    assert optimum(case.instance) == case.optimum
    assert certified(case.instance) <= case.optimum


@pytest.mark.slow
@given(instances(max_nodes=5, max_messages=4))
@drawn(60)
def test_no_engine_beats_the_exact_engine_and_it_beats_no_bound(instance):
    best = optimum(instance)
    assert certified(instance) <= best
    for info in HEURISTICS:
        run = LocalRun(
            build_problem(instance), budget=Budget(seconds=None, evaluations=300), first_lower=best
        )
        engine = made(info.target)
        if engine.unsupported(run.problem) is None:
            engine.solve(run.problem, run)
            assert run.violations == [], info.name
            assert all(len(schedule.steps) >= best for schedule in run.schedules), info.name
            assert all(steps <= best for steps, _ in run.bounds), info.name
