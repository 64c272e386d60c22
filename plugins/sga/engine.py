"""SGA, the standard genetic algorithm (thesis section 7.1.1).

Binary tournaments, one-point crossover at gene boundaries, mutation with heuristics and steady
state with the worst two thirds replaced are the thesis'; the local search after them, greedy
individuals and restarts are ours. The default probabilities are what thesis section 7.2.1 found.
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
        Probability that a couple's children mix their genes instead of copying one parent each.
    """

    crossover: float = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        self._share("crossover")


class Sga(EvolutionEngine[SgaOptions]):
    """Crosses couples that won tournaments."""

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
