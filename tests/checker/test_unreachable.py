"""Evidence that a destination cannot be reached."""

from __future__ import annotations

import pytest

from cchybrid.checker import EvidenceError, proves_infeasible
from cchybrid.model import Collective, Instance, Message, Network


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
