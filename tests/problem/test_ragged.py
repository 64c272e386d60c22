"""Ragged arrays: every function equals a loop over lists."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.problem.ragged import (
    PairLookup,
    gather,
    grouped,
    lookup,
    offsets,
    offsets_of,
    owners,
    within,
)

SMALL = st.integers(0, 9)
ROWS = st.lists(st.lists(SMALL, max_size=4), max_size=6)


def integers(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@given(ROWS)
def test_where_rows_start_and_who_owns_what(rows: list[list[int]]) -> None:
    start = offsets([len(row) for row in rows])
    flat = [entry for row in rows for entry in row]
    assert [flat[a:b] for a, b in pairwise(start)] == rows
    owner = [number for number, row in enumerate(rows) for _ in row]
    assert owners(start).tolist() == owner
    assert offsets_of(integers(owner), len(rows)).tolist() == start.tolist()
    assert within(np.diff(start)).tolist() == [i for row in rows for i in range(len(row))]


@given(ROWS.filter(bool), st.lists(SMALL, max_size=6))
def test_gathers_rows_in_any_order(rows: list[list[int]], chosen: list[int]) -> None:
    chosen = [number % len(rows) for number in chosen]
    flat = integers([entry for row in rows for entry in row])
    place, position = gather(offsets([len(row) for row in rows]), integers(chosen))
    assert flat[place].tolist() == [entry for number in chosen for entry in rows[number]]
    assert position.tolist() == [i for i, number in enumerate(chosen) for _ in rows[number]]


@given(st.lists(SMALL, unique=True), st.lists(SMALL))
def test_lookup_of_unsorted_keys(keys: list[int], queried: list[int]) -> None:
    expected = [keys.index(number) if number in keys else -1 for number in queried]
    assert lookup(integers(keys), integers(queried)).tolist() == expected


PAIRS = st.tuples(st.integers(-2, 9), st.integers(-2, 9))


@given(st.lists(st.tuples(SMALL, SMALL), unique=True), st.lists(PAIRS, min_size=1))
def test_lookup_of_pairs(pairs: list[tuple[int, int]], queried: list[tuple[int, int]]) -> None:
    index = PairLookup(*np.array(pairs, dtype=np.int32).reshape(-1, 2).T)
    expected = [pairs.index(pair) if pair in pairs else -1 for pair in queried]
    assert index.find(*np.array(queried, dtype=np.int32).T).tolist() == expected


@given(st.lists(st.tuples(SMALL, SMALL, SMALL)))
def test_groups_by_key(entries: list[tuple[int, int, int]]) -> None:
    key, a, b = (integers([entry[i] for entry in entries]) for i in range(3))
    expected = [
        (
            number,
            [[e[1] for e in entries if e[0] == number], [e[2] for e in entries if e[0] == number]],
        )
        for number in sorted({entry[0] for entry in entries})
    ]
    assert list(grouped(key, a, b)) == expected
