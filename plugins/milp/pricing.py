"""Pricing: the class of the most weight, by CP-SAT over the options, in whole numbers.

One model for all questions: a boolean per option, at most one option per delivery, no resource
beyond its capacity. Only the weights change from one question to the next, and the rows that say
what a class has to leave behind (see ``diving``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.toolkit.packing import BoolVector, IntVector, Packing
from cchybrid.toolkit.watched import watched

UNITS = 2.0
"""Deterministic time that pricing may take at a time; a unit is about a second."""

PACK_UNITS = 0.5
"""The same for packing the last steps."""


@dataclass(frozen=True, eq=False)
class Priced:
    """What came of a question.

    Parameters
    ----------
    columns
        The options of the best class found, as columns; ``None`` if there is none.
    most
        No class weighs more. ``None`` if there is no class at all that keeps to the rows.
    units
        The deterministic time that it took.
    """

    columns: IntVector | None
    most: int | None
    units: float


@dataclass(frozen=True, eq=False)
class AtLeast:
    """A row: the class's deliveries are worth at least so much together."""

    worth: IntVector
    least: int


class Pricer:
    """Asks CP-SAT for classes.

    Parameters
    ----------
    over
        Whether the run is over.
    """

    def __init__(self, packing: Packing, over: Callable[[], bool], seed: int) -> None:
        self.packing = packing
        self.over = over
        self.seed = seed
        self._plain = steps_model(packing, np.arange(packing.columns), 1)

    def best(
        self,
        weight: IntVector,
        rows: BoolVector | None = None,
        demands: Sequence[AtLeast] = (),
        hint: IntVector | None = None,
    ) -> Priced:
        """Return a class of the most weight.

        Parameters
        ----------
        weight
            Shape (rows,): whole numbers, none negative.
        rows
            Shape (rows,): the rows that the class may hold; all if ``None``.
        demands
            What else it has to keep to.
        hint
            Columns of a class to start from.

        Raises
        ------
        RunOverError
            If the run is over.
        """
        packing = self.packing
        whole = self._plain.clone()
        model = whole.proto
        allowed = np.ones(packing.rows, dtype=np.bool_) if rows is None else rows
        value = np.where(allowed, weight, 0)[packing.row]
        for column in np.flatnonzero(~allowed[packing.row]).tolist():
            model.variables[column].domain[1] = 0
        for demand in demands:
            worth = demand.worth[packing.row]
            counted = np.flatnonzero((worth > 0) & allowed[packing.row])
            row = model.constraints.add().linear
            row.vars.extend(counted.tolist())
            row.coeffs.extend(worth[counted].tolist())
            row.domain.extend((demand.least, 1 << 60))
        weighed = np.flatnonzero(value)
        model.objective.vars.extend(weighed.tolist())
        model.objective.coeffs.extend((-value[weighed]).tolist())
        if hint is not None:
            model.solution_hint.vars.extend(range(packing.columns))
            model.solution_hint.values.extend(np.bincount(hint, minlength=packing.columns).tolist())
        solver = new_solver(self.seed, UNITS)
        status = watched(lambda: solver.solve(whole), solver.stop_search, self.over)
        response = solver.response_proto
        # The bound of a sum of whole numbers, before any scaling: a whole number, too.
        most: int | None = min(-response.inner_objective_lower_bound, _trivial(packing, value))
        if status == cp_model.INFEASIBLE:
            most = None
        columns: IntVector | None = None
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            columns = np.flatnonzero(np.array(response.solution)).astype(np.int64)
        return Priced(columns, most, response.deterministic_time)


def pack(
    packing: Packing, rows: BoolVector, steps: int, over: Callable[[], bool], seed: int
) -> tuple[list[IntVector] | None, float]:
    """Return classes that make all these rows in so many steps if CP-SAT finds any, and its time.

    Raises
    ------
    RunOverError
        If the run is over.
    """
    columns = np.flatnonzero(rows[packing.row])
    model = steps_model(packing, columns, steps, whole=True)
    solver = new_solver(seed, PACK_UNITS)
    status = watched(lambda: solver.solve(model), solver.stop_search, over)
    units = float(solver.response_proto.deterministic_time)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, units
    taken = np.array(solver.response_proto.solution).reshape(steps, len(columns))
    return [columns[np.flatnonzero(step)] for step in taken], units


def new_solver(seed: int, units: float) -> cp_model.CpSolver:
    """Return a solver on one thread that no clock rules."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.max_deterministic_time = units
    solver.parameters.linearization_level = 2
    return solver


def steps_model(
    packing: Packing, columns: IntVector, steps: int, *, whole: bool = False
) -> cp_model.CpModel:
    """Return the model of so many steps; boolean ``s * len(columns) + c`` is column c in step s.

    Parameters
    ----------
    columns
        The columns that may be taken, in ascending order.
    whole
        Whether their rows have to be made; otherwise they may be.
    """
    model = cp_model.CpModel()
    proto = model.proto
    for _ in range(steps * len(columns)):
        proto.variables.add().domain.extend((0, 1))
    shift = len(columns) * np.arange(steps)[:, None]
    place_of = np.full(packing.columns, -1, dtype=np.int64)
    place_of[columns] = np.arange(len(columns))
    for members in _groups(packing.row[columns], np.arange(len(columns))):
        literals = (members + shift).ravel().tolist()
        row = proto.constraints.add()
        (row.exactly_one if whole else row.at_most_one).literals.extend(literals)
    kept = np.flatnonzero(place_of[packing.column] >= 0)
    for uses in _groups(packing.resource[kept], kept):
        capacity = int(packing.capacity[packing.resource[uses[0]]])
        times = packing.times[uses]
        if times.sum() <= capacity:
            continue
        members = place_of[packing.column[uses]]
        for step in range(steps):
            _at_most(proto, (members + step * len(columns)).tolist(), times.tolist(), capacity)
    return model


def _at_most(proto: Any, members: list[int], times: list[int], capacity: int) -> None:
    if capacity == 1:
        proto.constraints.add().at_most_one.literals.extend(members)
        return
    row = proto.constraints.add().linear
    row.vars.extend(members)
    row.coeffs.extend(times)
    row.domain.extend((0, capacity))


def _groups(key: IntVector, members: IntVector) -> list[IntVector]:
    """Return the members, by key."""
    order = np.argsort(key, kind="stable")
    edges = np.flatnonzero(np.diff(key[order])) + 1
    return [group for group in np.split(members[order], edges) if len(group)]


def _trivial(packing: Packing, value: IntVector) -> int:
    """Return what all rows weigh together: CP-SAT's bound where it had no time for a better one."""
    most = np.zeros(packing.rows, dtype=np.int64)
    np.maximum.at(most, packing.row, value)
    return int(most.sum())
