"""Coordinates for drawing."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.library.topologies import layouts
from tests.examples import examples


@settings(max_examples=examples(20))
@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_grid_points_are_distinct(extents: list[int]) -> None:
    points = layouts.grid(extents)
    assert len(points) == len(set(points)) == math.prod(extents)


def test_grid_runs_to_the_right_then_down() -> None:
    assert layouts.grid([2, 3]) == ((0, 0), (1, 0), (2, 0), (0, -1), (1, -1), (2, -1))


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_circle_starts_at_the_top(count: int) -> None:
    points = layouts.circle(count)
    assert len(set(points)) == count
    assert points[0][0] == 0
    assert points[0][1] >= 1


def test_circle_neighbours_are_a_unit_apart() -> None:
    a, b = layouts.circle(100)[:2]
    assert math.dist(a, b) == pytest.approx(1, abs=0.01)


def test_rows_and_columns_are_as_wide_as_the_first() -> None:
    assert layouts.rows([4, 2]) == ((0, 0), (1, 0), (2, 0), (3, 0), (0.5, 1), (2.5, 1))
    assert layouts.columns([2, 1]) == ((0, 0), (0, -1), (1, -0.5))


def test_binary_tree_stands_below_its_root() -> None:
    assert layouts.binary_tree(2) == ((0.5, 0), (0, -1), (1, -1))
