"""Evidence that a destination cannot be reached."""

from __future__ import annotations

import pytest

from cchybrid.checker import EvidenceError, proves_infeasible
from cchybrid.model import AllReduction, Collective, Instance, Message, Network


def test_unreachable():
    network = Network.from_arcs("one way", 3, [(0, 1), (1, 2)])
    record = Instance(network, Collective("back", (Message(0, (2,)), Message(2, (0,))))).to_json()
    with pytest.raises(EvidenceError, match="can be reached"):
        proves_infeasible(record, {"kind": "unreachable", "message": 0, "destination": 2})
    with pytest.raises(EvidenceError, match="destination"):
        proves_infeasible(record, {"kind": "unreachable", "message": 1})
    proves_infeasible(record, {"kind": "unreachable", "message": 1, "destination": 0})
    for destination in (1, 2, 3, -1, 0.0, False, "0", None, [0]):
        with pytest.raises(EvidenceError, match="destination"):
            proves_infeasible(
                record, {"kind": "unreachable", "message": 1, "destination": destination}
            )
    named = {"message": 1, "destination": 0}
    for evidence in (None, [], "unreachable", named, {"kind": "Unreachable", **named}):
        with pytest.raises(EvidenceError, match="only unreachable destinations make"):
            proves_infeasible(record, evidence)


@pytest.mark.parametrize("switching", ["wormhole", "store-and-forward"])
def test_a_part_of_an_allreduce_that_is_unreachable(switching):
    network = Network.from_arcs("one way", 3, [(0, 1), (1, 2)])
    collective = Collective("all", (AllReduction((0, 1, 2)),))
    record = Instance(network, collective).with_model(switching=switching).to_json()

    def lost(destination, message=0):
        return {"kind": "unreachable", "message": message, "destination": destination}

    # No other node reaches node 0; the parts of node 0 reach all others.
    for side, member, destination in (("to", 0, 1), ("to", 0, 2), ("from", 1, 0), ("from", 2, 1)):
        proves_infeasible(record, {"kind": "part", side: member, "evidence": lost(destination)})
    for wrong, text in (
        ({"from": 0, "evidence": lost(1)}, "can be reached"),
        ({"to": 2, "evidence": lost(0)}, "can be reached"),
        ({"from": 2, "evidence": lost(2)}, "none of the message"),
        ({"from": 2, "evidence": lost(1, 1)}, "does not have"),
        ({"from": 3, "evidence": lost(1)}, "no member"),
        ({"from": False, "evidence": lost(1)}, "the member that the evidence is about is missing"),
        ({"from": 0, "to": 0, "evidence": lost(1)}, "the member that the evidence is about"),
        ({"evidence": lost(1)}, "the member that the evidence is about is missing"),
        ({"to": 0}, "only unreachable destinations"),
        ({"to": 0, "evidence": {"kind": "exchanges"}}, "only unreachable destinations"),
        ({"to": 0, "evidence": {"kind": "part", "to": 0, "evidence": lost(1)}}, "only unreachable"),
    ):
        with pytest.raises(EvidenceError, match=text):
            proves_infeasible(record, {"kind": "part", **wrong})
    with pytest.raises(EvidenceError, match="not proved for allreduce"):
        proves_infeasible(record, lost(1))
    broadcast = Instance(network, Collective("back", (Message(2, (0,)),))).to_json()
    with pytest.raises(EvidenceError, match="part: not proved for delivering"):
        proves_infeasible(broadcast, {"kind": "part", "from": 2, "evidence": lost(0)})
