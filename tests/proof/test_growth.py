"""Growth bounds: the worth of destinations, and charges where ports or hops differ."""

from dataclasses import replace

import pytest

import cchybrid
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Collective, Message
from cchybrid.proof.growth import growth_bounds


def test_the_evidence_holds_for_the_whole_instance() -> None:
    base = cchybrid.instance("mesh-3x3", "AAS", ports=1)
    messages = (Message(0, (1,)), Message(2, (3,)), Message(4, tuple(range(4))))
    instance = replace(base, collective=Collective("mixed", messages))
    *_, best = growth_bounds(instance)
    (group,) = best.evidence["groups"]
    assert (best.steps, group["messages"]) == (3, [2])
    assert proven_steps(instance.to_json(), best.evidence) == 3


def test_a_scatter_hop_by_hop_needs_as_many_steps_as_hops() -> None:
    instance = cchybrid.instance("mesh-3x3", "AAS", switching="store-and-forward")
    *_, best = growth_bounds(instance)
    assert best.steps == 4
    assert proven_steps(instance.to_json(), best.evidence) == 4


def test_a_scatter_needs_no_search() -> None:
    (bound,) = growth_bounds(cchybrid.instance("hypercube-64", "AAS"))
    assert (bound.steps, bound.evidence) == (1, {"kind": "linear", "steps": 1})


def test_strong_receivers_are_charged() -> None:
    """Node 1 has two ports, all others one: 2, 5, 11 and 23 nodes hold it after 1 to 4 steps."""
    base = cchybrid.instance("hypercube-32", "OAB")
    instance = base.with_model(inject=(1, 2, *[1] * 30), accept=(5,) * 32)
    *_, best = growth_bounds(instance)
    assert best.steps == 5
    (group,) = best.evidence["groups"]
    assert {node for node, *_ in group["once"]} == {1}
    without = {key: value for key, value in group.items() if key != "once"}
    with pytest.raises(EvidenceError):
        proven_steps(instance.to_json(), {**best.evidence, "groups": [without]})
