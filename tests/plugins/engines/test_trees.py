"""The engine ``trees``: broadcast trees of one message by simulated annealing."""

from dataclasses import replace
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from cchybrid_plugins.engines.trees.engine import LOOSE, TIGHT, Search, Trees
from cchybrid_plugins.engines.trees.kernels import anneal, grow, schedule, weigh
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.library.topologies import network as topology
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, NoOptions, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.random_instances import instances
from tests.toolkit.kernels.uncompiled import call

RANDOM = drawn(60)
GO_ON = np.zeros(1, dtype=np.bool_)
TREES = Trees(NoOptions())
ONE = instances(max_nodes=7, switchings=("store-and-forward",), max_messages=1)


def hops(network, name="OAB", **options):
    """Return an instance in store-and-forward switching with one port."""
    options = {"switching": "store-and-forward", "ports": 1, **options}
    return cchybrid.instance(network, name, **options)


def links(nodes, pairs):
    return Network.from_links("drawn", nodes, sorted({tuple(sorted(pair)) for pair in pairs}))


def random_tree(nodes, seed):
    random = Random(seed)
    return links(nodes, [(node, random.randrange(node)) for node in range(1, nodes)])


def binomial_tree(dimension, more, seed):
    """Return a network with a spanning binomial tree from node 0 and random links."""
    nodes, random = 1 << dimension, Random(seed)
    name = [0, *random.sample(range(1, nodes), nodes - 1)]
    pairs = [(name[node], name[node & (node - 1)]) for node in range(1, nodes)]
    pairs += [tuple(random.sample(range(nodes), 2)) for _ in range(more * nodes)]
    return links(nodes, pairs)


def fewest_steps(instance):
    """Return the broadcast time, by all sets of nodes that can be informed after each step."""
    forward = instance.forward
    network, model = forward.network, forward.model
    (message,) = forward.collective.deliver_messages
    onward = {node: [] for node in range(network.nodes)}
    for first, last, _ in network.channels:
        if model.accept_limit(last) != 0:
            onward[first].append(last)
    reachable, steps = {frozenset([message.source])}, 0
    while not any(set(message.destinations) <= informed for informed in reachable):
        steps += 1
        found = set()
        for informed in reachable:
            grown = {informed}
            for node in informed:
                limit = model.inject_limit(node)
                for _ in range(len(onward[node]) if limit is None else limit):
                    grown = {
                        more | {other} for more, other in product(grown, onward[node])
                    } or grown
            found |= grown
        reachable = {one for one in found if not any(one < other for other in found)}
    return steps


def longest(network, root):
    """Return the broadcast time of a tree by its definition, from the leaves."""
    near = {node: [] for node in range(network.nodes)}
    for first, last, _ in network.channels:
        near[first].append(last)

    def time(node, parent):
        behind = sorted((time(o, node) for o in near[node] if o != parent), reverse=True)
        return max((place + each for place, each in enumerate(behind, 1)), default=0)

    return time(root, -1)


@RANDOM
@given(ONE, st.sampled_from(LOOSE + TIGHT), st.integers(0, 2**32 - 1))
def test_the_kernels_are_compiled_as_written(instance, cooling, seed):
    search = Search(build_problem(instance).structure, seed)
    graph, tree, step = search._graph, search._tree, np.empty_like(search.step)
    full = tree._replace(order=np.empty(len(step), dtype=np.int32))
    first = np.random.default_rng(seed).permutation(len(step)).astype(np.int32)
    assert call(grow, graph, full, first, step) == len(tree.order)
    call(schedule, graph, tree, step)
    base, hot, cold, _ = cooling
    power = base ** np.arange(len(step) + 1)
    call(weigh, graph, tree, power)
    state = seed_state(seed)
    for temperature in (hot, cold):
        if len(graph.movable):
            call(anneal, graph, tree, power, temperature, 20, GO_ON, state)
        call(schedule, graph, tree, step)


@RANDOM
@given(ONE, st.integers(0, 2**32 - 1))
def test_values_are_kept_up_to_date(instance, seed):
    search = Search(build_problem(instance).structure, seed)
    search.start(3.0)
    search.anneal(0.5, 200, GO_ON)
    tree = search._tree
    kept = tree.value[tree.order].copy()
    weigh(search._graph, tree, search._power)
    np.testing.assert_allclose(kept, tree.value[tree.order], rtol=1e-9)
    children = [child for node in tree.order for child in np.flatnonzero(tree.parent == node)]
    assert sorted([*children, search._graph.source]) == sorted(tree.order)


