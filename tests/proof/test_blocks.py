"""Bounds from rows between blocks of nodes: what no other kind shows, and what is refused."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import Network, proven_steps
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message
from cchybrid.model import Network as ModelNetwork
from cchybrid.proof.blocks import block_bounds, refute_between, refute_blocks, wide_blocks
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, valid_schedules

PAIRS = [[node, node + 1] for node in range(0, 16, 2)]


@cache
def machine() -> Instance:
    """Return the allgather of 16 dies, pairs of which are joined by four links."""
    return cchybrid.instance("mi250-16", "AAB")


@cache
def duals() -> dict[str, Any]:
    evidence = refute_blocks(machine().to_json(), 3)
    assert evidence is not None
    return evidence


@pytest.mark.slow
def test_three_steps_are_too_few_for_16_dies() -> None:
    """A schedule of 4 steps exists; the relaxation between nodes has a solution of 3 steps."""
    assert [bound.steps for bound in block_bounds(machine())] == [4]
    assert all(group["blocks"] == PAIRS for group in duals()["groups"])
    assert proven_steps(machine().to_json(), duals()) == 4
    assert refute_blocks(machine().to_json(), 4) is None


def test_blocks_are_the_components_of_wide_channels() -> None:
    network = Network(machine().to_json())
    assert wide_blocks(network) == [
        [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]],  # capacities 4 and 2
        PAIRS,
    ]
    assert wide_blocks(Network(cchybrid.instance("mesh-4x4", "AAB").to_json())) == []


ISLANDS = [(0, 5, 1), (2, 3, 1)]
"""The narrow links between two rings of three nodes."""


@cache
def two_islands() -> Instance:
    """Return an allgather on two rings of wide channels, joined by narrow ones."""
    links = [(first + a, first + (a + 1) % 3, 2) for first in (0, 3) for a in range(3)]
    links += ISLANDS
    channels = [Channel(*ends, size) for a, b, size in links for ends in ((a, b), (b, a))]
    return cchybrid.instance(ModelNetwork("islands", 6, tuple(channels)), "AAB")


@settings(max_examples=examples(60))
@given(valid_schedules(max_nodes=6, max_messages=5, **SEVERAL), st.data())
def test_no_blocks_exceed_the_optimum(schedule: Any, data: st.DataObject) -> None:
    instance = schedule.instance
    count = instance.network.nodes
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    blocks = [[node for node in range(count) if drawn[node] == b] for b in sorted(set(drawn))]
    fewest = fewest_steps(instance, len(schedule.steps))
    for steps in range(1, fewest + 1):
        evidence = refute_between(Network(instance.to_json()), blocks, steps)
        if evidence is None:
            break
        assert proven_steps(instance.to_json(), evidence) == steps + 1 <= fewest


def test_without_a_schedule_the_search_ends() -> None:
    """Every number of steps is refuted if a node cannot be reached."""
    channels = (Channel(0, 1, 2), Channel(1, 0, 2), Channel(1, 2, 1), Channel(2, 1, 1))
    network = ModelNetwork("unreachable", 4, channels)
    message = Message(0, (1, 2, 3))
    instance = Instance(network, Collective("any", (message,)), CommunicationModel())
    assert [bound.steps for bound in block_bounds(instance)][-1] == 3
