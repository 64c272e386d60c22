"""The common part of the evolutionary engines."""

from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.engines.mboa.engine import Mboa
from cchybrid_plugins.engines.sga.engine import Sga
from cchybrid_plugins.engines.umda.engine import Umda

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Assignment, build_problem
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.island import EvolutionIsland
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.evolution.population import Population, replace, select
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.kernels.surrounding import hops_of

ENGINES = (Mboa, Sga, Umda)
NEVER = np.zeros(1, dtype=np.bool_)


def solve(
    engine: Any, case: Instance, lower: int, budget: Budget, options: Any = (), **rest: Any
) -> tuple[LocalRun, Stop]:
    run = LocalRun(build_problem(case), first_lower=lower, budget=budget, **rest)
    stop = engine(engine.Options(**dict(options))).solve(run.problem, run)
    assert not run.violations
    return run, stop


def island_of(engine: Any, case: Instance, steps: int, **options: Any) -> EvolutionIsland:
    made = engine(engine.Options(**options))
    genome, state = Genome.of(build_problem(case), made.options), seed_state(0)
    return EvolutionIsland(genome, made.options, made.breeder(genome, state), steps, state)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_raising_starts_at_the_lower_bound_and_adds_a_step_at_a_time(engine: Any) -> None:
    options = {"control": "raise", "patience": 2, "population": 20}
    run, stop = solve(engine, instance("mesh-3x3", "AAS"), 3, Budget(seconds=60), options)
    tried = list(dict.fromkeys(steps for steps, _ in run.progressed))
    assert tried[:3] == [3, 4, 5]
    assert tried == sorted(tried)
    assert len(run.schedules) == 1
    assert run.best() in (tried[-1], tried[-1] + 1)  # one that is found at once makes no note
    assert stop == Stop.STALLED


@pytest.mark.parametrize("engine", ENGINES)
def test_conflicts_may_be_counted_as_excess(engine: Any) -> None:
    case = instance("hypercube-8", "AAS")
    single = {"population": 10, "greedy": 0.0, "sweeps": 0, "polish": 0}
    pairs, excess = (island_of(engine, case, 3, conflicts=how, **single) for how in
                     ("pairs", "excess"))  # fmt: skip
    for island in (pairs, excess):
        assert island.advance(10, NEVER) == 10
    near = excess.best()
    used: dict[tuple[int, int], int] = {}
    for option, step in zip(near.option, near.step, strict=True):
        for resource in build_problem(case).resources_of(option):
            used[resource, step] = used.get((resource, step), 0) + 1
    capacity = [
        0 if build_problem(case).implied[r] else 1 for r in range(build_problem(case).resources)
    ]
    assert excess.conflicts == sum(
        max(load - 1, 0) for (resource, _), load in used.items() if capacity[resource]
    )
    assert pairs.conflicts == conflicts(build_problem(case), pairs.best())
    run, _ = solve(engine, case, 4, Budget(seconds=60), {"conflicts": "excess"})
    assert run.best() == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_the_algorithm_of_the_thesis_informs_neighbours(engine: Any) -> None:
    options = {
        "polish": 0, "sweeps": 0, "moves": 1, "greedy": 0.0, "radius": 1, "control": "raise"
    }  # fmt: skip
    case = instance("hypercube-8", "AAB")
    run, _ = solve(engine, case, 3, Budget(seconds=60), options)
    best = run.best()
    assert best is not None
    problem = run.problem
    found = problem.match(run.schedules[-1].steps)
    assert (hops_of(problem)[found.option] == 1).all()


def test_only_the_worst_individuals_are_replaced() -> None:
    fitness = np.array([5, 1, 4, 2, 3], dtype=np.int32)
    population = Population(
        np.zeros((5, 2), dtype=np.int32), np.zeros((5, 2), dtype=np.int32), fitness
    )
    children = Population(
        np.ones((3, 2), dtype=np.int32),
        np.ones((3, 2), dtype=np.int32),
        np.array([9, 8, 0], dtype=np.int32),
    )
    replace(population, children, 2)
    assert population.fitness.tolist() == [9, 1, 8, 2, 3]
    assert population.option.any(axis=1).tolist() == [True, False, True, False, False]


def test_parents_win_tournaments() -> None:
    fitness = np.arange(10, dtype=np.int32)
    parents = np.zeros(4000, dtype=np.int32)
    select(fitness, parents, seed_state(0))
    share = np.bincount(parents, minlength=10) / 4000
    # The k-th best of n wins with probability (2 (n - k) + 1) / n^2.
    assert np.allclose(share, [(2 * (9 - place) + 1) / 100 for place in range(10)], atol=0.03)


def test_the_best_is_kept_even_if_all_are_replaced() -> None:
    island = island_of(Umda, instance("mesh-3x3", "AAS"), 4, replacement=1.0, population=6,
                       sweeps=0, mutation=1.0)  # fmt: skip
    fewest = None
    for _ in range(40):
        island.advance(6, NEVER)
        assert fewest is None or island.conflicts <= fewest
        fewest = island.conflicts
    assert conflicts(build_problem(instance("mesh-3x3", "AAS")), island.best()) == fewest


def test_an_island_keeps_to_its_evaluations_and_stops_when_the_flag_is_set() -> None:
    island = island_of(Sga, instance("torus-4x4", "AAS"), 5, population=9, polish=0)
    assert [island.advance(4, NEVER) for _ in range(2)] == [4, 4]
    assert island.advance(13, NEVER) == 13  # the ninth individual and two generations of six
    assert island.advance(1, NEVER) == 6
    before = island.conflicts
    assert island.advance(100, np.ones(1, dtype=np.bool_)) == 0
    assert island.conflicts == before


@pytest.mark.parametrize("engine", ENGINES)
def test_polish_betters_the_best_individual(engine: Any) -> None:
    case = instance("torus-4x4", "AAS")
    plain, polished = (
        island_of(engine, case, 8, greedy=0.0, sweeps=0, population=10, polish=polish)
        for polish in (0, 20)
    )
    for _ in range(10):
        plain.advance(40, NEVER)
        polished.advance(40, NEVER)
    assert polished.conflicts < plain.conflicts
    if not polished.conflicts:
        assert conflicts(build_problem(case), polished.best()) == 0


def test_a_guest_takes_the_place_of_a_worse_individual() -> None:
    case = instance("spidergon-8", "AAS")
    run, _ = solve(Umda, case, 4, Budget(seconds=60))
    solution = run.problem.match(run.schedules[-1].steps)
    island = island_of(Sga, case, 4, greedy=0.0, sweeps=0, polish=0, population=10)
    island.immigrate(solution)
    assert island.conflicts > 0  # there is no individual to replace yet
    island.advance(10, NEVER)
    assert island.conflicts > 0
    island.immigrate(solution)
    assert island.conflicts == 0
    assert np.array_equal(island.best().option, solution.option)


def test_with_a_radius_genes_are_numbered_anew() -> None:
    problem = build_problem(instance("hypercube-8", "AAB"))
    genome = Genome.of(problem, EvolutionOptions(radius=1))
    assert (hops_of(problem)[genome.allowed] == 1).all()
    options = problem.option_start[:-1].astype(np.int32)
    step = np.arange(problem.deliveries, dtype=np.int32)
    genes = genome.encode(Assignment(options, step), 40)
    back = genome.decode(genes.option, genes.step, 40)
    kept = (hops_of(problem)[options] == 1) & (step < 40)
    assert (back.option[kept] == options[kept]).all()
    assert (back.option[~kept] == -1).all()
    assert (back.step == np.where(kept, step, -1)).all()
