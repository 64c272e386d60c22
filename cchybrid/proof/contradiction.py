"""Search for a contradiction between linear rows that are true for every schedule.

1. Maximize the number of goals that are met, under all other rows and the limits of the columns.
2. If the maximum is less than all goals, the dual solution multiplies the rows and limits so that
   they add up to a row which no values of the columns satisfy (Farkas' lemma): there is no such
   schedule.
3. Solve in floating point; the multipliers still have to be rounded, and checked exactly.
"""

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from cchybrid.proof.linear_program import LinearProgram, roundings

Column = tuple[Any, ...]
"""The name and the indices of a column."""
Key = tuple[Any, ...]
"""The kind and the indices of a row."""
Row = tuple[dict[Column, int], int]
"""Coefficients by column, and the right side."""

FINEST = 10**9
"""The finest rounding of multipliers."""
_TOLERANCE = 1e-6
"""Difference to the goal that is taken for rounding."""


class Rows(Protocol):
    """Linear rows by their keys, and the upper limits of their columns."""

    def row(self, key: Key) -> Row:
        """Return a row by its key, from the method of its kind."""
        kind, *numbers = key
        made: Row = getattr(self, f"_{kind}_row")(*numbers)
        return made

    def max_value(self, column: Column) -> int:
        """Return the upper limit of a column."""


class Contradiction(NamedTuple):
    """Multipliers other than 0 of rows, and of the upper limits of columns; goals have 1."""

    rows: Mapping[Key, float]
    limits: Mapping[Column, float]


def find_contradiction(
    relaxation: Rows,
    keys: Iterable[Key],
    max_terms: int,
    deadline: float = math.inf,
    units: float | None = None,
) -> Contradiction | None:
    """Return multipliers by which rows contradict each other; ``None`` if none are found.

    Parameters
    ----------
    keys
        The rows. Those of the kind ``goal`` have one column, and all of them are to be met.
    max_terms
        Largest number of terms of all rows; larger programs are not solved.
    deadline
        The latest end, by ``time.monotonic``.
    units
        Deterministic time, about seconds, for the program; it makes calls repeatable.
    """
    rows = _rows(relaxation, keys, max_terms, deadline)
    return _multipliers(relaxation, rows, deadline, units) if rows else None


def whole_multipliers(
    relaxation: Rows, found: Contradiction, deadline: float = math.inf
) -> dict[Key, int]:
    """Return whole multipliers of the rows alone that contradict each other; empty if none do."""
    keys, values = list(found.rows), np.array([*found.rows.values()])
    for rounded in roundings(values, unit_values=(1.0,), finest=FINEST):
        if time.monotonic() > deadline:
            break
        whole = {key: times for key, times in zip(keys, rounded.tolist(), strict=True) if times > 0}
        if _contradict(relaxation, whole):
            return whole
    return {}


def _contradict(relaxation: Rows, multipliers: Mapping[Key, int]) -> bool:
    """Return whether the rows add up to more than the columns at their upper limits reach."""
    sides, total = 0, dict[Column, int]()
    for key, times in multipliers.items():
        terms, side = relaxation.row(key)
        sides += times * side
        for column, coefficient in terms.items():
            total[column] = total.get(column, 0) + times * coefficient
    reached = sum(relaxation.max_value(column) * each for column, each in total.items() if each > 0)
    return reached < sides


def _rows(relaxation: Rows, keys: Iterable[Key], max_terms: int, deadline: float) -> dict[Key, Row]:
    """Return the rows; an empty mapping if they have too many terms or take too long."""
    rows: dict[Key, Row] = {}
    for key in keys:
        rows[key] = row = relaxation.row(key)
        max_terms -= len(row[0])
        if max_terms < 0 or (len(rows) % 1000 == 0 and time.monotonic() > deadline):
            return {}
    return rows


def _multipliers(
    relaxation: Rows, rows: Mapping[Key, Row], deadline: float, units: float | None
) -> Contradiction | None:
    """Return multipliers by which the rows contradict each other."""
    program = LinearProgram(maximize=True, units=units)
    columns: dict[Column, Any] = {}
    limits: list[tuple[Key, Any]] = []
    goals: list[Key] = []
    for key, (terms, side) in rows.items():
        for column in terms:
            if column not in columns:
                columns[column] = program.variable(upper=float(relaxation.max_value(column)))
        if key[0] == "goal":
            goals.append(key)
            program.weigh(columns[next(iter(terms))], 1.0)
        elif terms:
            pairs = ((columns[column], float(factor)) for column, factor in terms.items())
            limits.append((key, program.row(float(side), math.inf, pairs)))
    left = deadline - time.monotonic()
    if left <= 0 or not program.solve(left) or program.value > len(goals) - _TOLERANCE:
        return None
    # Goals are the objective, so their multiplier is its coefficient.
    found = dict.fromkeys(goals, 1.0)
    # Duals of ">=" rows of a maximum are not positive.
    duals = program.duals((row for _, row in limits), sign=-1.0)
    found.update(zip((key for key, _ in limits), duals.tolist(), strict=True))
    upper = {column: each.reduced_cost() for column, each in columns.items()}
    return Contradiction(
        {key: times for key, times in found.items() if times > 0.0},
        {column: times for column, times in upper.items() if times > 0.0},
    )
