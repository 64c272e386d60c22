"""Growth bounds: the evidence names the message of the whole instance."""

from __future__ import annotations

from dataclasses import replace

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.model import Collective, Message
from cchybrid.proof.growth import growth_bounds


def test_the_evidence_holds_for_the_whole_instance() -> None:
    base = cchybrid.instance("mesh-3x3", "AAS", ports=1)
    messages = (Message(0, (1,)), Message(2, (3,)), Message(4, tuple(range(4))))
    instance = replace(base, collective=Collective("mixed", messages))
    *_, best = growth_bounds(instance)
    assert (best.steps, best.evidence["message"]) == (3, 2)
    assert proven_steps(instance.to_json(), best.evidence) == 3


def test_a_scatter_hop_by_hop_needs_as_many_steps_as_hops() -> None:
    instance = cchybrid.instance("mesh-3x3", "AAS", switching="store-and-forward")
    *_, best = growth_bounds(instance)
    assert best.steps == 4
    assert proven_steps(instance.to_json(), best.evidence) == 4


def test_one_message_of_a_scatter_is_read() -> None:
    (bound,) = growth_bounds(cchybrid.instance("hypercube-64", "AAS"))
    assert (bound.steps, bound.evidence) == (1, {"kind": "growth", "message": 0})
