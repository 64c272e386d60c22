"""The engine ``list-scheduling``: restarts and local search over the keys of list schedules."""

import numpy as np

from cchybrid.plugin.engine import EngineBase, NoOptions, Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.kernels.list_scheduling import NEVER
from cchybrid.toolkit.list_scheduling import ListScheduler
from cchybrid.toolkit.search_run import EvaluationBudget, watched
from cchybrid.toolkit.warmup_problem import warmup_problem

CHANGES = 40
"""Changes without a shorter schedule before a restart: of 10, 40 and 200 the best on clusters."""


class ListScheduling(EngineBase[NoOptions]):
    """List scheduling in ticks: whenever a path is free, it sends the message that suits it best.

    1. For every required delivery a chain of options is chosen, the cheapest one at prices that
       increase with the load of channels; only deliveries on chains are made.
    2. At every event (a message has arrived, a channel is free), every free path sends the message
       of the largest score that its first node has and its last one lacks. The score is a random
       combination of the ticks that the message still has to go, the number of nodes that have it
       (subtracted), and a random key. In some schedules a path does not send what another one is
       expected to bring earlier.
    3. Schedules are repeated with other chains, combinations and keys; in between, some keys of the
       best schedule are changed, and a schedule that is not longer is kept.

    References
    ----------
    W. Won, M. Elavazhagan, S. Srinivasan, S. Gupta, T. Krishna, "TACOS: Topology-Aware Collective
    Algorithm Synthesizer for Distributed Machine Learning", MICRO 2024 (messages are matched to
    free links, event by event). doi:10.1109/MICRO61859.2024.00068

    J. C. Bean, "Genetic algorithms and random keys for sequencing and optimization", ORSA Journal
    on Computing 6, 1994. doi:10.1287/ijoc.6.2.154
    """

    Options = NoOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        scheduler = ListScheduler(warmup_problem(), np.random.default_rng(0))
        scheduler.restart()
        scheduler.made(NEVER, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse steps that are no ticks."""
        if problem.horizon != "ticks":
            return "steps are no ticks"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Make schedules until one has as many ticks as the lower bound."""
        scheduler = ListScheduler(problem, np.random.default_rng(run.seed))
        budget = EvaluationBudget(run)
        best, left = NEVER, 0
        with watched(run) as stop:
            while next(run.targets(), None) is not None:
                known = run.best()
                before = None
                if left > 0:
                    left -= 1
                    before = scheduler.change()
                    limit = best + 1
                else:
                    scheduler.restart()
                    limit = NEVER if known is None else known
                ticks = scheduler.made(limit, stop)
                if ticks < limit:
                    if before is None or ticks < best:
                        left = CHANGES
                    if known is None or ticks < known:
                        run.offer(scheduler.assignment())
                    best = ticks
                elif before is not None:
                    scheduler.undo(before)
                budget.spend(1)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED
