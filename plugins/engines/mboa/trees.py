"""Binary decision trees over genes, grown and evaluated by compiled kernels.

The conditional distribution of a gene is a decision tree, whose leaves hold the values of the gene
in the parents that reach them. An inner node tests whether the option, or the step, of another gene
has a certain value. A leaf is split by the test with the best Bayesian-Dirichlet score (K2 prior),
if that increases the score by more than half the logarithm of the number of parents, so that chance
does not grow trees.

References
----------
J. Očenášek, "Parallel estimation of distribution algorithms", PhD thesis, Brno University of
Technology, 2002.

G. F. Cooper, E. Herskovits, "A Bayesian method for the induction of probabilistic networks from
data", Machine Learning 9, 1992 (K2). doi:10.1007/BF00994110

D. M. Chickering, D. Heckerman, C. Meek, "A Bayesian approach to learning Bayesian networks with
local structure", UAI 1997.

M. Pelikan, "Hierarchical Bayesian Optimization Algorithm", Springer, 2005. doi:10.1007/b10910
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.evolution.population import Population
from cchybrid.toolkit.kernels import inlined, internal

MIN_PARENTS = 2
"""Parents that reach each leaf, at least."""


class Tree(NamedTuple):
    """The tree of one gene; node 0 is the root.

    Parameters
    ----------
    gene
        Shape (nodes,): the gene that a node tests, -1 in a leaf.
    part, value
        Shape (nodes,): whether the option (0) or the step (1) is compared, and the value.
    branch
        Shape (nodes,): the child if the values are equal; the next node is the other child.
    first, stop
        Shape (nodes,): the parents that reach a node are ``member[first:stop]``.
    member
        Shape (parents,): indices into the list of parents.
    """

    gene: IntArray
    part: IntArray
    value: IntArray
    branch: IntArray
    first: IntArray
    stop: IntArray
    member: IntArray


class Scores(NamedTuple):
    """Working memory for scores.

    Parameters
    ----------
    log_factorial
        Shape (2 * parents + 2,): the logarithm of i!.
    label
        Shape (2, parents): the values of the gene as numbers from 0. Row 0 has options, row 1
        steps; or row 0 has both together and row 1 zeros.
    tested
        Shape (parents,): the tested value of each member of a node.
    counts
        Shape (2, parents): the frequency of each label in both branches.
    """

    log_factorial: NDArray[np.float64]
    label: IntArray
    tested: IntArray
    counts: IntArray


def empty_tree(parents: int, leaves: int) -> Tree:
    """Return memory for a tree of up to ``leaves`` leaves."""

    def nodes() -> IntArray:
        return np.full(2 * leaves - 1, -1, dtype=np.int32)

    member = np.arange(parents, dtype=np.int32)
    return Tree(nodes(), nodes(), nodes(), nodes(), nodes(), nodes(), member)


def new_scores(parents: int) -> Scores:
    """Return working memory for this number of parents."""
    numbers = np.maximum(np.arange(2 * parents + 2, dtype=np.float64), 1.0)
    return Scores(
        log_factorial=np.cumsum(np.log(numbers)),
        label=np.zeros((2, parents), dtype=np.int32),
        tested=np.zeros(parents, dtype=np.int32),
        counts=np.zeros((2, parents), dtype=np.int32),
    )


@internal
def grow(
    tree: Tree,
    scores: Scores,
    population: Population,
    parents: IntArray,
    gene: int,
    whole: bool,
    candidates: IntArray,
) -> int:
    """Grow the tree of a gene; return the number of its nodes.

    Parameters
    ----------
    parents
        Shape (parents,): individuals of the population.
    whole
        Whether option and step are one value; else they are counted separately.
    candidates
        The genes that nodes may test.
    """
    size = len(parents)
    kinds = _label(scores, population, parents, gene, whole)
    for place in range(size):
        tree.member[place] = place
    tree.gene[0], tree.first[0], tree.stop[0] = -1, 0, size
    nodes, node = 1, 0
    while node < nodes:
        if nodes + 2 <= len(tree.gene) and _find_split(
            tree, scores, population, parents, kinds, candidates, node
        ):
            _split(tree, population, parents, node, nodes)
            nodes += 2
        node += 1
    return nodes


@internal
def leaf_of(tree: Tree, option: IntArray, step: IntArray) -> int:
    """Return the leaf that an individual reaches; shape (genes,) both."""
    node = 0
    while tree.gene[node] >= 0:
        values = option if tree.part[node] == 0 else step
        node = tree.branch[node] + (values[tree.gene[node]] != tree.value[node])
    return node


@internal
def _label(
    scores: Scores, population: Population, parents: IntArray, gene: int, whole: bool
) -> tuple[int, int]:
    """Number the values of a gene; return the number of distinct values of each row."""
    options, steps = 0, 0
    label = scores.label
    for place in range(len(parents)):
        option, step = (
            population.option[parents[place], gene],
            population.step[parents[place], gene],
        )
        label[0, place], label[1, place] = -1, 0 if whole else -1
        for earlier in range(place):
            same_option = population.option[parents[earlier], gene] == option
            same_step = population.step[parents[earlier], gene] == step
            if same_option and (same_step or not whole):
                label[0, place] = label[0, earlier]
            if same_step and not whole:
                label[1, place] = label[1, earlier]
            if label[0, place] >= 0 and label[1, place] >= 0:
                break
        if label[0, place] < 0:
            label[0, place] = options
            options += 1
        if label[1, place] < 0:
            label[1, place] = steps
            steps += 1
    return options, max(steps, 1)


@internal
def _find_split(
    tree: Tree,
    scores: Scores,
    population: Population,
    parents: IntArray,
    kinds: tuple[int, int],
    candidates: IntArray,
    node: int,
) -> bool:
    """Write the best test to a node; return whether its score exceeds that of a leaf."""
    tested, member = scores.tested, tree.member
    first, size = tree.first[node], tree.stop[node] - tree.first[node]
    if size < 2 * MIN_PARENTS:
        return False
    for place in range(size):
        tested[place] = 0
    # With all members in one branch, this is the score of a leaf, plus the penalty of a split.
    best = _score(tree, scores, kinds, first, size, 0) + 0.5 * np.log(len(parents))
    found = False
    for gene in candidates:
        for part in range(2):
            values = population.option if part == 0 else population.step
            for place in range(size):
                tested[place] = values[parents[member[first + place]], gene]
            for place in range(size):
                value = tested[place]
                equal = 0
                for other in range(size):
                    if tested[other] == value:
                        if other < place:
                            equal = -1  # tested before
                            break
                        equal += 1
                if MIN_PARENTS <= equal <= size - MIN_PARENTS:
                    score = _score(tree, scores, kinds, first, size, value)
                    if score > best:
                        best, found = score, True
                        tree.gene[node], tree.part[node], tree.value[node] = gene, part, value
    return found


@inlined
def _score(
    tree: Tree, scores: Scores, kinds: tuple[int, int], first: int, size: int, value: int
) -> float:
    """Return the logarithm of the Bayesian-Dirichlet measure of both branches of a test."""
    logs, label = scores.log_factorial, scores.label
    counts, tested, member = scores.counts, scores.tested, tree.member
    total = 0.0
    for row in range(2):
        if kinds[row] < 2:
            continue
        for kind in range(kinds[row]):
            counts[0, kind] = counts[1, kind] = 0
        equal = 0
        for place in range(size):
            side = 1 if tested[place] == value else 0
            equal += side
            kind = label[row, member[first + place]]
            count = counts[side, kind] + 1
            counts[side, kind] = count
            total += logs[count] - logs[count - 1]
        # The gamma functions of the prior, for both branches.
        for number in (equal, size - equal):
            total += logs[kinds[row] - 1] - logs[kinds[row] - 1 + number]
    return total


@internal
def _split(tree: Tree, population: Population, parents: IntArray, node: int, nodes: int) -> None:
    """Partition the members of a node by its test, and add its two leaves."""
    values = population.option if tree.part[node] == 0 else population.step
    low, high = tree.first[node], tree.stop[node]
    while low < high:
        member = tree.member[low]
        if values[parents[member], tree.gene[node]] == tree.value[node]:
            low += 1
        else:
            high -= 1
            tree.member[low], tree.member[high] = tree.member[high], member
    tree.branch[node] = nodes
    for leaf in range(nodes, nodes + 2):
        tree.gene[leaf] = -1
    tree.first[nodes], tree.stop[nodes] = tree.first[node], low
    tree.first[nodes + 1], tree.stop[nodes + 1] = low, tree.stop[node]
