"""Column generation: bounds that hold and are as good as the prices', schedules that are valid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.classes.listing import list_classes
from cchybrid_plugins.column_generation.diving import Diver
from cchybrid_plugins.column_generation.engine import ColumnGeneration
from cchybrid_plugins.column_generation.generation import Generation
from cchybrid_plugins.column_generation.pricing import Demand, Pricer, pack
from cchybrid_plugins.column_generation.rounding import cover, with_leftovers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.proof.flow import price_bounds
from cchybrid.toolkit.dual_prices import LoadProgram
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.packing import Packing
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, scattered

RANDOM = settings(
    max_examples=examples(30), derandomize=True, suppress_health_check=list(HealthCheck)
)


SCATTERS = instances(kinds=("deliver",), switchings=("wormhole",), max_nodes=5).map(scattered)


def generation(problem: Problem, over: bool = False) -> Generation:
    packing = Packing.of(problem)
    run = LocalRun(problem, budget=Budget(seconds=None))
    prices = LoadProgram(packing, lambda: over).row_prices()
    pricer = Pricer(packing, lambda: over, 0)
    made = Generation(packing, pricer, prices, run, lambda units: None)
    for columns in packing.classes(first_fit(problem, 0)):
        made.master.add(columns)
    return made


def solved(instance: Instance, **rest: Any) -> tuple[LocalRun, Stop]:
    run = LocalRun(build_problem(instance), **{"budget": Budget(seconds=30.0), **rest})
    stop = ColumnGeneration(ColumnGeneration.Options()).solve(run.problem, run)
    assert run.violations == []
    return run, stop


@pytest.mark.parametrize(
    ("topology", "rest", "optimum"),
    [
        ("spidergon-8", {}, 4),
        ("hypercube-8", {}, 4),
        ("ring-bi-8", {}, 8),
        ("ring-uni-8", {}, 28),
        ("petersen-10", {}, 5),
        ("kautz-12", {}, 7),
        ("mesh-3x3", {}, 6),
        ("mesh-3x3", {"ports": 1}, 8),
        ("torus-3x3", {}, 3),
        ("omega-8", {}, 7),
        ("2-fat-spidergon-6", {}, 11),
        ("b-tree-8", {}, 16),
    ],
)
def test_finds_and_proves_the_optimum(topology: str, rest: dict[str, Any], optimum: int) -> None:
    run, stop = solved(cchybrid.instance(topology, "AAS", **rest))
    assert (run.best(), run.lower(), stop) == (optimum, optimum, Stop.EXHAUSTED)


@RANDOM
@given(SCATTERS)
def test_never_claims_more_than_the_optimum(instance: Instance) -> None:
    """Ports, capacities, half duplex, endpoints, detours; the optimum comes from the rules."""
    run, _ = solved(instance, budget=Budget(None, evaluations=20_000))
    best = run.best()
    assert best is not None
    optimum = fewest_steps(instance, best)
    assert run.lower() <= optimum
    assert best == optimum


@RANDOM
@given(SCATTERS)
def test_the_closed_relaxation_is_that_of_all_classes(instance: Instance) -> None:
    """With every class as a column the program comes to what generation closed at."""
    problem = build_problem(instance)
    packing = Packing.of(problem)
    made = generation(problem)
    while not made.closed:
        made.improve()
    for columns in list_classes(packing):
        if columns:
            made.master.add(np.array(columns))
    assert made.master.solve(lambda: False)
    assert math.ceil(made.master.value - 1e-6) == made.bound


@pytest.mark.parametrize(
    ("topology", "rest"),
    [("mesh-3x3", {}), ("mesh-3x3", {"routing": 2}), ("kautz-12", {}), ("clos-12", {})],
)
def test_begins_at_the_bound_of_the_prices(topology: str, rest: dict[str, Any]) -> None:
    instance = cchybrid.instance(topology, "AAS", **rest)
    assert generation(build_problem(instance)).bound >= max(b.steps for b in price_bounds(instance))


def test_beats_the_prices_where_classes_cannot_use_everything() -> None:
    """Three messages two hops each round a triangle: no channel carries more than two of them.

    So the prices say 2; but any two of the paths share a channel.
    """
    links = [(0, 1), (1, 2), (2, 0)]
    network = Network("triangle", 3, tuple(Channel(a, b, 1) for a, b in links))
    messages = tuple(Message(a, ((a + 2) % 3,)) for a in range(3))
    instance = Instance(network, Collective("turn", messages), CommunicationModel())
    made = generation(build_problem(instance))
    assert made.bound == 2
    while not made.closed:
        made.improve()
    assert made.bound == 3
    run, stop = solved(instance)
    assert (run.best(), run.lower(), stop) == (3, 3, Stop.EXHAUSTED)


@RANDOM
@given(SCATTERS, st.integers(0, 2**32 - 1))
def test_prices_the_heaviest_class(instance: Instance, seed: int) -> None:
    packing = Packing.of(build_problem(instance))
    weight = np.random.default_rng(seed).integers(0, 9, packing.rows)
    priced = Pricer(packing, lambda: False, seed).best(weight)
    heaviest = max(
        int(weight[packing.row[columns]].sum()) for columns in list_classes(packing) if columns
    )
    assert priced.max_weight == heaviest
    assert priced.columns is not None
    assert weight[packing.row[priced.columns]].sum() == heaviest
    assert (packing.uses.load(priced.columns) <= packing.capacity).all()
    assert len(np.unique(packing.row[priced.columns])) == len(priced.columns)


def test_prices_under_demands() -> None:
    packing = Packing.of(build_problem(cchybrid.instance("ring-uni-8", "AAS")))
    pricer = Pricer(packing, lambda: False, 0)
    ones = np.ones(packing.rows, dtype=np.int64)
    minimum = pricer.best(ones).max_weight
    assert minimum == 8
    assert pricer.best(ones, demands=[Demand(ones, 9)]).max_weight is None
    lone = np.arange(packing.rows) == 5
    assert pricer.best(ones, lone).max_weight == 1


@RANDOM
@given(SCATTERS)
def test_row_prices_bound_the_steps_of_the_rest(instance: Instance) -> None:
    packing = Packing.of(build_problem(instance))
    program = LoadProgram(packing)
    everything = np.ones(packing.rows, dtype=np.bool_)
    for rows in (everything, np.arange(packing.rows) % 2 == 0, everything):
        prices = program.row_prices(rows)
        if prices is None:
            assert pack(packing, rows, 1, lambda: False, 0)[0] is not None
            continue
        for columns in list_classes(packing):
            if columns:
                assert prices.row[packing.row[columns]].sum() <= prices.step


def test_a_dive_leaves_what_it_could_not_place() -> None:
    packing = Packing.of(build_problem(cchybrid.instance("mesh-3x3", "AAS")))
    pricer, program = Pricer(packing, lambda: False, 0), LoadProgram(packing)
    diver = Diver(packing, pricer, program, lambda units: None, lambda: False)
    weight = np.ones(packing.rows, dtype=np.int64)
    for steps in (6, 5):
        classes, rest = diver.dive(steps, weight, np.random.default_rng(0))
        assert len(classes) <= steps
        assert rest.any() == (steps == 5)
        full = with_leftovers(packing, classes, rest)
        made = packing.assignment(full)
        run = LocalRun(packing.problem)
        run.offer(made)
        assert run.best() == made.steps == len(full)


def test_a_cover_by_columns() -> None:
    packing = Packing.of(build_problem(cchybrid.instance("hypercube-8", "AAS")))
    known = [packing.classes(first_fit(packing.problem, seed)) for seed in range(3)]
    max_size = min(len(classes) for classes in known)
    every = [columns for classes in known for columns in classes]
    chosen, rest, _ = cover(packing, every, max_size, lambda: False, 0, 1.0)
    assert not rest.any()
    assert len(chosen) == max_size
    chosen, rest, _ = cover(packing, every, 2, lambda: False, 0, 1.0)
    assert len(chosen) == 2
    assert rest.sum() == packing.rows - len({*packing.row[np.concatenate(chosen)].tolist()})


@pytest.mark.parametrize(
    ("collective", "rest"), [("AAB", {}), ("AAR", {}), ("AAS", {"switching": "store-and-forward"})]
)
def test_refuses_what_waits_for_others(collective: str, rest: dict[str, Any]) -> None:
    problem = build_problem(cchybrid.instance("mesh-3x3", collective, **rest))
    assert "wait for others" in (
        ColumnGeneration(ColumnGeneration.Options()).unsupported(problem) or ""
    )


def test_claims_nothing_for_an_incomplete_problem() -> None:
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAS", routing="any"), max_options=100)
    run = LocalRun(problem, budget=Budget(None, evaluations=3_000))
    ColumnGeneration(ColumnGeneration.Options()).solve(problem, run)
    assert not problem.complete
    assert run.bounds == []
    assert run.best() is not None


@pytest.mark.long
def test_same_seed_and_evaluations_same_search() -> None:
    def notes(seed: int) -> list[dict[str, float]]:
        budget = Budget(None, evaluations=800)
        return solved(cchybrid.instance("heawood-14", "AAS"), seed=seed, budget=budget)[0].notes

    assert notes(3) == notes(3)
    assert notes(3) != notes(4)


def test_the_one_target_is_enough() -> None:
    run, stop = solved(cchybrid.instance("mesh-4x4", "AAS"), target=17)
    assert stop is Stop.EXHAUSTED
    assert run.best() is not None
    assert run.best() <= 17
