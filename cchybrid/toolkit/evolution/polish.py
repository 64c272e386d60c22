"""Polish: a weighted tabu search that improves the best individual of a population (ours).

Evolution and tabu search alternate, as in a memetic algorithm. The tabu search starts from the
best individual, and its improvements go back into the population. The evolution leads to other
regions of the search space; the tabu search removes the last conflicts, for which recombination and
mutation are inefficient.

References
----------
P. Moscato, C. Cotta, "A gentle introduction to memetic algorithms", Handbook of Metaheuristics,
2003. doi:10.1007/0-306-48056-5_5
"""

from cchybrid.problem import Assignment
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.tabu_search.island import SharedData, TabuIsland
from cchybrid.toolkit.tabu_search.limits import bottleneck
from cchybrid.toolkit.tabu_search.options import TabuOptions


class Polish:
    """The tabu search of one population, on its genes.

    Parameters
    ----------
    genome, steps
        The encoding, and the number of steps.
    seed
        Seed of the search.
    """

    def __init__(self, genome: Genome, steps: int, seed: int) -> None:
        self._genes = max(genome.genes, 1)
        limit = bottleneck(genome.problem, genome.flat)
        shared = SharedData(genome.problem, genome.flat, steps, limit)
        self._search = TabuIsland(shared, TabuOptions(), seed, 0, None)
        self._taken: int | None = None
        self._given: int | None = None

    def improve(
        self, best: Assignment, fitness: int, rounds: int, stop: BoolArray
    ) -> tuple[Assignment | None, int]:
        """Continue the search; return an improvement or ``None``, and the rounds taken.

        Parameters
        ----------
        best, fitness
            The genes of the best individual, and its conflicts.
        rounds
            Rounds; in each, as many deliveries are priced as there are genes.
        stop
            Shape (1,): another thread sets this to end early.
        """
        if self._taken is None or fitness < self._taken:
            self._taken = fitness
            self._search.immigrate(best)
            self._search.restart()
        made = self._search.advance(rounds * self._genes, stop)
        taken = -(-made // self._genes)
        if self._given is not None and self._search.conflicts >= self._given:
            return None, taken
        self._given = self._search.conflicts
        return self._search.best(), taken
