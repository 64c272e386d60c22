"""The base class of evolutionary engines: step control, restarts, islands, migration."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TypeVar

import numpy as np

from cchybrid.plugin.engine import EngineBase, Run, Stop
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
"""Genes to breed between two checks of the run; milliseconds to tenths of a second."""

PROBE = 10
"""Generations without progress after which a number of steps is given up at first, while the fewest
steps that are easy are sought by bisection."""

Options = TypeVar("Options", bound=EvolutionOptions)


class EvolutionEngine(EngineBase[Options], ABC):
    """Base class: evolve near-solutions of a fixed number of steps until one has no conflicts.

    A subclass defines ``Options`` and ``breeder``.
    """

    @abstractmethod
    def breeder(self, genome: Genome, state: State) -> Breeder:
        """Return the maker of children from parents, for one island and number of steps."""

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        compile_first_fit()
        problem = warmup_problem()
        few = replace(self.options, papers=False, population=2, mutation=1.0, sweeps=1, polish=1)
        genome, state = Genome.of(problem, few), seed_state(0)
        island = EvolutionIsland(genome, few, type(self)(few).breeder(genome, state), 1, state)
        island.advance(20, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems whose population would not fit into memory; with ``papers`` quotients."""
        if self.options.papers and problem.structure is None:
            return "quotients and routing tables fix the paths"
        # Option and step of every individual and of every child, four bytes each.
        size = problem.deliveries * self.options.population * 16 // 2**20
        if self.options.polish:
            size += memory_needed(problem) // 2**20
        if size > self.options.memory:
            return f"{problem.deliveries} deliveries: a population would take {size} MiB"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search for decreasing or increasing numbers of steps (option ``control``)."""
        attempts = _Attempts(self, problem, run)
        return control_steps(problem, run, attempts.reach, self.options.control, attempts.probe)


class _Attempts:
    """Successive attempts, each with one population per thread."""

    def __init__(self, engine: EvolutionEngine[Options], problem: Problem, run: Run) -> None:
        self._engine, self._run = engine, run
        self._genome = Genome.of(problem, engine.options)
        self._budget = EvaluationBudget(run)
        # The papers' algorithms have one population.
        islands = 1 if engine.options.papers else max(run.budget.threads, 1)
        self._states = [seed_state(island_seed(run.seed, index)) for index in range(islands)]
        self._number = 0

    def probe(self, steps: int) -> Assignment | None:
        """Evolve populations until a few generations bring no progress."""
        return self._evolve(steps, PROBE)

    def reach(self, steps: int) -> Assignment | None:
        """Evolve populations; return a schedule, ``None`` if they stagnate or the run ends."""
        return self._evolve(steps, self._engine.options.patience)

    def _evolve(self, steps: int, patience: int) -> Assignment | None:
        engine, options, genome = self._engine, self._engine.options, self._genome
        hint = None if options.papers else self._run.hint(steps)
        islands: list[EvolutionIsland] = []
        for state in self._states:
            if not self._run.wants(steps):
                return None
            # Every other population starts without the hint, which may lead to a local optimum.
            initial_solution = hint if (self._number + len(islands)) % 2 == 0 else None
            breeder = engine.breeder(genome, state)
            islands.append(
                EvolutionIsland(genome, options, breeder, steps, state, initial_solution)
            )
        self._number += 1
        # The clock has no influence, so a run with an evaluation budget repeats exactly.
        generations = max(CHUNK // (options.offspring * max(genome.genes, 1)), 1)
        evaluations = generations * (options.offspring + options.polish)
        rounds = -(-options.population // evaluations) - (-patience // generations)
        return explore(islands, self._run, self._budget, steps, evaluations, rounds)
