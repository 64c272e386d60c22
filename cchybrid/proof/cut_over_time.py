"""Bounds by cuts over time: the cuts that need the most steps, with their first and last steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import climb
from cchybrid.proof.cut import CutMeter, NodeSet, near_sets

MAX_SETS = 60
"""Sets of nodes that are checked over time."""
MAX_PAIRS = 200_000
"""Largest number of nodes times channels; all sets together take some seconds."""


def cut_over_time_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing bounds of cuts over time; ``checker.cut_over_time`` defines the value."""
    network = instance.network
    if instance.model.switching != "store-and-forward":
        return
    if network.nodes * len(network.channels) <= MAX_PAIRS:
        yield from climb(instance, _evidence(instance))


def _evidence(instance: Instance) -> Iterator[dict[str, Any]]:
    for inside in _narrowest(instance):
        yield {"kind": "cut-over-time", "nodes": np.flatnonzero(inside).tolist()}


def _narrowest(instance: Instance) -> list[NodeSet]:
    """Return the sets near nodes with the highest cut bounds, small ones of equal bounds first."""
    meter = CutMeter(instance)
    rated: dict[bytes, tuple[int, int, NodeSet]] = {}
    for inside in near_sets(instance):
        size = int(inside.sum())
        if 0 < size < len(inside) and inside.tobytes() not in rated:
            rated[inside.tobytes()] = (-meter.steps(inside, False), size, inside)
    return [row[2] for row in sorted(rated.values(), key=lambda row: row[:2])[:MAX_SETS]]
