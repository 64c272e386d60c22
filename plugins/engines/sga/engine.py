"""SGA, the standard genetic algorithm (thesis section 7.1.1).

1. Select parents by binary tournaments.
2. Make children by one-point crossover at gene boundaries (``crossover.py``).
3. Mutate, repair and improve the children; they replace the worst two thirds of the population
   (``toolkit.evolution``).

The local search after mutation, greedy individuals and restarts are ours, all else is the thesis'.
The default probabilities are those of thesis section 7.2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.engine import EvolutionEngine
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels.rng import State

from .crossover import cross


@dataclass(frozen=True)
class SgaOptions(EvolutionOptions):
    """The parameters of SGA, beside those of every evolution.

    Parameters
    ----------
    crossover
        Probability that the children of a couple are crossed, and not copies of one parent each.
    """

    crossover: float = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        self._share("crossover")


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

    def breeder(self, genome: Genome, state: State) -> Crossover:
        """See ``EvolutionEngine.breeder``."""
        return Crossover(self.options)


class Crossover:
    """The breeder of SGA."""

    def __init__(self, options: SgaOptions) -> None:
        self._crossover = float(options.crossover)
        self.parents = options.offspring + options.offspring % 2

    def breed(
        self,
        population: Population,
        parents: IntArray,
        children: Population,
        stop: BoolArray,
        state: State,
    ) -> None:
        """See ``Breeder.breed``."""
        cross(self._crossover, population, parents, children, stop, state)
