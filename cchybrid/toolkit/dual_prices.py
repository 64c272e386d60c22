"""Dual prices of linear programs: they bound the steps, and exclude options before the search.

Every resource has a price per use. In S steps all resources together offer S times the priced
capacity, and every required delivery costs at least its cheapest option. The difference is the
slack. If it is negative, S steps are refuted. An option that costs more than the slack above the
cheapest one of its delivery is in no schedule (reduced cost fixing), and a resource whose price
exceeds the slack is full in every step. All of this is counted in integers, so it holds whatever
the rounding of the linear program. Chains of requirements are ignored, which is sound.
"""

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
"""Options up to which the linear program is solved; larger ones take longer than they save."""

MAX_UNITS = 5.0
"""Deterministic time that one linear program may take, about seconds."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Integer prices of a Problem's resources, and what follows from them.

    Parameters
    ----------
    price
        Shape (resources,): price per use, not negative.
    surplus
        Shape (options,): reduced cost: the cost of an option above the cheapest of its delivery;
        the whole cost where the delivery is not required.
    paid
        Least total cost of all required deliveries.
    offered
        The priced capacity of one step.
    """

    price: IntVector
    surplus: IntVector
    paid: int
    offered: int

    @classmethod
    def of(cls, problem: Problem, uses: UsageMatrix, price: IntVector) -> "Prices":
        """Return the consequences of these prices."""
        cost = uses.costs(price).astype(np.int64)
        cheapest = np.full(problem.deliveries, np.iinfo(np.int64).max)
        np.minimum.at(cheapest, problem.option_delivery[uses.usable], cost[uses.usable])
        cheapest[~problem.required] = 0
        surplus = np.where(uses.usable, cost - cheapest[problem.option_delivery], 0)
        offered = int((price * problem.capacity).sum())
        return cls(price, surplus, int(cheapest.sum()), offered)

    @property
    def min_steps(self) -> int:
        """A lower bound on the steps of any assignment."""
        return -(-self.paid // self.offered) if self.offered else 0

    def spare(self, steps: int) -> int:
        """Return the slack of this number of steps; it is refuted if the slack is negative."""
        return steps * self.offered - self.paid


@dataclass(frozen=True, eq=False)
class Tight:
    """A Problem reduced for one number of steps.

    Parameters
    ----------
    uses
        The usage matrix, in which excluded options are not usable.
    full
        Shape (resources,): True where the resource is full in every step.
    """

    uses: UsageMatrix
    full: BoolVector


class Pricing:
    """The prices of a Problem: first 1 per channel, then the duals of linear programs.

    Parameters
    ----------
    should_stop
        Whether the run is over; then a linear program ends with ``StoppedError``.
    """

    def __init__(
        self, problem: Problem, uses: UsageMatrix, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.problem, self.uses, self.should_stop = problem, uses, should_stop
        self._found: list[Prices] = []
        self._exact: set[int] = set()
        self._sharp = not 0 < int(uses.usable.sum()) <= MAX_COLUMNS
        offered = np.zeros(problem.deliveries, dtype=np.bool_)
        offered[problem.option_delivery[uses.usable]] = True
        if offered[problem.required].all():
            # On regular networks no other prices are stronger, and these take no time.
            even = ~problem.implied & (problem.kind <= LINK)
            self._found.append(Prices.of(problem, uses, even.astype(np.int64)))

    @property
    def min_steps(self) -> int:
        """A lower bound on the steps of any assignment; ``sharpen`` may increase it."""
        return max((prices.min_steps for prices in self._found), default=0)

    def sharpen(self) -> None:
        """Solve the linear program of the fewest steps, once."""
        if not self._sharp:
            self._sharp = True
            self._add(*_min_load_duals(self.problem, self.uses, self.should_stop))

    def tight(self, steps: int) -> Tight:
        """Return the Problem reduced for ``steps``, at least ``min_steps`` of sharp prices."""
        self.sharpen()
        if steps not in self._exact and any(not prices.spare(steps) for prices in self._found):
            # Of all prices without slack, those that exclude the most options.
            self._exact.add(steps)
            self._add(_strict_duals(self.problem, self.uses, steps, self.should_stop), steps)
        return self.known(steps)

    def known(self, steps: int) -> Tight:
        """Return the Problem reduced for ``steps`` by the prices so far; no program is solved."""
        usable = self.uses.usable.copy()
        full = np.zeros(self.problem.resources, dtype=np.bool_)
        for prices in self._found:
            spare = prices.spare(steps)
            usable &= prices.surplus <= spare
            full |= prices.price > spare
        return Tight(replace(self.uses, usable=usable), full)

    def _add(self, dual: Floats | None, load: float) -> None:
        """Keep the duals of a program as integers; ``load`` is the program's value in steps."""
        if dual is None or dual.max(initial=0.0) <= 0.0:
            return
        best: Prices | None = None
        positive = dual[dual > 1e-7 * dual.max()]
        for price in roundings(dual, unit_values=(float(positive.min()), float(positive.max()))):
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
    problem: Problem, uses: UsageMatrix, should_stop: Callable[[], bool]
) -> tuple[Floats | None, float]:
    """Return the duals and the value of "the fewest steps that fractions of options fit into"."""
    program = _ProblemProgram(problem, uses, should_stop)
    steps = program.variable(objective=1.0)
    for row, capacity in program.limits():
        row.SetCoefficient(steps, -capacity)
    for row in program.delivery_rows:
        row.SetBounds(1.0, 1.0)
    return program.prices(should_stop), steps.solution_value()


def _strict_duals(
    problem: Problem, uses: UsageMatrix, steps: int, should_stop: Callable[[], bool]
) -> Floats | None:
    """Return strictly complementary duals: positive on every resource full in all solutions.

    The program is homogeneous, so any positive number is as good as 1. It maximizes the number of
    options with a positive share and of resources with slack. An option that gets no share is in no
    solution, and a resource without slack is full in all of them; their duals are positive.

    References
    ----------
    R. M. Freund, R. Roundy, M. J. Todd, "Identifying the set of always-active constraints in a
    system of linear inequalities by a single linear program", Sloan working paper 1674-85, MIT,
    1985.
    """
    program = _ProblemProgram(problem, uses, should_stop, twice=True)
    whole = program.variable()
    for row, capacity in program.limits():
        row.SetCoefficient(whole, -capacity * steps)
        row.SetCoefficient(program.variable(objective=-1.0, upper=1.0), 1.0)
    for row in program.delivery_rows:
        row.SetCoefficient(whole, -1.0)
    return program.prices(should_stop)


class _FractionProgram(LinearProgram):
    """A linear program over fractions of options: a row per delivery and per limited resource.

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
        self.capacity_rows: list[Any] = [
            self.row(-math.inf, 0.0) if here else None for here in limited.tolist()
        ]
        self.delivery_rows = [self.row(0.0, 0.0) for _ in range(deliveries)]

    def add(
        self,
        owner: IntVector,
        options: IntVector,
        uses: UsageMatrix,
        should_stop: Callable[[], bool],
        *,
        twice: bool = False,
    ) -> None:
        """Add a variable per option; with ``twice`` a second one, up to 1, that is maximized.

        Parameters
        ----------
        owner
            Shape (options,): the row of each option's delivery.
        """
        start, resource, times = uses.start.tolist(), uses.resource.tolist(), uses.times.tolist()
        paths = uses.path[options].tolist()
        for number, (row, path) in enumerate(zip(owner.tolist(), paths, strict=True)):
            if number % 1024 == 0:
                check(should_stop)
            used = [
                (self.capacity_rows[resource[place]], float(times[place]))
                for place in range(start[path], start[path + 1])
            ]
            for second in range(1 + twice):
                fraction = self.variable(-1.0, 1.0) if second else self.variable()
                self.delivery_rows[row].SetCoefficient(fraction, 1.0)
                for limit, count in used:
                    if limit is not None:
                        limit.SetCoefficient(fraction, count)


class _ProblemProgram(_FractionProgram):
    """All usable options of the required deliveries of a Problem."""

    def __init__(
        self,
        problem: Problem,
        uses: UsageMatrix,
        should_stop: Callable[[], bool],
        *,
        twice: bool = False,
    ) -> None:
        required = np.flatnonzero(problem.required)
        super().__init__(len(required), ~problem.implied, MAX_UNITS)
        self._problem = problem
        options = np.flatnonzero(uses.usable & problem.required[problem.option_delivery])
        owner = lookup(required, problem.option_delivery[options])
        self.add(owner, options, uses, should_stop, twice=twice)

    def limits(self) -> Iterator[tuple[Any, float]]:
        """Yield the row and the capacity of each limited resource."""
        for row, capacity in zip(self.capacity_rows, self._problem.capacity.tolist(), strict=True):
            if row is not None:
                yield row, float(capacity)

    def prices(self, should_stop: Callable[[], bool]) -> Floats | None:
        """Solve; return the duals, shape (resources,), or ``None`` at the time limit."""
        if not solve_program(self, should_stop):
            return None
        found = np.zeros(self._problem.resources)
        rows = (row for row, _ in self.limits())
        found[~self._problem.implied] = self.duals(rows, sign=-1.0)
        return found


@dataclass(frozen=True, eq=False)
class RowPrices:
    """Integer dual prices of the rows of a packing: a feasible solution of the dual program.

    Parameters
    ----------
    row
        Shape (rows,): the price of each row, not negative.
    step
        Largest total price of the rows of one class.
    """

    row: IntVector
    step: int

    def min_steps(self, rows: BoolVector | None = None) -> int:
        """Return a lower bound on the steps for these rows; for all if ``None``."""
        price = self.row if rows is None else self.row[rows]
        return -(-int(price.sum()) // self.step)


class LoadProgram(_FractionProgram):
    """The linear program that minimizes the maximal relative load of a packing's resources.

    It is kept from one set of rows to the next. Its dual prices the resources: the price of a row
    is that of its cheapest option, and the rows of one step cost at most its priced capacity.

    Parameters
    ----------
    should_stop
        Whether the run is over; then ``StoppedError`` is raised.
    """

    def __init__(self, packing: Packing, should_stop: Callable[[], bool] = lambda: False) -> None:
        super().__init__(packing.rows, np.ones(len(packing.capacity), dtype=np.bool_))
        self.packing, self.should_stop = packing, should_stop
        load = self.variable(objective=1.0)
        for row, capacity in zip(self.capacity_rows, packing.capacity.tolist(), strict=True):
            row.SetCoefficient(load, -float(capacity))
        for row in self.delivery_rows:
            row.SetBounds(1.0, math.inf)
        self.add(packing.row, np.arange(packing.columns), packing.uses, should_stop)

    def row_prices(self, rows: BoolVector | None = None) -> RowPrices | None:
        """Return the prices of the rows; ``None`` if no resource is contended.

        Parameters
        ----------
        rows
            Shape (rows,): the rows to be made; all if ``None``.
        """
        chosen = np.ones(self.packing.rows, dtype=np.bool_) if rows is None else rows
        for low, row in zip(chosen.tolist(), self.delivery_rows, strict=True):
            row.SetLb(float(low))
        if not solve_program(self, self.should_stop):
            return None
        best: RowPrices | None = None
        best_steps = 0.0
        for price in roundings(self.duals(self.capacity_rows, sign=-1.0)):
            prices = self._row_prices(price)
            steps = float(prices.row[chosen].sum()) / prices.step
            if steps > best_steps * (1.0 + 1e-9):
                best, best_steps = prices, steps
        return best

    def _row_prices(self, price: IntVector) -> RowPrices:
        packing = self.packing
        row = np.full(packing.rows, np.iinfo(np.int64).max)
        np.minimum.at(row, packing.row, packing.uses.costs(price).astype(np.int64))
        return RowPrices(row, max(1, int(price @ packing.capacity)))
