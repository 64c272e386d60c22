"""Repair of a near-solution by CP-SAT: most deliveries keep their places, the others are free.

1. Remove deliveries from the near-solution until it violates nothing.
2. Free the unscheduled deliveries and a share of the others: first those that use a channel that
   some unscheduled ones could use, or those of a window of steps. All free deliveries may go
   anywhere, all others are fixed.
3. CP-SAT decides whether there is such a schedule. If there is none, increase the share; if that is
   not decided in ``UNITS``, decrease it; repeat with another window.

The windows are a neighbourhood of large-neighbourhood search (P. Shaw 1998). In contrast to the
engine ``lns``, nothing is optimised: the free deliveries must all be scheduled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cchybrid.plugin.engine import Budget
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import Answer, decide, small_solver
from cchybrid.toolkit.cpsat.windows import NEVER, Windows
from cchybrid.toolkit.partial_schedule import repaired
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix, families

FIRST_SHARE, MIN_SHARE = 0.15, 0.03
"""Share of the scheduled deliveries that is free at first, and at least. Chosen by hand."""

GROWTH, SHRINKAGE = 1.2, 0.93
"""Factors on the share after a neighbourhood without a schedule, which takes CP-SAT hundredths of
a second, and after an undecided one."""

WINDOWS = 0.25
"""Probability of a window of steps. The other neighbourhood repaired more near-solutions of
irregular all-to-all broadcasts; windows were sometimes faster."""

MAX_UNSCHEDULED = 3
"""Unscheduled deliveries whose channels are freed at a time, at most."""

UNITS = 1.0
"""Deterministic time for a neighbourhood, about seconds."""


class Repair:
    """The repair of one near-solution.

    Parameters
    ----------
    uses
        Its usable options are those of free deliveries.
    near
        The near-solution.
    steps
        The number of steps of the schedule.
    """

    def __init__(
        self, problem: Problem, uses: UsageMatrix, near: Assignment, steps: int, seed: int
    ) -> None:
        self._problem, self._uses, self._steps = problem, uses, steps
        self._random = np.random.default_rng(seed)
        every = replace(uses, usable=np.ones_like(uses.usable))
        self._kept = repaired(problem, every, steps, near, self._random).assignment()
        usable = uses.usable.copy()
        usable[self._kept.option[self._kept.option >= 0]] = True
        own = replace(uses, usable=usable)
        self._windows = Windows.of(problem, own, steps, symmetry=False)
        self._family = families(problem)
        self._share = FIRST_SHARE
        self.is_refuted = False
        """Whether there is no schedule of these options even if all deliveries are free."""

    def try_neighbourhood(
        self,
        budget: Budget,
        seconds: float | None,
        useful: Callable[[], bool],
        should_stop: Callable[[], bool],
    ) -> Answer:
        """Free the deliveries of a random neighbourhood, and decide; adapt the share.

        Parameters
        ----------
        seconds
            Limit of wall-clock time, or ``None``.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        kept, required = self._kept, self._problem.required
        free = self._draw()
        windows = self._windows_of(free)
        fixed = kept.option[~free & required & (kept.option >= 0)].astype(np.int64)
        solver = small_solver(budget, int(self._random.integers(2**31)), UNITS)
        if seconds is not None:
            solver.parameters.max_time_in_seconds = seconds

        def make() -> StepModel:
            model = build(self._problem, self._uses, windows, lambda: not useful())
            model.require(fixed)
            return model

        answer = decide(make, solver, useful, should_stop)
        self.is_refuted = answer.solvable is False and self._share == 1.0
        factor = GROWTH if answer.solvable is False else SHRINKAGE
        self._share = min(1.0, max(MIN_SHARE, factor * self._share))
        return answer

    def _draw(self) -> BoolVector:
        """Return, shape (deliveries,), whether each is free."""
        problem, kept, random = self._problem, self._kept, self._random
        free = problem.required & (kept.option < 0)
        scheduled = np.flatnonzero(kept.option >= 0)
        if random.random() < WINDOWS:
            rank = np.abs(kept.step[scheduled] - random.integers(self._steps)).astype(float)
        else:
            rank = np.where(self._conflicting(scheduled, np.flatnonzero(free)), 0.0, 1.0)
        order = np.argsort(rank + random.random(len(scheduled)))
        free[scheduled[order[: int(np.ceil(self._share * len(scheduled)))]]] = True
        # Free deliveries may be forwarded by further nodes.
        helpers = ~problem.required & (kept.option < 0)
        return free | (helpers & np.isin(self._family, self._family[free]))

    def _conflicting(self, scheduled: IntVector, unscheduled: IntVector) -> BoolVector:
        """Return which deliveries use, in any step, what some unscheduled ones could use."""
        problem, uses = self._problem, self._uses
        usable = np.zeros(problem.resources, dtype=np.bool_)
        for delivery in self._random.permutation(unscheduled)[:MAX_UNSCHEDULED]:
            options = np.arange(*problem.option_start[delivery : delivery + 2])
            usable[uses.entries(options[uses.usable[options]])[1]] = True
        usable &= ~problem.implied
        position, resource, _ = uses.entries(self._kept.option[scheduled].astype(np.int64))
        found = np.zeros(len(scheduled), dtype=np.bool_)
        found[position[usable[resource]]] = True
        return found

    def _windows_of(self, free: BoolVector) -> Windows:
        """Return windows in which all but the free deliveries have one place.

        Deliveries that cannot keep their place because of the free ones become free, too.
        """
        problem, kept, windows = self._problem, self._kept, self._windows
        delivery, requires = problem.option_delivery, problem.option_requires
        while True:
            fixed = np.flatnonzero(~free & (kept.option >= 0))
            own, step = kept.option[fixed], kept.step[fixed]
            option_low = np.where(free[delivery], windows.option_low, NEVER)
            option_high, high = windows.option_high.copy(), windows.high.copy()
            option_low[own] = option_high[own] = high[fixed] = step
            while True:
                low = np.full(problem.deliveries, NEVER, dtype=np.int64)
                np.minimum.at(low, delivery, option_low)
                after = np.where(requires >= 0, low[requires] + 1, 0)
                late = (option_low < after) & (option_low < NEVER)
                if not late.any():
                    break
                option_low[late] = np.where(after > option_high, NEVER, after)[late]
            lost = option_low[own] != step
            if not lost.any():
                return replace(
                    windows, low=low, high=high, option_low=option_low, option_high=option_high
                )
            # They require a free delivery that cannot be so early any more.
            free[fixed[lost]] = True
