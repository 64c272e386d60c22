import numpy as np
from cchybrid_plugins.engines.sga.crossover import cross

from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels.rng import seed_state


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
