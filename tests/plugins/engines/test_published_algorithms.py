"""The option ``papers``: the algorithms as the thesis has them, and nothing of ours."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.bench.suite import read_suite
from cchybrid_plugins.engines.mboa.engine import UNLIMITED, Mboa
from cchybrid_plugins.engines.sga.engine import Sga
from cchybrid_plugins.engines.umda.engine import Umda

from cchybrid.host.api import instance
from cchybrid.model.errors import InputError
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop, read_options
from cchybrid.problem import build_problem
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.population import empty_population
from cchybrid.toolkit.evolution.population import replace as replace_worst
from cchybrid.toolkit.kernels.rng import seed_state
from tests.host.test_quotient_search import divided_by
from tests.plugins.engines.runs import solved

ENGINES = (Mboa, Sga, Umda)
NEVER = np.zeros(1, dtype=np.bool_)


def papers(engine: Any, **named: str) -> Any:
    return read_options("it", engine.Options, {"papers": "yes", **named})


@pytest.mark.parametrize("engine", ENGINES)
def test_papers_has_the_published_values_and_none_of_ours(engine):
    options = papers(engine)
    assert (options.population, options.mutation, options.replacement) == (100, 0.9, 2 / 3)
    assert (options.moves, options.sweeps, options.polish, options.greedy) == (1, 0, 0, 0)
    assert (options.conflicts, options.control) == ("pairs", "raise")
    assert papers(engine, population="60", radius="99").population == 60
    assert replace(engine.Options(), papers=False) == engine.Options()
    assert read_options("it", engine.Options, {"papers": "no"}) == engine.Options()


def test_papers_has_what_the_thesis_says_of_one_algorithm():
    assert papers(Sga).crossover == 0.9
    assert [papers(engine).ties for engine in ENGINES] == ["random", "first", "random"]
    assert papers(Umda).sampled == 1
    assert papers(Mboa).candidates == papers(Mboa).leaves == UNLIMITED


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_papers_lack_is_refused_beside_papers(engine):
    for name, value in engine.Options.WITHOUT_OURS.items():
        assert papers(engine, **{name: str(value)}) == papers(engine)
        plain = getattr(engine.Options(), name)
        other = {"moves": 6, "sampled": 0.02, "conflicts": "excess"}.get(name, plain)
        with pytest.raises(InputError, match=f"it: {name} is {other}, with papers use {value}"):
            papers(engine, **{name: str(other)})


def test_of_equally_bad_individuals_the_first_stay_or_random_ones():
    with pytest.raises(InputError, match="ties is 'last', use first or random"):
        papers(Umda, ties="last")
    kept = []
    for drift in (False, True):
        population, children = empty_population(10, 1), empty_population(6, 1)
        population.fitness[:], children.fitness[:] = 1, 1
        population.step[:, 0], children.step[:] = np.arange(10), -1
        replace_worst(population, children, 6, drift, seed_state(0))
        kept.append([step for step in population.step[:, 0].tolist() if step >= 0])
    assert kept[0] == [0, 1, 2, 3] != kept[1]
    assert len(kept[1]) == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_papers_starts_from_nothing_that_others_found(engine):
    case = build_problem(instance("hypercube-8", "AAS"))
    finder = LocalRun(case, target=4, budget=Budget(seconds=60, evaluations=100_000))
    Umda(Umda.Options()).solve(case, finder)
    hints = {4: case.match(finder.schedules[-1].steps)}
    budget = Budget(seconds=60, evaluations=200, threads=2)
    run = LocalRun(case, target=4, hints=hints, budget=budget)
    assert engine(papers(engine)).solve(case, run) is Stop.LIMIT
    assert not run.schedules  # no first fit either, which would have five steps
    assert run.progressed
    assert all(steps == 4 and conflicts > 0 for steps, conflicts in run.progressed)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_papers_has_no_quotients(engine):
    problem = build_problem(instance("torus-4x4", "AAS"))
    made = engine(papers(engine))
    assert made.unsupported(problem) is None
    divided, _ = divided_by(problem, 1)
    assert made.unsupported(divided) == "quotients and routing tables fix the paths"


@pytest.mark.parametrize("engine", ENGINES)
def test_papers_solves_a_broadcast(engine):
    run, stop = solved(engine(papers(engine)), instance("hypercube-8", "OAB"), 2)
    assert (run.best(), stop) == (2, Stop.EXHAUSTED)


def test_the_radius_of_papers_is_that_of_the_thesis():
    radii = {
        "hypercube-8 AAB": 1, "hypercube-8 OAB": 2, "hypercube-16 OAB": 2, "hypercube-32 OAB": 3,
        "hypercube-16 AAS": 4, "b-tree-8 AAB": 6, "full-tree-7 AAB": 1,
    }  # fmt: skip
    for name, radius in radii.items():
        problem = build_problem(instance(*name.split()))
        assert Genome.of(problem, papers(Umda)).radius == radius
        assert Genome.of(problem, papers(Umda, radius="2")).radius == 2
        assert Genome.of(problem, Umda.Options()).radius == 0


def test_the_studies_set_papers_beside_ours():
    for name, engines in (("success-hypercubes", 3), ("success-multistage", 1), ("run-times", 1)):
        suite = read_suite(name)
        chosen = [
            each.options.get(each.engines[0], {}) for each in suite.contestants if each.engines
        ]
        assert [values.get("papers") == "true" for values in chosen].count(True) == engines
        assert len(chosen) == 2 * engines
        assert all(row.target == row.published.goal for row in suite.rows)
        assert (suite.budget.time_limit, suite.budget.evaluations) == (600, 10_000_000)
