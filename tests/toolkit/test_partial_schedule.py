"""Partial schedules: near-solutions without conflicts, and subproblems of them for CP-SAT."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from cchybrid.problem import build_problem
from cchybrid.toolkit.cpsat.repack import Repack, limited, places_for
from cchybrid.toolkit.partial_schedule import repaired
from cchybrid.toolkit.usage_matrix import UsageMatrix
from tests.examples import drawn
from tests.random_instances import instances
from tests.toolkit.kernels.random_assignments import random_assignment

from .partial_schedules import assert_sound

RANDOM = drawn(60)


@RANDOM
@given(instances(), st.integers(0, 1000))
def test_a_near_solution_is_repaired_and_filled(instance, seed):
    problem = build_problem(instance)
    random = np.random.default_rng(seed)
    wild = random_assignment(problem, seed, missing=True, steps=5)
    partial = repaired(problem, UsageMatrix.of(problem), 4, wild, random)
    assert_sound(partial)
    placed = partial.option >= 0
    assert (partial.option[placed] == wild.option[placed]).all()
    before = len(partial.unscheduled)
    partial.fill(partial.unscheduled, lambda: False)
    assert_sound(partial)
    assert len(partial.unscheduled) <= before


@RANDOM
@given(instances(), st.integers(0, 1000))
def test_repacking_keeps_what_stays_and_loses_nothing(instance, seed):
    """For any removed deliveries, the result is valid and schedules at least as many."""
    problem = build_problem(instance)
    random = np.random.default_rng(seed)
    uses = UsageMatrix.of(problem)
    partial = repaired(
        problem, uses, 3, random_assignment(problem, seed, missing=True, steps=3), random
    )
    taken = np.flatnonzero((partial.option >= 0) & (random.random(problem.deliveries) < 0.5))
    rest, known = partial.without(taken)
    free = np.flatnonzero(rest.option < 0)
    free = np.setdiff1d(free, np.setdiff1d(free, taken)[:1])  # one that is not in the subproblem
    places = places_for(rest, free)
    places = limited(places, known, random.random(problem.options), len(taken) + 20)
    weight = problem.required.astype(np.int64)
    model = Repack(rest, places, known, lambda: False, weight)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model.model) == cp_model.OPTIMAL
    values = np.array(solver.response_proto.solution, dtype=np.int64)
    _, found = model.solution(values)
    assert np.isin(np.flatnonzero(found.option >= 0), free).all()
    rest.add(found)
    assert_sound(rest)
    assert len(rest.unscheduled) <= len(partial.unscheduled)
