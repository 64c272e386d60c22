"""Instances that the checker reads: every field at its limits, and one step beyond them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from cchybrid.checker import instance
from cchybrid.checker.instance import EvidenceError, Network

PLAIN = {
    "format": "cchybrid-instance/1",
    "name": "anything",
    "network": {
        "name": "ring", "nodes": 3, "channels": [[0, 1], [1, 2, 2], [2, 1, 2], [2, 0]],
        "half_duplex": [[1, 2]], "endpoints": [2], "positions": [], "node_names": [],
        "switches": [],
    },
    "collective": {
        "name": "some", "kind": "deliver",
        "messages": [{"source": 0, "destinations": [1, 2]}, {"source": 2, "destinations": [0]}],
    },
    "model": {"switching": "wormhole", "ports": {"inject": 1, "accept": [1, 2, 0]}, "routing": 1},
}  # fmt: skip
LATEST = {
    **copy.deepcopy(PLAIN),
    "format": "cchybrid-instance/2",
    "collective": {"kind": "allreduce", "chunks": 2, "messages": [{"members": [0, 1]}]},
    "model": {"switching": "store-and-forward", "ports": "all", "routing": "any", "rounds": [1, 2]},
}
MANY = 10**40
"""The largest number that is read."""


def changed(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with the value at a place such as ``network.channels.0``."""
    record = copy.deepcopy(base)
    *outer, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    inner: Any = record
    for key in outer:
        inner = inner[key]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    return record


ACCEPTED = [
    (PLAIN, "format", ["cchybrid-instance/2"]),
    (PLAIN, "name", [KeyError]),
    (PLAIN, "model", [KeyError, {}]),
    (PLAIN, "network.half_duplex", [KeyError, [[2, 1]]]),
    (PLAIN, "network.channels", [[[0, 1], [1, 2], [2, 1, 1], [2, 0]]]),
    (PLAIN, "network.endpoints", [KeyError, [0, 1, 2]]),
    (PLAIN, "network.channels.0", [[0, 1, 1], [0, 1, MANY]]),
    (PLAIN, "model.switching", ["store-and-forward", KeyError]),
    (PLAIN, "model.routing", [KeyError, 0, MANY, "minimal"]),
    (PLAIN, "model.ports", [KeyError, 0, [0, 1, 2]]),
    (PLAIN, "model.ports.inject", ["all"]),
    (PLAIN, "model.ports.accept", ["all"]),
    (LATEST, "collective.chunks", [KeyError, 1]),
    (LATEST, "model.rounds", [[], [1_000_000]]),
    (LATEST, "collective.messages.0.members", [[2, 1, 0]]),
]  # fmt: skip
REFUSED = [
    (PLAIN, "format", ["cchybrid-instance/3", KeyError]),
    (PLAIN, "more", [1]),
    (PLAIN, "network", [KeyError, []]),
    (PLAIN, "network.more", [1]),
    (PLAIN, "network.nodes", [KeyError, 0, 2, (1 << 20) + 1, 3.0, True]),
    (PLAIN, "network.channels", [KeyError, {}]),
    (PLAIN, "network.channels.0", [
        [0], [0, 1, 1, 1], (0, 1), [0, 3], [3, 0], [0, 0], [-1, 0], [2, 0], [0, 1, 0],
        [0, 1, MANY + 1], [0, 1, True], [0, 1, 2.0],
    ]),
    (PLAIN, "network.channels.1", [[1, 2, 1]]),
    (PLAIN, "network.half_duplex", [
        {}, [[0, 1]], [[1, 2], [1, 2]], [[1, 2], [2, 1]], [[1, 2, 2]], ["12"],
    ]),
    (PLAIN, "network.endpoints", [[3], [-1], [2, 1], [2, 2], [1.0], {}]),
    (PLAIN, "collective", [KeyError, {"kind": "allreduce", "messages": [{"members": [0, 1]}]}]),
    (PLAIN, "collective.more", [1]),
    (PLAIN, "collective.chunks", [2]),  # not in the first format
    (PLAIN, "collective.kind", [KeyError, "allreduce", "combine", "other"]),
    (PLAIN, "collective.messages", [[], {}, KeyError]),
    (PLAIN, "collective.messages.0", [
        {"source": 0, "destinations": [1], "more": 1}, {"destinations": [1]}, {"source": 0},
        {"source": 0, "destinations": []}, {"source": 0, "destinations": [0]},
        {"source": 0, "destinations": [1, 1]}, {"source": 0, "destinations": [3]},
        {"source": 3, "destinations": [0]}, {"source": False, "destinations": [1]},
        {"source": 0, "destinations": {"1": 1}},
    ]),
    (PLAIN, "collective.messages.1", [{"sources": [0], "destination": 1}]),
    (PLAIN, "model.more", [1]),
    (PLAIN, "model", [[]]),
    (PLAIN, "model.rounds", [[1]]),  # not in the first format
    (PLAIN, "model.switching", ["other", None]),
    (PLAIN, "model.routing", [-1, "other", 1.0, False, None, MANY + 1]),
    (PLAIN, "model.ports", [
        "some", -1, None, True, [1, 1], [1, 1, 1, 1], [1, 1, -1], [1, 1, "all"],
    ]),
    (PLAIN, "model.ports.inject", [KeyError, -1]),
    (PLAIN, "model.ports.accept", [KeyError, [1, 1]]),
    (PLAIN, "model.ports.more", [1]),
    (LATEST, "collective.chunks", [0, -1, True, (1 << 22) + 1]),
    (LATEST, "collective.kind", ["deliver"]),
    (LATEST, "collective.messages.0", [
        {"members": [0, 1], "source": 0}, {"members": [0]}, {"members": [0, 0]},
        {"members": [0, 3]}, {"members": "01"},
    ]),
    (LATEST, "model.rounds", [[0], [1, 1_000_001], 1, [True]]),
]  # fmt: skip


