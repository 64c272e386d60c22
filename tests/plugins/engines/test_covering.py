"""The cover by classes: all classes once, bounds that hold, exact results."""

from itertools import combinations, islice

import numpy as np
import pytest
from cchybrid_plugins.engines.covering.cover import ClassFiller, cover, with_leftovers
from cchybrid_plugins.engines.covering.diving import Diver
from cchybrid_plugins.engines.covering.engine import Covering, Search
from cchybrid_plugins.engines.covering.generation import Generation
from cchybrid_plugins.engines.covering.incidence import Incidence
from cchybrid_plugins.engines.covering.pricing import Pricer
from cchybrid_plugins.engines.covering.routes import has_fixed_routes
from hypothesis import HealthCheck, assume, given, settings

import cchybrid
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.dual_prices import LoadProgram
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import IntVector
from tests.examples import examples
from tests.named_instances import named
from tests.plugins.engines import runs
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, scattered

RANDOM = settings(
    max_examples=examples(30), derandomize=True, suppress_health_check=list(HealthCheck)
)


WORMHOLE = {"kinds": ("deliver",), "switchings": ("wormhole",)}
SCATTERS = instances(**WORMHOLE, max_nodes=5).map(scattered)
SMALL = instances(**WORMHOLE, max_nodes=5).map(lambda instance: scattered(instance, 4))
FIXED = instances(**WORMHOLE, routings=("minimal", 1), max_nodes=6).map(scattered)


def listed(packing: Packing) -> list[IntVector]:
    every = Incidence.of(packing, np.arange(packing.columns))
    return [every.columns(found) for found in every.classes(every.everything) if found]


def feasible(packing: Packing, columns: tuple[int, ...]) -> bool:
    rows = packing.row[list(columns)]
    load = np.zeros(len(packing.capacity), dtype=int)
    for column in columns:
        resource, times = packing.uses.row(column)
        load[resource] += times
    return len(set(rows.tolist())) == len(columns) and bool((load <= packing.capacity).all())


def maximal_classes(packing: Packing, columns: IntVector) -> set[frozenset[int]]:
    every = {
        frozenset(chosen)
        for size in range(1, len(columns) + 1)
        for chosen in combinations(columns.tolist(), size)
        if feasible(packing, chosen)
    }
    return {one for one in every if not any(one < other for other in every)}


def generation(problem: Problem, over: bool = False) -> Generation:
    packing = Packing.of(problem)
    run = LocalRun(problem, budget=Budget(seconds=None))
    prices = LoadProgram(packing, lambda: over).row_prices()
    pricer = Pricer(packing, lambda: over, 0)
    made = Generation(packing, pricer, ClassFiller(packing, 0), prices, run, lambda units: None)
    for columns in packing.classes(first_fit(problem, 0)):
        made.master.add(columns)
    return made


def solved(instance: Instance, evaluations: int = 200_000) -> tuple[LocalRun, Stop]:
    budget = Budget(None, evaluations=evaluations)
    return runs.solved(Covering(Covering.Options()), instance, budget=budget)


@RANDOM
@given(SMALL)
def test_lists_every_maximal_class_once(instance):
    """Capacities, ports and half duplex, too."""
    packing = Packing.of(build_problem(instance))
    assume(packing.columns <= 10)
    found = [frozenset(columns.tolist()) for columns in listed(packing)]
    assert len(found) == len(set(found))
    assert set(found) == maximal_classes(packing, np.arange(packing.columns))


OPTIMA = """spidergon-8 AAS 4, hypercube-8 AAS 4, ring-bi-8 AAS 8, ring-bi-16 AAS 32,
    ring-uni-8 AAS 28, petersen-10 AAS 5, kautz-12 AAS 7, mesh-3x3 AAS 6, mesh-3x3 AAS ports=1 8,
    torus-3x3 AAS 3, omega-8 AAS 7, omega-8 AAS ports=1 7, full-tree-7 AAS 12,
    2-fat-spidergon-6 AAS 11, b-tree-8 AAS 16, mesh-4x4 OAS 8, mesh-4x4 AOG root=5 4,
    torus-4x4 OAS 4, omega-8 OAS 7, hypercube-8 OAS ports=2 4"""


@pytest.mark.parametrize("case", OPTIMA.split(","))
def test_finds_and_proves_the_optimum(case):
    words, _, optimum = case.rpartition(" ")
    run, stop = solved(named(words))
    assert (run.best(), run.lower(), stop) == (int(optimum), int(optimum), Stop.EXHAUSTED)


