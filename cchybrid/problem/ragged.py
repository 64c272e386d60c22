"""Ragged arrays: rows of different sizes, one behind the other in a flat array.

Row r of a flat array is what stands from ``start[r]`` up to, not including, ``start[r + 1]``
(compressed sparse rows). All functions work on whole arrays, without a loop per row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

LongArray = NDArray[np.int64]
Integers = NDArray[np.integer]


def offsets(sizes: ArrayLike) -> LongArray:
    """Return, shape (rows + 1,), where rows of these sizes start, and where the last one ends."""
    ends = np.cumsum(np.asarray(sizes, dtype=np.int64))
    return np.concatenate((np.zeros(1, dtype=np.int64), ends))


def offsets_of(owner: Integers, rows: int) -> LongArray:
    """Return, shape (rows + 1,), where each row starts, from the sorted owner of each entry."""
    return np.searchsorted(owner, np.arange(rows + 1)).astype(np.int64)


def owners(start: Integers) -> LongArray:
    """Return, shape (entries,), the row that each entry stands in."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def gather(start: Integers, rows: Integers) -> tuple[LongArray, LongArray]:
    """Return where the entries of some rows stand, row after row.

    Returns
    -------
    place
        Shape (entries of these rows,): the index into the flat array.
    position
        Shape (entries of these rows,): the index into ``rows``.
    """
    begin = start[rows].astype(np.int64)
    size = start[rows + 1] - begin
    position = np.repeat(np.arange(len(rows)), size)
    return within(size) + begin[position], position


def within(sizes: Integers) -> LongArray:
    """Return, for rows of these sizes, 0, 1, ... anew in each row."""
    ends = np.cumsum(sizes, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - sizes, sizes)


class Lookup:
    """Finds numbers among keys, which are sorted once.

    Parameters
    ----------
    keys
        In any order, each at most once.
    """

    def __init__(self, keys: Integers) -> None:
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def find(self, wanted: Integers) -> LongArray:
        """Return, shape (wanted,), the index of each number in the keys, -1 for none."""
        if not len(self._sorted):
            return np.full(len(wanted), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)


class PairLookup:
    """Finds pairs of numbers that are not negative among pairs.

    Parameters
    ----------
    first, second
        Shape (pairs,), both, in any order, each pair at most once.
    """

    def __init__(self, first: Integers, second: Integers) -> None:
        self._size = np.int64(second.max(initial=0)) + 1
        self._lookup = Lookup(first * self._size + second)

    def find(self, first: Integers, second: Integers) -> LongArray:
        """Return, shape (wanted,), the index of each pair, -1 for none."""
        inside = (first >= 0) & (second >= 0) & (second < self._size)
        return self._lookup.find(np.where(inside, first * self._size + second, -1))


def lookup(keys: Integers, wanted: Integers) -> LongArray:
    """Return, shape (wanted,), the index of each wanted number in ``keys``; see ``Lookup``."""
    return Lookup(keys).find(wanted)


def grouped(key: Integers, *columns: Integers) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield each distinct key in ascending order, and of every column the entries that have it.

    Parameters
    ----------
    key, columns
        Shape (entries,), all of them. Entries keep their order within a group.
    """
    order = np.argsort(key, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(key[order])) + 1, len(key)) if len(key) else order
    listed = [column[order].tolist() for column in columns]
    begin = 0
    for end, number in zip(ends.tolist(), key[order[ends - 1]].tolist(), strict=True):
        yield number, [column[begin:end] for column in listed]
        begin = end
