import numpy as np
import pytest
from cchybrid_plugins.engines.hgsa.annealing import AnnealingProcesses
from cchybrid_plugins.engines.hgsa.engine import HgsaOptions
from cchybrid_plugins.engines.hgsa.genetics import accepts, cross, draw, exchange
from cchybrid_plugins.engines.hgsa.kernels import Solution, closes_cycle, move, process
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import drawn
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels

RANDOM = drawn(40)
STEPS = 4
GO_ON = np.zeros(1, dtype=np.bool_)


def processes_of(problem: Problem, seed: int, **options: object) -> AnnealingProcesses:
    chosen = HgsaOptions(**{"processes": 3, **options})
    island = AnnealingProcesses(problem, flatten(problem), chosen, STEPS, None, seed_state(seed))
    island.advance(0, GO_ON)
    return island


def check_counts(problem: Problem, solution: Solution) -> None:
    """Compare everything that is changed move by move with a plain recount."""
    found = Assignment(solution.option, solution.step)
    needed = plain_kernels.needed(problem, found)
    assert set(np.flatnonzero(solution.users).tolist()) == needed
    loads = plain_kernels.loads(problem, found, needed)
    assert {key: int(solution.table[key[1], key[0]]) for key in loads} == dict(loads)
    assert int(solution.table.sum()) == sum(loads.values())
    length = sum(found.step[d] + 1 + len(problem.resources_of(found.option[d])) for d in needed)
    assert solution.counts.tolist() == [plain_kernels.conflicts(problem, found), length]


def check_no_circle(problem: Problem, solution: Solution) -> None:
    for first in range(problem.deliveries):
        seen, delivery = set(), first
        while delivery >= 0 and delivery not in seen:
            seen.add(delivery)
            delivery = int(problem.option_requires[solution.option[delivery]])
        assert delivery < 0


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_counts_after_moves_equal_a_recount(case, seed):
    problem = build_problem(case)
    flat, state = flatten(problem), seed_state(seed)
    solution = process(processes_of(problem, seed).annealing.processes, 0)
    check_counts(problem, solution)
    for delivery in np.random.default_rng(seed).integers(0, problem.deliveries, 12).tolist():
        before = solution.option.copy(), solution.step.copy(), solution.counts.tolist()
        option, step = draw(flat, solution, delivery, state)
        if closes_cycle(flat, solution, delivery, option):
            continue
        move(flat, solution, delivery, option, step)
        check_counts(problem, solution)
        check_no_circle(problem, solution)
        if delivery % 2:
            move(flat, solution, delivery, before[0][delivery], before[1][delivery])
            assert (solution.option == before[0]).all()
            assert solution.counts.tolist() == before[2]
            check_counts(problem, solution)


@pytest.mark.long
@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_annealing_and_master_steps_keep_the_counts(case, seed):
    problem = build_problem(case)
    island = processes_of(problem, seed, exchange=2)
    island.advance(40 * problem.deliveries, GO_ON)
    settings, processes, memory, *_ = island.annealing
    exchange(settings, processes, memory, 0.5, GO_ON, island.state)
    for index in range(3):
        check_counts(problem, process(island.annealing.processes, index))
        check_no_circle(problem, process(island.annealing.processes, index))
    assert conflicts(problem, island.best()) == island.conflicts


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_a_child_has_the_genes_of_one_parent_between_two_points(case, seed):
    problem = build_problem(case)
    island = processes_of(problem, seed)
    settings, processes, memory, *_ = island.annealing
    mother, father = 0, 2
    memory.option[:], memory.step[:] = processes.option, processes.step
    rng = np.random.default_rng(seed)
    first, last = sorted(rng.integers(0, problem.deliveries + 1, 2).tolist())
    points = first, last
    cross(settings, memory, mother, father, *points, memory.one, GO_ON, island.state)
    check_counts(problem, memory.one)
    check_no_circle(problem, memory.one)
    if not problem.ordered:  # else the order is restored
        for gene in range(problem.deliveries):
            parent = father if first <= gene < last else mother
            assert memory.one.option[gene] == memory.option[parent, gene]
            assert memory.one.step[gene] == memory.step[parent, gene]


def test_metropolis_accepts_as_often_as_it_should():
    state = seed_state(1)
    assert all(accepts(rise, 0.1, state) for rise in (-2.0, 0.0))
    share = np.mean([accepts(1.0, 2.0, state) for _ in range(4000)])
    assert abs(share - np.exp(-0.5)) < 0.03
