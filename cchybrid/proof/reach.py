"""Instances that have no schedule at all: some destination cannot be reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.reach import check_unreachable
from cchybrid.model import Instance
from cchybrid.referee.distances import hop_distances


def unreachable(instance: Instance) -> dict[str, Any] | None:
    """Return evidence that a ``deliver`` instance has no schedule, or ``None`` if it has one."""
    doubtful = _doubtful(instance)
    if not doubtful:
        return None
    network = Network(instance.to_json())
    for message in doubtful:
        evidence = {"kind": "unreachable", "message": message}
        try:
            check_unreachable(network, evidence)
        except EvidenceError:
            continue
        return evidence
    return None


def _doubtful(instance: Instance) -> list[int]:
    """Return the messages with a destination that their source cannot send to by itself."""
    network, model = instance.network, instance.model
    if model.switching == "store-and-forward":
        network = replace(network, endpoints=())
    messages = instance.collective.deliver_messages
    sources = sorted({message.source for message in messages})
    row = {source: place for place, source in enumerate(sources)}
    distance = hop_distances(network, sources)
    ports = [p for p in (model.inject, model.accept) if isinstance(p, tuple)]
    if any(0 in each for each in ports):
        return list(range(len(messages)))
    return [
        index
        for index, (source, goals) in enumerate(messages)
        if (distance[row[source], list(goals)] <= 0).any()
    ]
