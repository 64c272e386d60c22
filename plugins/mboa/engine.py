"""MBOA, the mixed Bayesian optimization algorithm (thesis section 7.1.2).

A decision tree per gene, grown in every generation from tournament winners, mutation with
heuristics and steady state with the worst two thirds replaced are the papers'. Ours: trees ask for
few genes that are chosen at random or share a resource, which makes them quick to grow, and have
a limited number of leaves; the order of the genes is drawn once per population instead of found
with the trees; the local search, greedy individuals and restarts. All components of genes are
discrete here, so the continuous half of the algorithm has no use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.engine import EvolutionEngine
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels.rng import State, shuffle

from .sampling import Model, sample_trees
from .trees import empty_tree, new_scores


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
        Other genes that a tree may ask for: half of them share a resource with its own gene in
        one of the parents, the others are any. 0 makes this UMDA.
    leaves
        Leaves of a tree, at most.
    """

    population: int = 100
    mutation: float = 0.7
    parents: float = 0.5
    candidates: int = 8
    leaves: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive_share("parents")
        self._check_min("candidates", 0)
        self._check_min("leaves", 1)


class Mboa(EvolutionEngine[MboaOptions]):
    """Samples children from decision trees, which know how genes depend on each other."""

    Options = MboaOptions

    def breeder(self, genome: Genome, state: State) -> Trees:
        """See ``EvolutionEngine.breeder``."""
        return Trees(genome, self.options, state)


class Trees:
    """The breeder of MBOA."""

    def __init__(self, genome: Genome, options: MboaOptions, state: State) -> None:
        self.parents = max(round(options.parents * options.population), 1)
        self._genome = genome
        order = np.arange(genome.genes, dtype=np.int32)
        shuffle(order, state)
        self._model = Model(
            order=order,
            place=np.argsort(order).astype(np.int32),
            candidates=np.zeros(options.candidates, dtype=np.int32),
            user_start=np.zeros(genome.problem.resources + 1, dtype=np.int64),
            tree=empty_tree(self.parents, options.leaves),
            scores=new_scores(self.parents),
        )

    def breed(
        self,
        population: Population,
        parents: IntArray,
        children: Population,
        stop: BoolArray,
        state: State,
    ) -> None:
        """See ``Breeder.breed``."""
        genome = self._genome
        sample_trees(
            genome.flat, genome.ordered, self._model, population, parents, children, stop, state
        )
