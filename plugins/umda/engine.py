"""UMDA, the univariate marginal distribution algorithm (thesis sections 6.6 and 7.1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Protocol

import numpy as np

from cchybrid.engine import Budget, Run, Stop
from cchybrid.kernels.first_fit import first_fit
from cchybrid.kernels.flat import Flat, flatten, least_uses
from cchybrid.kernels.rng import seed_state
from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.problem import CHANNEL, LINK, Assignment, Problem, compile
from cchybrid.problem.arrays import BoolArray, IntArray

from .evolution import Population, Settings, Work, create, evolve

MOST_MEMORY = 4096
"""Mebibytes that a population may take."""
CHUNK = 20_000
"""Genes to breed between two looks at the run; milliseconds to tenths of a second."""


@dataclass(frozen=True)
class UmdaOptions:
    """The parameters of UMDA; see thesis sections 7.1.3 and 7.2 for their influence.

    Parameters
    ----------
    population
        Individuals.
    parents
        Share of the population that the model is made from.
    replacement
        Share of the population that children replace.
    mutation
        Probability that a child is mutated.
    sampled
        Probability that a gene of a child is sampled from the model; else it is that of one
        parent. At 1 this is UMDA. Near 0, with a small population, it is guided mutation (Zhang,
        Sun, Tsang, "An evolutionary algorithm with guided mutation for the maximum clique
        problem", IEEE Trans. Evolutionary Computation 9, 2005), which keeps what fits together in
        one parent and reaches more on 16 nodes and beyond: population=24, sampled=0.02.
    moves
        Genes that a mutation changes, at most.
    sweeps
        How often all genes are looked at for conflicts to settle, per child. The thesis has no
        such local search: sweeps=0 and moves=1 is its algorithm.
    patience
        Generations without progress before the population is made anew.
    """

    population: int = 80
    parents: float = 0.5
    replacement: float = 2 / 3
    mutation: float = 0.9
    sampled: float = 1.0
    moves: int = 6
    sweeps: int = 20
    patience: int = 200

    def __post_init__(self) -> None:
        if not 2 <= self.population <= 100_000:
            raise ValueError(f"population is {self.population}, use 2 to 100000")
        for name in ("parents", "replacement"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}, use more than 0, at most 1")
        for name in ("mutation", "sampled"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}, use 0 to 1")
        for name, least in (("moves", 1), ("sweeps", 0), ("patience", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, use at least {least}")


class Umda:
    """Evolves near-solutions of one number of steps until one has no conflicts."""

    Options = UmdaOptions

    def __init__(self, options: UmdaOptions) -> None:
        self.options = options

    def prepare(self) -> None:
        """Have all kernels compiled, which takes a while when they are used for the first time."""
        pair = Network.from_arcs("pair", 2, [(0, 1)])
        # Two messages over one channel in one step: a conflict that keeps the search busy.
        clash = Collective("clash", (Message(0, (1,)), Message(0, (1,))))
        problem = compile(Instance(pair, clash))
        first_fit(problem, 0)
        _Search(problem, self.options, _Rehearsal()).reach(1)

    def unsupported(self, problem: Problem) -> str | None:
        """Return a reason only for problems whose population would not fit into memory."""
        # Option and step of every individual and of every child, four bytes each.
        size = problem.deliveries * self.options.population * 16 // 2**20
        if size > MOST_MEMORY:
            return f"{problem.deliveries} deliveries: a population would take {size} MiB"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Offer a greedy schedule, then search for one with a step less, again and again."""
        search = _Search(problem, self.options, run)
        known = run.best()
        if known is None:
            greedy = first_fit(problem, run.seed)
            run.offer(greedy)
            known = greedy.steps
        for target in run.targets():
            # A target far below what is known (a weak bound, a user's wish) is approached.
            for steps in range(max(known - 1, target), target - 1, -1):
                while run.wants(steps):
                    found = search.reach(steps)
                    if found is not None:
                        run.offer(found)
                        break
            known = min(known, target)
        if run.should_stop():
            return Stop.LIMIT
        best = run.best()
        return Stop.EXHAUSTED if best is not None and best <= run.lower() else Stop.STALLED


class _Rehearsal:
    """A run that nobody listens to, over when generations have been run and noted."""

    seed = 0
    budget = Budget()

    def __init__(self) -> None:
        self.noted = False

    def wants(self, steps: int) -> bool:
        return not self.noted

    def hint(self, steps: int) -> None:
        return None

    def spend(self, evaluations: int) -> None:
        return

    def note(self, **metrics: float) -> None:
        self.noted = True

    def suggest(self, assignment: Assignment) -> None:
        return


class _Listening(Protocol):
    """What the search needs of a run."""

    seed: int
    budget: Budget

    def wants(self, steps: int) -> bool: ...
    def hint(self, steps: int) -> Assignment | None: ...
    def spend(self, evaluations: int) -> None: ...
    def note(self, **metrics: float) -> None: ...
    def suggest(self, assignment: Assignment) -> None: ...


class _Search:
    """The evolution of one population after the other, on one problem."""

    def __init__(self, problem: Problem, options: UmdaOptions, run: _Listening) -> None:
        self.problem, self.options, self.run = problem, options, run
        self.flat = flatten(problem)
        self.state = seed_state(run.seed)
        self.offspring = min(
            max(round(options.replacement * options.population), 1), options.population
        )
        self.restarts = 0
        self.generation = 0
        self.spent = 0
        self.suggested: dict[int, int] = {}

    def reach(self, steps: int) -> Assignment | None:
        """Evolve one population; return a schedule, ``None`` if it stagnates or has to stop."""
        shape = (self.options.population, self.problem.deliveries)
        population = _empty(*shape)
        children = _empty(self.offspring, shape[1])
        settings, work = self._settings(steps), self._work(steps)
        with _watched(self.run, steps, work.stop):
            self._populate(population, settings, work)
            best, last_progress = int(population.fitness.min()), self.generation
            while best and self.run.wants(steps):
                done = evolve(
                    self.flat,
                    settings,
                    work,
                    population,
                    children,
                    self._generations(),
                    self.state,
                )
                self.generation += done
                self._spend(done * self.offspring)
                if population.fitness.min() < best:
                    best, last_progress = int(population.fitness.min()), self.generation
                self._report(population, steps, best)
                if self.generation - last_progress >= self.options.patience:
                    break
        self.restarts += 1
        return self._assignment(population, steps) if best == 0 else None

    def _populate(self, population: Population, settings: Settings, work: Work) -> None:
        """Make the individuals, a few of them from a hint unless the last such ones got stuck."""
        steps = len(work.table)
        hint = self.run.hint(steps) if self.restarts % 2 == 0 else None
        for place in range(len(population.fitness)):
            option, step = population.option[place], population.step[place]
            hinted = hint is not None and place % 4 == 0
            if hint is not None and hinted:
                kept = (hint.option >= 0) & (hint.step >= 0) & (hint.step < steps)
                option[:] = np.where(kept, hint.option, -1)
                step[:] = np.where(kept, hint.step, -1)
            # Half of the others are greedy, half of them random.
            population.fitness[place] = create(
                self.flat,
                settings,
                work,
                not hinted and place % 2 == 0,
                option,
                step,
                self.state,
            )
            self._spend(1)
            if work.stop[0] or not self.run.wants(steps):
                population.fitness[place:] = population.fitness[: place + 1].max()
                population.option[place:] = option
                population.step[place:] = step
                break

    def _settings(self, steps: int) -> Settings:
        problem, options = self.problem, self.options
        return Settings(
            near=_near(problem, self.flat, steps),
            required=np.flatnonzero(problem.required).astype(np.int32),
            ordered=problem.ordered,
            optional=not problem.required.all(),
            parents=max(round(options.parents * options.population), 1),
            sampled=float(options.sampled),
            mutation=float(options.mutation),
            moves=options.moves,
            sweeps=options.sweeps,
        )

    def _work(self, steps: int) -> Work:
        deliveries = self.problem.deliveries
        return Work(
            table=np.zeros((steps, self.problem.resources), dtype=np.int32),
            chain=np.zeros(deliveries + steps + 1, dtype=np.int32),
            counted=np.ones(deliveries, dtype=np.bool_),
            stop=np.zeros(1, dtype=np.bool_),
        )

    def _generations(self) -> int:
        """Return how many generations to run at once: a short while, and within the budget.

        No clock decides, so that a run repeats exactly under a budget of evaluations.
        """
        brief = CHUNK // (self.offspring * max(self.problem.deliveries, 1))
        left = self.run.budget.evaluations
        if left is not None:
            brief = min(brief, (left - self.spent) // self.offspring)
        return max(brief, 1)

    def _spend(self, evaluations: int) -> None:
        self.spent += evaluations
        self.run.spend(evaluations)

    def _report(self, population: Population, steps: int, best: int) -> None:
        self.run.note(conflicts=best, generation=self.generation, target=steps)
        few = max(10, self.problem.deliveries // 50)
        if 0 < best <= few and best < self.suggested.get(steps, best + 1):
            self.suggested[steps] = best
            self.run.suggest(self._assignment(population, steps))

    def _assignment(self, population: Population, steps: int) -> Assignment:
        """Return the best individual, without what is late."""
        place = int(population.fitness.argmin())
        late = population.step[place] >= steps
        return Assignment(
            np.where(late, -1, population.option[place]).astype(np.int32),
            np.where(late, -1, population.step[place]).astype(np.int32),
        )


def _empty(size: int, deliveries: int) -> Population:
    return Population(
        option=np.full((size, deliveries), -1, dtype=np.int32),
        step=np.full((size, deliveries), -1, dtype=np.int32),
        fitness=np.zeros(size, dtype=np.int32),
    )


def _near(problem: Problem, flat: Flat, steps: int) -> IntArray:
    """Return, shape (deliveries,), how many uses an option may have without being a detour.

    All uses of channels together cannot exceed what the channels carry in all steps. The more
    that leaves beyond the shortest options, the farther an informer may be: this stands in for
    the radius of the restricted surrounding (thesis section 6.5.5).
    """
    least = least_uses(problem, flat)
    channel = np.isin(problem.kind, (CHANNEL, LINK))
    ports = int((~channel[problem.path_resource]).sum()) / max(problem.paths, 1)
    required = least[problem.required]
    spare = steps * int(problem.capacity[channel].sum()) - (required - ports).sum()
    return (least + max(0, int(spare // max(len(required), 1)))).astype(np.int32)


@contextmanager
def _watched(run: _Listening, steps: int, stop: BoolArray) -> Iterator[None]:
    """Set ``stop`` as soon as so many steps are no longer wanted, while kernels are at work."""
    done = Event()

    def watch() -> None:
        while not done.wait(0.1):
            if not run.wants(steps):
                stop[0] = True
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
