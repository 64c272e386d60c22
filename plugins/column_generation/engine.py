"""The engine ``column-generation``: bounds by column generation, schedules by diving.

1. Columns: the compatibility classes of greedy schedules are the first columns.
2. Bound: solve the restricted master program (the fewest fractional classes that cover every
   delivery), price new classes greedily or by CP-SAT, repeat; exact pricing gives Farley's bound
   (``master.py``, ``pricing.py``, ``generation.py``).
3. Schedule: every ``columns`` rounds, dive for the open number of steps: fix one class after the
   other, such that the remaining deliveries still fit into the remaining steps (``diving.py``).
4. Schedule: cover by generated classes with CP-SAT, and insert what is left (``rounding.py``).

Steps 2 to 4 repeat until the best schedule meets the bound or the budget is spent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.dual_prices import LoadProgram
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.options import require
from cchybrid.toolkit.packing import Packing, refusal
from cchybrid.toolkit.solver import check, evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import IntVector
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .diving import Diver
from .generation import Generation
from .pricing import Pricer
from .rounding import cover, with_leftovers


class ColumnGeneration:
    """Column generation over compatibility classes: strong bounds, schedules by diving.

    References
    ----------
    P. C. Gilmore, R. E. Gomory, "A linear programming approach to the cutting-stock problem",
    Operations Research 9, 1961. doi:10.1287/opre.9.6.849

    G. B. Dantzig, P. Wolfe, "Decomposition principle for linear programs", Operations Research 8,
    1960. doi:10.1287/opre.8.1.101

    A. A. Farley, "A note on bounding a class of linear programming problems, including cutting
    stock problems", Operations Research 38, 1990. doi:10.1287/opre.38.5.922

    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 4.2.1 (compatibility classes).
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        columns
            Rounds of column generation between two dives.
        starts
            First-fit schedules from which the first columns are taken.
        pricing_units
            Deterministic time of one exact pricing by CP-SAT, about seconds.
        cover_units
            Deterministic time of one cover by the columns found so far.
        max_columns
            Options that a Problem may have; each takes about a kilobyte in CP-SAT.
        """

        columns: int = 20
        starts: int = 4
        pricing_units: float = 2.0
        cover_units: float = 0.5
        max_columns: int = 100_000

        def __post_init__(self) -> None:
            require(self, columns=1, starts=1, pricing_units=0.001, cover_units=0, max_columns=1)

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self) -> None:
        """Compile the kernels of greedy schedules."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse Problems with precedence, and those that would not fit into memory."""
        if problem.options > self.options.max_columns:
            return f"{problem.options:,} options, more than {self.options.max_columns:,}"
        return refusal(problem)

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Generate columns and dive alternately until the best schedule meets the bound."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: ColumnGeneration.Options) -> None:
        self.run = run
        self.options = options
        self.packing = packing = Packing.of(problem)
        self.random = np.random.default_rng(run.seed)
        self.offered: int | None = None
        program = LoadProgram(packing, run.should_stop)
        pricer = Pricer(packing, run.should_stop, run.seed, options.pricing_units)
        prices = program.row_prices()
        self.generation = Generation(packing, pricer, prices, run, self._spend)
        self.diver = Diver(packing, pricer, program, self._spend, run.should_stop)
        if prices is not None:
            self.diver.known_prices.append(prices)

    def run_all(self) -> Stop:
        run, generation = self.run, self.generation
        self._claim()
        self._first_columns()
        while next(run.targets(), None) is not None:
            for _ in range(self.options.columns):
                if generation.closed or run.should_stop():
                    break
                generation.improve()
                self._claim()
                run.note(
                    columns=len(generation.master.classes),
                    relaxation=generation.master.value,
                    bound=generation.bound,
                )
            target = self._target()
            if target is None:
                break
            weight = generation.weights()
            self._finish(*self.diver.dive(target, weight, self.random), target)
            if run.wants(target):
                self._cover(target)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED

    def _target(self) -> int | None:
        """Return the steps to dive for, ``None`` if this Problem has nothing better.

        The fewest open number, or the user's target: deliveries that a dive leaves over take
        further steps, so it yields schedules of larger numbers as well.
        """
        best = self.run.best()
        low = max(self.run.lower(), self.generation.bound)
        if best is not None and low >= best:
            return None
        return low if self.run.target is None else max(low, self.run.target)

    def _claim(self) -> None:
        if self.packing.problem.complete and self.generation.bound > self.run.lower():
            self.run.bound(self.generation.bound)

    def _spend(self, units: float) -> None:
        self.run.spend(evaluations(units))
        check(self.run.should_stop)

    def _first_columns(self) -> None:
        """Add the steps of the best schedule and of greedy schedules as columns."""
        known = [
            first_fit(self.packing.problem, self.run.seed + i) for i in range(self.options.starts)
        ]
        best = self.run.best()
        hint = None if best is None else self.run.hint(best)
        self._offer(min(known, key=lambda found: found.steps))
        for found in known if hint is None else [hint, *known]:
            self._learn(self.packing.classes(found))
        self._spend(0.0)

    def _learn(self, classes: list[IntVector]) -> None:
        rows = np.ones(self.packing.rows, dtype=np.bool_)
        for columns in classes:
            self.generation.master.add(self.packing.filled(columns, rows))

    def _offer(self, assignment: Assignment) -> None:
        steps = assignment.steps
        best = self.run.best()
        if (best is None or steps < best) and (self.offered is None or steps < self.offered):
            self.offered = steps
            self.run.offer(assignment)

    def _cover(self, target: int) -> None:
        classes, rest, units = cover(
            self.packing,
            self.generation.master.classes,
            target,
            self.run.should_stop,
            int(self.random.integers(2**31)),
            units=self.options.cover_units,
        )
        self._finish(classes, rest, target)
        self._spend(units)

    def _finish(self, classes: list[IntVector], rest: np.ndarray, target: int) -> None:
        full = with_leftovers(self.packing, classes, rest)
        self._learn(full)
        self.run.note(target=target, left=int(rest.sum()), steps=len(full))
        self._offer(self.packing.assignment(full))
