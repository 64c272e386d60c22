"""The engine ``tabu``: tabu search with constraint weighting for a fixed number of steps."""

import numpy as np

from cchybrid.plugin.engine import EngineBase, Run, Stop
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


class Tabu(EngineBase[TabuOptions]):
    """Tabu search with constraint weighting over all paths and steps of a delivery at once.

    1. Number of steps: make a greedy schedule, bisect down to the fewest steps that a short attempt
       reaches, then repeatedly search for one step less (``toolkit.step_control``).
    2. For each number of steps run one island per thread; the first starts from the best known
       near-solution, the others from greedy schedules (``toolkit.tabu_search.island``).
    3. Each island repeats: draw a few violated deliveries, price all their paths and steps, carry
       out the best move that is not tabu; where no move improves, increase the weights of all
       violations (``toolkit.tabu_search.search``). Islands restart when they stagnate.

    References
    ----------
    P. Morris, "The breakout method for escaping from local minima", AAAI 1993.

    A. Hertz, D. de Werra, "Using tabu search techniques for graph coloring", Computing 39, 1987.
    doi:10.1007/BF02239976

    The combination, and the pricing of all paths at once, are ours.
    """

    Options = TabuOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        compile_first_fit()
        problem = warmup_problem()
        island = TabuIsland(SharedData(problem, flatten(problem), 1, 0), self.options, 0, 0, None)
        island.advance(10, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems whose tables would not fit into memory."""
        size = memory_needed(problem) // 2**20
        if size > self.options.memory:
            return f"{problem.deliveries} deliveries: the tables would take {size} MiB"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search repeatedly for one step less than the best."""
        attempts = _Attempts(problem, self.options, run)
        control = self.options.control
        return control_steps(problem, run, attempts.reach, control, attempts.probe)


class _Attempts:
    """Successive searches for different numbers of steps."""

    def __init__(self, problem: Problem, options: TabuOptions, run: Run) -> None:
        self._problem, self._options, self._run = problem, options, run
        self._flat = flatten(problem)
        self._min_limit = bottleneck(problem, self._flat)
        self._budget = EvaluationBudget(run)
        self._number = 0

    def probe(self, steps: int) -> Assignment | None:
        """Search until ``probe`` evaluations per delivery bring no progress."""
        evaluations = self._options.probe * self._problem.deliveries
        return self._search(steps, 1 + evaluations // ROUND_EVALUATIONS)

    def reach(self, steps: int) -> Assignment | None:
        """Search for a schedule.

        ``None`` if the run ends, or after as many evaluations without progress as ``attempts``
        starts can take.
        """
        options = self._options
        if options.control == "descend":
            return self._search(steps, None)
        # A move takes at most ``width`` evaluations.
        evaluations = options.patience * options.width * options.attempts
        return self._search(steps, 1 + evaluations // ROUND_EVALUATIONS)

    def _search(self, steps: int, patience_rounds: int | None) -> Assignment | None:
        run = self._run
        seed = island_seed(run.seed, self._number)
        shared = SharedData(self._problem, self._flat, steps, self._min_limit, seed)
        count = max(run.budget.threads, 1)
        hint = run.hint(steps)
        islands = [
            # The first starts from the best near-solution; the others from greedy schedules.
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
        return explore(islands, run, self._budget, steps, ROUND_EVALUATIONS, patience_rounds)
