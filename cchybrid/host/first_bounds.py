"""Bounds that take little time, which the host computes itself before any process is started."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from cchybrid.host import events as ev
from cchybrid.host.task import Host
from cchybrid.model import Instance
from cchybrid.plugin.records import BoundInfo
from cchybrid.proof.asking import ask

MAX_FIRST_NODES, MAX_FIRST_PAIRS = 128, 20_000
"""The largest instance about which the host asks providers: nodes, and nodes times messages."""
MAX_FIRST_SECONDS = 0.5
"""Seconds after which the host leaves providers of low effort to their worker."""


def first_bounds(
    instance: Instance, providers: Iterable[BoundInfo], host: Host, is_done: Callable[[], bool]
) -> Iterator[tuple[None, ev.Event]]:
    """Yield the first bounds of a small instance, as events of the host.

    Providers with a worker of their own are not asked: they cannot end the host's process.
    """
    nodes, channels = instance.network.nodes, len(instance.network.channels)
    messages = len(instance.collective.messages)
    if nodes > MAX_FIRST_NODES or nodes * messages > MAX_FIRST_PAIRS:
        return
    troubles: list[str] = []
    end = host.now() + MAX_FIRST_SECONDS

    def is_over(limit: float) -> bool:
        return is_done() or host.now() > limit or host.should_stop()

    with host.part("bounding"):
        for info in providers:
            low = info.effort == "low"
            if not info.own_worker and (low or nodes * channels <= info.immediate_size):
                until = partial(is_over, end if low else math.inf)
                for bound in ask(info, instance, until, troubles.append):
                    yield None, ev.Bound(bound.steps, bound.evidence, provider=info.name)
    yield from ((None, ev.Trouble(text)) for text in troubles)
