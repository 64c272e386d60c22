"""Search for multipliers by which linear rows, true for every schedule, contradict each other.

1. Maximize the number of goals that are met, under all other rows and the limits of the columns.
2. If the maximum is less than all goals, the dual solution multiplies the rows so that they add up
   to a row which no values within the limits of the columns satisfy (Farkas' lemma): there is no
   such schedule.
3. Solve in floating point, round the multipliers to integers, and check exactly.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cchybrid.checker.farkas import Rows, contradict
from cchybrid.checker.relaxation import Column, Key, Row
from cchybrid.proof.linear_program import LinearProgram, roundings

_TOLERANCE = 1e-6
"""Difference to the goal that is taken for rounding."""


def find_contradiction(
    relaxation: Rows,
    keys: Iterable[Key],
    max_terms: int,
    deadline: float = math.inf,
    units: float | None = None,
) -> dict[Key, int]:
    """Return positive multipliers of rows that contradict each other; empty if none are found.

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
    multipliers = _multipliers(relaxation, rows, deadline, units)
    values = np.array([*multipliers.values()])
    for rounded in roundings(values, unit_values=(1.0,), finest=10**9):
        if time.monotonic() > deadline:
            break
        pairs = zip(multipliers, rounded.tolist(), strict=True)
        whole = {key: times for key, times in pairs if times > 0}
        if contradict(relaxation, ((rows[key], times) for key, times in whole.items())):
            return whole
    return {}


def by_kind(multipliers: Mapping[Key, int]) -> dict[str, list[list[int]]]:
    """Return multipliers as evidence lists them: by kind, each after the numbers of its row."""
    rows: dict[str, list[list[int]]] = {}
    for (kind, *numbers), times in multipliers.items():
        rows.setdefault(kind, []).append([*numbers, times])
    return rows


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
) -> dict[Key, float]:
    """Return multipliers by which the rows contradict each other; empty if there are none."""
    if not rows:
        return {}
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
    if left <= 0:
        return {}
    if not program.solve(left) or program.value > len(goals) - _TOLERANCE:
        return {}
    # Goals are the objective, so their multiplier is its coefficient.
    found = dict.fromkeys(goals, 1.0)
    # Duals of ">=" rows of a maximum are not positive.
    duals = program.duals((row for _, row in limits), sign=-1.0)
    found.update(zip((key for key, _ in limits), duals.tolist(), strict=True))
    return found
