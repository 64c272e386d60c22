"""An ``Island`` that evolves one population."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cchybrid.problem import Assignment
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.evolution.polish import Polish
from cchybrid.toolkit.evolution.population import (
    Population,
    Scratch,
    Settings,
    create,
    empty_population,
    mature,
    replace,
    select,
)
from cchybrid.toolkit.kernels.flat import NO_LIMIT
from cchybrid.toolkit.kernels.rng import State, below


class Breeder(NamedTuple):
    """The part that distinguishes evolutionary engines: it makes children from parents.

    Parameters
    ----------
    parents
        The number of parents to select per generation.
    breed
        Fills in the genes of all children, which the island improves and evaluates afterwards. It
        takes the population; the parents, shape (parents,), individuals of it, possibly with
        repetitions; the children; a flag, shape (1,), that another thread sets to end early, and
        then the children are not used; and the random state.
    """

    parents: int
    breed: Callable[[Population, IntArray, Population, BoolArray, State], None]


class EvolutionIsland:
    """A population that evolves towards a schedule of ``steps`` steps; see ``Island``.

    Parameters
    ----------
    genome, options, breeder, steps
        The encoding, the parameters, the maker of children, and the number of steps.
    state
        The random state, advanced in place.
    hint
        A near-solution from which a quarter of the population is made, or ``None``.
    """

    def __init__(
        self,
        genome: Genome,
        options: EvolutionOptions,
        breeder: Breeder,
        steps: int,
        state: State,
        hint: Assignment | None = None,
    ) -> None:
        self._genome, self._options, self._breeder = genome, options, breeder
        self._steps, self._state = steps, state
        self._hint = None if hint is None else genome.encode(hint, steps)
        self._made = 0
        self._tabu: Polish | None = None
        self._population = empty_population(options.population, genome.genes)
        self._children = empty_population(options.offspring, genome.genes)
        self._parents = np.zeros(breeder.parents, dtype=np.int32)
        self._best = empty_population(1, genome.genes)
        self._settings = Settings(
            flat=genome.flat,
            near=genome.near(steps),
            required=genome.required,
            ordered=genome.ordered,
            optional=not genome.problem.required.all(),
            undefined=options.papers and genome.ordered,
            senders=options.senders,
            mutation=float(options.mutation),
            moves=options.moves,
            sweeps=options.sweeps,
        )
        self._scratch = Scratch(
            table=np.zeros((steps, genome.problem.resources), dtype=np.int32),
            chain=np.zeros(genome.genes + steps + 1, dtype=np.int32),
            counted=np.ones(genome.genes, dtype=np.bool_),
        )

    @property
    def conflicts(self) -> int:
        """See ``Island.conflicts``; a huge number as long as there is no individual."""
        return int(self._best.fitness[0])

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        """See ``Island.advance``."""
        done = 0
        while self.conflicts and not stop[0]:
            if self._made < len(self._population.fitness):
                if done >= evaluations:
                    break
                self._create(stop)
                done += 1 + self._polish(1, stop)
            else:
                rounds = self._options.polish
                if done and done + len(self._children.fitness) + rounds > evaluations:
                    break
                done += self._generation(stop) + self._polish(rounds, stop)
        return done

    def best(self) -> Assignment:
        """See ``Island.best``."""
        return self._genome.decode(self._best.option[0], self._best.step[0], self._steps)

    def immigrate(self, migrant: Assignment) -> None:
        """Replace the worst individual by the migrant if that is better; not with ``papers``."""
        if self._options.papers or self._made < len(self._population.fitness):
            return
        genes = self._genome.encode(migrant, self._steps)
        worst = int(self._population.fitness.argmax())
        fitness = self._complete(genes, False, np.zeros(1, dtype=np.bool_))
        if fitness < self._population.fitness[worst]:
            self._place(worst, genes, fitness)

    def _create(self, stop: BoolArray) -> None:
        """Create the next individual of the initial population."""
        place, share = self._made, self._options.greedy
        greedy = math.ceil((place + 1) * share) > math.ceil(place * share)
        empty = np.full(self._genome.genes, -1, dtype=np.int32)
        genes = Assignment(empty, empty.copy())
        if self._hint is not None and place % 4 == 0:
            genes, greedy = Assignment(self._hint.option.copy(), self._hint.step.copy()), False
        self._place(place, genes, self._complete(genes, greedy, stop))
        self._made += 1

    def _complete(self, genes: Assignment, greedy: bool, stop: BoolArray) -> int:
        individual = genes.option, genes.step
        return create(self._settings, self._scratch, greedy, *individual, stop, self._state)

    def _place(self, place: int, genes: Assignment, fitness: int) -> None:
        self._population.option[place] = genes.option
        self._population.step[place] = genes.step
        self._population.fitness[place] = fitness
        self._remember(self._population)

    def _generation(self, stop: BoolArray) -> int:
        """Replace the worst individuals by children; return how many were evaluated."""
        population, children = self._population, self._children
        select(population.fitness, self._parents, self._state)
        self._breeder.breed(population, self._parents, children, stop, self._state)
        done = mature(self._settings, self._scratch, children, stop, self._state)
        children.fitness[done:] = NO_LIMIT
        self._remember(children)
        replace(population, children, done, self._options.ties == "random", self._state)
        return done

    def _polish(self, rounds: int, stop: BoolArray) -> int:
        """Continue the tabu search that polishes the best individual; return its rounds."""
        if not self._options.polish or not self.conflicts or stop[0]:
            return 0
        if self._tabu is None:
            self._tabu = Polish(self._genome, self._steps, below(self._state, 1 << 30))
        best = Assignment(self._best.option[0], self._best.step[0])
        found, taken = self._tabu.improve(best, self.conflicts, rounds, stop)
        if found is not None:
            genes = Assignment(found.option.copy(), found.step.copy())
            fitness = self._complete(genes, False, stop)
            worst = int(self._population.fitness[: self._made].argmax())
            self._place(worst, genes, fitness)
        return taken

    def _remember(self, individuals: Population) -> None:
        """Keep the best individual, which a generation may replace."""
        place = int(individuals.fitness.argmin())
        if individuals.fitness[place] < self._best.fitness[0]:
            self._best.option[0] = individuals.option[place]
            self._best.step[0] = individuals.step[place]
            self._best.fitness[0] = individuals.fitness[place]
