"""Dual prices of linear programs: they bound the steps, and rule out options before the search.

A price per use of every resource: in S steps all resources together offer S times the priced
capacity, and every required delivery pays its cheapest option at least. What is left is to spare.
Where nothing is left S steps are refuted; an option that costs more above the cheapest one of its
delivery than is to spare is in no schedule (reduced cost fixing), and a resource whose price is
more than that is full in every step. All of that is counted in integers, so it holds whatever the
linear program's rounding was. Chains of requirements are left out, which is sound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import LINK, Problem
from cchybrid.problem.ragged import lookup
from cchybrid.proof.linear_program import LinearProgram, roundings
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import check, solve_program
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix

Floats = NDArray[np.float64]

MAX_COLUMNS = 60_000
"""Options beyond which the linear program would take longer than it saves."""

MAX_UNITS = 5.0
"""Units of deterministic time that one linear program may take, about as many seconds."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Integer prices of a Problem's resources, and what follows from them.

    Parameters
    ----------
    price
        Shape (resources,): per use, none negative.
    surplus
        Shape (options,): what an option costs above the cheapest of its delivery; all of it where
        the delivery is not required.
    paid
        What all required deliveries pay at least.
    offered
        The priced capacity of one step.
    """

    price: IntVector
    surplus: IntVector
    paid: int
    offered: int

    @classmethod
    def of(cls, problem: Problem, uses: UsageMatrix, price: IntVector) -> Prices:
        """Count what these prices mean."""
        cost = uses.costs(price).astype(np.int64)
        cheapest = np.full(problem.deliveries, np.iinfo(np.int64).max)
        np.minimum.at(cheapest, problem.option_delivery[uses.usable], cost[uses.usable])
        cheapest[~problem.required] = 0
        surplus = np.where(uses.usable, cost - cheapest[problem.option_delivery], 0)
        offered = int((price * problem.capacity).sum())
        return cls(price, surplus, int(cheapest.sum()), offered)

    @property
    def min_steps(self) -> int:
        """A number of steps that no assignment beats."""
        return -(-self.paid // self.offered) if self.offered else 0

    def spare(self, steps: int) -> int:
        """Return what so many steps offer beyond what is paid at least."""
        return steps * self.offered - self.paid


@dataclass(frozen=True, eq=False)
class Tight:
    """What is left of a Problem for one number of steps.

    Parameters
    ----------
    uses
        With only those options usable that are not ruled out.
    full
        Shape (resources,): True where the resource is full in every step.
    """

    uses: UsageMatrix
    full: BoolVector


class Pricing:
    """The prices of a Problem: one per channel to begin with, then those of linear programs.

    Parameters
    ----------
    over
        Whether the run is over; then a linear program ends with ``StoppedError``.
    """

    def __init__(
        self, problem: Problem, uses: UsageMatrix, over: Callable[[], bool] = lambda: False
    ) -> None:
        self.problem, self.uses, self.over = problem, uses, over
        self._found: list[Prices] = []
        self._exact: set[int] = set()
        self._sharp = not 0 < int(uses.usable.sum()) <= MAX_COLUMNS
        offered = np.zeros(problem.deliveries, dtype=np.bool_)
        offered[problem.option_delivery[uses.usable]] = True
        if offered[problem.required].all():
            # On regular networks nothing is stronger, and it takes no time.
            even = ~problem.implied & (problem.kind <= LINK)
            self._found.append(Prices.of(problem, uses, even.astype(np.int64)))

    @property
    def min_steps(self) -> int:
        """A number of steps that no assignment beats; more once the prices are sharp."""
        return max((prices.min_steps for prices in self._found), default=0)

    def sharpen(self) -> None:
        """Solve the linear program of the fewest steps, unless that has been done."""
        if not self._sharp:
            self._sharp = True
            self._add(*_min_load_duals(self.problem, self.uses, self.over))

    def tight(self, steps: int) -> Tight:
        """Return what is left for at least ``min_steps`` steps of sharp prices."""
        self.sharpen()
        usable = self.uses.usable.copy()
        full = np.zeros(self.problem.resources, dtype=np.bool_)
        if steps not in self._exact and any(not prices.spare(steps) for prices in self._found):
            # Of all prices that leave nothing to spare, those that rule out the most.
            self._exact.add(steps)
            self._add(_strict_duals(self.problem, self.uses, steps, self.over), steps)
        for prices in self._found:
            spare = prices.spare(steps)
            usable &= prices.surplus <= spare
            full |= prices.price > spare
        return Tight(replace(self.uses, usable=usable), full)

    def _add(self, dual: Floats | None, load: float) -> None:
        """Keep the duals of a program as integers; ``load`` are the steps that they stand for."""
        if dual is None or dual.max(initial=0.0) <= 0.0:
            return
        best: Prices | None = None
        positive = dual[dual > 1e-7 * dual.max()]
        for price in roundings(dual, units=(float(positive.min()), float(positive.max()))):
            if not price.any() or price.max() >= 1 << 31:
                continue
            known = Prices.of(self.problem, self.uses, price)
            if best is None or known.paid * best.offered > best.paid * known.offered:
                best = known
            if known.offered and known.paid / known.offered >= load - 1e-9:
                break
        if best is not None:
            self._found.append(best)


def _min_load_duals(
    problem: Problem, uses: UsageMatrix, over: Callable[[], bool]
) -> tuple[Floats | None, float]:
    """Return the duals of "options in fractions, in as few steps as have room", and the steps."""
    program = _ProblemProgram(problem, uses, over)
    steps = program.variable(objective=1.0)
    for row, capacity in program.limits():
        row.SetCoefficient(steps, -capacity)
    for row in program.once:
        row.SetBounds(1.0, 1.0)
    return program.prices(over), steps.solution_value()


def _strict_duals(
    problem: Problem, uses: UsageMatrix, steps: int, over: Callable[[], bool]
) -> Floats | None:
    """Return strictly complementary duals: positive on whatever is full in all solutions.

    The program is homogeneous, which makes a positive number as good as 1: it looks for the
    solution in which most options are taken and most resources have room (Freund, Roundy and Todd
    1985). What it cannot give any is always full, or never taken, and its dual says so.
    """
    program = _ProblemProgram(problem, uses, over, twice=True)
    whole = program.variable()
    for row, capacity in program.limits():
        row.SetCoefficient(whole, -capacity * steps)
        row.SetCoefficient(program.variable(objective=-1.0, most=1.0), 1.0)
    for row in program.once:
        row.SetCoefficient(whole, -1.0)
    return program.prices(over)


class _FractionProgram(LinearProgram):
    """Options in fractions: a row per delivery, and one per resource that is limited.

    Parameters
    ----------
    deliveries
        The number of rows of deliveries.
    limited
        Shape (resources,): whether the resource has a row.
    units
        See ``LinearProgram``.
    """

    def __init__(self, deliveries: int, limited: BoolVector, units: float | None = None) -> None:
        super().__init__(units=units)
        self.room: list[Any] = [
            self.row(-math.inf, 0.0) if here else None for here in limited.tolist()
        ]
        self.once = [self.row(0.0, 0.0) for _ in range(deliveries)]

    def add(
        self,
        owner: IntVector,
        options: IntVector,
        uses: UsageMatrix,
        over: Callable[[], bool],
        *,
        twice: bool = False,
    ) -> None:
        """Add a variable per option, or two, of which the second is worth having up to 1.

        Parameters
        ----------
        owner
            Shape (options,): the row of each option's delivery.
        """
        start, resource, times = uses.start.tolist(), uses.resource.tolist(), uses.times.tolist()
        paths = uses.path[options].tolist()
        for number, (row, path) in enumerate(zip(owner.tolist(), paths, strict=True)):
            if number % 1024 == 0:
                check(over)
            used = [
                (self.room[resource[place]], float(times[place]))
                for place in range(start[path], start[path + 1])
            ]
            for second in range(1 + twice):
                fraction = self.variable(-1.0, 1.0) if second else self.variable()
                self.once[row].SetCoefficient(fraction, 1.0)
                for limit, count in used:
                    if limit is not None:
                        limit.SetCoefficient(fraction, count)


class _ProblemProgram(_FractionProgram):
    """All usable options of the required deliveries of a Problem."""

    def __init__(
        self, problem: Problem, uses: UsageMatrix, over: Callable[[], bool], *, twice: bool = False
    ) -> None:
        required = np.flatnonzero(problem.required)
        super().__init__(len(required), ~problem.implied, MAX_UNITS)
        self._problem = problem
        options = np.flatnonzero(uses.usable & problem.required[problem.option_delivery])
        owner = lookup(required, problem.option_delivery[options])
        self.add(owner, options, uses, over, twice=twice)

    def limits(self) -> Iterator[tuple[Any, float]]:
        """Yield the row and the capacity of each limited resource."""
        for row, capacity in zip(self.room, self._problem.capacity.tolist(), strict=True):
            if row is not None:
                yield row, float(capacity)

    def prices(self, over: Callable[[], bool]) -> Floats | None:
        """Solve; return, shape (resources,), the duals of the rows, ``None`` if time was up."""
        if not solve_program(self, over):
            return None
        found = np.zeros(self._problem.resources)
        rows = (row for row, _ in self.limits())
        found[~self._problem.implied] = self.duals(rows, sign=-1.0)
        return found


@dataclass(frozen=True, eq=False)
class RowPrices:
    """What every row of a packing is worth, and the worth that fits into one step.

    Parameters
    ----------
    row
        Shape (rows,): whole numbers, none negative.
    step
        No class holds rows that are worth more than this together.
    """

    row: IntVector
    step: int

    def min_steps(self, rows: BoolVector | None = None) -> int:
        """Return a number of steps below which these rows, or all, cannot be made."""
        row_prices = self.row if rows is None else self.row[rows]
        return -(-int(row_prices.sum()) // self.step)


class LoadProgram(_FractionProgram):
    """The linear program that spreads the load of a packing, kept from one set of rows to the next.

    The most loaded resource, relative to its capacity, carries as little as possible. The dual
    prices the resources: a row is worth its cheapest option, and no step can make more worth than
    its capacities cost.

    Parameters
    ----------
    over
        Whether the run is over; then ``StoppedError`` is raised.
    """

    def __init__(self, packing: Packing, over: Callable[[], bool] = lambda: False) -> None:
        super().__init__(packing.rows, np.ones(len(packing.capacity), dtype=np.bool_))
        self.packing, self.over = packing, over
        load = self.variable(objective=1.0)
        for row, capacity in zip(self.room, packing.capacity.tolist(), strict=True):
            row.SetCoefficient(load, -float(capacity))
        for row in self.once:
            row.SetBounds(1.0, math.inf)
        self.add(packing.row, np.arange(packing.columns), packing.uses, over)

    def row_prices(self, rows: BoolVector | None = None) -> RowPrices | None:
        """Return what the dual says the rows are worth; ``None`` where nothing is contended.

        Parameters
        ----------
        rows
            Shape (rows,): the rows to be made; all if ``None``.
        """
        chosen = np.ones(self.packing.rows, dtype=np.bool_) if rows is None else rows
        for low, row in zip(chosen.tolist(), self.once, strict=True):
            row.SetLb(float(low))
        if not solve_program(self, self.over):
            return None
        best: RowPrices | None = None
        best_steps = 0.0
        for price in roundings(self.duals(self.room, sign=-1.0)):
            row_prices = self._whole(price)
            steps = float(row_prices.row[chosen].sum()) / row_prices.step
            if steps > best_steps * (1.0 + 1e-9):
                best, best_steps = row_prices, steps
        return best

    def _whole(self, price: IntVector) -> RowPrices:
        packing = self.packing
        row = np.full(packing.rows, np.iinfo(np.int64).max)
        np.minimum.at(row, packing.row, packing.uses.costs(price).astype(np.int64))
        return RowPrices(row, max(1, int(price @ packing.capacity)))
