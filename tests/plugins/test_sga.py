from __future__ import annotations

import numpy as np
import pytest
from cchybrid_plugins.sga.crossover import cross
from cchybrid_plugins.sga.engine import Sga, SgaOptions

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.problem import build_problem
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels.rng import seed_state


@pytest.mark.parametrize(
    ("words", "model", "steps"),
    [
        (("spidergon-8", "AAS"), {}, 4),
        (("mesh-3x3", "AAS"), {}, 6),
        (("hypercube-8", "OAB"), {}, 2),
        (("hypercube-8", "AAB"), {}, 3),
        (("torus-3x3", "AOR"), {}, 2),
        (("mesh-3x3", "AAS"), {"ports": 1}, 8),
        (("hypercube-8", "AAB"), {"switching": "store-and-forward"}, 3),
        (("mesh-2x3", "OAS"), {"routing": "any"}, 3),
    ],
)
def test_it_reaches_the_optimum(
    words: tuple[str, str], model: dict[str, object], steps: int
) -> None:
    run = LocalRun(
        build_problem(instance(*words, **model)),  # type: ignore[arg-type]
        first_lower=steps,
        budget=Budget(seconds=60),
    )
    Sga(SgaOptions()).solve(run.problem, run)
    assert not run.violations
    assert run.best() == steps


def children_of(crossover: float, number: int, genes: int) -> np.ndarray:
    """Cross an individual of zeros with one of ones, in couples; option and step are equal."""
    both = np.repeat(np.array([[0], [1]], dtype=np.int32), genes, axis=1)
    population = Population(both, both.copy(), np.zeros(2, dtype=np.int32))
    parents = np.arange(number + number % 2, dtype=np.int32) % 2
    children = Population(
        np.full((number, genes), -1, dtype=np.int32),
        np.full((number, genes), -1, dtype=np.int32),
        np.zeros(number, dtype=np.int32),
    )
    cross(
        crossover,
        population,
        parents.astype(np.int32),
        children,
        np.zeros(1, dtype=np.bool_),
        seed_state(1),
    )
    assert (children.option == children.step).all()  # genes stay whole
    return children.option


def test_couples_exchange_what_is_behind_one_point() -> None:
    found = children_of(1.0, 201, 6)
    assert (found[:-1:2] + found[1::2] == 1).all()
    changes = (np.diff(found, axis=1) != 0).sum(axis=1)
    assert (changes == 1).all()
    points = np.abs(np.diff(found, axis=1)).argmax(axis=1)
    assert set(points.tolist()) == set(range(5))


def test_without_crossover_children_are_copies() -> None:
    assert (np.diff(children_of(0.0, 20, 6), axis=1) == 0).all()
    mixed = (np.diff(children_of(0.7, 2000, 6), axis=1) != 0).any(axis=1).mean()
    assert abs(mixed - 0.7) < 0.05
    assert (children_of(1.0, 4, 1).ravel() == [0, 1, 0, 1]).all()


def test_a_senseless_crossover_is_refused() -> None:
    with pytest.raises(ValueError, match=r"crossover is 1\.5, use 0 to 1"):
        SgaOptions(crossover=1.5)
