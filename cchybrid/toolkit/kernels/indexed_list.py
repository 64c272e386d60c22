"""Unordered lists of numbers with insertion and removal in constant time."""

from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.kernels import inlined


class IndexedList(NamedTuple):
    """An unordered list of different numbers below a limit.

    Parameters
    ----------
    items
        Shape (limit,): the numbers are the first ``length[0]``.
    place
        Shape (limit,): the position of each number in ``items``, -1 if it is not listed.
    length
        Shape (1,).
    """

    items: IntArray
    place: IntArray
    length: LongArray


def empty_list(limit: int) -> IndexedList:
    """Return an empty list."""
    items = np.empty(limit, dtype=np.int32)
    return IndexedList(items, np.full(limit, -1, dtype=np.int32), np.zeros(1, dtype=np.int64))


@inlined
def insert(listed: IndexedList, item: int) -> None:
    """Add a number that is not listed."""
    listed.place[item] = listed.length[0]
    listed.items[listed.length[0]] = item
    listed.length[0] += 1


@inlined
def drop(listed: IndexedList, item: int) -> None:
    """Remove a number that is listed."""
    listed.length[0] -= 1
    last = listed.items[listed.length[0]]
    listed.items[listed.place[item]] = last
    listed.place[last] = listed.place[item]
    listed.place[item] = -1
