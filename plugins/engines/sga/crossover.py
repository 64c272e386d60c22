"""One-point crossover at the boundaries of genes (thesis section 7.1.1)."""

from __future__ import annotations

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.rng import State, below, uniform

__all__ = ["cross"]


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
