"""Covers by listed classes, by CP-SAT, and greedy insertion of what they leave over."""

from collections.abc import Callable, Sequence

import numpy as np

from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.kernels.first_fit import UNSTOPPED, fill
from cchybrid.toolkit.kernels.flat import flatten, min_uses
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import Solution, new_solver, solve
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector


class ClassFiller:
    """First fit of classes of one packing; ties among options are random."""

    def __init__(self, packing: Packing, seed: int) -> None:
        self._packing = packing
        self._flat = flatten(packing.problem)
        self._near = min_uses(packing.problem, self._flat)
        self._state = seed_state(seed)

    def fill(self, columns: IntVector, rows: IntVector) -> IntVector:
        """Return the columns of a class and, for each further row that fits, in order, one more."""
        packing, found = self._packing, self._packing.problem.empty()
        given = packing.delivery[packing.row[columns]]
        found.option[given], found.step[given] = packing.option[columns], 0
        order = packing.delivery[rows].astype(np.int32)
        fill(self._flat, self._near, 1, order, found.option, found.step, UNSTOPPED, self._state)
        taken = found.option[packing.delivery]
        return np.searchsorted(packing.option, taken[taken >= 0])


def cover(
    packing: Packing,
    classes: Sequence[IntVector],
    should_stop: Callable[[], bool],
    seed: int,
    *,
    units: float | None,
    steps: int | None = None,
) -> tuple[list[IntVector], BoolVector, Solution]:
    """Return the fewest classes that cover all rows, or at most ``steps`` that cover the most.

    Parameters
    ----------
    units
        Limit of deterministic time, about seconds; ``None``: no limit.

    Returns
    -------
    tuple
        The chosen classes, which rows they leave over, and the result of CP-SAT: its bound is on
        the number of classes, or of rows that are left over.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    missing = range(len(classes), len(classes) + (0 if steps is None else packing.rows))
    model = Rows(missing.stop)
    holding: list[list[int]] = [[miss] for miss in missing] or [[] for _ in packing.delivery]
    for share, columns in enumerate(classes):
        for row in np.unique(packing.row[columns]).tolist():
            holding[row].append(share)
    for literals in holding:
        model.at_least_one(literals)
    if steps is not None:
        model.weighted(range(len(classes)), [1] * len(classes), 0, steps)
    counted = missing or range(len(classes))
    model.minimize(counted, [1] * len(counted))
    found = solve(model.model, new_solver(seed, units=units, linearization=2), should_stop)
    taken = np.zeros(0) if found.values is None else found.values[: len(classes)]
    chosen = [classes[index] for index in np.flatnonzero(taken).tolist()]
    rest = np.ones(packing.rows, dtype=np.bool_)
    for columns in chosen:
        rest[packing.row[columns]] = False
    return chosen, rest, found


def with_leftovers(
    packing: Packing, filler: ClassFiller, classes: Sequence[IntVector], rest: BoolVector
) -> list[IntVector]:
    """Return the classes with every left-over row inserted into the first one where it fits.

    Rows that fit nowhere form further classes at the end.
    """
    open_row = rest.copy()
    made = ~rest
    full: list[IntVector] = []
    for columns in classes:
        # Rows of an earlier class are dropped here to free capacity.
        rows = packing.row[columns]
        fresh = made[rows]
        made[rows] = False
        grown = filler.fill(columns[fresh], np.flatnonzero(open_row))
        open_row[packing.row[grown]] = False
        full.append(grown)
    while open_row.any():
        grown = filler.fill(np.zeros(0, dtype=np.int64), np.flatnonzero(open_row))
        open_row[packing.row[grown]] = False
        full.append(grown)
    return [columns for columns in full if len(columns)]
