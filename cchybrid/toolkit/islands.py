"""Islands: parallel searches on threads that exchange their best solutions.

Every island has its own random state and makes the same number of evaluations per round; a round
ends when all islands have finished it. So a run with an evaluation budget repeats exactly, whatever
the load of the machine, and as islands share no data, no locks are needed. Every few rounds the
best solution of each island migrates to the next one in a ring (island model), and a new
near-solution of another engine to the first one.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from cchybrid.plugin.engine import Run
from cchybrid.problem import Assignment
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.search_run import EvaluationBudget, watched

MIGRATION_ROUNDS = 10
"""Rounds between two migrations."""


class Island(Protocol):
    """One search for a schedule of a fixed number of steps."""

    @property
    def conflicts(self) -> int:
        """The conflicts of the best near-solution so far; 0 if it is a schedule."""

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        """Continue the search; return the evaluations made.

        Parameters
        ----------
        evaluations
            Evaluations to make at most (one generation if that takes more).
        stop
            Shape (1,): set by another thread to end early.
        """

    def best(self) -> Assignment:
        """Return the best near-solution; unscheduled deliveries have option and step -1."""

    def immigrate(self, migrant: Assignment) -> None:
        """Accept the near-solution of another island or engine."""


def island_seed(seed: int, index: int) -> int:
    """Return the seed of an island; the first one has the run's own."""
    return seed + index * 0x9E3779B1


def explore(
    islands: Sequence[Island],
    run: Run,
    budget: EvaluationBudget,
    steps: int,
    evaluations: int,
    patience_rounds: int | None = None,
) -> Assignment | None:
    """Run islands in parallel until one finds a schedule; return it.

    Parameters
    ----------
    steps
        The number of steps of the schedule.
    evaluations
        Evaluations of each island per round. A round should take hundredths of a second.
    patience_rounds
        Rounds without progress of the best island after which to give up; ``None``: never.

    Returns
    -------
    Assignment | None
        ``None`` if the search gave up, or this number of steps is no longer of use.
    """
    fewest, idle, rounds = None, 0, 0
    with watched(run, steps) as stop, ThreadPoolExecutor(len(islands)) as pool:
        while run.wants(steps):
            share = budget.share(evaluations, len(islands))
            made = [pool.submit(island.advance, share, stop) for island in islands]
            budget.spend(sum(each.result() for each in made))
            best = min(islands, key=lambda island: island.conflicts)
            if best.conflicts == 0:
                return best.best()
            rounds, idle = rounds + 1, idle + 1
            if fewest is None or best.conflicts < fewest:
                fewest, idle = best.conflicts, 0
                if best.conflicts <= max(10, len(best.best().step) // 50):
                    run.suggest(best.best())
            run.progress(steps, fewest)
            run.note(evaluations=budget.spent)
            if patience_rounds is not None and idle >= patience_rounds:
                return None
            if rounds % MIGRATION_ROUNDS == 0:
                if len(islands) > 1:
                    _migrate(islands)
                if (migrant := run.migrant(steps)) is not None:
                    islands[0].immigrate(migrant)
    return None


def _migrate(islands: Sequence[Island]) -> None:
    """Send the best of every island to the next one in the ring."""
    migrants = [island.best() for island in islands]
    for migrant, island in zip(migrants, (*islands[1:], islands[0]), strict=True):
        island.immigrate(migrant)
