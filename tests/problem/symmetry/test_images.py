"""Images of messages, nodes and channels under groups of automorphisms."""

import pytest

import cchybrid
from cchybrid.model import Instance
from cchybrid.problem import build_problem
from cchybrid.problem.symmetry import Images, automorphisms, choices, small_groups


def many_to_many(name: str, sources: int) -> Instance:
    """Nodes before ``sources`` send to all others."""
    receivers = list(range(sources, cchybrid.network(name).nodes))
    return cchybrid.instance(name, "MNB", transmitters=list(range(sources)), receivers=receivers)


def test_images_are_those_of_the_group():
    instance = many_to_many("mesh-3x4", 4)
    problem = build_problem(instance)
    action = choices(instance, automorphisms(instance), 0)[0].action
    images = Images.of(problem, action.group)
    ends = [(a, b) for a, b, _ in instance.network.channels]
    for row in range(action.group.order):
        node = images.node[row]
        assert [ends[c] for c in images.channel[row]] == [(node[a], node[b]) for a, b in ends]
        assert images.message[row] == node[:4]


def test_a_group_that_changes_the_messages_is_refused():
    problem = build_problem(many_to_many("mesh-3x4", 3))
    whole = cchybrid.instance("mesh-3x4", "AAB")
    action = choices(whole, automorphisms(whole), 0)[0].action
    with pytest.raises(ValueError, match="changes the messages"):
        Images.of(problem, action.group)


def test_the_first_of_an_orbit_is_the_same_for_all_its_members():
    for images in small_groups(build_problem(cchybrid.instance("torus-3x3", "AAB")), 0, 4):
        for message, node, channel in zip(images.message, images.node, images.channel, strict=True):
            assert images.first_node(1, 2, 5) == images.first_node(message[1], node[2], node[5])
            same = images.first_channel(message[1], node[2], channel[5])
            assert images.first_channel(1, 2, 5) == same
        first, *others = sorted({row[1] for row in images.message})
        assert images.is_first(first)
        assert not any(map(images.is_first, others))
