"""Nested-set bounds: trees, blocks behind one node, and random networks that are nearly trees."""

import random
import time
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.model import Channel, Collective, Instance, Message, Network, Reduction
from cchybrid.proof.nested_sets import nested_set_bounds
from tests.checker.random_evidence import any_nested_sets
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import list_schedule, models

HOP_BY_HOP = {"switching": "store-and-forward"}


@st.composite
def near_trees(draw: st.DrawFn, max_nodes: int = 8) -> Network:
    """Random trees, deep ones among them, with up to two links or channels more."""
    nodes = draw(st.integers(4, max_nodes))
    reach = draw(st.integers(1, 3))
    arcs = set()
    for node in range(1, nodes):
        other = draw(st.integers(max(0, node - reach), node - 1))
        arcs |= {(node, other), (other, node)}
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    arcs.update(draw(st.lists(st.sampled_from(pairs), max_size=2)))
    size = {arc: draw(st.sampled_from((1, 1, 1, 1, 2))) for arc in sorted(arcs)}
    half_duplex = []
    for a, b in sorted(arcs):
        if a < b and (b, a) in arcs and draw(st.integers(0, 5)) == 0:
            size[b, a] = size[a, b]
            half_duplex.append((a, b))
    channels = tuple(Channel(a, b, size[a, b]) for a, b in sorted(arcs))
    leaves = [node for node in range(nodes) if sum(a == node for a, _ in arcs) == 1]
    endpoints = tuple(draw(st.lists(st.sampled_from(leaves), unique=True))) if leaves else ()
    return Network("near tree", nodes, channels, tuple(half_duplex), tuple(sorted(endpoints)))


@st.composite
def spreading(draw: st.DrawFn) -> Instance:
    """Random broadcasts, multicasts and reductions of one message on near trees."""
    network = draw(near_trees())
    source = draw(st.integers(0, network.nodes - 1))
    others = [node for node in range(network.nodes) if node != source]
    if draw(st.booleans()):
        others = draw(st.lists(st.sampled_from(others), min_size=2, unique=True))
    kind = draw(st.sampled_from((Message(source, tuple(others)), Reduction(tuple(others), source))))
    return Instance(network, Collective("one", (kind,)), draw(models(network.nodes)))


@settings(max_examples=examples(120))
@given(spreading(), st.integers(0, 2**32 - 1))
def test_no_nested_sets_prove_more_than_the_optimum(instance, seed):
    fewest = fewest_steps(instance, len(list_schedule(instance, seed)))
    record, rng = instance.to_json(), random.Random(seed)
    for _ in range(20):
        sets = any_nested_sets(instance, 0, rng)
        assert proven_steps(record, {"kind": "nested-sets", "message": 0, "sets": sets}) <= fewest
    for bound in nested_set_bounds(instance.forward):
        assert bound.steps <= fewest


def proven(instance: Instance, *sets: list[int]) -> int:
    """Return what sets by hand prove."""
    evidence = {"kind": "nested-sets", "message": 0, "sets": list(sets)}
    return proven_steps(instance.to_json(), evidence)


def star(leaves: int, *destinations: int, **model: str) -> Instance:
    """Return a multicast from node 0, behind the hub 1 of a star, to some of its nodes."""
    links = [(0, 1), *((1, leaf) for leaf in range(2, 2 + leaves))]
    network = Network.from_links("star", 2 + leaves, links)
    message = Message(0, destinations or tuple(range(1, 2 + leaves)))
    return Instance(network, Collective("multicast", (message,))).with_model(**model)


@pytest.mark.long
@pytest.mark.parametrize(("nodes", "steps"), [(7, 2), (15, 3), (31, 4), (63, 5), (1023, 9)])
@pytest.mark.parametrize("collective", ["OAB", "AOR"])
def test_full_trees_close_at_every_height(nodes, steps, collective):
    for root in (2**level - 1 for level in range(1, nodes.bit_length())):
        instance = cchybrid.instance(f"full-tree-{nodes}", collective, root=root).forward
        assert max(bound.steps for bound in nested_set_bounds(instance)) >= steps


def best(instance: Instance) -> int:
    """Return the best nested-set bound of an instance."""
    return max((bound.steps for bound in nested_set_bounds(instance.forward)), default=0)


def slater(tree: dict[int, list[int]], node: int) -> int:
    """Return the steps of a broadcast with one port, hop by hop, in a tree of children.

    Source: Slater, Cockayne, Hedetniemi, "Information dissemination in trees", SIAM Journal on
    Computing 10 (1981). doi:10.1137/0210052
    """
    below = sorted((slater(tree, child) for child in tree.get(node, ())), reverse=True)
    return max((place + steps for place, steps in enumerate(below, 1)), default=0)


@given(st.integers(0, 2**32 - 1))
def test_trees_with_one_port_have_their_optimum_as_the_bound(seed):
    rng = random.Random(seed)
    nodes, reach = rng.randint(3, 60), rng.randint(1, 20)
    tree: dict[int, list[int]] = {}
    for node in range(1, nodes):
        tree.setdefault(rng.randint(max(0, node - reach), node - 1), []).append(node)
    assume(len(tree) > 1)  # a star around the source has no such sets, and growth is the optimum
    links = [(above, node) for above, below in tree.items() for node in below]
    network = Network.from_links("tree", nodes, links)
    to_all = Collective("OAB", (Message(0, tuple(range(1, nodes))),))
    instance = Instance(network, to_all).with_model(inject=1, accept=1, **HOP_BY_HOP)
    assert best(instance) == slater(tree, 0)


def test_a_wide_link_lets_more_in():
    instance, found = star(8), []
    for capacity in (1, 2, 8, 9):
        wide = {(0, 1): capacity, (1, 0): capacity}
        channels = tuple(Channel(*c[:2], wide.get(c[:2], 1)) for c in instance.network.channels)
        found.append(best(replace(instance, network=replace(instance.network, channels=channels))))
    assert found == [2, 2, 2, 1]


@pytest.mark.slow
def test_networks_without_such_sets_are_skipped_at_once():
    for name in ("hypercube-1024", "torus-32x32"):
        for model in ({}, HOP_BY_HOP):
            instance = cchybrid.instance(name, "OAB", root=0, **model)
            begun = time.process_time()
            assert not list(nested_set_bounds(instance))
            assert time.process_time() - begun < 1


@pytest.mark.slow
def test_a_path_of_many_nodes_is_not_too_deep():
    instance = cchybrid.instance("mesh-1x1024", "OAB", root=0, **HOP_BY_HOP)
    begun = time.process_time()
    assert best(instance) == 1023
    assert time.process_time() - begun < 3
