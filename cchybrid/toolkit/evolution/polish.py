"""Polish: a weighted tabu search beside the population that starts from its best individual.

What the search betters goes back into the population, so the two take turns: the evolution leads
the search into other regions, and the search settles the last conflicts, at which recombination
and mutation are poor. It is ours; memetic algorithms are surveyed by P. Moscato and C. Cotta in
"A gentle introduction to memetic algorithms", Handbook of Metaheuristics, 2003.
"""

from __future__ import annotations

from cchybrid.problem import Assignment
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.tabu_search.island import SharedData, TabuIsland
from cchybrid.toolkit.tabu_search.limits import bottleneck
from cchybrid.toolkit.tabu_search.options import TabuOptions


class Polish:
    """The search beside one population, on its genes.

    Parameters
    ----------
    genome, steps
        What the individuals are.
    seed
        Of the search.
    """

    def __init__(self, genome: Genome, steps: int, seed: int) -> None:
        self._genes = max(genome.genes, 1)
        limit = bottleneck(genome.problem, genome.flat)
        shared = SharedData(genome.problem, genome.flat, steps, limit)
        self._search = TabuIsland(shared, TabuOptions(), seed, 0, None)
        self._taken: int | None = None
        self._given: int | None = None

    def better(
        self, best: Assignment, fitness: int, turns: int, stop: BoolArray
    ) -> tuple[Assignment | None, int]:
        """Search on; return what has become better, and the turns taken.

        Parameters
        ----------
        best, fitness
            The genes of the best individual, and its conflicts.
        turns
            In every turn as many deliveries are priced as there are genes.
        stop
            Shape (1,): set by another thread to end early.
        """
        if self._taken is None or fitness < self._taken:
            self._taken = fitness
            self._search.immigrate(best)
            self._search.restart()
        made = self._search.advance(turns * self._genes, stop)
        taken = -(-made // self._genes)
        if self._given is not None and self._search.conflicts >= self._given:
            return None, taken
        self._given = self._search.conflicts
        return self._search.best(), taken
