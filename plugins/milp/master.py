"""The master program: the fewest classes, in fractions, that cover every required delivery."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from cchybrid.toolkit.packing import IntVector, Packing
from cchybrid.toolkit.watched import watched

Floats = NDArray[np.float64]


class Master:
    """The linear program over the classes generated so far; it may be infeasible at first.

    Attributes
    ----------
    classes
        The classes, as columns of the packing.
    value
        The optimum of the last solution: an upper limit of what the full program comes to.
    weight
        Shape (rows,): its dual, none negative.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.classes: list[IntVector] = []
        self.value = float(packing.rows)
        self.weight: Floats = np.zeros(packing.rows)
        self._known: set[bytes] = set()
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._solver.Objective().SetMinimization()
        infinity = self._solver.infinity()
        self._rows = [self._solver.RowConstraint(1.0, infinity, "") for _ in packing.delivery]

    def add(self, columns: IntVector) -> bool:
        """Add a class; return whether it is new."""
        rows = np.unique(self.packing.row[columns])
        key = rows.tobytes()
        if key in self._known:
            return False
        self._known.add(key)
        self.classes.append(columns)
        share = self._solver.NumVar(0.0, self._solver.infinity(), "")
        self._solver.Objective().SetCoefficient(share, 1.0)
        for row in rows.tolist():
            self._rows[row].SetCoefficient(share, 1.0)
        return True

    def solve(self, over: Callable[[], bool]) -> bool:
        """Solve; return whether that ended at an optimum.

        Raises
        ------
        RunOverError
            If the run is over.
        """
        status = watched(self._solver.Solve, self._solver.InterruptSolve, over)
        if status != pywraplp.Solver.OPTIMAL:
            return False
        self.value = float(self._solver.Objective().Value())
        self.weight = np.array([max(0.0, row.dual_value()) for row in self._rows])
        return True
