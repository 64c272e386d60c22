"""Children of UMDA: genes drawn from their marginal distributions among the parents."""

from __future__ import annotations

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.rng import State, below, uniform

__all__ = ["sample"]


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
