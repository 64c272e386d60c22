"""Exact pricing: the class of maximal weight, by CP-SAT over the options, in integers.

One model for all calls: a boolean per option, at most one option per delivery, no resource beyond
its capacity. The objective changes from call to call, and so do the cuts of diving.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.problem.ragged import grouped
from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import new_solver, solve
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector

PACK_UNITS = 0.5
"""Deterministic time, about seconds, to pack the last steps: few booleans, usually done at once."""


@dataclass(frozen=True, eq=False)
class Priced:
    """The result of a pricing.

    Parameters
    ----------
    columns
        The options of the best class found, as columns; ``None`` if there is none.
    max_weight
        Upper bound on the weight of a class; ``None`` if no class satisfies the cuts.
    units
        Deterministic time spent, about seconds.
    """

    columns: IntVector | None
    max_weight: int | None
    units: float


@dataclass(frozen=True, eq=False)
class Demand:
    """A cut: the rows of the class have at least the total price ``minimum``."""

    price: IntVector
    minimum: int


class Pricer:
    """Find classes of maximal weight by CP-SAT.

    Parameters
    ----------
    should_stop
        Whether the run is over.
    units
        Deterministic time of one call, about seconds.
    """

    def __init__(
        self, packing: Packing, should_stop: Callable[[], bool], seed: int, units: float = 2.0
    ) -> None:
        self.packing = packing
        self.units = units
        self.should_stop = should_stop
        self.seed = seed
        self._plain = steps_model(packing, np.arange(packing.columns), 1)

    def best(
        self, weight: IntVector, rows: BoolVector | None = None, demands: Sequence[Demand] = ()
    ) -> Priced:
        """Return a class of maximal weight.

        Parameters
        ----------
        weight
            Shape (rows,): integers, not negative.
        rows
            Shape (rows,): the rows that the class may hold; all if ``None``.
        demands
            Cuts that the class has to satisfy.

        Raises
        ------
        StoppedError
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
            price = demand.price[packing.row]
            counted = np.flatnonzero((price > 0) & allowed[packing.row])
            row = model.constraints.add().linear
            row.vars.extend(counted.tolist())
            row.coeffs.extend(price[counted].tolist())
            row.domain.extend((demand.minimum, 1 << 60))
        weighed = np.flatnonzero(value)
        model.objective.vars.extend(weighed.tolist())
        model.objective.coeffs.extend((-value[weighed]).tolist())
        solver = new_solver(self.seed, units=self.units, linearization=2)
        found = solve(whole, solver, self.should_stop)
        columns = None if found.values is None else np.flatnonzero(found.values)
        max_weight = None if found.infeasible else min(-found.bound, _trivial(packing, value))
        return Priced(columns, max_weight, found.units)


def pack(
    packing: Packing, rows: BoolVector, steps: int, should_stop: Callable[[], bool], seed: int
) -> tuple[list[IntVector] | None, float]:
    """Return classes that make these rows in ``steps`` steps, or ``None``, and CP-SAT's time.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    columns = np.flatnonzero(rows[packing.row])
    model = steps_model(packing, columns, steps, whole=True)
    found = solve(model, new_solver(seed, units=PACK_UNITS, linearization=2), should_stop)
    if found.values is None:
        return None, found.units
    taken = found.values.reshape(steps, len(columns))
    return [columns[np.flatnonzero(step)] for step in taken], found.units


def steps_model(
    packing: Packing, columns: IntVector, steps: int, *, whole: bool = False
) -> cp_model.CpModel:
    """Return a packing model; boolean ``s * len(columns) + c`` is column c in step s.

    Parameters
    ----------
    columns
        The columns that may be taken, in ascending order.
    whole
        Whether each row has to be made; otherwise it may be.
    """
    rows = Rows(steps * len(columns))
    shift = len(columns) * np.arange(steps)[:, None]
    for _, (members,) in grouped(packing.row[columns], np.arange(len(columns))):
        literals = (np.array(members) + shift).ravel().tolist()
        (rows.exactly_one if whole else rows.at_most_one)(literals)
    place, resource, times = packing.uses.entries(columns)
    for found, (members, weights) in grouped(resource, place, times):
        for step in range(steps):
            literals = [member + step * len(columns) for member in members]
            rows.capacity(literals, weights, int(packing.capacity[found]))
    return rows.model


def _trivial(packing: Packing, value: IntVector) -> int:
    """Return the weight of all rows: a bound that CP-SAT may not improve in its time."""
    max_weight = np.zeros(packing.rows, dtype=np.int64)
    np.maximum.at(max_weight, packing.row, value)
    return int(max_weight.sum())
