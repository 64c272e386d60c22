"""Unreachable destinations and the reasons, in the user's direction."""

import time
from dataclasses import replace

import pytest

import cchybrid
from cchybrid.checker import EvidenceError, proves_infeasible
from cchybrid.model import (
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
    RoutingTable,
)
from cchybrid.proof.reach import explain, farthest, unreachable
from tests.refusals import refused

LINE = Network.from_links("line", 4, [(0, 1), (1, 2), (2, 3)])
UNIDIRECTIONAL = Network.from_arcs("one way", 3, [(0, 1), (1, 2)])
STAR = Network.from_links("line", 3, [(0, 1), (1, 2)], endpoints=(1,))
CUT = CommunicationModel(
    routing=RoutingTable(((0, 1, 0, 0), (0, 1, 1, 1), (1, 1, 2, 3), (2, 2, 2, 3)))
)
"""A table by which 0 and 1 send to nothing beyond them."""
HOP_BY_HOP = CommunicationModel(switching="store-and-forward")
ONE = Collective("one", (Message(0, (2,)),))


def ports(inject: tuple[int, ...], accept: tuple[int, ...]) -> CommunicationModel:
    return CommunicationModel(inject=inject, accept=accept)


@pytest.mark.parametrize(
    ("network", "messages", "model", "said"),
    [
        (UNIDIRECTIONAL, (Message(0, (1,)), Message(1, (2, 0))), CommunicationModel(),
         "node 0 cannot be reached from node 1 (message 1): no path leads there"),
        (UNIDIRECTIONAL, (Reduction((0,), 2), Reduction((2, 0), 1)), CommunicationModel(),
         "node 1 cannot be reached from node 2 (message 1): no path leads there"),
        (STAR, (Message(0, (1,)), Message(0, (2,))), CommunicationModel(),
         "node 2 cannot be reached from node 0 (message 1): every path passes an endpoint"),
        (LINE, (Message(0, (1,)), Message(0, (3,))), CUT,
         "node 3 cannot be reached from node 0 (message 1): the routing table has no path"),
        (LINE, (Reduction((0, 2), 3), Reduction((0,), 1)), CUT,
         "node 3 cannot be reached from node 0 (message 0): the routing table has no path"),
        (LINE, (Message(3, (0,)),), ports((1, 1, 1, 0), (1, 1, 1, 1)),
         "node 0 cannot be reached from node 3 (message 0): node 3 may not inject"),
        (LINE, (Reduction((0, 3), 1),), ports((1, 1, 1, 0), (1, 1, 1, 1)),
         "node 1 cannot be reached from node 3 (message 0): node 3 may not inject"),
        (LINE, (Message(3, (1, 0)),), ports((1, 1, 1, 1), (0, 1, 1, 1)),
         "node 0 cannot be reached from node 3 (message 0): node 0 may not accept"),
        (LINE, (Message(0, (1, 3)),), replace(HOP_BY_HOP, inject=(1, 1, 0, 1), accept=(1,) * 4),
         "node 3 cannot be reached from node 0 (message 0): "
         "every path passes a node that may not accept and inject"),
    ],
)  # fmt: skip
def test_node_message_and_reason(network, messages, model, said):
    instance = Instance(network, Collective("some", messages), model)
    evidence = unreachable(instance.forward)
    assert evidence is not None
    proves_infeasible(instance.to_json(), evidence)
    assert explain(instance, evidence).words(network) == said
    others = {node for message in instance.collective.deliver_messages for node in message[1]}
    for node in others - {evidence["destination"]}:
        with pytest.raises(EvidenceError):
            proves_infeasible(instance.to_json(), {**evidence, "destination": node})


def test_nodes_are_called_by_their_names():
    named = Network.from_arcs("one way", 3, [(0, 1), (1, 2)], node_names=("1", "2", "3"))
    instance = Instance(named, Collective("some", (Message(1, (0,)),)))
    said = "node 1 cannot be reached from node 2 (message 0): no path leads there"
    assert explain(instance, unreachable(instance.forward)).words(named) == said
    with refused(said):
        farthest(instance)
    deaf = replace(instance, model=ports((1, 1, 1), (0, 1, 1)))
    assert explain(deaf, unreachable(deaf.forward)).reason == "node 1 may not accept"


def test_the_farthest_destination_is_none_without_a_port():
    instance = cchybrid.instance("ring-4", "AAS", switching="store-and-forward")
    assert farthest(instance) == 2
    blocked = instance.with_model(inject=(0, 1, 1, 1), accept=[1] * 4)
    with refused("cannot be reached from node 0 (message 0): node 0 may not inject"):
        farthest(blocked)


def test_what_may_be_reached_step_by_step_is_no_obstacle():
    assert unreachable(Instance(STAR, Collective("all", (Message(0, (1, 2)),)))) is None
    assert unreachable(Instance(STAR, ONE, HOP_BY_HOP)) is None


def test_a_switch_without_ports_keeps_nothing():
    hop_by_hop = replace(HOP_BY_HOP, inject=(1, 0, 1), accept=(1, 0, 1))
    beside, over = (
        Network.from_links("switched", 3, links, switches=(1,))
        for links in ([(0, 1), (0, 2)], [(0, 1), (1, 2)])
    )
    assert unreachable(Instance(beside, ONE, hop_by_hop)) is None
    assert unreachable(Instance(over, ONE, hop_by_hop))["destination"] == 2


def test_a_large_instance_with_a_node_without_ports_takes_no_time():
    instance = cchybrid.instance("hypercube-128", "AAS", switching="store-and-forward")
    inject = (*[1] * 127, 0)
    begun = time.process_time()
    evidence = unreachable(instance.with_model(inject=inject, accept=[1] * 128))
    assert evidence["message"] == 127 * 127
    assert time.process_time() - begun < 2
