"""SGA, the standard genetic algorithm (thesis section 7.1.1).

1. Select parents by binary tournaments.
2. Make children by one-point crossover at gene boundaries (``cross``).
3. Mutate, repair and improve the children; they replace the worst two thirds of the population
   (``toolkit.evolution``).

The local search after mutation, greedy individuals and restarts are ours, all else is the thesis'.
The default probabilities are those of thesis section 7.2.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.engine import EvolutionEngine
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.island import Breeder
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.rng import State, below, uniform
from cchybrid.toolkit.options import require


@dataclass(frozen=True)
class SgaOptions(EvolutionOptions):
    """The parameters of SGA, beside those of every evolution.

    Parameters
    ----------
    crossover
        Probability that the children of a couple are crossed, and not copies of one parent each.
    """

    crossover: float = 0.7

    PUBLISHED: ClassVar[Mapping[str, Any]] = {
        **EvolutionOptions.PUBLISHED, "crossover": 0.9, "ties": "first"
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, 1, crossover=0)


class Sga(EvolutionEngine[SgaOptions]):
    """Standard genetic algorithm with the thesis' heuristics.

    References
    ----------
    J. H. Holland, "Adaptation in Natural and Artificial Systems", University of Michigan Press,
    1975.

    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 7.1.1.
    """

    Options = SgaOptions

    def breeder(self, genome: Genome, state: State) -> Breeder:
        """See ``EvolutionEngine.breeder``."""
        parents = self.options.offspring + self.options.offspring % 2
        return Breeder(parents, partial(cross, float(self.options.crossover)))


@compiled
def cross(
    crossover: float,
    population: Population,
    parents: IntArray,
    children: Population,
    stop: BoolArray,
    state: State,
) -> None:
    """Fill in the genes of the children, two per couple of parents.

    Parameters
    ----------
    crossover
        Probability that two parents exchange all genes from a random position on; otherwise the
        children are copies.
    parents
        Shape (children, rounded up to an even number): couples one after the other.
    stop
        Shape (1,): another thread sets this to end early; then the children are not usable.
    """
    genes = children.option.shape[1]
    for child in range(0, len(children.fitness), 2):
        if stop[0]:
            return
        cut = genes
        if genes > 1 and uniform(state) < crossover:
            cut = 1 + below(state, genes - 1)
        for place in range(child, min(child + 2, len(children.fitness))):
            own, other = parents[place], parents[place ^ 1]
            for gene in range(genes):
                parent = own if gene < cut else other
                children.option[place, gene] = population.option[parent, gene]
                children.step[place, gene] = population.step[parent, gene]