def one_by_one(table: Any) -> list[tuple[dict[str, Any], str, Any]]:
    return [(base, path, value) for base, path, values in table for value in values]


@pytest.mark.parametrize("base", [PLAIN, LATEST])
def test_whole_instances(base: dict[str, Any]) -> None:
    assert Network(base).nodes == 3


@pytest.mark.parametrize(("base", "path", "value"), one_by_one(ACCEPTED))
def test_accepted(base: dict[str, Any], path: str, value: Any) -> None:
    Network(changed(base, path, value))


@pytest.mark.parametrize(("base", "path", "value"), one_by_one(REFUSED))
def test_refused(base: dict[str, Any], path: str, value: Any) -> None:
    with pytest.raises(EvidenceError, match="the instance is not well-formed"):
        Network(changed(base, path, value))


@pytest.mark.parametrize("record", [None, [], "text", 1, {}])
def test_what_is_no_instance_is_refused(record: Any) -> None:
    with pytest.raises(EvidenceError, match="the instance is not well-formed"):
        Network(record)


def test_a_reduction() -> None:
    messages = [{"sources": [1, 2], "destination": 0}]
    record = changed(PLAIN, "collective", {"kind": "combine", "messages": messages})
    assert Network(record).backwards
    for broken in (
        {"sources": [1, 2]}, {"destination": 0}, {"sources": [0], "destination": 0},
        {"source": 0, "destinations": [1]}, {"sources": [1], "destination": 3},
        {"sources": [1], "destination": 0, "more": 1},
    ):  # fmt: skip
        with pytest.raises(EvidenceError):
            Network(changed(record, "collective.messages.0", broken))


def test_the_largest_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "_MAX_NODES", 3)
    assert Network(PLAIN).nodes == 3
    with pytest.raises(EvidenceError):
        Network(changed(LATEST, "network.nodes", 4))


def test_chunks_count_as_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "_MAX_MESSAGES", 4)
    two = [{"members": [0, 1]}, {"members": [1, 2]}]
    record = changed(LATEST, "collective.messages", two)
    assert len(Network(record).messages) == 4
    with pytest.raises(EvidenceError):
        Network(changed(record, "collective.chunks", 3))
    for chunks in (1, KeyError):
        one = changed(changed(record, "collective.chunks", chunks), "collective.messages", two * 2)
        assert len(Network(one).messages) == 4
