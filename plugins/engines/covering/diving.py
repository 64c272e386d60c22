"""Diving: fix one class after the other, such that the rest still fits into the remaining steps.

1. Price a class of maximal weight from the remaining rows; the weights are the dual prices of the
   best bound, with noise.
2. Check with the linear program of the load (``LoadProgram``) whether the other rows fit into the
   remaining steps.
3. If not, its dual prices give a cut, as in Benders' decomposition: the class has to contain rows
   of at least this total price. Add the cut and price again. Cuts stay valid for later classes.
4. If so, fix the class. The last few steps are packed exactly by CP-SAT.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cchybrid.toolkit.dual_prices import LoadProgram, RowPrices
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import evaluations
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector

from .cover import ClassFiller
from .pricing import Demand, Pricer, pack

MAX_ROWS = 12
"""Cuts per class, after which it is fixed as it is: a guard, as each calls CP-SAT again."""

MAX_PRICES = 30
"""Price vectors that are kept between dives: each is a row of every later pricing."""

MAX_PACKED = 800
"""Booleans up to which the rest of a schedule is packed exactly; CP-SAT usually decides that
within ``PACK_UNITS``."""


@dataclass
class Diver:
    """Diving heuristic for schedules of a given number of steps.

    Parameters
    ----------
    spend
        Called with the evaluations of every call to CP-SAT, and one per row for the linear program.
    should_stop
        Whether the run is over.
    """

    packing: Packing
    pricer: Pricer
    filler: ClassFiller
    program: LoadProgram
    spend: Callable[[int], None]
    should_stop: Callable[[], bool]
    known_prices: list[RowPrices] = field(default_factory=list)

    def dive(
        self, steps: int, weight: IntVector, random: np.random.Generator
    ) -> tuple[list[IntVector], BoolVector]:
        """Return classes for at most ``steps`` steps, and which rows are left over.

        Parameters
        ----------
        weight
            Shape (rows,): integers; rows of larger weight are scheduled earlier. Noise is added.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        packing = self.packing
        rest = np.ones(packing.rows, dtype=np.bool_)
        classes: list[IntVector] = []
        while rest.any() and len(classes) < steps:
            left = steps - len(classes)
            columns = int(rest[packing.row].sum())
            if columns * left <= MAX_PACKED or left == 1:
                seed = int(random.integers(2**31))
                packed, units = pack(packing, rest, left, self.should_stop, seed)
                self.spend(evaluations(units))
                if packed is not None:
                    return classes + packed, np.zeros(packing.rows, dtype=np.bool_)
            noise = 1.0 + random.random() * random.random(packing.rows)
            found = self._class(rest, left, np.rint(weight * noise).astype(np.int64))
            if found is None:
                break
            classes.append(found)
            rest[packing.row[found]] = False
        return classes, rest

    def _class(self, rest: BoolVector, left: int, weight: IntVector) -> IntVector | None:
        """Return a class of these rows such that the other rows fit into the later steps."""
        found: IntVector | None = None
        for _ in range(MAX_ROWS):
            demands = [
                d for prices in self.known_prices if (d := _demand(prices, rest, left)) is not None
            ]
            priced = self.pricer.best(weight, rest, demands)
            self.spend(evaluations(priced.units) + int(rest.sum()))
            if priced.columns is None:
                return found
            found = self.filler.fill(priced.columns, np.flatnonzero(rest))
            after = rest.copy()
            after[self.packing.row[found]] = False
            prices = self.program.row_prices(after)
            if prices is None or prices.min_steps(after) < left:
                return found
            self.known_prices = [prices, *self.known_prices[: MAX_PRICES - 1]]
        return found


def _demand(prices: RowPrices, rest: BoolVector, left: int) -> Demand | None:
    """Return the least price of the rows of a class, ``None`` if any class satisfies it."""
    minimum = int(prices.row[rest].sum()) - (left - 1) * prices.step
    return Demand(prices.row, minimum) if minimum > 0 else None
