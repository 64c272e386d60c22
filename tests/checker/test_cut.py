"""Cuts by hand, where a slightly different count would show another number of steps."""

from __future__ import annotations

import pytest

from cchybrid.checker import Network
from cchybrid.checker.cut import cut_limits, farther, fewest_steps, reach_of
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message
from cchybrid.model import Network as ModelNetwork


@pytest.mark.parametrize(
    ("power", "reach"),
    [
        ([1, 1, 1, 1], [1, 2, 4]),
        ([0, 3, 0, 0], [1, 4]),  # the strongest first
        ([0, 0], [1]),  # no node sends on
        ([2], [1]),
        ([], [1]),
    ],
)
def test_how_far_a_message_gets(power: list[int], reach: list[int]) -> None:
    assert reach_of(power) == reach


def test_the_last_value_of_a_reach_stays() -> None:
    assert farther([1, 5], [1, 2, 3, 4]) == [1, 5, 5, 5]
    assert farther([1, 2, 3, 4], [1, 5]) == [1, 5, 5, 5]


@pytest.mark.parametrize(
    ("widths", "rate", "reach", "steps"),
    [
        ({1: 1}, 1, [1, 2, 4], 1),  # one entry is enough, whatever follows
        ({3: 1}, 1, [1, 2, 4], 2),  # 1 + 2
        ({4: 1}, 1, [1, 2, 4], 3),  # 1 + 2 + a part of 4
        ({4: 1}, 2, [1, 2, 4], 2),
        ({2: 3}, 1, [1, 2], 4),  # 1 + 2 + 2 + a part of 2
        ({1: 6}, 2, [1, 2], 3),  # a destination counts once
        ({2: 1, 1: 5}, 2, [1], 3),
        ({}, 0, [1], 0),
    ],
)
def test_entries_count_by_what_can_follow(
    widths: dict[int, int], rate: int, reach: list[int], steps: int
) -> None:
    assert fewest_steps(widths, rate, reach) == steps


def limits(arcs: list[tuple[int, int]], destinations: tuple[int, ...], **model: object) -> object:
    """Return the steps by limit of a cut around the destinations of a message of node 0."""
    network = ModelNetwork.from_arcs("arcs", 1 + max(map(max, arcs)), arcs)
    message = Message(0, destinations)
    instance = Instance(network, Collective("one", (message,)), CommunicationModel(**model))
    found = cut_limits(Network(instance.to_json()), {"nodes": list(destinations)})
    return {limit.kind: limit.steps for limit in found}


def test_a_transfer_around_the_outside_needs_no_port_there() -> None:
    """Nodes 1, 2 and 4 are inside; 1 can inform 4 through 5, which uses no port of the outside.

    So two steps are enough for the ports, though no channel leads from one node inside to another.
    """
    arcs = [(0, 1), (0, 3), (3, 2), (1, 5), (5, 4)]
    ports = {"inject": (1,) * 6, "accept": (1,) * 6}
    assert limits(arcs, (1, 2, 4), **ports) == {"channels": 1, "inject": 2, "accept": 1}


def test_channels_out_of_the_set_carry_nothing_inside() -> None:
    """Node 1 has two channels, one of which leads outside, so it informs one node inside."""
    arcs = [(0, 1), (1, 2), (1, 0), (2, 3), (3, 4)]
    assert limits(arcs, (1, 2, 3, 4), switching="store-and-forward")["channels"] == 3


def test_hop_by_hop_a_node_that_needs_nothing_sends_on() -> None:
    """Node 1 is inside and no destination; it gets the message first and informs all three."""
    arcs = [(0, 1), (1, 2), (1, 3), (1, 4)]
    network = ModelNetwork.from_arcs("relay", 5, arcs)
    collective = Collective("one", (Message(0, (2, 3, 4)),))
    instance = Instance(network, collective, CommunicationModel(switching="store-and-forward"))
    found = cut_limits(Network(instance.to_json()), {"nodes": [1, 2, 3, 4]})
    assert {limit.kind: limit.steps for limit in found}["channels"] == 2


def test_half_duplex_links_inside_do_not_narrow_the_cut() -> None:
    """Of the links 0-1, 1-2 and 2-3 only the second crosses."""
    pairs = ((0, 1), (1, 2), (2, 3))
    channels = tuple(Channel(*hop) for a, b in pairs for hop in ((a, b), (b, a)))
    network = ModelNetwork("line", 4, channels, half_duplex=pairs)
    collective = Collective("both", (Message(0, (3,)), Message(3, (0,))))
    record = Network(Instance(network, collective).to_json())
    (found,) = cut_limits(record, {"nodes": [0, 1], "both": True})
    assert (found.rate, found.steps) == (1, 2)
