"""UMDA, the univariate marginal distribution algorithm (thesis sections 6.6 and 7.1.3).

1. Select parents by binary tournaments.
2. Sample every gene of a child from the histogram of its values in the parents (``sample``).
3. Mutate, repair and improve the children; they replace the worst two thirds of the population
   (``toolkit.evolution``).

The local search after mutation, greedy individuals and restarts are ours, all else is the thesis'.
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
class UmdaOptions(EvolutionOptions):
    """The parameters of UMDA, beside those of every evolution.

    Parameters
    ----------
    parents
        Share of the population selected for the histograms.
    sampled
        Probability that a gene of a child is sampled from the histogram; otherwise it is that of
        one parent. 1 is UMDA. Small values with a small population are guided mutation (Zhang, Sun,
        Tsang 2005), which keeps the structure of one parent and is better from 16 nodes on:
        population=24, sampled=0.02.
    """

    parents: float = 0.5
    sampled: float = 1.0

    WITHOUT_OURS: ClassVar[Mapping[str, Any]] = {**EvolutionOptions.WITHOUT_OURS, "sampled": 1.0}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive_share("parents")
        require(self, 1, sampled=0)


class Umda(EvolutionEngine[UmdaOptions]):
    """Univariate marginal distribution algorithm with the thesis' heuristics.

    References
    ----------
    H. Mühlenbein, G. Paaß, "From recombination of genes to the estimation of distributions I.
    Binary parameters", PPSN IV, 1996. doi:10.1007/3-540-61723-X_982

    Q. Zhang, J. Sun, E. Tsang, "An evolutionary algorithm with guided mutation for the maximum
    clique problem", IEEE Transactions on Evolutionary Computation 9, 2005.
    doi:10.1109/TEVC.2004.840835

    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 7.1.3.
    """

    Options = UmdaOptions

    def breeder(self, genome: Genome, state: State) -> Breeder:
        """See ``EvolutionEngine.breeder``."""
        parents = max(round(self.options.parents * self.options.population), 1)
        return Breeder(parents, partial(sample, genome.ordered, float(self.options.sampled)))


@compiled
def sample(
    ordered: bool,
    sampled: float,
    population: Population,
    parents: IntArray,
    children: Population,
    stop: BoolArray,
    state: State,
) -> None:
    """Fill in the genes of the children.

    The value of a gene in a random parent is a sample of the histogram of its values in the
    parents. Where steps depend on options, option and step are drawn together (thesis section
    6.3.2).

    Parameters
    ----------
    sampled
        Probability of a sample; otherwise the gene is that of one parent, the same for the child.
    stop
        Shape (1,): another thread sets this to end early; then the children are not usable.
    """
    for child in range(len(children.fitness)):
        if stop[0]:
            return
        base = parents[below(state, len(parents))]
        for gene in range(children.option.shape[1]):
            parent = base
            if uniform(state) < sampled:
                parent = parents[below(state, len(parents))]
            children.option[child, gene] = population.option[parent, gene]
            if parent != base and not ordered:
                parent = parents[below(state, len(parents))]
            children.step[child, gene] = population.step[parent, gene]
