"""Large-neighbourhood search: valid offers on anything, optima of small instances, its parts."""

import numpy as np
import pytest
from cchybrid_plugins.engines.lns.engine import Lns
from cchybrid_plugins.engines.lns.growable_problem import GrowableProblem
from cchybrid_plugins.engines.lns.initial_solution import initial_solution
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.partial_schedule import repaired
from tests.examples import drawn
from tests.random_instances import instances
from tests.toolkit.kernels.random_assignments import random_assignment
from tests.toolkit.partial_schedules import assert_sound

RANDOM = drawn(60)


@pytest.mark.long
def test_finds_paths_beyond_the_pool():
    """Of one path per pair, six steps are too few; each of them has other paths to take."""
    instance = cchybrid.instance("mesh-3x3", "AAS", routing="any")
    problem = build_problem(instance, max_options=72)
    assert not problem.complete
    ends = {}
    for paths in (True, False):
        run = LocalRun(problem, budget=Budget(evaluations=60_000), target=6)
        ends[paths] = Lns(Lns.Options(paths=paths)).solve(problem, run)
        assert run.violations == []
        assert (run.best() == 6) is paths
    assert ends == {True: Stop.EXHAUSTED, False: Stop.STALLED}


@RANDOM
@given(instances(switchings=("wormhole",)), st.integers(0, 1000))
def test_what_is_known_survives_growth(instance, seed):
    """A partial schedule is the same schedule of the grown Problem, and of the base again."""
    base = build_problem(instance, max_options=6)
    random = np.random.default_rng(seed)
    growable = GrowableProblem(base)
    before = random_assignment(base, seed, missing=True, steps=3)
    partial = repaired(base, growable.uses, 3, before, random)
    lifted = base.lift(partial.assignment(), 3).steps
    for _ in range(3):
        if not growable.can_grow:
            assert base.complete
            break
        some = random.choice(np.flatnonzero(base.required), 4)
        moved = growable.grow(some, random.random(base.resources))
        if moved is not None:
            partial = partial.moved_to(growable.problem, growable.uses, moved)
        assert_sound(partial)
        assert growable.problem.lift(partial.assignment(), 3).steps == lifted
        assert base.lift(growable.to_base(partial.assignment()), 3).steps == lifted
        again = growable.to_grown(before)
        assert (growable.to_base(again).option == before.option).all()
    partial.fill(partial.unscheduled, lambda: False)
    assert_sound(partial)


def test_the_step_with_the_fewest_deliveries_is_dissolved():
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
    whole = first_fit(problem, 1)
    fewest = int(np.bincount(whole.step).min())
    assert fewest < int((whole.step == whole.steps - 1).sum()) or whole.steps > 6
    random = np.random.default_rng(0)
    for over in (True, False):
        rest = whole.steps - 1, None, whole, random, lambda over=over: over
        partial = initial_solution(GrowableProblem(problem), *rest)
        # Nothing is filled in if the run is over.
        missing = len(partial.unscheduled)
        assert missing == fewest if over else missing <= fewest
        assert_sound(partial)


def test_goes_on_from_a_near_solution_with_conflicts():
    """Two deliveries of an optimal schedule are put into one place; all others are kept."""
    problem = build_problem(cchybrid.instance("spidergon-8", "AAS"))
    run = LocalRun(problem, budget=Budget(seconds=30.0), first_lower=4)
    Lns(Lns.Options()).solve(problem, run)
    best = problem.match(run.schedules[-1].steps)
    assert best.steps == 4
    best.step[:3] = 0
    again = LocalRun(problem, budget=Budget(evaluations=20_000), target=4, hints={4: best})
    Lns(Lns.Options()).solve(problem, again)
    assert again.best() == 4
    assert again.spent < 10_000
