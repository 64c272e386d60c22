"""Large-neighbourhood search: valid offers on anything, optima of small instances, its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.lns.engine import Lns
from cchybrid_plugins.lns.partial import Partial, repaired
from cchybrid_plugins.lns.repack import Repack, limited, places_for
from cchybrid_plugins.uses import Uses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model
from random_instances import instances

import cchybrid
from cchybrid.engine import Budget, Stop
from cchybrid.kernels.conflicts import conflicts
from cchybrid.model import Instance
from cchybrid.problem import Assignment, Problem, compile
from cchybrid.testing import LocalRun

RANDOM = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def random_assignment(problem: Problem, steps: int, seed: int) -> Assignment:
    """Return places at random, full of conflicts; some deliveries have none."""
    random = np.random.default_rng(seed)
    found = problem.empty()
    for delivery in range(problem.deliveries):
        first, last = problem.option_start[delivery : delivery + 2]
        if first < last and random.random() < 0.8:
            found.option[delivery] = random.integers(first, last)
            found.step[delivery] = random.integers(steps)
    return found


def assert_sound(partial: Partial) -> None:
    """Nothing is in conflict, nothing happens too early, and the room is what is left."""
    problem = partial.problem
    assert not len(partial.broken())
    fresh = Partial(problem, partial.uses, partial.steps)
    placed = np.flatnonzero(partial.option >= 0)
    fresh.place(placed, partial.option[placed], partial.step[placed])
    assert (fresh.room == partial.room).all()
    assert (partial.room >= 0).all()
    missing = int((partial.assignment().option[problem.required] < 0).sum())
    assert conflicts(problem, partial.assignment()) == missing == len(partial.left_over)


@RANDOM
@given(instances(), st.integers(0, 1000))
def test_a_near_solution_is_repaired_and_filled(instance: Instance, seed: int) -> None:
    problem = compile(instance)
    random = np.random.default_rng(seed)
    wild = random_assignment(problem, 5, seed)
    partial = repaired(problem, Uses.of(problem), 4, wild, random)
    assert_sound(partial)
    placed = partial.option >= 0
    assert (partial.option[placed] == wild.option[placed]).all()
    before = len(partial.left_over)
    partial.fill(partial.left_over, lambda: False)
    assert_sound(partial)
    assert len(partial.left_over) <= before


@RANDOM
@given(instances(), st.integers(0, 1000))
def test_repacking_keeps_what_stays_and_loses_nothing(instance: Instance, seed: int) -> None:
    """Whatever is taken out, the answer is valid and places as many as before at least."""
    problem = compile(instance)
    random = np.random.default_rng(seed)
    uses = Uses.of(problem)
    partial = repaired(problem, uses, 3, random_assignment(problem, 3, seed), random)
    taken = np.flatnonzero((partial.option >= 0) & (random.random(problem.deliveries) < 0.5))
    rest = partial.copy()
    rest.take_out(taken)
    free = np.flatnonzero(rest.option < 0)
    free = np.setdiff1d(free, np.setdiff1d(free, taken)[:1])  # one that nobody asks for
    places = places_for(rest, free)
    known = Assignment(
        np.where(rest.option < 0, partial.option, -1), np.where(rest.option < 0, partial.step, -1)
    )
    places = limited(places, known, random.random(problem.options), len(taken) + 20)
    weight = problem.required.astype(np.int64)
    model = Repack(rest, places, weight, known, lambda: False)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model.model) == cp_model.OPTIMAL
    values = np.array(solver.response_proto.solution, dtype=np.int64)
    _, found = model.solution(values)
    placed = np.flatnonzero(found.option >= 0)
    assert np.isin(placed, free).all()
    rest.place(placed, found.option[placed].astype(np.int64), found.step[placed].astype(np.int64))
    assert_sound(rest)
    assert len(rest.left_over) <= len(partial.left_over)


@pytest.mark.parametrize(
    ("topology", "collective", "rest", "optimum"),
    [
        ("mesh-4x4", "AAS", {}, 16),
        ("spidergon-8", "AAB", {}, 3),
        ("hypercube-8", "AAB", {"switching": "store-and-forward"}, 3),
        ("ring-bi-8", "AAS", {"switching": "store-and-forward"}, 8),
        ("mesh-3x3", "AAS", {"ports": 1}, 8),
        ("spidergon-8", "AAR", {}, 3),
    ],
)
def test_finds_the_optimum(
    topology: str, collective: str, rest: dict[str, Any], optimum: int
) -> None:
    problem = compile(cchybrid.instance(topology, collective, **rest))
    run = LocalRun(problem, budget=Budget(seconds=30.0), first_lower=optimum)
    assert Lns(Lns.Options()).solve(problem, run) is Stop.EXHAUSTED
    assert run.violations == []
    assert run.best() == optimum
