"""Tabu search with constraint weighting: the strongest search for a fixed number of steps."""

from __future__ import annotations

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.islands import explore, island_seed
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.search_run import EvaluationBudget
from cchybrid.toolkit.step_control import control_steps
from cchybrid.toolkit.tabu_search.island import SharedData, TabuIsland
from cchybrid.toolkit.tabu_search.limits import bottleneck, memory_needed
from cchybrid.toolkit.tabu_search.options import TabuOptions
from cchybrid.toolkit.warmup_problem import compile_first_fit, warmup_problem

ROUND_EVALUATIONS = 2000
"""Evaluations of an island per round: about a hundredth of a second on networks of 16 nodes."""


class Tabu:
    """Moves the deliveries in conflict, best first, until none are left."""

    Options = TabuOptions

    def __init__(self, options: TabuOptions) -> None:
        self.options = options

    def prepare(self) -> None:
        """Have all kernels compiled, which takes a while when they are used for the first time."""
        compile_first_fit()
        problem = warmup_problem()
        island = TabuIsland(SharedData(problem, flatten(problem), 1, 0), self.options, 0, 0, None)
        island.advance(10, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Return a reason only for problems whose tables would not fit into memory."""
        size = memory_needed(problem) // 2**20
        if size > self.options.memory:
            return f"{problem.deliveries} deliveries: the tables would take {size} MiB"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search for one step less than the best, again and again."""
        attempts = _Attempts(problem, self.options, run)
        control = self.options.control
        return control_steps(problem, run, attempts.reach, control, attempts.probe)


class _Attempts:
    """Searches for one number of steps after the other."""

    def __init__(self, problem: Problem, options: TabuOptions, run: Run) -> None:
        self._problem, self._options, self._run = problem, options, run
        self._flat = flatten(problem)
        self._min_limit = bottleneck(problem, self._flat)
        self._budget = EvaluationBudget(run)
        self._number = 0

    def probe(self, steps: int) -> Assignment | None:
        """Search for a schedule for as long as there is progress every few moves."""
        evaluations = self._options.probe * self._problem.deliveries
        return self._search(steps, 1 + evaluations // ROUND_EVALUATIONS)

    def reach(self, steps: int) -> Assignment | None:
        """Search for a schedule; ``None`` if the search has to stop, or has failed too often."""
        options = self._options
        if options.control == "descend":
            return self._search(steps, None)
        # A move takes at most ``width`` evaluations.
        evaluations = options.patience * options.width * options.attempts
        return self._search(steps, 1 + evaluations // ROUND_EVALUATIONS)

    def _search(self, steps: int, patience: int | None) -> Assignment | None:
        run = self._run
        shared = SharedData(self._problem, self._flat, steps, self._min_limit)
        count = max(run.budget.threads, 1)
        hint = run.hint(steps)
        islands = [
            # The first goes on from what is known; the others begin with schedules of their own.
            TabuIsland(
                shared,
                self._options,
                island_seed(run.seed, self._number * count + index),
                index,
                hint if index == 0 else None,
            )
            for index in range(count)
        ]
        self._number += 1
        return explore(islands, run, self._budget, steps, ROUND_EVALUATIONS, patience)
