"""Random-restart greedy: list scheduling step by step, in a new random order each time.

It reads only the Problem's arrays, so it schedules every collective on every network under every
communication model of cchybrid.
"""

from dataclasses import dataclass

import numpy as np
from cchybrid.plugin import Run, Stop
from cchybrid.problem import Assignment, Problem


@dataclass(frozen=True)
class Options:
    """The options that users set, as in ``--option greedy.tries=3``.

    Parameters
    ----------
    tries
        Options that a delivery tries in each step before it waits for the next one.
    patience
        Consecutive schedules without improvement after which the engine gives up.
    """

    tries: int = 4
    patience: int = 1000

    def __post_init__(self) -> None:
        """Raise ``ValueError`` with a text for the user if a value is out of range."""
        if self.tries < 1 or self.patience < 1:
            raise ValueError("tries and patience must be at least 1")


class Greedy:
    """The engine ``greedy``: make greedy schedules until no better one is of use."""

    Options = Options

    def __init__(self, options: Options) -> None:
        """Keep the options."""
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        """Return ``None``: the engine works on every problem."""
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Offer every schedule that is better than the best so far."""
        random = np.random.default_rng(run.seed)  # the only source of randomness: runs repeat
        failures = 0
        fewest: dict[int, int] = {}  # per number of steps: the fewest late deliveries
        # targets() ends when the best meets the bound, at the user's target, or when time is up.
        while (steps := next(run.targets(), None)) is not None:
            assignment = self._build(problem, random, run)
            if assignment is None:
                break
            run.spend(1)
            if run.wants(assignment.steps):
                run.offer(assignment)
                failures = 0
            else:
                failures += 1
            late = int((assignment.step >= steps).sum())
            fewest[steps] = min(late, fewest.get(steps, late))
            run.progress(steps, fewest[steps])
            run.note(failures=failures)
            if failures == self.options.patience:
                return Stop.STALLED
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED

    def _build(self, problem: Problem, random: np.random.Generator, run: Run) -> Assignment | None:
        """Return a schedule, or ``None`` if the run was over before it was complete."""
        made = problem.empty()
        step = 0
        while (made.step[problem.required] < 0).any():
            if run.should_stop():
                return None
            residual = problem.capacity.copy()
            for delivery in self._order(problem, made, random):
                self._place(problem, made, delivery, step, residual, random)
            step += 1
        return made

    def _order(self, problem: Problem, made: Assignment, random: np.random.Generator) -> list[int]:
        """Return the missing deliveries in random order: required ones before optional ones."""
        missing = random.permutation(np.flatnonzero(made.step < 0))
        required = problem.required[missing]
        return [*missing[required].tolist(), *missing[~required].tolist()]

    def _place(
        self,
        problem: Problem,
        made: Assignment,
        delivery: int,
        step: int,
        residual: np.ndarray,
        random: np.random.Generator,
    ) -> None:
        """Make the delivery in this step if one of a few random options fits into ``residual``."""
        first, stop = problem.option_start[delivery], problem.option_start[delivery + 1]
        requires = problem.option_requires[first:stop]
        happened = made.step[requires]  # meaningless where nothing is required, hence the "or"
        ready = (requires < 0) | ((happened >= 0) & (happened < step))
        for option in random.permutation(first + np.flatnonzero(ready))[: self.options.tries]:
            used = problem.resources_of(option)
            np.subtract.at(residual, used, 1)  # a resource that is listed twice is used twice
            if (residual[used] >= 0).all():
                made.option[delivery], made.step[delivery] = option, step
                return
            np.add.at(residual, used, 1)
