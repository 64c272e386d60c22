"""All compatibility classes, against plain enumeration; and covers by the fewest."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.classes.cover import balanced, distinct, fewest
from cchybrid_plugins.classes.engine import Classes
from cchybrid_plugins.classes.listing import list_classes
from hypothesis import HealthCheck, assume, given, settings

import cchybrid
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.packing import Packing
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, scattered

RANDOM = settings(
    max_examples=examples(40), derandomize=True, suppress_health_check=list(HealthCheck)
)
SMALL = instances(kinds=("deliver",), switchings=("wormhole",), max_nodes=5).map(
    lambda instance: scattered(instance, 4)
)


def solved(instance: Instance, limit: int = 50_000, **rest: Any) -> tuple[LocalRun, Stop]:
    run = LocalRun(build_problem(instance), **{"budget": Budget(seconds=30.0), **rest})
    stop = Classes(Classes.Options(limit)).solve(run.problem, run)
    assert run.violations == []
    return run, stop


def feasible(packing: Packing, columns: tuple[int, ...]) -> bool:
    rows = packing.row[list(columns)]
    load = np.zeros(len(packing.capacity), dtype=int)
    for column in columns:
        resource, times = packing.uses.row(column)
        load[resource] += times
    return len(set(rows.tolist())) == len(columns) and bool((load <= packing.capacity).all())


@RANDOM
@given(SMALL)
def test_lists_every_maximal_class_once(instance: Instance) -> None:
    packing = Packing.of(build_problem(instance))
    assume(packing.columns <= 10)
    every = {
        frozenset(columns)
        for size in range(packing.columns + 1)
        for columns in combinations(range(packing.columns), size)
        if feasible(packing, columns)
    }
    maximal = {one for one in every if not any(one < other for other in every)}
    listed = [frozenset(columns) for columns in list_classes(packing) if columns]
    assert len(listed) == len(set(listed))
    assert set(listed) == maximal


@RANDOM
@given(SMALL)
def test_the_fewest_classes_are_the_fewest_steps(instance: Instance) -> None:
    run, stop = solved(instance)
    best = run.best()
    assert best is not None
    assert stop is Stop.EXHAUSTED
    assert best == run.lower() == fewest_steps(instance, best)


@pytest.mark.parametrize(
    ("topology", "collective", "rest", "optimum"),
    [
        ("hypercube-8", "OAS", {}, 3),
        ("mesh-4x4", "OAS", {}, 8),
        ("mesh-4x4", "OAG", {"root": 5}, 4),
        ("torus-4x4", "OAS", {}, 4),
        ("omega-8", "OAS", {}, 7),
        ("b-tree-4", "AAS", {}, 4),
        ("hypercube-8", "OAS", {"ports": 2}, 4),
    ],
)
def test_finds_and_proves_the_optimum(
    topology: str, collective: str, rest: dict[str, Any], optimum: int
) -> None:
    name = "AOG" if collective == "OAG" else collective
    run, stop = solved(cchybrid.instance(topology, name, **rest))
    assert (run.best(), run.lower(), stop) == (optimum, optimum, Stop.EXHAUSTED)


def test_gives_up_at_the_limit() -> None:
    run, stop = solved(cchybrid.instance("torus-3x3", "AAS"), limit=1_000)
    assert stop is Stop.STALLED
    assert run.bounds == []
    assert run.best() == first_fit(run.problem, 0).steps


def test_drops_classes_inside_others_and_balances() -> None:
    packing = Packing.of(build_problem(cchybrid.instance("mesh-4x4", "OAS", root=5)))
    listed = [columns for columns in list_classes(packing) if columns]
    kept = distinct(packing, listed)
    sets = [frozenset(packing.row[columns].tolist()) for columns in kept]
    assert not any(one <= other for one in sets for other in sets if one is not other)
    assert {frozenset(packing.row[columns].tolist()) for columns in listed} >= set(sets)
    cover = fewest(packing, kept, 0, None, lambda: False)
    assert cover.classes is not None
    blocks = balanced(packing, cover.classes)
    assert sorted(packing.row[np.concatenate(blocks)].tolist()) == list(range(packing.rows))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@pytest.mark.parametrize(
    ("collective", "rest", "words"),
    [
        ("OAB", {}, "wait for others"),
        ("AAS", {"switching": "store-and-forward"}, "wait for others"),
        ("AAS", {"routing": "any"}, "options are too many"),
    ],
)
def test_says_what_it_cannot_work_on(collective: str, rest: dict[str, Any], words: str) -> None:
    problem = build_problem(cchybrid.instance("mesh-3x4", collective, **rest))
    assert words in (Classes(Classes.Options()).unsupported(problem) or "")


def test_a_limit_below_one_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="limit"):
        Classes.Options(0)
