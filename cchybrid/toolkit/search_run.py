"""The evaluation budget of an engine, and the flag that stops its kernels."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import numpy as np

from cchybrid.plugin.engine import Run
from cchybrid.problem.arrays import BoolArray

WATCH_SECONDS = 0.1
"""Seconds between two checks of the run: a tenth of the time in which an engine has to stop."""


class EvaluationBudget:
    """The evaluations of one engine, over all its islands and targets."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.spent = 0

    def spend(self, evaluations: int) -> None:
        """Count evaluations."""
        self.spent += evaluations
        self._run.spend(evaluations)

    def share(self, requested: int, islands: int) -> int:
        """Return the evaluations of each island: ``requested``, or the rest of the budget."""
        budget = self._run.budget.evaluations
        if budget is None:
            return requested
        return max(1, min(requested, (budget - self.spent) // islands))


@contextmanager
def watched(run: Run, steps: int | None = None) -> Iterator[BoolArray]:
    """Yield a flag, shape (1,), that is set once a schedule of ``steps`` is no longer of use.

    Without ``steps`` it is set once there is no target left (``Run.targets``).
    """
    stop, done = np.zeros(1, dtype=np.bool_), Event()

    def is_over() -> bool:
        return next(run.targets(), None) is None if steps is None else not run.wants(steps)

    def watch() -> None:
        while not done.wait(WATCH_SECONDS):
            if is_over():
                stop[0] = True
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield stop
    finally:
        done.set()
        watcher.join()
