"""Column generation: the linear relaxation of the set cover by classes, and its bound.

The master program has a column per compatibility class (Gilmore and Gomory 1961). A class improves
it if its weight under the dual exceeds 1. Such classes are first sought greedily; if there are
none, exact pricing finds the heaviest class. For any weights w, no step holds more weight than the
heaviest class, so at least sum(w) / max(class weight) steps are needed (Farley 1990); weights and
results are integers, so the bound is exact. As the dual oscillates, prices are smoothed: a convex
combination of the dual and the weights of the best bound so far (Wentges 1997), which start as the
prices of the load program (``LoadProgram``).

References
----------
A. A. Farley, "A note on bounding a class of linear programming problems, including cutting stock
problems", Operations Research 38, 1990. doi:10.1287/opre.38.5.922

P. Wentges, "Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming",
International Transactions in Operational Research 4, 1997.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import Run
from cchybrid.toolkit.dual_prices import RowPrices
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import LinearProgram, evaluations, solve_program
from cchybrid.toolkit.usage_matrix import IntVector

from .cover import ClassFiller
from .pricing import Pricer

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


SCALE = 5040
"""A weight of 1 as an integer: with many divisors, so that most duals are exact."""
MAX_TRIES = 12
"""Greedy classes drawn before exact pricing is called: they cost nearly nothing."""

MAX_FRESH = 6
"""Greedy classes that may enter the master program at once: similar ones help little."""

MIN_GAIN = 1e-6
"""Weight beyond 1 from which a class improves; less is rounding of the linear program."""


class Generation:
    """The master program, the bound, and the weights that prove it.

    Parameters
    ----------
    spend
        Called with the evaluations of every round: those of CP-SAT, and one per row, about as long
        as the linear program takes.

    Attributes
    ----------
    bound
        Lower bound on the steps.
    closed
        Whether more columns cannot change the rounded value of the relaxation.
    """

    def __init__(
        self,
        packing: Packing,
        pricer: Pricer,
        filler: ClassFiller,
        prices: RowPrices | None,
        run: Run,
        spend: Callable[[int], None],
    ) -> None:
        self.packing = packing
        self.pricer = pricer
        self.filler = filler
        self.master = Master(packing)
        self.bound = 1
        self.closed = False
        self.rounds = 0
        self._run = run
        self._spend = spend
        self._centre: NDArray[np.float64] = np.zeros(packing.rows)
        self._best = 0.0
        self._smoothing = 0.0
        self._random = np.random.default_rng(run.seed)
        if prices is not None:
            self.bound = prices.min_steps()
            self._centre = prices.row / prices.step
            self._best = float(self._centre.sum())
            self._smoothing = 0.7

    def weights(self) -> IntVector:
        """Return, shape (rows,), the integer weights of the best bound, all positive."""
        return np.maximum(np.floor(self._centre * SCALE).astype(np.int64), 1)

    def learn(self, classes: list[IntVector]) -> None:
        """Add the steps of a schedule as columns, each extended by what else fits."""
        for columns in classes:
            self.master.add(self.filler.fill(columns, np.arange(self.packing.rows)))
        self._spend(self.packing.rows)

    def improve(self) -> None:
        """Do one round: solve the master program, and price.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        self.rounds += 1
        self._spend(self.packing.rows)
        master = self.master
        if not master.solve(self._run.should_stop):
            raise RuntimeError("the master program has no solution although every row is covered")
        self._close()
        if self.closed:
            return
        smoothing = self._smoothing
        point = smoothing * self._centre + (1.0 - smoothing) * master.weight
        added = self._greedy(point) + self._greedy(master.weight)
        if added and self.rounds % 4:
            return
        self._exact(point, smoothing, added)
        self._close()

    def _close(self) -> None:
        self.closed = self.closed or math.ceil(self.master.value - MIN_GAIN) <= self.bound

    def _exact(self, point: NDArray[np.float64], smoothing: float, added: int) -> None:
        weight = np.floor(point * SCALE).astype(np.int64)
        priced = self.pricer.best(weight)
        self._spend(evaluations(priced.units))
        total = int(weight.sum())
        if priced.max_weight:
            self.bound = max(self.bound, -(-total // priced.max_weight))
            if total / priced.max_weight > self._best:
                self._best = total / priced.max_weight
                self._centre = weight / priced.max_weight
        fresh = 0
        if priced.columns is not None:
            fresh = self._add(self.filler.fill(priced.columns, np.arange(self.packing.rows)))
        if fresh + added:
            self._smoothing = min(0.9, smoothing + 0.1) if fresh and smoothing else smoothing
        elif smoothing > 0.0:
            # The smoothed prices gave no improving class: move towards the dual.
            self._smoothing = 0.0 if smoothing < 0.2 else smoothing / 2
        else:
            self.closed = True

    def _add(self, columns: IntVector) -> int:
        """Add a class if it improves the master program; return how many were added."""
        if self.master.weight[self.packing.row[columns]].sum() <= 1.0 + MIN_GAIN:
            return 0
        return int(self.master.add(columns))

    def _greedy(self, weight: NDArray[np.float64]) -> int:
        """Make classes greedily, heavy deliveries first; add the best; return how many were new."""
        packing = self.packing
        found = []
        for trial in range(MAX_TRIES // 2):
            noise = 1.0 + 0.5 * trial / MAX_TRIES * self._random.random(packing.rows)
            order = np.argsort(-weight * noise, kind="stable")
            found.append(self.filler.fill(np.zeros(0, dtype=np.int64), order))
        found.sort(key=lambda columns: -float(weight[packing.row[columns]].sum()))
        return sum(self._add(columns) for columns in found[: MAX_FRESH // 2])
