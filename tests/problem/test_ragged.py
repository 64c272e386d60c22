"""Ragged arrays dealt with block by block: every row once, whatever the size of a block."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.problem import build_problem, ragged
from cchybrid.problem.ragged import blocks, entries_of, offsets
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.named_instances import named

SIZES = st.lists(st.integers(0, 5), max_size=12)


@given(SIZES, st.integers(1, 12))
def test_blocks_are_all_rows_in_order(sizes, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "BLOCK", block)
        start = offsets(sizes)
        found = list(blocks(start))
    assert [row for first, stop in found for row in range(first, stop)] == [*range(len(sizes))]
    assert all(a[1] == b[0] for a, b in pairwise(found))
    assert all(stop == first + 1 or sum(sizes[first:stop]) <= block for first, stop in found)


@given(SIZES.filter(bool), st.data())
def test_entries_of_are_the_rows_one_after_another(sizes, data):
    rows = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=9))
    start, flat = offsets(sizes), np.arange(sum(sizes), dtype=np.int16)[::-1].copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "BLOCK", data.draw(st.integers(1, 9)))
        found, starts = entries_of(flat, start, np.array(rows, dtype=np.int64))
    expected = [flat[start[row] : start[row + 1]].tolist() for row in rows]
    assert found.dtype == flat.dtype
    assert [found[a:b].tolist() for a, b in pairwise(starts.tolist())] == expected


@pytest.mark.parametrize("case", ["mesh-3x4 AAB", "kautz-12 AAS ports=1", "ring-bi-6 AAB hops"])
def test_problems_and_violations_are_equal_in_small_blocks(case, monkeypatch):
    problem = build_problem(named(case))
    crowded = first_fit(problem, 0)
    crowded.step[crowded.step > 0] -= 1
    violations, lifted = problem.violations(crowded), problem.lift(crowded).steps
    assert {violation.rule for violation in violations} >= {"overload"}
    monkeypatch.setattr(ragged, "BLOCK", 3)
    again = build_problem(named(case))
    for name in ("option_start", "option_path", "option_requires", "path_resource"):
        assert np.array_equal(getattr(problem, name), getattr(again, name))
    assert again.violations(crowded) == violations
    assert again.lift(crowded).steps == lifted
