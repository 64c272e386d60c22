"""What a linear program knows before the search: dual prices, which rule out steps and options.

A price per use of every resource: in S steps all resources together offer S times the priced
capacity, and every required delivery pays its cheapest option at least. What is left is to spare.
Where nothing is left S steps are refuted; an option that costs more above the cheapest one of its
delivery than is to spare is in no schedule (reduced cost fixing), and a resource whose price is
more than that is full in every step. All of that is counted in integers, so it holds whatever the
linear program's rounding was. Chains of requirements are left out, which is sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from cchybrid.problem import LINK, Problem
from cchybrid.toolkit.usage_matrix import Uses

IntVector = NDArray[np.int64]
BoolVector = NDArray[np.bool_]

MAX_COLUMNS = 60_000
"""Options beyond which the linear program would take longer than it saves."""

WORK = 5.0
"""Units of deterministic time that one linear program may take, about as many seconds."""

_SCALES = (1, 2, 3, 4, 6, 12, 24, 60, 360, 10**6)
"""What prices are multiplied by before they are rounded; the coarsest that does as well wins."""


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
    def of(cls, problem: Problem, uses: Uses, price: IntVector) -> Prices:
        """Count what these prices mean."""
        place, position = uses.expand(problem.option_path)
        cost = np.zeros(problem.options, dtype=np.int64)
        np.add.at(cost, position, price[uses.resource[place]] * uses.times[place])
        least = np.full(problem.deliveries, np.iinfo(np.int64).max)
        np.minimum.at(least, problem.option_delivery[uses.usable], cost[uses.usable])
        least[~problem.required] = 0
        surplus = np.where(uses.usable, cost - least[problem.option_delivery], 0)
        offered = int((price * problem.capacity).sum())
        return cls(price, surplus, int(least.sum()), offered)

    @property
    def least_steps(self) -> int:
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

    uses: Uses
    full: BoolVector


class Pricing:
    """The prices of a Problem: one per channel to begin with, then those of linear programs."""

    def __init__(self, problem: Problem, uses: Uses) -> None:
        self.problem, self.uses = problem, uses
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
    def least_steps(self) -> int:
        """A number of steps that no assignment beats; more once the prices are sharp."""
        return max((prices.least_steps for prices in self._found), default=0)

    def sharpen(self) -> None:
        """Solve the linear program of the fewest steps, unless that has been done."""
        if not self._sharp:
            self._sharp = True
            self._add(*_least_load(self.problem, self.uses))

    def tight(self, steps: int) -> Tight:
        """Return what is left for at least ``least_steps`` steps of sharp prices."""
        self.sharpen()
        usable = self.uses.usable.copy()
        full = np.zeros(self.problem.resources, dtype=np.bool_)
        if steps not in self._exact and any(not prices.spare(steps) for prices in self._found):
            # Of all prices that leave nothing to spare, those that rule out the most.
            self._exact.add(steps)
            self._add(_most_certain(self.problem, self.uses, steps), steps)
        for prices in self._found:
            spare = prices.spare(steps)
            usable &= prices.surplus <= spare
            full |= prices.price > spare
        return Tight(replace(self.uses, usable=usable), full)

    def _add(self, dual: NDArray[np.float64] | None, load: float) -> None:
        """Keep the duals of a program as integers; ``load`` are the steps that they stand for."""
        if dual is None or dual.max(initial=0.0) <= 0.0:
            return
        best: Prices | None = None
        for price in _rounded(dual):
            known = Prices.of(self.problem, self.uses, price)
            if best is None or known.paid * best.offered > best.paid * known.offered:
                best = known
            if known.offered and known.paid / known.offered >= load - 1e-9:
                break
        if best is not None:
            self._found.append(best)


def _rounded(dual: NDArray[np.float64]) -> Iterator[IntVector]:
    positive = dual[dual > 1e-7 * dual.max()]
    for scale in _SCALES:
        for unit in (float(positive.min()), float(positive.max())):
            price = np.rint(dual * (scale / unit)).astype(np.int64)
            if price.any() and price.max() < 1 << 31:
                yield price


def _least_load(problem: Problem, uses: Uses) -> tuple[NDArray[np.float64] | None, float]:
    """Return the duals of "options in fractions, in as few steps as have room", and the steps."""
    program = _Program(problem, uses)
    steps = program.variable(objective=1.0)
    for resource, row in program.rows.items():
        row.SetCoefficient(steps, -float(problem.capacity[resource]))
    for row in program.once.values():
        row.SetBounds(1.0, 1.0)
    return program.prices(), steps.solution_value()


def _most_certain(problem: Problem, uses: Uses, steps: int) -> NDArray[np.float64] | None:
    """Return strictly complementary duals: positive on whatever is full in all solutions.

    The program is homogeneous, which makes a positive number as good as 1: it looks for the
    solution in which most options are taken and most resources have room (Freund, Roundy and Todd
    1985). What it cannot give any is always full, or never taken, and its dual says so.
    """
    program = _Program(problem, uses, twice=True)
    whole = program.variable(objective=0.0)
    for resource, row in program.rows.items():
        row.SetCoefficient(whole, -float(problem.capacity[resource] * steps))
        row.SetCoefficient(program.variable(objective=-1.0, most=1.0), 1.0)
    for row in program.once.values():
        row.SetCoefficient(whole, -1.0)
    return program.prices()


class _Program:
    """Fractions of options, a row per limiting resource and one per required delivery."""

    def __init__(self, problem: Problem, uses: Uses, *, twice: bool = False) -> None:
        self._problem = problem
        self._solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        self._solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {WORK}")
        infinity = self._solver.infinity()
        self._objective = self._solver.Objective()
        self._objective.SetMinimization()
        self.rows = {
            resource: self._solver.Constraint(-infinity, 0.0)
            for resource in np.flatnonzero(~problem.implied).tolist()
        }
        self.once = {
            delivery: self._solver.Constraint(0.0, 0.0)
            for delivery in np.flatnonzero(problem.required).tolist()
        }
        options = np.flatnonzero(uses.usable & problem.required[problem.option_delivery])
        start, resource, times = uses.start.tolist(), uses.resource.tolist(), uses.times.tolist()
        paths = problem.option_path[options].tolist()
        deliveries = problem.option_delivery[options].tolist()
        for path, delivery in zip(paths, deliveries, strict=True):
            pairs = [
                (self.rows[resource[place]], float(times[place]))
                for place in range(start[path], start[path + 1])
                if resource[place] in self.rows
            ]
            once = self.once[delivery]
            for column in range(1 + twice):
                fraction = (
                    self.variable(objective=-1.0, most=1.0)
                    if column
                    else self.variable(objective=0.0)
                )
                once.SetCoefficient(fraction, 1.0)
                for row, count in pairs:
                    row.SetCoefficient(fraction, count)

    def variable(self, objective: float, most: float | None = None) -> Any:
        """Return a new variable from 0 up."""
        found = self._solver.NumVar(0.0, self._solver.infinity() if most is None else most, "")
        self._objective.SetCoefficient(found, objective)
        return found

    def prices(self) -> NDArray[np.float64] | None:
        """Solve; return, shape (resources,), the duals of the rows, ``None`` if time was up."""
        if self._solver.Solve() != pywraplp.Solver.OPTIMAL:
            return None
        found = np.zeros(self._problem.resources)
        for resource, row in self.rows.items():
            found[resource] = max(0.0, -float(row.dual_value()))
        return found
