"""Kernels against plain-Python twins, and against the referee, on random instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.problem import INJECT, build_problem
from cchybrid.referee.verify import verify
from cchybrid.toolkit.evolution.ports import free_ports, spread_ports
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.first_fit import FirstFit, first_fit
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.occupancy import Loaded, build
from cchybrid.toolkit.kernels.rng import below, normal, seed_state, shuffle, uniform
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels
from tests.toolkit.kernels.random_assignments import RANDOM, STEPS, random_assignment

GO_ON = np.zeros(1, dtype=np.bool_)


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_conflicts_equal_their_twin(instance, seed):
    problem = build_problem(instance)
    for missing in (False, True):
        found = random_assignment(problem, seed, missing)
        assert conflicts(problem, found) == plain_kernels.conflicts(problem, found)


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_first_fit_is_valid_complete_and_repeatable(instance, seed):
    problem = build_problem(instance)
    found = first_fit(problem, seed)
    assert plain_kernels.conflicts(problem, found) == 0
    schedule = problem.lift(found)
    assert verify(instance, schedule.steps) == ()
    scheduler, state = FirstFit(problem), seed_state(seed)
    again, other = scheduler.draw(state), scheduler.draw(state)
    assert (found.option == again.option).all()
    assert (found.step == again.step).all()
    assert plain_kernels.conflicts(problem, other) == 0


def test_the_port_heuristic_empties_overfull_ports():
    problem = build_problem(cchybrid.instance("ring-bi-8", "OAS"))
    flat, found = flatten(problem), first_fit(problem, 0)
    found.step[:] = 0
    counted = np.ones(problem.deliveries, dtype=np.bool_)
    table = np.zeros((STEPS, problem.resources), dtype=np.int32)
    loaded = Loaded(found.option, found.step, counted, table)
    build(flat, loaded)
    spread_ports(flat, loaded, GO_ON, seed_state(1))
    ports = np.flatnonzero(problem.kind == INJECT)
    assert (table[:, ports] <= problem.capacity[ports]).all()
    path = int(flat.path[found.option[0]])
    assert free_ports(flat.inject, flat.accept, flat.capacity, table, 0, path) >= 0


def test_random_numbers_come_from_the_state_alone():
    one, two = seed_state(7), seed_state(7)
    first = [below(one, 10) for _ in range(2000)]
    assert first == [below(two, 10) for _ in range(2000)]
    assert first != [below(seed_state(8), 10) for _ in range(2000)]
    assert np.bincount(first, minlength=10).min() > 130
    for draw, mean, deviation in ((uniform, 0.5, 12**-0.5), (normal, 0.0, 1.0)):
        drawn = np.array([draw(one) for _ in range(2000)])
        assert (drawn.mean(), drawn.std()) == pytest.approx((mean, deviation), abs=0.1)
    values = np.arange(50, dtype=np.int32)
    shuffle(values, one)
    assert values.tolist() != sorted(values.tolist()) == list(range(50))
