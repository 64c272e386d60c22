"""Exact solutions of random systems, and systems without one."""

import random

import numpy as np
from cchybrid_plugins.pipelining.proof.exact_solution import solve_exactly
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6))
def test_random_systems(seed):
    rng = random.Random(seed)
    size = rng.randint(1, 9)
    rows = [
        {j: rng.choice((-3, -1, 1, 2)) for j in range(size) if rng.random() < 0.5}
        for _ in range(size)
    ]
    right = [rng.randint(-5, 5) for _ in range(size)]
    found = solve_exactly(rows, right, size)
    if found is None:
        matrix = [[row.get(j, 0) for j in range(size)] for row in rows]
        assert round(np.linalg.det(matrix)) == 0
    else:
        for row, value in zip(rows, right, strict=True):
            assert sum(factor * found[j] for j, factor in row.items()) == value


def test_systems_without_one_solution():
    assert solve_exactly([{0: 1}, {0: 2}], [1, 2], 2) is None
    assert solve_exactly([{0: 1, 1: 1}], [1], 2) is None
    assert solve_exactly([{0: 2, 1: 4}, {0: 1, 1: 3}], [2, 3], 2) == [-3, 2]
