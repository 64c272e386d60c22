"""Diving: one class after the other is settled so that what it leaves still fits into the rest.

That what is left fits is asked of the linear program of the load (see ``LoadProgram``): if it does
not, its prices tell how much worth the class has to take away at least, and the class is priced
again with that row, as in Benders' decomposition. Such rows hold for every later class, too. The
last few steps are packed exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cchybrid.toolkit.dual_prices import LoadProgram, RowPrices
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector

from .pricing import Demand, Pricer, pack

MAX_ROWS = 12
"""Rows that may be added before a class is taken as it is: a guard, as each asks CP-SAT anew."""

MAX_WORTHS = 30
"""Worths that are remembered from one dive to the next: each is a row of every later question."""

MAX_PACKED = 800
"""Booleans up to which the rest of a schedule is packed exactly; CP-SAT mostly decides that within
``PACK_UNITS``."""


@dataclass
class Diver:
    """Dives for schedules of a given number of steps.

    Parameters
    ----------
    spend
        Takes the deterministic time of every question to CP-SAT.
    over
        Whether the run is over.
    """

    packing: Packing
    pricer: Pricer
    program: LoadProgram
    spend: Callable[[float], None]
    over: Callable[[], bool]
    known_prices: list[RowPrices] = field(default_factory=list)

    def dive(
        self, steps: int, weight: IntVector, random: np.random.Generator
    ) -> tuple[list[IntVector], BoolVector]:
        """Return classes for at most so many steps, and which rows are left over.

        Parameters
        ----------
        weight
            Shape (rows,): whole numbers, the more the sooner; noise is added.

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
                packed, units = pack(packing, rest, left, self.over, int(random.integers(2**31)))
                self.spend(units)
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
        """Return a class of these rows whose leftovers fit into the steps after it."""
        found: IntVector | None = None
        for _ in range(MAX_ROWS):
            demands = [
                d for prices in self.known_prices if (d := _demand(prices, rest, left)) is not None
            ]
            priced = self.pricer.best(weight, rest, demands)
            self.spend(priced.units)
            if priced.columns is None:
                return found
            found = self.packing.filled(priced.columns, rest)
            after = rest.copy()
            after[self.packing.row[found]] = False
            prices = self.program.row_prices(after)
            if prices is None or prices.min_steps(after) < left:
                return found
            self.known_prices = [prices, *self.known_prices[: MAX_WORTHS - 1]]
        return found


def _demand(prices: RowPrices, rest: BoolVector, left: int) -> Demand | None:
    """Return what a class has to take away so that the others can hold the rest."""
    minimum = int(prices.row[rest].sum()) - (left - 1) * prices.step
    return Demand(prices.row, minimum) if minimum > 0 else None
