"""The numbers of steps that are still open: which one to decide next, and for how long."""

import time

from cchybrid.plugin.engine import Run
from cchybrid.toolkit.solver import EVALUATIONS_PER_UNIT

SECONDS = 40.0
"""Limit of the first number of steps in a run without a budget; every further round doubles it."""


class Targets:
    """The open numbers of steps of one run.

    Attributes
    ----------
    spent
        Evaluations so far.
    rounds
        Finished rounds; a round is over when every number of steps has been tried.
    active
        Whether any model was solved in this round.
    stalled
        Whether all remaining models are too large.
    """

    def __init__(self, run: Run, periodic: bool = False) -> None:
        self._run, self._periodic = run, periodic
        self._lower = 1
        self._offered: int | None = None
        self._given_up = 0
        self._started = time.monotonic()
        self.spent = 0
        self.rounds = 0
        self.active = False
        self.stalled = False

    def offer(self, steps: int) -> None:
        """Record an offer of this engine, which the host may not have verified yet."""
        self._offered = steps if self._offered is None else min(steps, self._offered)

    def refute(self, steps: int) -> int:
        """Record that no assignment has ``steps`` steps or fewer; return the lower bound."""
        self._lower = max(self._lower, steps + 1)
        return self._lower

    def refutes_fewer(self, steps: int) -> bool:
        """Return whether fewer steps are refuted, too: of periods, if no shorter one is open."""
        return not self._periodic or steps <= max(self._lower, self._run.lower())

    def give_up(self, steps: int) -> None:
        """Record that a number of steps remains undecided in this round."""
        self._given_up = steps

    def open(self) -> tuple[int, int | None]:
        """Return the fewest and the most open steps; ``None`` where there is no upper limit."""
        low = max(self._lower, self._run.lower())
        best = min((s for s in (self._run.best(), self._offered) if s is not None), default=None)
        upper = None if best is None else best - 1
        target = self._run.target
        if target is not None:
            low, upper = (target, target) if low <= target else (low, low - 1)
            if best is not None and best <= target:
                upper = low - 1
        return low, upper

    def next(self) -> int | None:
        """Return the steps to try next, ``None`` if none are open.

        A round starts at the fewest; after every undecided number it goes half the way up to the
        best known, or doubles the distance if no schedule is known.
        """
        low, upper = self.open()
        if upper is not None and low > upper:
            return None
        if upper is not None and self._given_up >= upper:
            if not self.active:
                self.stalled = True
                return None
            self._given_up = 0
            self.rounds += 1
            self.active = False
        if self._given_up < low:
            return low
        if upper is None:
            return 2 * self._given_up - low + 1
        return (self._given_up + upper + 1) // 2

    def spend(self, evaluations: int) -> None:
        """Count evaluations."""
        self.spent += evaluations
        self._run.spend(evaluations)

    def limit(self) -> float:
        """Return the limit for a target: a share of what is left, all if no other is open."""
        low, upper = self.open()
        choices = 3 if upper is None else min(upper - low + 1, 3)
        if self.rounds == 0:  # some is left for a second round, with hints
            choices = max(choices, 2)
        left = self.left()
        return max(left / choices, min(left, 1.0), 1e-3)

    def left(self) -> float:
        """Return what is left of the budget; without a budget, a limit.

        Seconds, or units of deterministic time under an evaluation budget, where nothing may depend
        on the clock.
        """
        budget = self._run.budget
        if budget.evaluations is not None:
            return float(budget.evaluations - self.spent) / EVALUATIONS_PER_UNIT
        if budget.seconds is not None:
            return budget.seconds - (time.monotonic() - self._started)
        return SECONDS * float(2**self.rounds)

    def now(self) -> float:
        """Return the time in the unit of ``left``; CPU time, which does not pass in a pause."""
        if self._run.budget.evaluations is not None:
            return self.spent / EVALUATIONS_PER_UNIT
        return time.process_time()
