"""Bounds from prices per step: optima that no cheaper kind shows, and what the checker refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network, Reduction
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.step_prices import lengths_of_parts, step_price_bounds
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, list_schedule, scattered

FOUR = {"transmitters": range(4), "receivers": range(4)}
ELEVEN = (0, 1, 4, 10, 13, 15, 16, 17, 18, 21, 23)


def mns(topology: str, more: dict[str, Any]) -> Instance:
    return cchybrid.instance(topology, "MNS", switching="store-and-forward", **more)


def best(instance: Instance) -> int:
    return max((bound.steps for bound in step_price_bounds(instance.forward)), default=0)


@pytest.mark.parametrize(
    ("topology", "more", "steps"),
    [
        ("mesh-3x3", {**FOUR, "ports": 1}, 5),
        ("mesh-2x4", {**FOUR, "ports": 1}, 5),
        ("hypercube-8", {**FOUR, "ports": 1}, 4),
        ("spidergon-8", FOUR, 3),
        ("full-tree-7", {"transmitters": (0, 1), "receivers": (4, 5, 6)}, 5),
    ],
)
def test_optima_that_no_cheaper_kind_shows(topology: str, more: dict[str, Any], steps: int) -> None:
    instance = mns(topology, more)
    for cheaper in (growth_bounds, cut_bounds, price_bounds):
        assert max((bound.steps for bound in cheaper(instance)), default=0) < steps
    assert best(instance) == steps == fewest_steps(instance, steps + 2)


def test_eleven_nodes_of_an_irregular_network() -> None:
    """A schedule of 6 steps exists; all cheaper kinds show 5."""
    instance = mns("random-regular-24-4-8893", {"transmitters": ELEVEN, "receivers": ELEVEN})
    assert best(instance) == 6


@settings(max_examples=examples(60))
@given(
    instances(switchings=("store-and-forward",), kinds=("deliver",), max_nodes=6, max_messages=5)
)
def test_no_bound_exceeds_the_optimum_of_a_scatter(instance: Instance) -> None:
    instance = scattered(instance, 6)
    fewest = fewest_steps(instance, len(list_schedule(instance, 0)))
    record, known = instance.to_json(), 0
    for bound in step_price_bounds(instance):
        assert known < bound.steps <= fewest
        assert proven_steps(record, bound.evidence) == bound.steps
        known = bound.steps


@pytest.mark.parametrize("ports", [1, "all"])
def test_a_gather_has_the_bound_of_the_reversed_scatter(ports: str | int) -> None:
    some = {"transmitters": (0, 1), "receivers": (4, 5, 6), "ports": ports}
    scatter = mns("full-tree-7", some)
    parts = tuple(Reduction(m.destinations, m.source) for m in scatter.collective.deliver_messages)
    gather = Instance(scatter.network, Collective("gather", parts), scatter.model)
    bounds = list(step_price_bounds(gather.forward))
    assert bounds[-1].steps == best(scatter) == (6 if ports == 1 else 5)
    assert proven_steps(gather.to_json(), bounds[-1].evidence) == bounds[-1].steps


def test_the_middle_steps_are_one_part() -> None:
    assert lengths_of_parts(4, 5) == [1, 1, 1, 1]
    assert lengths_of_parts(9, 5) == [1, 1, 5, 1, 1]
    assert lengths_of_parts(9, 6) == [1, 1, 5, 1, 1]
    assert sum(lengths_of_parts(77, 11)) == 77


def test_only_scatters_hop_by_hop() -> None:
    assert not list(step_price_bounds(cchybrid.instance("mesh-3x3", "AAS")))
    broadcast = cchybrid.instance("mesh-3x3", "AAB", switching="store-and-forward")
    assert not list(step_price_bounds(broadcast))


LINE = Network.from_links("line", 3, [(0, 1), (1, 2)])


def proven(**evidence: Any) -> int:
    """Two messages from one end of a line to the other, in 3 steps."""
    model = CommunicationModel("store-and-forward")
    messages = Collective("two", (Message(0, (2,)), Message(0, (2,))))
    record = Instance(LINE, messages, model).to_json()
    return proven_steps(record, {"kind": "step-prices", **evidence})


def test_two_messages_on_one_line() -> None:
    """In two steps only one message passes the last channel after the first step."""
    assert proven(steps=3, channels=[[1, 2, 2, 2, 1], [1, 2, 1, 1, 0]]) == 3
    assert proven(steps=3, accept=[[2, 2, 2, 1]], inject=[]) == 3
    with pytest.raises(EvidenceError, match="do not rule out"):
        proven(steps=4, channels=[[1, 2, 2, 3, 1]])
    with pytest.raises(EvidenceError, match="out of reach"):
        proven(steps=2, channels=[[1, 2, 1, 1, 1]])


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"steps": "3"},
        {"steps": 1},
        {"steps": True},
        {"steps": 3},
        {"steps": 3, "channels": 7},
        {"steps": 3, "channels": [7]},
        {"steps": 3, "channels": [[0, 2, 1, 2, 1]]},
        {"steps": 3, "channels": [[1, 2, 2, 1]]},
        {"steps": 3, "channels": [[1, 2, 2, 3, 1]]},
        {"steps": 3, "channels": [[1, 2, 0, 2, 1]]},
        {"steps": 3, "channels": [[1, 2, 2, 2, -1]]},
        {"steps": 3, "channels": [[1, 2, 2, 2, "1"]]},
        {"steps": 3, "channels": [[1, 2, 2, 2, 10**40]]},
        {"steps": 3, "accept": [[3, 2, 2, 1]]},
        {"steps": 3, "accept": [[1, 2, 2, 2, 1]]},
        {"steps": 10**30, "channels": [[1, 2, 2, 2, 1]]},
        {"steps": 10**9, "channels": [[1, 2, 1, 10**8, 1]]},
    ],
)
def test_what_is_refused(evidence: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError):
        proven(**evidence)


def test_wormhole_is_refused() -> None:
    record = Instance(LINE, Collective("one", (Message(0, (2,)),))).to_json()
    with pytest.raises(EvidenceError, match="store-and-forward"):
        proven_steps(record, {"kind": "step-prices", "steps": 2, "channels": [[0, 1, 1, 1, 1]]})


def test_a_half_duplex_pair_has_one_capacity() -> None:
    """Two messages in opposite directions need two steps; a row names either direction."""
    network = Network.from_links("pair", 2, [(0, 1)])
    messages = Collective("two", (Message(0, (1,)), Message(1, (0,))))
    model = CommunicationModel("store-and-forward")
    for pair in ((0, 1), (1, 0)):
        shared = Network("pair", 2, network.channels, (pair,))
        record = Instance(shared, messages, model).to_json()
        for hop in ((0, 1), (1, 0)):
            evidence = {"kind": "step-prices", "steps": 2, "channels": [[*hop, 1, 1, 1]]}
            assert proven_steps(record, evidence) == 2
            free = Instance(network, messages, model).to_json()
            with pytest.raises(EvidenceError):
                proven_steps(free, evidence)