@RANDOM
@given(ONE)
def test_small_instances_are_solved_at_the_optimum(instance):
    best = fewest_steps(instance)
    run, stop = solved(TREES, instance, lower=best)
    assert run.best() == best
    assert stop is Stop.EXHAUSTED


@pytest.mark.parametrize("seed", range(12))
def test_trees_are_solved_exactly(seed):
    network = random_tree(2 + 7 * seed, seed)
    root = seed % network.nodes
    run, stop = solved(TREES, hops(network, root=root))
    assert run.best() == longest(network, root)
    assert stop in (Stop.STALLED, Stop.EXHAUSTED)


@pytest.mark.parametrize(
    ("dimension", "more", "seed"), [(5, 1, 1), (6, 2, 2), (7, 4, 3), (8, 6, 4)]
)
def test_spanning_binomial_trees_are_found(dimension, more, seed):
    run, stop = solved(TREES, hops(binomial_tree(dimension, more, seed), root=0), lower=dimension)
    assert run.best() == dimension
    assert stop is Stop.EXHAUSTED


@pytest.mark.parametrize(
    ("network", "steps"),
    [("hypercube-64", 6), ("torus-8x8", 8), ("ring-bi-31", 16), ("petersen-10", 4)],
)
@pytest.mark.parametrize("collective", ["OAB", "AOR"])
def test_broadcast_times_of_regular_networks(network, steps, collective):
    run, _ = solved(TREES, hops(network, collective, root=0), lower=steps)
    assert run.best() == steps


def test_more_ports_and_few_destinations():
    assert solved(TREES, hops("torus-4x4", ports=2), 4)[0].best() == 4
    path = Network.from_links("path", 9, list(pairwise(range(9))))
    far = replace(hops(path, root=4), collective=Collective("two", (Message(4, (0, 6)),)))
    run, _ = solved(TREES, far)
    assert run.best() == 4
    assert sum(map(len, run.schedules[-1].steps)) == 6


def test_half_duplex_links_and_endpoints_do_not_matter():
    plain = Network.from_links("square", 4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    pairs = tuple((a, b) for a, b, _ in plain.channels if a < b)
    for network in (replace(plain, half_duplex=pairs), replace(plain, endpoints=(1, 2))):
        instance = replace(hops(plain, root=0), network=network)
        assert solved(TREES, instance, 2)[0].best() == 2


def test_directed_networks():
    network = Network.from_arcs("arcs", 5, [(0, 1), (1, 2), (2, 0), (2, 3), (0, 3), (3, 4)])
    assert fewest_steps(hops(network, root=0)) == 3
    assert solved(TREES, hops(network, root=0), 3)[0].best() == 3


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (hops("mesh-3x3", "AAB"), "9 messages, not one"),
        (cchybrid.instance("mesh-3x3", "OAB"), "not store-and-forward switching"),
    ],
)
def test_other_problems_are_refused(instance, reason):
    assert TREES.unsupported(build_problem(instance)) == reason


def test_nodes_that_cannot_take_part_are_left_out():
    network = Network.from_links("path", 4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    model = CommunicationModel("store-and-forward", inject=(1, 0, 1, 1), accept=(1, 1, 1, 0))
    given_up = Instance(network, Collective("OAB", (Message(0, (1, 2)),)), model)
    assert solved(TREES, given_up, 2)[0].best() == 2 == fewest_steps(given_up)


def test_runs_are_repeatable_under_an_evaluation_budget():
    problem = build_problem(hops("random-regular-200-3-5"))
    found = []
    for _ in range(2):
        run = LocalRun(problem, seed=3, budget=Budget(evaluations=30_000))
        assert TREES.solve(problem, run) is Stop.LIMIT
        found.append([each.steps for each in run.schedules])
    assert found[0] == found[1]


def test_long_paths_keep_values_finite():
    ring = Network.from_links("ring", 1500, [(node, (node + 1) % 1500) for node in range(1500)])
    search = Search(build_problem(hops(ring)).structure, 0)
    search.start(5.0)
    assert np.isfinite(search._power).all()
    search.anneal(0.001, 100, GO_ON)
    assert np.isfinite(search._tree.value).all()
    assert search.steps == 750


@pytest.mark.parametrize("seed", range(3))
def test_matchings_alone_find_binomial_trees_with_many_links(seed):
    network = topology(f"binomial-tree-256-2560-{seed}")
    assert Search(build_problem(hops(network, root=0)).structure, 0).steps == 8
