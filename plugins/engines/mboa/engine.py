"""MBOA, the mixed Bayesian optimization algorithm (thesis section 7.1.2).

1. Select parents by binary tournaments.
2. For each gene, in a random but fixed order, grow a decision tree from the parents: inner nodes
   test the values of earlier genes, leaves hold the distribution of the gene (``trees.py``).
3. Sample children gene by gene from the trees (``sampling.py``).
4. Mutate, repair and improve the children; they replace the worst two thirds of the population
   (``toolkit.evolution``).

Steps 1 to 4 are from the papers. Ours: nodes test only a few genes, chosen at random or because
they share a resource, which makes trees fast to grow; trees have a limited number of leaves; the
order of the genes is drawn once per population instead of learned with the trees; the local search,
greedy individuals and restarts. As all components of genes are discrete, the continuous half of the
algorithm is not used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from cchybrid.toolkit.evolution.engine import EvolutionEngine
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.island import Breeder
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.kernels.rng import State, shuffle
from cchybrid.toolkit.options import require

from .sampling import Model, sample_trees
from .trees import empty_tree, new_scores

UNLIMITED = 1_000_000
"""Candidates and leaves of the papers' algorithm: all genes, and a leaf per parent."""


@dataclass(frozen=True)
class MboaOptions(EvolutionOptions):
    """The parameters of MBOA, beside those of every evolution.

    Parameters
    ----------
    population, mutation
        See ``EvolutionOptions``; the defaults are what thesis section 7.2.2 found.
    parents
        Share of the population that the trees are grown from.
    candidates
        Genes that a tree may test: half of them share a resource with the gene in one of the
        parents, the others are random. 0 makes this UMDA.
    leaves
        Maximal leaves of a tree.
    """

    population: int = 100
    mutation: float = 0.7
    parents: float = 0.5
    candidates: int = 8
    leaves: int = 8

    WITHOUT_OURS: ClassVar[Mapping[str, Any]] = {
        **EvolutionOptions.WITHOUT_OURS, "candidates": UNLIMITED, "leaves": UNLIMITED
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive_share("parents")
        require(self, candidates=0, leaves=1)


class Mboa(EvolutionEngine[MboaOptions]):
    """Sample children from decision trees, which model the dependencies between genes.

    References
    ----------
    J. Očenášek, J. Schwarz, "Estimation distribution algorithm for mixed continuous-discrete
    optimization problems", 2nd Euro-International Symposium on Computational Intelligence, 2002.

    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 7.1.2.
    """

    Options = MboaOptions

    def breeder(self, genome: Genome, state: State) -> Breeder:
        """See ``EvolutionEngine.breeder``."""
        options = self.options
        parents = max(round(options.parents * options.population), 1)
        order = np.arange(genome.genes, dtype=np.int32)
        shuffle(order, state)
        model = Model(
            order=order,
            place=np.argsort(order).astype(np.int32),
            candidates=np.zeros(0 if options.papers else options.candidates, dtype=np.int32),
            every=options.papers,
            user_start=np.zeros(genome.problem.resources + 1, dtype=np.int64),
            tree=empty_tree(parents, min(options.leaves, parents)),
            scores=new_scores(parents, genome.genes),
        )
        return Breeder(parents, partial(sample_trees, genome.flat, genome.ordered, model))
