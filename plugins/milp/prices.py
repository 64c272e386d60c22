"""Prices on resources, from the linear program that spreads the load over the options.

Every required delivery takes its options in fractions, so that the most loaded resource, relative
to its capacity, carries as little as possible. The dual prices the resources: a delivery is worth
the cheapest of its options, and no step can make more worth than its capacities cost. With whole
prices that is exact arithmetic; it bounds the steps of what is left of a schedule just as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ortools.linear_solver import pywraplp

from cchybrid.toolkit.packing import BoolVector, IntVector, Packing
from cchybrid.toolkit.watched import watched

SCALES = (1, 2, 3, 4, 6, 12, 24, 60, 360, 5040, 10**6)
"""Whole prices are the dual's, the largest made this number, and rounded."""


@dataclass(frozen=True, eq=False)
class Worth:
    """What every row is worth, and the worth that fits into one step.

    Parameters
    ----------
    row
        Shape (rows,): whole numbers, none negative.
    step
        No class holds rows that are worth more than this together.
    """

    row: IntVector
    step: int

    def least_steps(self, rows: BoolVector) -> int:
        """Return a number of steps below which these rows cannot be made."""
        return -(-int(self.row[rows].sum()) // self.step)


class LoadProgram:
    """The linear program, kept from one set of rows to the next."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.solver = pywraplp.Solver.CreateSolver("GLOP")
        infinity = self.solver.infinity()
        self.load = self.solver.NumVar(0.0, infinity, "")
        self.solver.Objective().SetCoefficient(self.load, 1.0)
        self.solver.Objective().SetMinimization()
        self.limit = [self.solver.RowConstraint(-infinity, 0.0, "") for _ in packing.capacity]
        for row, capacity in zip(self.limit, packing.capacity.tolist(), strict=True):
            row.SetCoefficient(self.load, -float(capacity))
        self.demand = [self.solver.RowConstraint(1.0, infinity, "") for _ in packing.delivery]
        resource, times = packing.resource.tolist(), packing.times.tolist()
        for column, row in enumerate(packing.row.tolist()):
            share = self.solver.NumVar(0.0, infinity, "")
            self.demand[row].SetCoefficient(share, 1.0)
            for place in range(packing.start[column], packing.start[column + 1]):
                self.limit[resource[place]].SetCoefficient(share, float(times[place]))

    def worth(self, rows: BoolVector, over: Callable[[], bool]) -> Worth | None:
        """Return what the dual says the rows are worth; ``None`` where nothing is contended.

        Raises
        ------
        RunOverError
            If the run is over.
        """
        for wanted, demand in zip(rows.tolist(), self.demand, strict=True):
            demand.SetLb(float(wanted))
        status = watched(self.solver.Solve, self.solver.InterruptSolve, over)
        if status != pywraplp.Solver.OPTIMAL:
            return None
        price = np.array([max(0.0, -row.dual_value()) for row in self.limit])
        largest = price.max(initial=0.0)
        if largest <= 0.0:
            return None
        best: Worth | None = None
        best_steps = 0.0
        for scale in SCALES:
            worth = self._whole(np.rint(price * (scale / largest)).astype(np.int64))
            steps = float(worth.row[rows].sum()) / worth.step
            if steps > best_steps * (1.0 + 1e-9):
                best, best_steps = worth, steps
        return best

    def _whole(self, price: IntVector) -> Worth:
        packing = self.packing
        cost = np.bincount(
            packing.column,
            weights=packing.times * price[packing.resource],
            minlength=packing.columns,
        ).astype(np.int64)
        row = np.full(packing.rows, np.iinfo(np.int64).max)
        np.minimum.at(row, packing.row, cost)
        return Worth(row, max(1, int(price @ packing.capacity)))
