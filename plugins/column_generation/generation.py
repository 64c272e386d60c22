"""Column generation: the linear relaxation of the cover by classes, and what it proves.

Dantzig and Wolfe's program has a column per compatibility class. A class that would improve it has
more weight than 1 under the dual; the first ones found greedily will do, and exact pricing is asked
when there are none. Whatever the weights w are, no step holds more of them than the heaviest class,
so that sum(w) / max(class weight) steps are needed (Farley, 1990); weights and answers are whole
numbers, so the bound is exact. The dual jumps about, hence prices are asked at a point between it
and the weights of the best bound so far (Wentges' smoothing, 1997), which begin as the worth of the
rows under the prices of the load (see ``LoadProgram``).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import Run
from cchybrid.problem.ragged import lookup
from cchybrid.toolkit.dual_prices import RowPrices
from cchybrid.toolkit.kernels.first_fit import fill
from cchybrid.toolkit.kernels.flat import flatten, min_uses
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import IntVector

from .master import Master
from .pricing import Pricer

SCALE = 5040
"""A weight of 1 as a whole number: many divisors, so that most duals are met exactly."""
MAX_TRIES = 12
"""Classes that are drawn greedily before exact pricing is asked: they cost nearly nothing."""

MAX_FRESH = 6
"""Of these, classes that may enter the master program at once: similar ones help little."""

UNSTOPPED = np.zeros(1, dtype=np.bool_)
"""A class is one step, which first fit fills at once: there is nothing to end early."""

MIN_GAIN = 1e-6
"""Weight beyond 1 that makes a class worth having; less is rounding of the linear program."""


class Generation:
    """The columns, the bound, and the weights behind it.

    Parameters
    ----------
    spend
        Takes the deterministic time of every question to CP-SAT.
    over
        Whether the run is over.

    Attributes
    ----------
    bound
        Steps that no cover has fewer of.
    closed
        Whether more columns cannot change the rounded value of the relaxation.
    """

    def __init__(
        self,
        packing: Packing,
        pricer: Pricer,
        prices: RowPrices | None,
        run: Run,
        spend: Callable[[float], None],
    ) -> None:
        self.packing = packing
        self.pricer = pricer
        self.master = Master(packing)
        self.bound = 1
        self.closed = False
        self.rounds = 0
        self._run = run
        self._spend = spend
        self._centre: NDArray[np.float64] = np.zeros(packing.rows)
        self._best = 0.0
        self._lean = 0.0
        self._flat = flatten(packing.problem)
        self._near = min_uses(packing.problem, self._flat)
        self._state = seed_state(run.seed)
        self._random = np.random.default_rng(run.seed)
        if prices is not None:
            self.bound = prices.min_steps()
            self._centre = prices.row / prices.step
            self._best = float(self._centre.sum())
            self._lean = 0.7

    def weights(self) -> IntVector:
        """Return, shape (rows,), the whole weights of the best bound, none 0."""
        return np.maximum(np.floor(self._centre * SCALE).astype(np.int64), 1)

    def improve(self) -> None:
        """Do one round: solve the master program, and price.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        self.rounds += 1
        master = self.master
        if not master.solve(self._run.should_stop):
            raise RuntimeError("the master program has no solution although every row is covered")
        self._close()
        if self.closed:
            return
        lean = self._lean
        point = lean * self._centre + (1.0 - lean) * master.weight
        added = self._greedy(point) + self._greedy(master.weight)
        if added and self.rounds % 4:
            self._spend(0.0)
            return
        self._exact(point, lean, added)
        self._close()

    def _close(self) -> None:
        self.closed = self.closed or math.ceil(self.master.value - MIN_GAIN) <= self.bound

    def _exact(self, point: NDArray[np.float64], lean: float, added: int) -> None:
        weight = np.floor(point * SCALE).astype(np.int64)
        priced = self.pricer.best(weight)
        self._spend(priced.units)
        total = int(weight.sum())
        if priced.max_weight:
            self.bound = max(self.bound, -(-total // priced.max_weight))
            if total / priced.max_weight > self._best:
                self._best = total / priced.max_weight
                self._centre = weight / priced.max_weight
        fresh = 0
        if priced.columns is not None:
            rows = np.ones(self.packing.rows, dtype=np.bool_)
            fresh = self._add(self.packing.filled(priced.columns, rows))
        if fresh + added:
            self._lean = min(0.9, lean + 0.1) if fresh and lean else lean
        elif lean > 0.0:
            # The point between told nothing new of the dual itself: go nearer to it.
            self._lean = 0.0 if lean < 0.2 else lean / 2
        else:
            self.closed = True

    def _add(self, columns: IntVector) -> int:
        """Add a class if it improves the master program; return how many were added."""
        if self.master.weight[self.packing.row[columns]].sum() <= 1.0 + MIN_GAIN:
            return 0
        return int(self.master.add(columns))

    def _greedy(self, weight: NDArray[np.float64]) -> int:
        """Draw classes, heavy deliveries first; add the best ones."""
        packing = self.packing
        found = []
        for trial in range(MAX_TRIES // 2):
            noise = 1.0 + 0.5 * trial / MAX_TRIES * self._random.random(packing.rows)
            order = packing.delivery[np.argsort(-weight * noise, kind="stable")]
            found.append(self._first(order.astype(np.int32)))
        found.sort(key=lambda columns: -float(weight[packing.row[columns]].sum()))
        return sum(self._add(columns) for columns in found[: MAX_FRESH // 2])

    def _first(self, order: NDArray[np.int32]) -> IntVector:
        """Return the class that first fit makes of the deliveries in this order."""
        found = self.packing.problem.empty()
        fill(self._flat, self._near, 1, order, found.option, found.step, UNSTOPPED, self._state)
        taken = found.option[self.packing.delivery]
        return lookup(self.packing.option, taken[taken >= 0])
