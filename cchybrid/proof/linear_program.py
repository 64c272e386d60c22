"""Linear programs that are built row by row, solved in floating point, and their dual values."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

SCALES = (1, 2, 3, 4, 6, 12, 24, 60, 360, 5040, 10**6, 10**9)
"""Factors of dual values before they are rounded: numbers with many divisors, as duals are often
fractions of small numbers, and two large ones for others."""


class LinearProgram:
    """A linear program of non-negative variables.

    Parameters
    ----------
    maximize
        Whether the objective is maximized; otherwise it is minimized.
    method
        ``"GLOP"`` (simplex) or ``"PDLP"`` (first order, for very large programs).
    units
        Limit of the deterministic time of the simplex method, about seconds; ``None``: no limit.
    """

    def __init__(
        self, *, maximize: bool = False, method: str = "GLOP", units: float | None = None
    ) -> None:
        self._solver: Any = pywraplp.Solver.CreateSolver(method)
        self._objective = self._solver.Objective()
        self._objective.SetOptimizationDirection(maximize)
        if units is not None:
            self._solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {units}")

    def variable(self, objective: float = 0.0, upper: float = math.inf) -> Any:
        """Return a new variable from 0 to ``upper`` with this coefficient in the objective."""
        found = self._solver.NumVar(0.0, upper, "")
        self.weigh(found, objective)
        return found

    def weigh(self, variable: Any, objective: float) -> None:
        """Set the coefficient of a variable in the objective."""
        self._objective.SetCoefficient(variable, objective)

    def row(self, low: float, high: float, terms: Iterable[tuple[Any, float]] = ()) -> Any:
        """Return a new row ``low <= sum of coefficient * variable <= high``.

        Further terms are added by ``row.SetCoefficient(variable, coefficient)``.
        """
        found = self._solver.RowConstraint(low, high, "")
        for variable, coefficient in terms:
            found.SetCoefficient(variable, coefficient)
        return found

    def solve(self, seconds: float = math.inf) -> bool:
        """Solve the program; return whether an optimum was found.

        It releases the interpreter lock, so another thread can call ``interrupt``.
        """
        if seconds < math.inf:
            self._solver.SetTimeLimit(max(1, int(1000 * seconds)))
        return bool(self._solver.Solve() == pywraplp.Solver.OPTIMAL)

    def interrupt(self) -> None:
        """Make ``solve`` return without an optimum; may be called from any thread."""
        self._solver.InterruptSolve()

    @property
    def value(self) -> float:
        """The objective value of the optimum."""
        return float(self._objective.Value())

    @staticmethod
    def is_basic(item: Any) -> bool:
        """Return whether a variable, or the slack of a row, is in the basis of the optimum."""
        return bool(item.basis_status() == pywraplp.Solver.BASIC)

    @staticmethod
    def duals(rows: Iterable[Any], sign: float = 1.0) -> NDArray[np.float64]:
        """Return, shape (rows,), the dual values times ``sign``, negative ones replaced by 0."""
        return np.array([max(0.0, sign * float(row.dual_value())) for row in rows])


def roundings(
    dual: NDArray[np.float64], unit_values: Sequence[float] | None = None, finest: int = 10**6
) -> Iterator[NDArray[np.int64]]:
    """Yield integers nearly proportional to dual values, from the coarsest to the finest.

    Parameters
    ----------
    dual
        Non-negative values. Nothing is yielded if all are 0.
    unit_values
        Values that are scaled to 1, 2, 3, ... (see ``SCALES``); by default the largest one.
    finest
        The largest scale.
    """
    largest = float(dual.max(initial=0.0))
    if largest <= 0.0:
        return
    for scale in SCALES:
        for unit in (largest,) if unit_values is None else unit_values:
            if scale <= finest:
                yield np.rint(dual * (scale / unit)).astype(np.int64)
