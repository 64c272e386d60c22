"""Region bounds: growth of a message on both sides of a cut of limited capacity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cchybrid.model import Instance, LowerBound
from cchybrid.problem.resources import resources_of
from cchybrid.proof.climbing import climb
from cchybrid.proof.cut import NodeSet
from cchybrid.referee.distances import hop_distances

MAX_MESSAGES = 8
"""Largest number of messages with several destinations; for more, cut bounds are better."""
MAX_SETS = 400
"""Sets per message; the checker takes milliseconds to tenths of a second for each."""


def region_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing region bounds; ``checker.regions`` defines the value."""
    messages = instance.collective.deliver_messages
    spreading = [k for k, message in enumerate(messages) if len(message.destinations) > 1]
    if 0 < len(spreading) <= MAX_MESSAGES:
        yield from climb(instance, _evidence(instance, spreading))


def _evidence(instance: Instance, messages: list[int]) -> Iterator[dict[str, Any]]:
    sets: dict[bytes, NodeSet] = {}
    for inside in _sets(instance):
        if inside.any() and not inside.all():
            # A set and its complement give the same bound.
            key = inside if inside[0] else ~inside
            sets.setdefault(key.tobytes(), inside)
        if len(sets) >= MAX_SETS:
            break
    for message in messages:
        for inside in sets.values():
            nodes = np.flatnonzero(inside).tolist()
            yield {"kind": "regions", "message": message, "nodes": nodes}


def _sets(instance: Instance) -> Iterator[NodeSet]:
    """Yield neighbourhoods of nodes of low capacity, halves on each side of a link, and balls."""
    network = instance.network
    distance = hop_distances(replace(network, endpoints=()), range(network.nodes))
    distance = np.where(distance < 0, network.nodes, distance)
    capacity = np.zeros(network.nodes, dtype=np.int64)
    sources, _, sizes = resources_of(instance).channels.T
    np.add.at(capacity, sources, sizes)
    farthest = int(distance[distance < network.nodes].max(initial=0))
    for level in np.unique(capacity)[:-1]:
        near = distance[:, capacity <= level].min(axis=1)
        for radius in range(farthest):
            yield near <= radius
    for a, b, _ in network.channels:
        yield distance[:, b] < distance[:, a]
    for radius in range(farthest):
        for node in range(network.nodes):
            yield distance[:, node] <= radius
