"""Linear programs, their dual values, and integer roundings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.proof.linear_program import SCALES, LinearProgram, roundings


def test_a_program_and_its_duals() -> None:
    """The cheapest diet: 2 x + y >= 4 and x + 3 y >= 6 at costs 1 and 1."""
    program = LinearProgram()
    x, y = program.variable(objective=1.0), program.variable(objective=1.0)
    rows = [
        program.row(4.0, math.inf, [(x, 2.0), (y, 1.0)]),
        program.row(6.0, math.inf, [(x, 1.0), (y, 3.0)]),
    ]
    assert program.solve()
    assert program.value == pytest.approx(2.8)
    assert program.duals(rows) == pytest.approx([0.4, 0.2])
    assert program.duals(rows, sign=-1.0).tolist() == [0.0, 0.0]


def test_no_optimum() -> None:
    program = LinearProgram(maximize=True)
    program.variable(objective=1.0)
    assert not program.solve()
    x = program.variable(upper=1.0)
    program.row(2.0, math.inf, [(x, 1.0)])
    assert not program.solve()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.sampled_from([1, 2, 3, 5, 7, 11]))
def test_fractions_of_small_numbers_become_whole(parts: list[int], divisor: int) -> None:
    dual = np.array(parts) / divisor
    found = list(roundings(dual))
    if not max(parts):
        assert found == []
        return
    assert len(found) == sum(scale <= 10**6 for scale in SCALES)
    # Some rounding is proportional up to rounding errors of one in a million.
    largest = max(parts)
    errors = [np.abs(w / w.max() - np.array(parts) / largest).max() for w in found if w.any()]
    assert min(errors) < 1e-6
    assert all(whole.max() == scale for whole, scale in zip(found, SCALES, strict=False))


def test_units_and_the_finest_scale() -> None:
    found = list(roundings(np.array([0.5, 1.5]), unit_values=(0.5, 1.5), finest=2))
    assert [whole.tolist() for whole in found] == [[1, 3], [0, 1], [2, 6], [1, 2]]
