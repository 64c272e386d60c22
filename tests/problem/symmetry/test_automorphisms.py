"""Automorphisms of whole instances, against known groups and against trying every permutation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.problem.symmetry import automorphisms
from cchybrid.problem.symmetry.automorphisms import MessageMap
from tests.examples import examples
from tests.problem.symmetry.plain_automorphisms import count, is_automorphism
from tests.problem.symmetry.turned_instances import turned_instances
from tests.random_instances import instances


@pytest.mark.parametrize(
    ("network", "collective", "order"),
    [
        ("hypercube-8", "AAS", 48),
        ("hypercube-8", "OAB", 6),
        ("ring-bi-12", "AAB", 24),
        ("ring-uni-12", "AAS", 12),
        ("mesh-4x4", "AAS", 8),
        ("mesh-3x4", "AAR", 4),
        ("torus-4x4", "AAS", 384),
        ("torus-5x5", "AOG", 8),
        ("petersen-10", "AAB", 120),
        ("heawood-14", "AAS", 336),
        ("spidergon-16", "AAS", 32),
        ("full-tree-15", "OAB", 2**7),
        ("hypercube-256", "AAB", 256 * 40320),
        ("de-bruijn-2-10", "AAB", 2),
        # Two servers, two rails: four GPUs of each server are on each of the two switches.
        ("dgx-a100-x2", "AAS", 2 * 2 * math.factorial(4) ** 4),
        ("mi250-x2", "AAB", 32),
    ],
)
def test_known_groups(network, collective, order):
    assert automorphisms(cchybrid.instance(network, collective)).order == order


def test_groups_beyond_counting_are_found():
    found = automorphisms(cchybrid.instance("complete-200", "OAS"))
    assert found.order == math.inf
    assert len(found.generators) > 100


@settings(max_examples=examples(120), derandomize=True)
@given(instances(max_nodes=6))
def test_the_order_equals_the_number_of_automorphisms(instance):
    found = automorphisms(instance)
    assert all(is_automorphism(instance, row) for row in found.generators.tolist())
    assert found.order == count(instance)


@settings(max_examples=examples(80), derandomize=True)
@given(turned_instances())
def test_messages_move_as_the_nodes_do(drawn):
    instance, size = drawn
    nodes = instance.network.nodes
    rotation = (np.arange(nodes) + size) % nodes
    messages = instance.forward.collective.deliver_messages
    image = MessageMap(instance).image(rotation.astype(np.int32))
    assert sorted(image.tolist()) == list(range(len(messages)))
    for index, (source, destinations) in enumerate(messages):
        other = messages[image[index]]
        assert other.source == rotation[source]
        assert set(other.destinations) == {int(rotation[node]) for node in destinations}
    # The rotation by all nodes is the identity, for equal messages too.
    place = np.arange(len(messages))
    for _ in range(nodes // size):
        place = image[place]
    assert (place == np.arange(len(messages))).all()


def test_a_permutation_that_is_no_automorphism_has_no_image():
    instance = cchybrid.instance("mesh-3x3", "OAB", root=0)
    assert MessageMap(instance).image(np.arange(9)[::-1].astype(np.int32)) is None
