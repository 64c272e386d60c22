"""Kernels against plain-Python twins, and against the referee, on random instances."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Instance
from cchybrid.problem import INJECT, Assignment, Problem, build_problem
from cchybrid.referee.verify import verify
from cchybrid.toolkit.evolution.ports import free_ports, spread_ports
from cchybrid.toolkit.kernels.conflicts import conflicts, mark_needed
from cchybrid.toolkit.kernels.first_fit import FirstFit, first_fit
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.occupancy import add, build, fits, overloaded, remove
from cchybrid.toolkit.kernels.rng import below, normal, seed_state, shuffle, uniform
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels
from tests.toolkit.kernels.random_assignments import RANDOM, STEPS, random_assignment

GO_ON = np.zeros(1, dtype=np.bool_)


def table_of(problem: Problem, found: Assignment, counted: np.ndarray) -> tuple[np.ndarray, int]:
    table = np.zeros((STEPS, problem.resources), dtype=np.int32)
    return table, int(build(flatten(problem), found.option, found.step, counted, table))


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_conflicts_equal_their_twin(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    for missing in (False, True):
        found = random_assignment(problem, seed, missing)
        assert conflicts(problem, found) == plain_kernels.conflicts(problem, found)


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_needed_equals_its_twin(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    found = random_assignment(problem, seed)
    marks = np.zeros(problem.deliveries, dtype=np.bool_)
    mark_needed(flatten(problem), found.option, marks)
    assert set(np.flatnonzero(marks).tolist()) == plain_kernels.needed(problem, found)


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_moves_change_the_table_as_building_it_anew_would(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    flat, found = flatten(problem), random_assignment(problem, seed)
    counted = np.ones(problem.deliveries, dtype=np.bool_)
    table, total = table_of(problem, found, counted)
    used = plain_kernels.loads(problem, found, set(range(problem.deliveries)))
    assert {key: int(table[key[1], key[0]]) for key in used} == dict(used)
    assert int(table.sum()) == sum(used.values())
    rng = np.random.default_rng(seed)
    for delivery in rng.integers(0, problem.deliveries, 8).tolist():
        path = flat.path[found.option[delivery]]
        row = table[found.step[delivery]]
        limit = [row[r] > problem.capacity[r] and not problem.implied[r]
                 for r in problem.resources_of(int(found.option[delivery]))]  # fmt: skip
        assert bool(overloaded(flat, row, path)) == any(limit)
        total += remove(flat, row, path)
        found.step[delivery] = rng.integers(0, STEPS)
        total += add(flat, table[found.step[delivery]], path)
        fresh, expected = table_of(problem, found, counted)
        assert total == expected
        assert (table == fresh).all()


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_fits_adds_only_what_all_capacities_allow(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    flat = flatten(problem)
    row = np.zeros(problem.resources, dtype=np.int32)
    rng = np.random.default_rng(seed)
    for option in rng.integers(0, problem.options, 20).tolist():
        before = row.copy()
        if fits(flat, row, flat.path[option]):
            assert (row <= problem.capacity)[problem.resources_of(option)].all()
            assert (row >= before).all()
        else:
            assert (row == before).all()
            after = before + np.bincount(problem.resources_of(option), minlength=problem.resources)
            assert (after > problem.capacity).any()


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_first_fit_is_valid_complete_and_repeatable(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    found = first_fit(problem, seed)
    assert plain_kernels.conflicts(problem, found) == 0
    schedule = problem.lift(found)
    assert verify(instance, schedule.steps) == ()
    scheduler, state = FirstFit(problem), seed_state(seed)
    again, other = scheduler.draw(state), scheduler.draw(state)
    assert (found.option == again.option).all()
    assert (found.step == again.step).all()
    assert other is not None
    assert plain_kernels.conflicts(problem, other) == 0


def test_the_next_greedy_schedule_is_another_one() -> None:
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAB"))
    scheduler, state = FirstFit(problem), seed_state(5)
    first, other = scheduler.draw(state), scheduler.draw(state)
    assert (first.option != other.option).any() or (first.step != other.step).any()
    assert scheduler.draw(state, np.ones(1, dtype=np.bool_)) is None


def test_the_port_heuristic_empties_overfull_ports() -> None:
    from cchybrid.host.api import instance

    problem = build_problem(instance("ring-bi-8", "OAS"))
    flat = flatten(problem)
    found = first_fit(problem, 0)
    found.step[:] = 0
    counted = np.ones(problem.deliveries, dtype=np.bool_)
    table = np.zeros((STEPS, problem.resources), dtype=np.int32)
    build(flat, found.option, found.step, counted, table)
    spread_ports(flat, found.option, found.step, counted, table, GO_ON, seed_state(1))
    ports = np.flatnonzero(problem.kind == INJECT)
    assert (table[:, ports] <= problem.capacity[ports]).all()
    path = int(flat.path[found.option[0]])
    assert free_ports(flat.inject, flat.accept, flat.capacity, table, 0, path) >= 0


def test_random_numbers_come_from_the_state_alone() -> None:
    one, two = seed_state(7), seed_state(7)
    first = [below(one, 10) for _ in range(2000)]
    assert first == [below(two, 10) for _ in range(2000)]
    assert first != [below(seed_state(8), 10) for _ in range(2000)]
    counts = np.bincount(first, minlength=10)
    assert counts.min() > 130
    draws = np.array([uniform(one) for _ in range(2000)])
    assert 0 <= draws.min() < draws.max() < 1
    assert abs(draws.mean() - 0.5) < 0.05
    bells = np.array([normal(one) for _ in range(2000)])
    assert abs(bells.mean()) < 0.1
    assert abs(bells.std() - 1) < 0.1
    values = np.arange(50, dtype=np.int32)
    shuffle(values, one)
    assert sorted(values.tolist()) == list(range(50))
    assert values.tolist() != list(range(50))
