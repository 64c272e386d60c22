"""The colouring baseline: valid for every model, reproducible, and prompt to stop."""

from typing import Any

import numpy as np
from cchybrid_plugins.engines.colouring.choice import Chooser
from cchybrid_plugins.engines.colouring.engine import Colouring
from cchybrid_plugins.engines.colouring.graph import Conflicts, strategies
from hypothesis import given

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.usage_matrix import UsageMatrix, families
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.random_instances import instances

RANDOM = drawn(40)


def chooser(problem: Problem) -> Chooser:
    return Chooser(problem, UsageMatrix.of(problem), lambda: None)


def test_checks_often_enough_whether_to_stop():
    """On a large graph, every part of the work checks whether to stop."""
    problem = build_problem(cchybrid.instance("torus-5x5", "AAS"))
    run = LocalRun(problem, budget=Budget(seconds=None))
    checks = 0

    def should_stop() -> bool:
        nonlocal checks
        checks += 1
        return checks > 3000

    run.should_stop = should_stop
    assert Colouring(Colouring.Options()).solve(problem, run) is Stop.LIMIT
    assert checks < 3010


@given(instances(max_nodes=6))
@RANDOM
def test_chosen_options_form_a_forest(instance):
    """Required deliveries are made, too, and chains of requirements end at a source."""
    problem = build_problem(instance)
    one = chooser(problem)
    grow = one.trees if problem.required.all() else one.chains
    option = grow(np.random.default_rng(0))
    assert (option[problem.required] >= 0).all()
    family = families(problem)
    for delivery in np.flatnonzero(option >= 0).tolist():
        assert problem.option_delivery[option[delivery]] == delivery
        seen = set()
        before = delivery
        while before >= 0:
            assert before not in seen
            assert family[before] == family[delivery]
            seen.add(before)
            before = int(problem.option_requires[option[before]])


def test_every_order_schedules_capacities():
    """Three messages fit a channel of capacity 3 at once; five need two steps, over lanes."""
    channels = [(a, b, 3) for a, b, _ in cchybrid.network("ring-bi-3").channels]
    problem = build_problem(cchybrid.instance(cchybrid.network(channels), [(0, 1)] * 5))
    uses = UsageMatrix.of(problem)
    random = np.random.default_rng(0)
    conflicts = Conflicts(problem, uses, chooser(problem).shortest(), random, lambda: None)
    assert (conflicts.min_steps, conflicts.edges) == (2, 2)
    for strategy in strategies(0, conflicts.edges).values():
        assert conflicts.schedule(strategy).steps == 2


def test_exact_colours_the_same_paths_with_fewer(monkeypatch):
    """Exact colouring repairs a bad order, and repeats under an evaluation budget."""

    def random_order(seed: int, edges: int) -> dict[str, Any]:
        return {"random_sequential": strategies(seed, edges)["random_sequential"]}

    def searched(*, exact: bool) -> tuple[Any, ...]:
        problem = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
        run = LocalRun(problem, seed=3, budget=Budget(None, evaluations=2000))
        Colouring(Colouring.Options(patience=1, exact=exact)).solve(problem, run)
        assert run.violations == []
        assert run.bounds == []
        return run.best(), [schedule.steps for schedule in run.schedules]

    monkeypatch.setattr("cchybrid_plugins.engines.colouring.engine.strategies", random_order)
    best, schedules = searched(exact=True)
    assert (best, schedules) == searched(exact=True)
    assert best < searched(exact=False)[0]


@given(instances(max_nodes=5, max_messages=5))
@RANDOM
def test_exact_takes_every_model(instance):
    run, plain = (
        solved(Colouring(Colouring.Options(1, exact=exact)), instance, budget=Budget(seconds=None))[
            0
        ]
        for exact in (True, False)
    )
    assert run.best() <= plain.best()
