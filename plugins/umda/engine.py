"""UMDA, the univariate marginal distribution algorithm (thesis sections 6.6 and 7.1.3).

Tournament selection, histograms of all genes' values, steady state with the worst two thirds
replaced, heuristics and mutation are the thesis'; the local search after them, greedy individuals
and restarts are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.engine import EvolutionEngine
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels.rng import State

from .marginals import sample


@dataclass(frozen=True)
class UmdaOptions(EvolutionOptions):
    """The parameters of UMDA, beside those of every evolution.

    Parameters
    ----------
    parents
        Share of the population that the model is made from.
    sampled
        Probability that a gene of a child is sampled from the model; else it is that of one
        parent. At 1 this is UMDA. Near 0, with a small population, it is guided mutation (Zhang,
        Sun, Tsang, "An evolutionary algorithm with guided mutation for the maximum clique
        problem", IEEE Trans. Evolutionary Computation 9, 2005), which keeps what fits together in
        one parent and reaches more on 16 nodes and beyond: population=24, sampled=0.02.
    """

    parents: float = 0.5
    sampled: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive_share("parents")
        self._share("sampled")


class Umda(EvolutionEngine[UmdaOptions]):
    """Samples children from the histograms of all genes' values among the parents."""

    Options = UmdaOptions

    def breeder(self, genome: Genome, state: State) -> Marginals:
        """See ``EvolutionEngine.breeder``."""
        return Marginals(genome.ordered, self.options)


class Marginals:
    """The breeder of UMDA."""

    def __init__(self, ordered: bool, options: UmdaOptions) -> None:
        self._ordered, self._sampled = ordered, float(options.sampled)
        self.parents = max(round(options.parents * options.population), 1)

    def breed(
        self,
        population: Population,
        parents: IntArray,
        children: Population,
        stop: BoolArray,
        state: State,
    ) -> None:
        """See ``Breeder.breed``."""
        sample(self._ordered, self._sampled, population, parents, children, stop, state)
