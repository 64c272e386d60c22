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
    """Working memory for scores; the last three arrays are zero between two nodes.

    Parameters
    ----------
    log_factorial
        Shape (2 * parents + 2,): the logarithm of i!.
    code, kinds
        Shapes (2, genes, parents) and (2, genes): the options (0) and steps (1) of all genes in the
        parents, as numbers from 0, and how many numbers there are; see ``number_values``.
    label
        Shape (2, parents): the values of the tree's gene as numbers from 0. Row 0 has options, row
        1 steps; or row 0 has both together and row 1 zeros.
    values
        Shape (parents,): values that are numbered.
    total
        Shape (2, parents): the frequency of each label in a node.
    equal, counts
        Shapes (parents,) and (2, parents, parents): the frequency of each value of the tested gene
        in a node, and of each label among those.
    """

    log_factorial: NDArray[np.float64]
    code: IntArray
    kinds: IntArray
    label: IntArray
    values: IntArray
    total: IntArray
    equal: IntArray
    counts: IntArray


def empty_tree(parents: int, leaves: int) -> Tree:
    """Return memory for a tree of up to ``leaves`` leaves."""

    def nodes() -> IntArray:
        return np.full(2 * leaves - 1, -1, dtype=np.int32)

    member = np.arange(parents, dtype=np.int32)
    return Tree(nodes(), nodes(), nodes(), nodes(), nodes(), nodes(), member)


def new_scores(parents: int, genes: int) -> Scores:
    """Return working memory for these numbers of parents and genes."""

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int32)

    numbers = np.maximum(np.arange(2 * parents + 2, dtype=np.float64), 1.0)
    return Scores(
        log_factorial=np.cumsum(np.log(numbers)),
        code=zeros(2, genes, parents),
        kinds=zeros(2, genes),
        label=zeros(2, parents),
        values=zeros(parents),
        total=zeros(2, parents),
        equal=zeros(parents),
        counts=zeros(2, parents, parents),
    )


@internal
def number_values(scores: Scores, population: Population, parents: IntArray) -> None:
    """Number the values of all genes in the parents, for all trees of a generation."""
    for part in range(2):
        genes = population.option if part == 0 else population.step
        for gene in range(genes.shape[1]):
            for place in range(len(parents)):
                scores.values[place] = genes[parents[place], gene]
            scores.kinds[part, gene] = _number(scores.values, scores.code[part, gene])


@internal
def _number(values: IntArray, code: IntArray) -> int:
    """Write equal numbers from 0 for equal values; return how many numbers there are."""
    kinds = 0
    for place in range(len(values)):
        code[place] = kinds
        for earlier in range(place):
            if values[earlier] == values[place]:
                code[place] = code[earlier]
                break
        kinds += code[place] == kinds
    return kinds


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
    """Grow the tree of a gene after ``number_values``; return the number of its nodes.

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
    kinds = _label(scores, gene, whole)
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
def _label(scores: Scores, gene: int, whole: bool) -> tuple[int, int]:
    """Label the values of a gene; return the number of distinct labels of each row."""
    steps = scores.kinds[1, gene]
    for place in range(len(scores.values)):
        option, step = scores.code[0, gene, place], scores.code[1, gene, place]
        scores.label[0, place] = option
        scores.label[1, place] = 0 if whole else step
        scores.values[place] = option * steps + step
    if not whole:
        return scores.kinds[0, gene], steps
    return _number(scores.values, scores.label[0]), 1


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
    members = tree.member[tree.first[node] : tree.stop[node]]
    size = len(members)
    if size < 2 * MIN_PARENTS:
        return False
    for member in members:
        for row in range(2):
            scores.total[row, scores.label[row, member]] += 1
    # With all members in one branch, this is the score of a leaf, plus the penalty of a split.
    best = _score(scores, kinds, size, 0) + 0.5 * np.log(len(parents))
    found, number = False, 0
    for gene in candidates:
        for part in range(2):
            if scores.kinds[part, gene] < 2:
                continue
            code = scores.code[part, gene]
            _count(scores, members, code, 1)
            for value in range(scores.kinds[part, gene]):
                if MIN_PARENTS <= scores.equal[value] <= size - MIN_PARENTS:
                    score = _score(scores, kinds, size, value)
                    if score > best:
                        best, found, number = score, True, value
                        tree.gene[node], tree.part[node] = gene, part
            _count(scores, members, code, -1)
    for member in members:
        for row in range(2):
            scores.total[row, scores.label[row, member]] = 0
    if found:
        values = population.option if tree.part[node] == 0 else population.step
        for place in range(len(parents)):
            if scores.code[tree.part[node], tree.gene[node], place] == number:
                tree.value[node] = values[parents[place], tree.gene[node]]
    return found


@inlined
def _count(scores: Scores, members: IntArray, code: IntArray, sign: int) -> None:
    """Count the members of a node by the value of the tested gene; ``sign`` -1 undoes it."""
    for member in members:
        value = code[member]
        scores.equal[value] += sign
        for row in range(2):
            scores.counts[row, value, scores.label[row, member]] += sign


@inlined
def _score(scores: Scores, kinds: tuple[int, int], size: int, value: int) -> float:
    """Return the logarithm of the Bayesian-Dirichlet measure of both branches of a test.

    Less the logarithms of the factorials of ``total``, which are the same for all tests of a node.
    """
    logs = scores.log_factorial
    equal, result = scores.equal[value], 0.0
    for row in range(2):
        if kinds[row] < 2:
            continue
        # The gamma functions of the prior, for both branches.
        prior = kinds[row] - 1
        result += 2 * logs[prior] - logs[prior + equal] - logs[prior + size - equal]
        for kind in range(kinds[row]):
            inside = scores.counts[row, value, kind]
            if inside > 0:
                total = scores.total[row, kind]
                result += logs[inside] + logs[total - inside] - logs[total]
    return result


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
