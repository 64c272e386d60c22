"""Random search: greedy schedules in random orders, or uniformly random individuals."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.initial import complete
from cchybrid.toolkit.evolution.restoration import CANDIDATES, restore
from cchybrid.toolkit.islands import explore, island_seed
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.conflicts import mark_needed
from cchybrid.toolkit.kernels.first_fit import FirstFit
from cchybrid.toolkit.kernels.flat import Flat, flatten
from cchybrid.toolkit.kernels.occupancy import Loaded, build
from cchybrid.toolkit.kernels.rng import State, seed_state
from cchybrid.toolkit.search_run import EvaluationBudget, watched
from cchybrid.toolkit.step_control import control_steps
from cchybrid.toolkit.warmup_problem import compile_first_fit, warmup_problem

CHUNK = 50_000
"""Options examined between two checks of the run; milliseconds."""


@dataclass(frozen=True)
class RandomOptions:
    """The parameter of random search.

    Parameters
    ----------
    greedy
        Whether to make greedy schedules, each in another random order. If not, option and step of
        every delivery are drawn uniformly for a fixed number of steps, and the conflicts counted:
        the null model of evolutionary engines.
    """

    greedy: bool = True


class RandomSearch(EngineBase[RandomOptions]):
    """Random search: independent samples, a baseline for all other engines."""

    Options = RandomOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        compile_first_fit()
        problem = warmup_problem()
        _Draws(problem, flatten(problem), 1, seed_state(0)).advance(1, np.zeros(1, dtype=np.bool_))

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Offer a greedy schedule, then search repeatedly for one step less."""
        search = _Starts(problem, run) if self.options.greedy else _Blind(problem, run)
        return control_steps(problem, run, search.reach, "descend")


class _Starts:
    """Numbered greedy schedules on several threads; the number determines the seed."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run
        self.scheduler = FirstFit(problem)
        self.budget = EvaluationBudget(run)
        self.number = 1  # the step control makes the first

    def reach(self, steps: int) -> Assignment | None:
        """Return the first of the best schedules of a round if it has at most ``steps`` steps."""
        threads = self.run.budget.threads
        brief = max(1, CHUNK // max(self.problem.options, 1))
        with watched(self.run, steps) as stop, ThreadPoolExecutor(threads) as pool:
            while self.run.wants(steps):
                starts = self.budget.share(brief, threads)
                first = range(self.number, self.number + starts * threads, starts)
                self.number += starts * threads
                found = list(pool.map(partial(self._start, starts, stop), first))
                self.budget.spend(starts * threads)
                done = [one for one in found if one.steps > 0]
                if done and (best := min(done, key=lambda one: one.steps)).steps <= steps:
                    return best
                self.run.note(target=steps, evaluations=self.budget.spent)
        return None

    def _start(self, starts: int, stop: BoolArray, first: int) -> Assignment:
        best = self.problem.empty()
        for number in range(first, first + starts):
            state = seed_state(island_seed(self.run.seed, number))
            found = self.scheduler.draw(state, stop)
            if found is None:
                break
            if best.steps == 0 or found.steps < best.steps:
                best = found
        return best


class _Blind:
    """Uniform individuals on several threads; random states persist over numbers of steps."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run
        self.flat = flatten(problem)
        self.budget = EvaluationBudget(run)
        self.states = [
            seed_state(island_seed(run.seed, index)) for index in range(run.budget.threads)
        ]

    def reach(self, steps: int) -> Assignment | None:
        """Return an individual of ``steps`` steps without conflicts."""
        islands = [_Draws(self.problem, self.flat, steps, state) for state in self.states]
        brief = max(1, CHUNK // max(self.problem.deliveries, 1))
        return explore(islands, self.run, self.budget, steps, brief)


class _Draws:
    """An ``Island`` that keeps the best of its samples."""

    def __init__(self, problem: Problem, flat: Flat, steps: int, state: State) -> None:
        self.flat, self.steps, self.state = flat, steps, state
        self.found = problem.empty()
        self.conflicts = 2**31 - 1

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        """See ``Island.advance``."""
        made, self.conflicts = draw_often(
            self.flat,
            self.steps,
            evaluations,
            self.conflicts,
            self.found.option,
            self.found.step,
            stop,
            self.state,
        )
        return made

    def best(self) -> Assignment:
        """See ``Island.best``."""
        return Assignment(self.found.option.copy(), self.found.step.copy())

    def immigrate(self, migrant: Assignment) -> None:
        """See ``Island.immigrate``: ignore the migrant."""


@compiled
def draw_often(
    flat: Flat,
    steps: int,
    number: int,
    fewest: int,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> tuple[int, int]:
    """Draw individuals until one has no conflicts; return how many, and the fewest conflicts.

    Options and steps are uniform; then the order of deliveries is restored.

    Parameters
    ----------
    number
        Individuals to draw, at most.
    fewest
        The fewest conflicts so far.
    option, step
        Shape (deliveries,): overwritten if there are fewer; -1 for late or unneeded deliveries.
    stop
        Shape (1,): another thread sets this to end early.
    """
    deliveries = len(option)
    table = np.empty((steps, len(flat.limit)), dtype=np.int32)
    chain = np.empty(deliveries + steps + 1, dtype=np.int32)
    needed = np.empty(deliveries, dtype=np.bool_)
    new_option, new_step = np.empty_like(option), np.empty_like(step)
    loaded = Loaded(new_option, new_step, flat.required, table)
    required = np.flatnonzero(flat.required).astype(np.int32)
    anything = np.full(deliveries, 2**31 - 1, dtype=np.int32)
    ordered = flat.requires.max() >= 0
    for made in range(number):
        if fewest == 0 or stop[0]:
            return made, fewest
        new_option[:] = -1
        new_step[:] = -1
        complete(flat, anything, required, steps, False, new_option, new_step, stop, state)
        if ordered:
            restore(flat, anything, CANDIDATES, loaded, chain, stop, state)
        if stop[0]:
            return made, fewest
        mark_needed(flat, new_option, needed)
        conflicts = build(flat, Loaded(new_option, new_step, needed, table))
        for delivery in range(deliveries):
            conflicts += needed[delivery] and new_step[delivery] >= steps
        if conflicts < fewest:
            fewest = conflicts
            for delivery in range(deliveries):
                placed = needed[delivery] and new_step[delivery] < steps
                option[delivery] = new_option[delivery] if placed else -1
                step[delivery] = new_step[delivery] if placed else -1
    return number, fewest
