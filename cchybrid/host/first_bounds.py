"""Bounds that take little time, which the host computes itself before any process is started."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from cchybrid.model import Instance, LowerBound
from cchybrid.plugin.records import BoundInfo
from cchybrid.proof.asking import ask

MAX_FIRST_NODES, MAX_FIRST_PAIRS = 128, 20_000
"""The largest instance about which the host asks providers: nodes, and nodes times messages."""
MAX_FIRST_SECONDS = 0.5
"""Seconds after which the host leaves providers of low effort to their worker."""


def first_bounds(
    instance: Instance,
    providers: Iterable[BoundInfo],
    now: Callable[[], float],
    should_stop: Callable[[], bool],
    report: Callable[[str], None],
) -> Iterator[tuple[str, LowerBound]]:
    """Yield the first bounds of a small instance, with the names of their providers.

    Providers with a worker of their own are not asked: they cannot end the host's process.
    """
    nodes, channels = instance.network.nodes, len(instance.network.channels)
    messages = len(instance.collective.messages)
    if nodes > MAX_FIRST_NODES or nodes * messages > MAX_FIRST_PAIRS:
        return
    end = now() + MAX_FIRST_SECONDS
    for info in providers:
        low = info.effort == "low"
        if info.own_worker or not (low or nodes * channels <= info.immediate_size):
            continue
        limit = end if low else math.inf

        def is_over(limit: float = limit) -> bool:
            return should_stop() or now() > limit

        for bound in ask(info, instance, is_over, report):
            yield info.name, bound
