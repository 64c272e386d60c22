import math
from collections import Counter

import numpy as np
import pytest
from cchybrid_plugins.engines.mboa.engine import Mboa, MboaOptions
from cchybrid_plugins.engines.mboa.trees import (
    Tree,
    empty_tree,
    grow,
    leaf_of,
    new_scores,
    number_values,
)

from cchybrid.host.api import instance
from cchybrid.plugin.engine import read_options
from cchybrid.problem import build_problem
from cchybrid.toolkit.evolution.genome import Genome
from cchybrid.toolkit.evolution.population import Population, empty_population
from cchybrid.toolkit.kernels.rng import seed_state

SIZE = 60


def toy(seed: int, genes: int = 4, values: int = 2) -> Population:
    """Independent random genes, but that the step of gene 1 is never that of gene 0."""
    rng = np.random.default_rng(seed)
    option = rng.integers(0, values, (SIZE, genes)).astype(np.int32)
    step = rng.integers(0, values, (SIZE, genes)).astype(np.int32)
    step[:, 1] = (step[:, 0] + 1) % values
    return Population(option, step, np.zeros(SIZE, dtype=np.int32))


def tree_of(
    population: Population, gene: int, candidates: list[int], whole: bool = False, leaves: int = 8
) -> tuple[Tree, int]:
    tree = empty_tree(SIZE, leaves)
    parents = np.arange(SIZE, dtype=np.int32)
    chosen = np.array(candidates, dtype=np.int32)
    scores = new_scores(SIZE, population.option.shape[1])
    number_values(scores, population, parents)
    return tree, grow(tree, scores, population, parents, gene, whole, chosen)


def test_a_tree_finds_the_gene_that_its_own_depends_on():
    for seed in range(10):
        population = toy(seed)
        tree, nodes = tree_of(population, 1, [3, 0, 2])
        assert nodes >= 3
        assert (tree.gene[0], tree.part[0]) == (0, 1)
        for person in range(SIZE):
            leaf = leaf_of(tree, population.option[person], population.step[person])
            reached = tree.member[tree.first[leaf] : tree.stop[leaf]]
            assert person in reached
            assert set(population.step[reached, 1]) == {population.step[person, 1]}


def test_independent_genes_hardly_grow_trees():
    grown = [tree_of(toy(seed), 2, [0, 1, 3])[1] > 1 for seed in range(40)]
    assert sum(grown) <= 12


def test_a_tree_of_many_values_needs_many_leaves():
    population = toy(0, values=4)
    tree, nodes = tree_of(population, 1, [0])
    assert nodes >= 7
    leaves = [node for node in range(nodes) if tree.gene[node] < 0]
    assert sum(int(tree.stop[leaf] - tree.first[leaf]) for leaf in leaves) == SIZE
    assert sorted(tree.member.tolist()) == list(range(SIZE))
    assert tree_of(population, 1, [0], leaves=2)[1] == 3
    assert tree_of(population, 1, [0], leaves=1)[1] == 1
    assert tree_of(population, 1, [])[1] == 1


def test_the_first_split_is_the_one_with_the_best_measure():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = [rng.integers(0, 3, (SIZE, 3)).astype(np.int32) for _ in range(2)]
        copied = rng.random(SIZE) < 0.6
        values[1][copied, 2] = values[0][copied, 0]
        population = Population(values[0], values[1], np.zeros(SIZE, dtype=np.int32))
        for whole in (False, True):
            tree, nodes = tree_of(population, 2, [0, 1], whole)
            splits = [
                (gene, part, value) for gene in (0, 1) for part in (0, 1) for value in (0, 1, 2)
            ]
            measures = {q: plain_measure(population, 2, whole, q) for q in splits}
            leaf = plain_measure(population, 2, whole, None) + 0.5 * math.log(SIZE)
            best = max(measures.values())
            if best > leaf:
                chosen = (int(tree.gene[0]), int(tree.part[0]), int(tree.value[0]))
                assert measures[chosen] == pytest.approx(best)
            else:
                assert nodes == 1


def plain_measure(
    population: Population, gene: int, whole: bool, split: tuple[int, int, int] | None
) -> float:
    """The logarithm of the K2 measure of both branches of a split, from its definition."""
    pairs = list(zip(population.option[:, gene], population.step[:, gene], strict=True))
    columns: list[list[object]] = [list(pairs)]
    if not whole:
        columns = [[option for option, _ in pairs], [step for _, step in pairs]]
    sides: list[list[int]] = [[], []]
    for person in range(SIZE):
        answer = 0
        if split is not None:
            chosen, part, value = split
            answer = int((population.option, population.step)[part][person, chosen] == value)
        sides[answer].append(person)
    total = 0.0
    for column in columns:
        kinds = len(set(column))
        for side in sides:
            total += math.lgamma(kinds) - math.lgamma(kinds + len(side))
            counted = Counter(column[person] for person in side)
            total += sum(math.lgamma(count + 1) for count in counted.values())
    return total


@pytest.mark.parametrize(
    ("options", "times"),
    [
        # All children keep it if the tree was allowed to test the other gene,
        (MboaOptions(population=2 * SIZE, candidates=16), range(5, 11)),
        # as every tree of the published algorithm is.
        (read_options("it", MboaOptions, {"papers": "yes", "population": str(2 * SIZE)}), [10]),
    ],
)
def test_children_keep_what_the_trees_know(options, times):
    problem = build_problem(instance("mesh-2x2", "AAS"))
    state = seed_state(5)
    breeder = Mboa(options).breeder(Genome.of(problem, options), state)
    assert breeder.parents == SIZE
    rng = np.random.default_rng(1)
    genes = problem.deliveries
    size = np.diff(problem.option_start)
    option = problem.option_start[:-1] + rng.integers(0, 2**31, (SIZE, genes)) % size
    step = rng.integers(0, 2, (SIZE, genes)).astype(np.int32)
    step[:, 1] = 1 - step[:, 0]
    population = Population(option.astype(np.int32), step, np.zeros(SIZE, dtype=np.int32))
    children, parents = empty_population(200, genes), np.arange(SIZE, dtype=np.int32)
    met = 0
    for _ in range(10):
        breeder.breed(population, parents, children, np.zeros(1, dtype=np.bool_), state)
        assert (problem.option_delivery[children.option] == np.arange(genes)).all()
        met += bool((children.step[:, 0] != children.step[:, 1]).all())
    assert met in times
