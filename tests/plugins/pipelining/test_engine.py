"""The engine ``rounds``: the fewest steps where steps have several rounds."""

import pytest
from cchybrid_plugins.pipelining.engine import Rounds
from hypothesis import HealthCheck, given, settings

import cchybrid
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.referee.verify import verify
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances


def solve(instance: Instance, seconds: float = 20.0) -> tuple[LocalRun, Stop]:
    problem = build_problem(instance)
    run = LocalRun(problem, budget=Budget(seconds=seconds, evaluations=None), seed=1)
    return run, Rounds(Rounds.Options()).solve(problem, run)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(instances(max_nodes=5, max_messages=4, chunks=(1, 2), rounds=((2,), (1, 3), (2, 1, 2))))
def test_the_fewest_steps(instance):
    run, stop = solve(instance)
    assert stop is Stop.EXHAUSTED
    best = run.best()
    assert best == fewest_steps(instance, best)


def test_one_round_per_step_is_for_other_engines():
    engine = Rounds(Rounds.Options())
    problem = build_problem(cchybrid.instance("ring-bi-5", "AAB"))
    assert "one round" in str(engine.unsupported(problem))
    small = Rounds(Rounds.Options(max_booleans=10))
    wide = build_problem(cchybrid.instance("ring-bi-5", "AAB", rounds=[2]))
    assert "booleans" in str(small.unsupported(wide))
    assert engine.unsupported(wide) is None


@pytest.mark.long
def test_the_last_number_of_rounds_holds_for_all_further_steps():
    instance = cchybrid.instance("ring-bi-7", "AAS", rounds=[1, 3])
    result = cchybrid.solve(instance, time_limit=20)
    assert not verify(instance, result.schedule.steps)
    assert result.schedule.rounds == (1, *[3] * (result.steps - 1))
