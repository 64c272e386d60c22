"""The engine around the islands: greedy start or lower bound, restarts, migration, the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.island import Breeder, EvolutionIsland
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.islands import explore, island_seed
from cchybrid.toolkit.kernels.rng import State, seed_state
from cchybrid.toolkit.search_run import EvaluationBudget
from cchybrid.toolkit.step_control import control_steps
from cchybrid.toolkit.tabu_search.limits import memory_needed
from cchybrid.toolkit.warmup_problem import compile_first_fit, warmup_problem

CHUNK = 20_000
"""Genes to breed between two looks at the run; milliseconds to tenths of a second."""

Options = TypeVar("Options", bound=EvolutionOptions)


class EvolutionEngine(ABC, Generic[Options]):
    """Evolves near-solutions of one number of steps until one has no conflicts.

    An engine adds its ``Options`` and its ``breeder``.
    """

    def __init__(self, options: Options) -> None:
        self.options = options

    @abstractmethod
    def breeder(self, genome: Genome, state: State) -> Breeder:
        """Return how children come from parents, for one island and one number of steps."""

    def prepare(self) -> None:
        """Have all kernels compiled, which takes a while when they are used for the first time."""
        compile_first_fit()
        problem = warmup_problem()
        few = replace(self.options, population=2, mutation=1.0, sweeps=1, polish=1)
        genome, state = Genome.of(problem, few), seed_state(0)
        island = EvolutionIsland(genome, few, type(self)(few).breeder(genome, state), 1, state)
        island.advance(20, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Return a reason only for problems whose population would not fit into memory."""
        # Option and step of every individual and of every child, four bytes each.
        size = problem.deliveries * self.options.population * 16 // 2**20
        if self.options.polish:
            size += memory_needed(problem) // 2**20
        if size > self.options.memory:
            return f"{problem.deliveries} deliveries: a population would take {size} MiB"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search for fewer and fewer, or more and more, steps; see ``EvolutionOptions.control``."""
        attempts = _Attempts(self, problem, run)
        return control_steps(problem, run, attempts.reach, self.options.control)


class _Attempts:
    """Populations one after the other, as many at once as there are threads."""

    def __init__(self, engine: EvolutionEngine[Options], problem: Problem, run: Run) -> None:
        self._engine, self._run = engine, run
        self._genome = Genome.of(problem, engine.options)
        self._budget = EvaluationBudget(run)
        islands = max(run.budget.threads, 1)
        self._states = [seed_state(island_seed(run.seed, index)) for index in range(islands)]
        self._number = 0

    def reach(self, steps: int) -> Assignment | None:
        """Evolve populations; return a schedule, ``None`` if they stagnate or have to stop."""
        engine, options, genome = self._engine, self._engine.options, self._genome
        hint = self._run.hint(steps)
        islands: list[EvolutionIsland] = []
        for state in self._states:
            if not self._run.wants(steps):
                return None
            # Every other time without: the last ones to start from it may have got stuck.
            initial_solution = hint if (self._number + len(islands)) % 2 == 0 else None
            breeder = engine.breeder(genome, state)
            islands.append(
                EvolutionIsland(genome, options, breeder, steps, state, initial_solution)
            )
        self._number += 1
        # No clock decides, so that a run repeats exactly under a budget of evaluations.
        generations = max(CHUNK // (options.offspring * max(genome.genes, 1)), 1)
        evaluations = generations * (options.offspring + options.polish)
        patience = -(-options.population // evaluations) - (-options.patience // generations)
        return explore(islands, self._run, self._budget, steps, evaluations, patience)
