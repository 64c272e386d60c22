"""Ragged arrays: rows of different sizes in one flat array (compressed sparse rows).

Row r is ``flat[start[r] : start[r + 1]]``. All functions work on whole arrays, without a loop per
row.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

LongArray = NDArray[np.int64]
Integers = NDArray[np.integer]

BLOCK = 1 << 20
"""Entries of the rows that are dealt with at a time: some megabytes in temporary arrays."""


def offsets(sizes: ArrayLike) -> LongArray:
    """Return, shape (rows + 1,), the start of each row, and the end of the last one."""
    found = np.zeros(np.size(sizes) + 1, dtype=np.int64)
    np.cumsum(np.asarray(sizes, dtype=np.int64), out=found[1:])
    return found


def offsets_of(owner: Integers, rows: int) -> LongArray:
    """Return, shape (rows + 1,), the start of each row, from the sorted rows of the entries."""
    return np.searchsorted(owner, np.arange(rows + 1)).astype(np.int64)


def owners(start: Integers) -> LongArray:
    """Return, shape (entries,), the row of each entry."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def gather(start: Integers, rows: Integers) -> tuple[LongArray, LongArray]:
    """Return the indices of the entries of some rows, row after row.

    Returns
    -------
    place
        Shape (entries of these rows,): the index into the flat array.
    position
        Shape (entries of these rows,): the index into ``rows``.
    """
    first = start[rows].astype(np.int64)
    size = start[rows + 1] - first
    position = np.repeat(np.arange(len(rows)), size)
    return within(size) + first[position], position


def blocks(start: LongArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, from the first to before the second, of ``BLOCK`` entries or one row.

    Work on one range after another keeps temporary arrays small where entries are many millions.
    """
    row, last = 0, len(start) - 1
    while row < last:
        stop = max(row + 1, int(np.searchsorted(start, start[row] + BLOCK, side="right")) - 1)
        yield row, stop
        row = stop


def entries_of(flat: Integers, start: LongArray, rows: Integers) -> tuple[Integers, LongArray]:
    """Return the entries of some rows, row after row, and their start as ``offsets``."""
    starts = offsets(np.diff(start)[rows])
    found = np.empty(starts[-1], dtype=flat.dtype)
    for row, stop in blocks(starts):
        found[starts[row] : starts[stop]] = flat[gather(start, rows[row:stop])[0]]
    return found, starts


def reachable(arcs: NDArray[np.bool_], first: int) -> NDArray[np.bool_]:
    """Return which rows can be reached along arcs from the first one, itself included."""
    reached = np.zeros(len(arcs), dtype=np.bool_)
    reached[first] = True
    fresh = reached
    while fresh.any():
        fresh = arcs[fresh].any(axis=0) & ~reached
        reached |= fresh
    return reached


def components(first: Integers, second: Integers, nodes: int) -> LongArray:
    """Return, shape (nodes,), the smallest node of the component of each, by edges' two ends."""
    label = np.arange(nodes, dtype=np.int64)
    while (label[first] != label[second]).any():
        lower = np.minimum(label[first], label[second])
        np.minimum.at(label, label[first], lower)
        np.minimum.at(label, label[second], lower)
        label = label[label]
    return label


def within(sizes: Integers) -> LongArray:
    """Return, shape (entries,), the position of each entry in its row, from 0."""
    ends = np.cumsum(sizes, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - sizes, sizes)


class Lookup:
    """Index of numbers in an array of keys, which are sorted once.

    Parameters
    ----------
    keys
        Distinct numbers in any order.
    """

    def __init__(self, keys: Integers) -> None:
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def find(self, numbers: Integers) -> LongArray:
        """Return, shape (numbers,), the index of each number in the keys, -1 for none."""
        if not len(self._sorted):
            return np.full(len(numbers), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return np.where(self._sorted[place] == numbers, self._order[place], -1)


class PairLookup:
    """Index of pairs of numbers in an array of pairs.

    Parameters
    ----------
    first, second
        Shape (pairs,): distinct pairs of non-negative numbers in any order.
    """

    def __init__(self, first: Integers, second: Integers) -> None:
        self._size = np.int64(second.max(initial=0)) + 1
        self._lookup = Lookup(first * self._size + second)

    def find(self, first: Integers, second: Integers) -> LongArray:
        """Return, shape (pairs,), the index of each pair, -1 for none."""
        inside = (first >= 0) & (second >= 0) & (second < self._size)
        return self._lookup.find(np.where(inside, first * self._size + second, -1))


def lookup(keys: Integers, numbers: Integers) -> LongArray:
    """Return, shape (numbers,), the index of each number in ``keys``, -1 for none."""
    return Lookup(keys).find(numbers)


def grouped(key: Integers, *columns: Integers) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield each distinct key in ascending order, and the entries of every column with that key.

    Parameters
    ----------
    key, columns
        Shape (entries,) each. Entries of a group keep their order.
    """
    order = np.argsort(key, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(key[order])) + 1, len(key)) if len(key) else order
    listed = [column[order].tolist() for column in columns]
    start = 0
    for end, number in zip(ends.tolist(), key[order[ends - 1]].tolist(), strict=True):
        yield number, [column[start:end] for column in listed]
        start = end
