"""HGSA, hybrid parallel genetic simulated annealing (HGSA paper, sections 3.1 to 3.3).

1. Several processes anneal one solution each by the Metropolis algorithm, at a common temperature
   (``annealing.py``).
2. Every ``exchange`` iterations, a master step: each process gets a partner by roulette wheel; the
   better child of a two-point crossover, or the better parent if that is better than the child, is
   mutated and offered to the process by the Metropolis criterion (``genetics.py``).
3. Two heuristics shorten routes (``shortening.py``).
4. Below the lowest temperature, annealing starts again from the initial one, with slower cooling.

The paper does not specify the number of processes and of proposals per iteration, all temperatures,
reheating, the number of genes that a mutation changes, and the weight; these are ours.
"""

import math
from dataclasses import replace

import numpy as np

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.islands import explore, island_seed
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import EvaluationBudget
from cchybrid.toolkit.step_control import control_steps
from cchybrid.toolkit.warmup_problem import compile_first_fit, warmup_problem

from .annealing import AnnealingProcesses
from .options import HgsaOptions

CHUNK = 20_000
"""Evaluations of an island between two checks of the run: a few to some tens of milliseconds."""
SPARE = 2
"""Solutions of an island in addition to those of its processes: the two children."""
MIN_SOLUTIONS = 1 + SPARE
"""Solutions of an island with one process."""


class Hgsa(EngineBase[HgsaOptions]):
    """Hybrid parallel genetic simulated annealing for a fixed number of steps.

    References
    ----------
    M. Ohlídal, J. Schwarz, "Design of group communication for regular and irregular networks", Brno
    University of Technology (the HGSA paper).

    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220,
    1983. doi:10.1126/science.220.4598.671
    """

    Options = HgsaOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        compile_first_fit()
        problem = warmup_problem()
        island = AnnealingProcesses(problem, flatten(problem), self.options, 1, None, seed_state(0))
        island.advance(10 * island.iteration, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems of which one process would not fit into memory."""
        size = _size(problem, 1) * MIN_SOLUTIONS
        if size > self.options.memory:
            return f"{problem.deliveries} deliveries: the solutions would take {size:.0f} MiB"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search for schedules of decreasing or increasing numbers of steps."""
        search = _Search(problem, self.options, run)
        return control_steps(problem, run, search.reach, self.options.control)


class _Search:
    """The searches of one run; random states persist from one search to the next."""

    def __init__(self, problem: Problem, options: HgsaOptions, run: Run) -> None:
        self.problem, self.options, self.run = problem, options, run
        self.flat = flatten(problem)
        self.budget = EvaluationBudget(run)
        self.states = [
            seed_state(island_seed(run.seed, index)) for index in range(run.budget.threads)
        ]
        self.attempts = 0

    def reach(self, steps: int) -> Assignment | None:
        """Search for a schedule of ``steps`` steps; ``None`` if the search stagnates."""
        # Only every other attempt starts from the hint, which may be a local optimum.
        hint = self.run.hint(steps) if self.attempts % 2 == 0 else None
        self.attempts += 1
        # Solutions of many steps have large tables of loads, so fewer processes fit.
        fitting = int(self.options.memory / _size(self.problem, steps) / len(self.states)) - SPARE
        options = replace(self.options, processes=max(1, min(self.options.processes, fitting)))
        islands = []
        for state in self.states:
            if not self.run.wants(steps):
                return None
            islands.append(AnnealingProcesses(self.problem, self.flat, options, steps, hint, state))
        rounds = math.ceil(self.options.patience * islands[0].iteration / CHUNK)
        return explore(islands, self.run, self.budget, steps, CHUNK, rounds)


def _size(problem: Problem, steps: int) -> float:
    """Return the MiB of a solution, including the master's copy."""
    return 4 * (5 * problem.deliveries + steps * problem.resources + 1) / 2**20
