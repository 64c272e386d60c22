"""Repairs, one after another, until none succeeds: each schedules one step less than the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from cchybrid.plugin.engine import Run, best_assignment, cut_to
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.solver import evaluations
from cchybrid.toolkit.usage_matrix import UsageMatrix

from .repair import FIRST_FREE, Repair, cost_of
from .targets import Targets

TIME = 0.7
"""Share of the remaining time for the repairs for one number of steps. Chosen by hand."""

MAX_STARTS = 4
"""Repairs without success for one number of steps before a whole model is tried: there may be no
such schedule, and only a whole model shows that. One takes a second or two."""

MAX_UNSCHEDULED, ALWAYS_FEW = 0.02, 3
"""Share of the required deliveries that a near-solution may leave unscheduled; with more of them,
the best schedule without its last step is repaired faster. ``ALWAYS_FEW`` are allowed anyway."""


class Repairs:
    """The repairs of one run.

    Parameters
    ----------
    uses
        The usage matrix of the Problem.
    fits
        Whether a model of these options and this number of steps is small enough.
    offer
        Offers a schedule.
    """

    def __init__(
        self,
        problem: Problem,
        uses: UsageMatrix,
        run: Run,
        targets: Targets,
        fits: Callable[[UsageMatrix, int], bool],
        offer: Callable[[Assignment], None],
    ) -> None:
        self._problem, self._run, self._targets = problem, run, targets
        self._uses, self._fits, self._offer = uses, fits, offer
        self._seeds = count(run.seed)
        self._refuted: set[int] = set()
        self._required = int(problem.required.sum())
        self._max_unscheduled = max(ALWAYS_FEW, MAX_UNSCHEDULED * self._required)

    def run_all(self) -> None:
        """Repair until there is no success, and no better schedule of another engine either.

        Where all deliveries would be free, a repair is no easier than a whole model.
        """
        if self._required <= FIRST_FREE:
            return
        while not self._run.should_stop():
            low, target = self._targets.open()
            if target is None or target < low or target in self._refuted:
                return
            if not self._succeeds(target) and self._targets.open() == (low, target):
                return

    def _succeeds(self, target: int) -> bool:
        short = self._uses.shortened(self._problem, target)
        if not self._fits(short, target):
            return False
        end = self._targets.now() + TIME * self._targets.left()
        for number, repair in enumerate(self._starts(short, target)):
            self._run_one(repair, end)
            if not repair.unscheduled:
                self._offer(repair.assignment())
                return True
            self._run.suggest(repair.assignment())
            if repair.is_refuted:
                self._refuted.add(target)
                return False
            over = number + 1 == MAX_STARTS or self._targets.now() >= end
            if over or not self._run.wants(target):
                return False
        return False

    def _starts(self, short: UsageMatrix, target: int) -> Iterator[Repair]:
        """Yield repairs without end; none if there is neither near-solution nor schedule.

        By turns they start from another engine's near-solution, unless it leaves too many
        deliveries unscheduled, and from the best schedule without its last steps.
        """
        while True:
            near = self._run.hint(target, complete=True)
            if near is not None:
                repair = Repair(self._problem, short, near, target, next(self._seeds))
                if repair.unscheduled <= self._max_unscheduled or self._run.best() is None:
                    yield repair
            whole = best_assignment(self._run, self._problem)
            if whole is not None:
                cut = cut_to(whole, target)
                yield Repair(self._problem, short, cut, target, next(self._seeds))
            if near is whole is None:
                return

    def _run_one(self, repair: Repair, end: float) -> None:
        run, targets = self._run, self._targets

        def useful() -> bool:
            return run.wants(repair.steps)

        while not repair.is_over and useful() and (left := end - targets.now()) > 0:
            answer = repair.try_neighbourhood(run.budget, left, useful, run.should_stop)
            run.note(target=repair.steps, booleans=answer.booleans, unscheduled=repair.unscheduled)
            targets.spend(evaluations(cost_of(answer)))
