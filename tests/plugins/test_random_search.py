from __future__ import annotations

import time

import numpy as np
import pytest
from cchybrid_plugins.random_search.engine import RandomOptions, RandomSearch
from cchybrid_plugins.random_search.kernels import draw_often
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels

HOPS = {"switching": "store-and-forward"}
RANDOM = settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
GO_ON = np.zeros(1, dtype=np.bool_)


@pytest.mark.parametrize(
    ("words", "model", "steps"),
    [
        (("hypercube-8", "OAB"), HOPS, 3),
        (("amp-8", "OAB"), HOPS, 2),
        (("spidergon-8", "AAS"), {}, 4),
        (("hypercube-8", "OAB"), {}, 2),
        (("mesh-2x3", "OAS"), {"routing": "any"}, 3),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_greedy_starts_reach_the_optimum(
    words: tuple[str, str], model: dict[str, object], steps: int, threads: int
) -> None:
    problem = build_problem(instance(*words, **model))  # type: ignore[arg-type]
    run = LocalRun(problem, first_lower=steps, budget=Budget(seconds=60, threads=threads))
    assert RandomSearch(RandomOptions()).solve(problem, run) == Stop.EXHAUSTED
    assert run.best() == steps
    assert not run.violations


def test_blind_draws_solve_what_is_tiny() -> None:
    problem = build_problem(instance("ring-bi-4", "AAB"))
    run = LocalRun(problem, first_lower=2, budget=Budget(seconds=60))
    assert RandomSearch(RandomOptions(greedy=False)).solve(problem, run) == Stop.EXHAUSTED
    assert run.best() == 2


@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.long), 2])
def test_the_same_seed_and_evaluations_repeat_exactly(greedy: bool, threads: int) -> None:
    found = []
    for seed in (3, 3, 4):
        problem = build_problem(instance("mesh-3x3", "AAS"))
        budget = Budget(evaluations=3000, threads=threads)
        run = LocalRun(problem, seed=seed, budget=budget, first_lower=5)
        assert RandomSearch(RandomOptions(greedy=greedy)).solve(problem, run) == Stop.LIMIT
        assert run.spent == 3000
        notes = run.progressed
        found.append(([schedule.steps for schedule in run.schedules], notes))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_target_is_honoured() -> None:
    problem = build_problem(instance("mesh-3x3", "AAS"))
    run = LocalRun(problem, first_lower=6, target=8, budget=Budget(seconds=60))
    RandomSearch(RandomOptions()).solve(problem, run)
    assert (run.best() or 99) <= 8


def test_near_solutions_of_blind_draws_are_handed_out() -> None:
    problem = build_problem(instance("spidergon-8", "AAS"))
    run = LocalRun(problem, first_lower=3, budget=Budget(evaluations=20_000))
    RandomSearch(RandomOptions(greedy=False)).solve(problem, run)
    assert run.notes
    assert all(plain_kernels.conflicts(problem, near) > 0 for near in run.suggestions)


def test_it_stops_in_the_midst_of_a_start() -> None:
    problem = build_problem(instance("torus-8x8", "AAB"))
    first_fit(build_problem(instance("ring-bi-4", "AAB")), 0)
    run = LocalRun(problem, budget=Budget(seconds=0.2))
    begun = time.monotonic()
    assert RandomSearch(RandomOptions()).solve(problem, run) == Stop.LIMIT
    assert time.monotonic() - begun < 2.0


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_the_conflicts_of_blind_draws_equal_a_recount(case: Instance, seed: int) -> None:
    problem = build_problem(case)
    found = problem.empty()
    made, fewest = draw_often(
        flatten(problem), 3, 5, 2**31, found.option, found.step, GO_ON, seed_state(seed)
    )
    assert 1 <= made <= 5
    recount = plain_kernels.conflicts(problem, found)
    # The requirements of what is late are needed when it is counted, and gone afterwards.
    assert recount == fewest if problem.required.all() else recount <= fewest


def test_a_start_that_is_ended_early_gives_nothing() -> None:
    problem = build_problem(instance("ring-bi-8", "AAS"))
    assert first_fit(problem, 0, np.ones(1, dtype=np.bool_)) is None
    found = first_fit(problem, 0, GO_ON)
    assert found is not None
    assert (found.step == first_fit(problem, 0).step).all()
