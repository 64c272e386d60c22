"""``problem.structure``, checked against the instance."""

from collections import Counter
from itertools import chain, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Collective, Instance, Message, Transfer
from cchybrid.problem import LINK, build_problem, list_transfers
from cchybrid.referee.verify import verify
from tests.network_graphs import graph_of
from tests.problem.plain_problem import options_of
from tests.random_instances import instances, valid_schedules


@given(instances(), st.integers(1, 60))
def test_numbers_stand_for_parts_of_the_forward_instance(instance, max_options):
    problem = build_problem(instance, max_options=max_options)
    structure, forward = problem.structure, instance.forward
    network, model = forward.network, forward.model
    assert structure.network == network
    assert structure.messages == forward.collective.deliver_messages
    assert structure.hop_by_hop == (model.switching == "store-and-forward")
    assert structure.extra_hops == model.extra_hops
    assert structure.channels.tolist() == [list(channel) for channel in network.channels]
    assert structure.message_source.tolist() == [message.source for message in structure.messages]
    half_duplex = {frozenset(pair) for pair in network.half_duplex}
    sharers = Counter(structure.resources.channel.tolist())
    resources = structure.resources.channel.tolist()
    for (a, b, capacity), resource in zip(network.channels, resources, strict=True):
        shared = frozenset((a, b)) in half_duplex
        assert problem.capacity[resource] == capacity
        assert (problem.kind[resource] == LINK, sharers[resource]) == (shared, 1 + shared)
    for option, (_, node, _, path) in enumerate(options_of(problem)):
        channels = structure.resources.channel_of(np.array(path[:-1]), np.array(path[1:]))
        assert [network.channels[c][:2] for c in channels] == list(pairwise(path))
        assert problem.resources_of(option).tolist() == [
            structure.resources.inject[path[0]],
            *structure.resources.channel[channels],
            structure.resources.accept[path[-1]],
        ]
        assert path[-1] == node


@given(instances(max_nodes=6))
def test_distances_are_those_that_messages_travel(instance):
    structure = build_problem(instance).structure
    graph, nodes = graph_of(structure.network), range(structure.network.nodes)
    stops = () if structure.hop_by_hop else structure.network.endpoints
    for source in nodes:
        passable = graph.copy()
        passable.remove_edges_from([hop for hop in graph.edges if hop[0] in stops])
        passable.add_edges_from(graph.out_edges(source))
        hops = nx.single_source_shortest_path_length(passable, source)
        assert structure.distance[source].tolist() == [hops.get(node, -1) for node in nodes]


@given(instances(), st.integers(1, 60), st.data())
def test_deliveries_senders_and_options_are_found(instance, max_options, data):
    problem = build_problem(instance, max_options=max_options)
    structure = problem.structure
    ends = structure.delivery_message.tolist(), structure.delivery_node.tolist()
    pairs = list(zip(*ends, strict=True))
    nodes, messages = structure.network.nodes, len(structure.messages)
    for message in range(messages + 1):
        for node in range(-1, nodes + 1):
            [delivery] = structure.delivery_of(np.array([message]), np.array([node])).tolist()
            assert delivery == (pairs.index((message, node)) if (message, node) in pairs else -1)
    options = options_of(problem)
    for option, (message, _, before, path) in enumerate(options):
        delivery = int(problem.option_delivery[option])
        for nodes, known in ((path, option), ((*path, path[0]), -1)):
            start = np.array([0, len(nodes)])
            found = structure.options_of(problem, np.array([delivery]), np.array(nodes), start)
            assert found.tolist() == [known]
        requires = pairs.index((message, before)) if before >= 0 else -1
        assert (path[0], requires) in structure.senders(delivery)
    chosen = data.draw(st.lists(st.sampled_from(range(len(options))), max_size=8))
    delivery = problem.option_delivery[chosen]
    paths = [options[option][3] for option in chosen]
    start = np.cumsum([0, *map(len, paths)])
    node = np.array([*chain.from_iterable(paths)], dtype=np.int64)
    assert structure.options_of(problem, delivery, node, start).tolist() == chosen
    requires = structure.required_by(delivery, node, start)
    assert requires.tolist() == problem.option_requires[chosen].tolist()


@given(valid_schedules(), st.sampled_from([1, 400_000]))
def test_transfers_become_a_problem_of_their_own(schedule, max_options):
    """Whether their paths were listed or not; the schedule comes back as it was."""
    problem = build_problem(schedule.instance, max_options=max_options)
    steps = schedule.steps
    if schedule.instance.collective.kind == "combine":
        steps = [[Transfer(m, path[::-1]) for m, path in step] for step in reversed(steps)]
    listed, found = list_transfers(problem, [*steps, []])
    assert listed.options == sum(map(len, steps))
    assert listed.violations(found) == []
    lifted = listed.lift(found)
    assert verify(schedule.instance, lifted.steps) == ()
    matched = listed.match(lifted.steps)
    assert listed.lift(matched).steps == lifted.steps
    moved = [set(step) for step in lifted.steps]
    if len(moved) == len(schedule.steps):  # else some step moved nothing that is needed
        assert all(few <= set(step) for few, step in zip(moved, schedule.steps, strict=True))


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([[(0, (1,))]], "no path for delivery 0"),
        ([[(0, (0, 4))]], "no delivery to node 4"),
        ([[(0, (0, 4, 1))]], r"\(0, 4, 1\) is no path of the network"),
        ([[(0, (0, 1))], [(0, (0, 1))]], "delivery 0 is made twice"),
        ([[(0, (1, 0))]], "message 0 has no delivery to node 0"),
        ([[(0, (2, 1))]], "no path for delivery 0"),
        ([[(1, (0, 1))]], "message 1 has no delivery to node 1"),
    ],
)
def test_transfers_that_deliver_nothing_are_refused(steps, words):
    network = cchybrid.instance("mesh-3x3", "OAB").network
    messages = (Message(0, (1, 8)), Message(4, (5,)))
    problem = build_problem(Instance(network, Collective("two", messages)))
    with pytest.raises(ValueError, match=words):
        list_transfers(problem, [[Transfer(*transfer) for transfer in step] for step in steps])
