"""The restricted master program: the fewest fractional classes that cover all deliveries."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import LinearProgram, solve_program
from cchybrid.toolkit.usage_matrix import IntVector

Floats = NDArray[np.float64]


class Master:
    """The linear program over the classes generated so far; at first it may be infeasible.

    Attributes
    ----------
    classes
        The classes, as columns of the packing.
    value
        The last optimum: an upper bound on the optimum over all classes.
    weight
        Shape (rows,): its duals, not negative.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.classes: list[IntVector] = []
        self.value = float(packing.rows)
        self.weight: Floats = np.zeros(packing.rows)
        self._known: set[bytes] = set()
        self._program = LinearProgram()
        self._rows = [self._program.row(1.0, math.inf) for _ in packing.delivery]

    def add(self, columns: IntVector) -> bool:
        """Add a class; return whether it is new."""
        rows = np.unique(self.packing.row[columns])
        key = rows.tobytes()
        if key in self._known:
            return False
        self._known.add(key)
        self.classes.append(columns)
        share = self._program.variable(objective=1.0)
        for row in rows.tolist():
            self._rows[row].SetCoefficient(share, 1.0)
        return True

    def solve(self, should_stop: Callable[[], bool]) -> bool:
        """Solve; return whether an optimum was found.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        if not solve_program(self._program, should_stop):
            return False
        self.value = self._program.value
        self.weight = self._program.duals(self._rows)
        return True
