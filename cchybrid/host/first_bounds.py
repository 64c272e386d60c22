"""The cheapest bounds, which the host computes itself before any process is started."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from cchybrid.model import Instance, LowerBound
from cchybrid.plugin.records import BoundInfo
from cchybrid.proof.records import bounds_of

FIRST_BOUNDS: Mapping[str, float] = {
    "growth": math.inf,
    "nested-sets": math.inf,
    "cut": math.inf,
    "cut-over-time": 300,
    "prices": 1_200,  # columns of its linear program
}
"""The bound providers that the host asks itself as long as the instance is small, and for each the
largest product of nodes and channels for which it takes some ten milliseconds."""
MAX_FIRST_NODES, MAX_FIRST_PAIRS = 128, 20_000
"""The largest such instance: nodes, and nodes times messages."""
MAX_FIRST_SECONDS = 0.2
"""Seconds after which the host leaves those of any size to the worker of the bound providers."""


def first_bounds(
    instance: Instance, providers: Iterable[BoundInfo], now: Callable[[], float]
) -> Iterator[tuple[str, LowerBound]]:
    """Yield the cheapest bounds of a small instance, with the names of their providers."""
    messages = instance.forward.collective.deliver_messages
    nodes, channels = instance.network.nodes, len(instance.network.channels)
    if nodes > MAX_FIRST_NODES or nodes * len(messages) > MAX_FIRST_PAIRS:
        return
    end = now() + MAX_FIRST_SECONDS
    for info in providers:
        if info.name not in FIRST_BOUNDS or not info.target.startswith("cchybrid."):
            continue
        limit = FIRST_BOUNDS[info.name]
        if nodes * channels > limit:
            continue
        for bound in bounds_of(info.target, info.rounds, instance):
            yield info.name, bound
            if limit == math.inf and now() > end:
                break
