"""The fewest classes that cover every delivery: a set cover, decided by CP-SAT."""

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
"""Sets of deliveries up to which those inside others are looked for and left out: a guard, as the
search takes time in proportion to the square."""


@dataclass(frozen=True, eq=False)
class Cover:
    """What came of a set cover.

    Parameters
    ----------
    classes
        The classes chosen, as columns; ``None`` if none were found in time.
    lower_bound
        No cover has fewer classes.
    units
        CP-SAT's deterministic time.
    """

    classes: list[IntVector] | None
    lower_bound: int
    units: float


def distinct(packing: Packing, classes: Sequence[list[int]]) -> list[IntVector]:
    """Return one class for each set of deliveries that is not inside another one."""
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
            by_rows[rows] for index, rows in enumerate(sets) if not _inside(index, rows, holders)
        ]
    return [np.sort(np.array(columns, dtype=np.int64)) for columns in kept]


def _inside(index: int, rows: frozenset[int], holders: list[int]) -> bool:
    common = -1
    for row in rows:
        common &= holders[row]
    return common != 1 << index


def fewest(
    packing: Packing,
    classes: Sequence[IntVector],
    seed: int,
    units: float | None,
    over: Callable[[], bool],
) -> Cover:
    """Return a cover by the fewest classes.

    Parameters
    ----------
    units
        Deterministic time that it may take, ``None`` for any.

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
    found = solve(rows.model, new_solver(seed, units=units, linearization=2), over)
    chosen: list[IntVector] | None = None
    if found.values is not None:
        chosen = [classes[index] for index in np.flatnonzero(found.values).tolist()]
    return Cover(chosen, max(1, found.bound), found.units)


def balanced(packing: Packing, classes: Sequence[IntVector]) -> list[IntVector]:
    """Return the blocks of a cover: every delivery in one class alone, the classes of like size.

    "The final step is to transform this minimum cover to blocks by eliminating message transfers
    in more than one class and possibly simultaneously balancing the size of classes" (thesis
    section 4.2.1): those with the fewest homes choose first, the emptiest class among theirs.
    """
    homes: list[list[tuple[int, int]]] = [[] for _ in range(packing.rows)]
    for index, columns in enumerate(classes):
        for column, row in zip(columns.tolist(), packing.row[columns].tolist(), strict=True):
            homes[row].append((index, column))
    size: NDArray[np.int64] = np.zeros(len(classes), dtype=np.int64)
    blocks: list[list[int]] = [[] for _ in classes]
    for row in sorted(range(packing.rows), key=lambda row: len(homes[row])):
        index, column = min(homes[row], key=lambda home: (int(size[home[0]]), home))
        size[index] += 1
        blocks[index].append(column)
    return [np.sort(np.array(block, dtype=np.int64)) for block in blocks]
