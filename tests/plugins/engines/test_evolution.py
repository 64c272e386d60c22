"""The common part of the evolutionary engines, and the operators of some of them."""

from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.engines.mboa.engine import Mboa
from cchybrid_plugins.engines.random_search.engine import draw_often
from cchybrid_plugins.engines.sga.engine import Sga, cross
from cchybrid_plugins.engines.umda.engine import Umda
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.problem import build_problem
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.island import EvolutionIsland
from cchybrid.toolkit.evolution.population import Population, empty_population, replace, select
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.kernels.surrounding import hops_of
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels

ENGINES = (Mboa, Sga, Umda)
NEVER = np.zeros(1, dtype=np.bool_)
RANDOM = drawn(40)


def island_of(engine: Any, case: Instance, steps: int, **options: Any) -> EvolutionIsland:
    made = engine(engine.Options(**options))
    genome, state = Genome.of(build_problem(case), made.options), seed_state(0)
    return EvolutionIsland(genome, made.options, made.breeder(genome, state), steps, state)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_algorithm_of_the_thesis_informs_neighbours(engine):
    options = {
        "polish": 0, "sweeps": 0, "moves": 1, "greedy": 0.0, "radius": 1, "control": "raise"
    }  # fmt: skip
    run, _ = solved(engine(engine.Options(**options)), instance("hypercube-8", "AAB"), 3)
    problem = run.problem
    found = problem.match(run.schedules[-1].steps)
    assert (hops_of(problem)[found.option] == 1).all()


def test_only_the_worst_individuals_are_replaced():
    population, children = empty_population(5, 2), empty_population(3, 2)
    population.option[:], children.option[:] = 0, 1
    population.fitness[:], children.fitness[:] = (5, 1, 4, 2, 3), (9, 8, 0)
    replace(population, children, 2, False, seed_state(0))
    assert population.fitness.tolist() == [9, 1, 8, 2, 3]
    assert population.option.any(axis=1).tolist() == [True, False, True, False, False]


def test_random_ties_replace_any_of_the_worst():
    kept = set()
    for seed in range(20):
        population = empty_population(3, 1)
        population.fitness[:] = 7, 7, 1
        children = empty_population(1, 1)
        children.fitness[0] = 9
        replace(population, children, 1, True, seed_state(seed))
        assert population.fitness[2] == 1
        kept.add(tuple(population.fitness.tolist()))
    assert kept == {(9, 7, 1), (7, 9, 1)}


def test_parents_win_tournaments():
    fitness = np.arange(10, dtype=np.int32)
    parents = np.zeros(4000, dtype=np.int32)
    select(fitness, parents, seed_state(0))
    share = np.bincount(parents, minlength=10) / 4000
    # The k-th best of n wins with probability (2 (n - k) + 1) / n^2.
    assert np.allclose(share, [(2 * (9 - place) + 1) / 100 for place in range(10)], atol=0.03)


def test_an_island_keeps_to_its_evaluations_and_stops_when_the_flag_is_set():
    island = island_of(Sga, instance("torus-4x4", "AAS"), 5, population=9, polish=0)
    assert [island.advance(4, NEVER) for _ in range(2)] == [4, 4]
    assert island.advance(13, NEVER) == 13  # the ninth individual and two generations of six
    assert island.advance(1, NEVER) == 6
    before = island.conflicts
    assert island.advance(100, np.ones(1, dtype=np.bool_)) == 0
    assert island.conflicts == before


def test_polish_betters_the_best_individual():
    case = instance("torus-4x4", "AAS")
    plain, polished = (
        island_of(Sga, case, 8, greedy=0.0, sweeps=0, population=10, polish=polish)
        for polish in (0, 20)
    )
    for _ in range(10):
        plain.advance(40, NEVER)
        polished.advance(40, NEVER)
    assert polished.conflicts < plain.conflicts
    if not polished.conflicts:
        assert conflicts(build_problem(case), polished.best()) == 0


def test_a_guest_takes_the_place_of_a_worse_individual():
    case = instance("spidergon-8", "AAS")
    run, _ = solved(Umda(Umda.Options()), case, 4)
    solution = run.problem.match(run.schedules[-1].steps)
    island = island_of(Sga, case, 4, greedy=0.0, sweeps=0, polish=0, population=10)
    island.immigrate(solution)
    assert island.conflicts > 0  # there is no individual to replace yet
    island.advance(10, NEVER)
    assert island.conflicts > 0
    island.immigrate(solution)
    assert island.conflicts == 0
    assert np.array_equal(island.best().option, solution.option)


def children_of(crossover: float, number: int, genes: int) -> np.ndarray:
    """Cross an individual of zeros with one of ones, in couples; option and step are equal."""
    both = np.repeat(np.array([[0], [1]], dtype=np.int32), genes, axis=1)
    population = Population(both, both.copy(), np.zeros(2, dtype=np.int32))
    parents = np.arange(number + number % 2, dtype=np.int32) % 2
    children = empty_population(number, genes)
    cross(crossover, population, parents.astype(np.int32), children, NEVER, seed_state(1))
    assert (children.option == children.step).all()  # genes stay whole
    return children.option


def test_couples_exchange_what_is_behind_one_point():
    found = children_of(1.0, 201, 6)
    assert (found[:-1:2] + found[1::2] == 1).all()
    changes = (np.diff(found, axis=1) != 0).sum(axis=1)
    assert (changes == 1).all()
    points = np.abs(np.diff(found, axis=1)).argmax(axis=1)
    assert set(points.tolist()) == set(range(5))


def test_without_crossover_children_are_copies():
    assert (np.diff(children_of(0.0, 20, 6), axis=1) == 0).all()
    mixed = (np.diff(children_of(0.7, 2000, 6), axis=1) != 0).any(axis=1).mean()
    assert abs(mixed - 0.7) < 0.05
    assert (children_of(1.0, 4, 1).ravel() == [0, 1, 0, 1]).all()


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_the_conflicts_of_blind_draws_equal_a_recount(case, seed):
    problem = build_problem(case)
    found = problem.empty()
    made, fewest = draw_often(
        flatten(problem), 3, 5, 2**31, found.option, found.step, NEVER, seed_state(seed)
    )
    assert 1 <= made <= 5
    recount = plain_kernels.conflicts(problem, found)
    # The requirements of what is late are needed when it is counted, and gone afterwards.
    assert recount == fewest if problem.required.all() else recount <= fewest
