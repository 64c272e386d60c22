"""Growth by hand, where a slightly different count would show another number of steps."""

from __future__ import annotations

import pytest

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network

GROWTH = {"kind": "growth", "message": 0}


def steps(network: Network, message: Message, **model: object) -> int:
    instance = Instance(network, Collective("one", (message,)), CommunicationModel(**model))
    return proven_steps(instance.to_json(), GROWTH)


def ring(nodes: int) -> Network:
    return Network.from_links("ring", nodes, [(v, (v + 1) % nodes) for v in range(nodes)])


def test_the_last_node_counts() -> None:
    """After two steps nine nodes can have the message: 1, 3, 9."""
    assert steps(ring(9), Message(0, tuple(range(1, 9)))) == 2
    assert steps(ring(10), Message(0, tuple(range(1, 10)))) == 3


def test_in_wormhole_only_destinations_send_on() -> None:
    """Eight destinations with one port each: 1, 2, 4, 8, 16; the strong nodes get nothing."""
    ports = {"inject": (1,) * 9 + (2,) * 7, "accept": (1,) * 16}
    assert steps(ring(16), Message(0, tuple(range(1, 9))), **ports) == 4


def test_the_source_sends_once() -> None:
    """A source with four ports among nodes with one, hop by hop: 1, 5, 13, more than 16."""
    everyone = Network.from_links("all", 16, [(a, b) for a in range(16) for b in range(a)])
    ports = {"inject": (4,) + (1,) * 15, "accept": (1,) * 16}
    message = Message(0, tuple(range(1, 16)))
    assert steps(everyone, message, switching="store-and-forward", **ports) == 3


def test_a_destination_out_of_reach() -> None:
    """Hop by hop the distances count; in wormhole only the ports do."""
    chain = Network.from_arcs("chain", 3, [(0, 1), (1, 2)])
    with pytest.raises(EvidenceError, match="out of reach"):
        steps(chain, Message(1, (0, 2)), switching="store-and-forward")
    assert steps(chain, Message(1, (0, 2))) == 2


def test_hop_by_hop_the_distances_limit_the_growth() -> None:
    """Six leaves of a hub with two ports, three hops away: 1, 2, 3, 7, 9 and not 1, 2, 5, 9."""
    links = [(0, 1), (1, 2), *((2, leaf) for leaf in range(3, 9))]
    hub = Network.from_links("hub", 9, links)
    ports = {"inject": (9, 9, 2, *(9,) * 6), "accept": (9,) * 9}
    message = Message(0, tuple(range(1, 9)))
    assert steps(hub, message, switching="store-and-forward", **ports) == 4


def test_hop_by_hop_a_far_destination_takes_its_distance() -> None:
    assert steps(ring(9), Message(0, (1, 4)), switching="store-and-forward") == 4


def test_hop_by_hop_a_channel_back_to_another_node_is_of_use() -> None:
    """Node 3 may get the message from 2 and then send to 0 and 4, so it counts with two.

    With one less, the count would show three steps instead of two.
    """
    arcs = [(0, 1), (0, 3), (1, 2), (2, 3), (3, 0), (3, 4)]
    network = Network.from_arcs("loop", 5, arcs)
    ports = {"inject": (1, 3, 2, 9, 3), "accept": (9,) * 5}
    assert steps(network, Message(0, (1, 2, 3, 4)), switching="store-and-forward", **ports) == 2