def alone(name: str, problem: Problem) -> LocalRun:
    """Run one of the three searches without the others, to its end or 500 turns."""
    run = LocalRun(problem, budget=Budget(None, evaluations=200_000))
    search = Search(problem, run, Covering.Options())
    run.offer(first_fit(problem, 0))
    for _ in islice(getattr(search, name)(), 500):
        if search.target() is None:
            break
    assert run.violations == []
    return run


@RANDOM
@given(SMALL)
def test_the_fewest_listed_classes_are_the_fewest_steps(instance):
    run = alone("list_all", build_problem(instance))
    best = run.best()
    assert best == run.lower() == fewest_steps(instance, best)


@pytest.mark.slow
@RANDOM
@given(FIXED)
def test_dividing_is_exact_where_routes_are_fixed(instance):
    """Elsewhere it refutes nothing."""
    problem = build_problem(instance)
    run = alone("divide", problem)
    best = run.best()
    if has_fixed_routes(Packing.of(problem)):
        assert best == run.lower() == fewest_steps(instance, best)
    else:
        assert run.bounds == []
        assert best >= fewest_steps(instance, best)


@RANDOM
@given(SCATTERS)
def test_never_claims_more_than_the_optimum(instance):
    """Ports, capacities, half duplex, endpoints, detours; the optimum comes from the rules."""
    run, _ = solved(instance, 20_000)
    best = run.best()
    optimum = fewest_steps(instance, best)
    assert run.lower() <= optimum
    assert best == optimum


def test_beats_the_prices_where_classes_cannot_use_everything():
    """Three messages two hops each round a triangle: no channel carries more than two of them.

    So the prices say 2; but any two of the paths share a channel.
    """
    instance = cchybrid.instance("ring-uni-3", [(a, (a + 2) % 3) for a in range(3)])
    made = generation(build_problem(instance))
    assert made.bound == 2
    while not made.closed:
        made.improve()
    assert made.bound == 3
    run, stop = solved(instance)
    assert (run.best(), run.lower(), stop) == (3, 3, Stop.EXHAUSTED)


def test_listing_gives_up_at_its_limit():
    problem = build_problem(named("torus-3x3 AAS"))
    run = LocalRun(problem, budget=Budget(None, evaluations=200_000))
    assert list(Search(problem, run, Covering.Options(classes=100)).list_all())
    assert run.bounds == []


def test_claims_nothing_for_an_incomplete_problem():
    problem = build_problem(named("mesh-3x3 AAS routing=any"), max_options=100)
    run = LocalRun(problem, budget=Budget(None, evaluations=3_000))
    Covering(Covering.Options()).solve(problem, run)
    assert (problem.complete, run.bounds) == (False, [])
    assert run.best() is not None


def test_a_dive_leaves_what_it_could_not_place():
    packing = Packing.of(build_problem(cchybrid.instance("mesh-3x3", "AAS")))
    pricer, program = Pricer(packing, lambda: False, 0), LoadProgram(packing)
    diver = Diver(
        packing, pricer, ClassFiller(packing, 0), program, lambda units: None, lambda: False
    )
    weight = np.ones(packing.rows, dtype=np.int64)
    for steps in (6, 5):
        classes, rest = diver.dive(steps, weight, np.random.default_rng(0))
        assert len(classes) <= steps
        assert rest.any() == (steps == 5)
        full = with_leftovers(packing, ClassFiller(packing, 0), classes, rest)
        made = packing.assignment(full)
        run = LocalRun(packing.problem)
        run.offer(made)
        assert run.best() == made.steps == len(full)


def test_a_cover_by_columns():
    packing = Packing.of(build_problem(cchybrid.instance("hypercube-8", "AAS")))
    known = [packing.classes(first_fit(packing.problem, seed)) for seed in range(3)]
    max_size = min(len(classes) for classes in known)
    every = [columns for classes in known for columns in classes]
    chosen, rest, found = cover(packing, every, lambda: False, 0, units=1.0)
    assert not rest.any()
    assert len(chosen) == found.bound <= max_size
    chosen, rest, found = cover(packing, every, lambda: False, 0, units=1.0, steps=2)
    assert len(chosen) == 2
    assert rest.sum() == packing.rows - len({*packing.row[np.concatenate(chosen)].tolist()})
    assert rest.sum() == found.bound
