"""The minimum cover of all deliveries by compatibility classes: a set cover, by CP-SAT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import new_solver, solve
from cchybrid.toolkit.usage_matrix import IntVector

MAX_SETS = 20_000
"""Sets of deliveries up to which subsets of others are removed: a guard, as that takes quadratic
time."""


@dataclass(frozen=True, eq=False)
class Cover:
    """The result of a set cover.

    Parameters
    ----------
    classes
        The chosen classes, as columns; ``None`` if no cover was found in time.
    lower_bound
        Lower bound on the classes of a cover.
    units
        CP-SAT's deterministic time, about seconds.
    """

    classes: list[IntVector] | None
    lower_bound: int
    units: float


def distinct(packing: Packing, classes: Sequence[list[int]]) -> list[IntVector]:
    """Return one class for each set of deliveries that is no subset of another."""
    by_rows: dict[frozenset[int], list[int]] = {}
    for columns in classes:
        by_rows.setdefault(frozenset(packing.row[columns].tolist()), columns)
    sets = list(by_rows)
    kept = [by_rows[rows] for rows in sets]
    if len(sets) <= MAX_SETS:
        holders = [0] * packing.rows
        for index, rows in enumerate(sets):
            for row in rows:
                holders[row] |= 1 << index
        kept = [
            by_rows[rows] for index, rows in enumerate(sets) if not _is_subset(index, rows, holders)
        ]
    return [np.sort(np.array(columns, dtype=np.int64)) for columns in kept]


def _is_subset(index: int, rows: frozenset[int], holders: list[int]) -> bool:
    common = -1
    for row in rows:
        common &= holders[row]
    return common != 1 << index


def fewest(
    packing: Packing,
    classes: Sequence[IntVector],
    seed: int,
    units: float | None,
    should_stop: Callable[[], bool],
) -> Cover:
    """Return a cover by the fewest classes.

    Parameters
    ----------
    units
        Limit of deterministic time, about seconds; ``None``: no limit.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    rows = Rows(len(classes))
    holders: list[list[int]] = [[] for _ in range(packing.rows)]
    for index, columns in enumerate(classes):
        for row in packing.row[columns].tolist():
            holders[row].append(index)
    for literals in holders:
        rows.at_least_one(literals)
    rows.minimize(range(len(classes)), [1] * len(classes))
    found = solve(rows.model, new_solver(seed, units=units, linearization=2), should_stop)
    chosen: list[IntVector] | None = None
    if found.values is not None:
        chosen = [classes[index] for index in np.flatnonzero(found.values).tolist()]
    return Cover(chosen, max(1, found.bound), found.units)


def balanced(packing: Packing, classes: Sequence[IntVector]) -> list[IntVector]:
    """Return the blocks of a cover: every delivery in exactly one class, the sizes balanced.

    "The final step is to transform this minimum cover to blocks by eliminating message transfers
    in more than one class and possibly simultaneously balancing the size of classes" (thesis
    section 4.2.1): deliveries in the fewest classes come first; each goes to its smallest class.
    """
    containing: list[list[tuple[int, int]]] = [[] for _ in range(packing.rows)]
    for index, columns in enumerate(classes):
        for column, row in zip(columns.tolist(), packing.row[columns].tolist(), strict=True):
            containing[row].append((index, column))
    size: NDArray[np.int64] = np.zeros(len(classes), dtype=np.int64)
    blocks: list[list[int]] = [[] for _ in classes]
    for row in sorted(range(packing.rows), key=lambda row: len(containing[row])):
        index, column = min(containing[row], key=lambda place: (int(size[place[0]]), place))
        size[index] += 1
        blocks[index].append(column)
    return [np.sort(np.array(block, dtype=np.int64)) for block in blocks]
