"""Children of MBOA: ancestral sampling; each gene's tree is grown just before it is used."""

from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, below, shuffle

from .trees import Scores, Tree, grow, leaf_of, number_values


class Model(NamedTuple):
    """The order of the genes, and working memory of the sampling.

    Parameters
    ----------
    order, place
        Shape (genes,): the order of the genes, and the position of each in it. Trees test only
        earlier genes, so the model is acyclic.
    candidates
        Shape (candidates,): overwritten with the genes that a tree may test.
    every
        Whether trees may test all earlier genes, in an order that is drawn in every generation.
    user_start
        Shape (resources + 1,): overwritten; see ``_index_users``.
    tree, scores
        Overwritten.
    """

    order: IntArray
    place: IntArray
    candidates: IntArray
    every: bool
    user_start: LongArray
    tree: Tree
    scores: Scores


@compiled
def sample_trees(
    flat: Flat,
    whole: bool,
    model: Model,
    population: Population,
    parents: IntArray,
    children: Population,
    stop: BoolArray,
    state: State,
) -> None:
    """Fill in the genes of the children, gene by gene in the order of the model.

    Parameters
    ----------
    whole
        Whether option and step come from the same parent (thesis section 6.3.2); else they are
        drawn independently.
    stop
        Shape (1,): another thread sets this to end early; then the children are not usable.
    """
    if model.every:
        shuffle(model.order, state)
        for place in range(len(model.order)):
            model.place[model.order[place]] = place
    example = population.option[parents[below(state, len(parents))]]
    users = _index_users(flat, example, model.user_start)
    number_values(model.scores, population, parents)
    for place in range(len(model.order)):
        if stop[0]:
            return
        gene = model.order[place]
        if model.every:
            candidates = model.order[:place]
        else:
            found = _choose_candidates(flat, model, example, users, place, state)
            candidates = model.candidates[:found]
        grow(model.tree, model.scores, population, parents, gene, whole, candidates)
        for child in range(len(children.fitness)):
            leaf = leaf_of(model.tree, children.option[child], children.step[child])
            first = model.tree.first[leaf]
            size = model.tree.stop[leaf] - first
            parent = parents[model.tree.member[first + below(state, size)]]
            children.option[child, gene] = population.option[parent, gene]
            if not whole:
                parent = parents[model.tree.member[first + below(state, size)]]
            children.step[child, gene] = population.step[parent, gene]


@compiled
def _index_users(flat: Flat, option: IntArray, start: LongArray) -> IntArray:
    """Return the users of every resource r, from ``start[r]`` up to ``start[r + 1]``.

    Parameters
    ----------
    option
        Shape (genes,): the option of every gene.
    """
    start[:] = 0
    for gene in range(len(option)):
        path = flat.path[option[gene]]
        for use in range(flat.use_start[path], flat.use_start[path + 1]):
            start[flat.use[use]] += 1
    for resource in range(1, len(start)):
        start[resource] += start[resource - 1]
    users = np.empty(start[-1], dtype=np.int32)
    for gene in range(len(option)):
        path = flat.path[option[gene]]
        for use in range(flat.use_start[path], flat.use_start[path + 1]):
            start[flat.use[use]] -= 1
            users[start[flat.use[use]]] = gene
    return users


@internal
def _choose_candidates(
    flat: Flat, model: Model, example: IntArray, users: IntArray, place: int, state: State
) -> int:
    """Choose candidates among the genes before ``place``; return how many.

    First the delivery that the gene requires in one of the parents, then genes that share a
    resource with it there, up to half of the number, then random genes.
    """
    if place == 0:
        return 0
    option = example[model.order[place]]
    found = _admit(model, flat.requires[option], place, 0)
    path = flat.path[option]
    first, size = flat.use_start[path], flat.use_start[path + 1] - flat.use_start[path]
    for _ in range(len(model.candidates) // 2):
        resource = flat.use[first + below(state, size)]
        start = model.user_start[resource]
        user = users[start + below(state, model.user_start[resource + 1] - start)]
        found = _admit(model, user, place, found)
    while found < min(len(model.candidates), place):
        before = found
        found = _admit(model, model.order[below(state, place)], place, found)
        if found == before:
            break  # a repetition; one candidate less does not matter
    return found


@internal
def _admit(model: Model, gene: int, place: int, found: int) -> int:
    """Add a gene to the candidates if it is new and comes before ``place``; return their number."""
    if gene < 0 or model.place[gene] >= place or found >= len(model.candidates):
        return found
    for other in range(found):
        if model.candidates[other] == gene:
            return found
    model.candidates[found] = gene
    return found + 1
