"""Measure the referee on a million channel uses, against its plain twin.

Run as ``python -m tests.benchmarks.bench_verify``. The twin runs on a smaller member of the family,
because a million channel uses take it long; the ratio is that of one schedule in one run.
"""

from __future__ import annotations

import time
from typing import Any

from cchybrid.model import (
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Schedule,
    Transfer,
)
from cchybrid.referee.verify import verify
from tests.plain_referee import breaches

STORE_AND_FORWARD = CommunicationModel(switching="store-and-forward", inject=1, accept=1)


def hypercube(dimension: int) -> Network:
    nodes = 1 << dimension
    links = [
        (v, v ^ 1 << bit) for v in range(nodes) for bit in range(dimension) if not v >> bit & 1
    ]
    return Network.from_links(f"hypercube-{nodes}", nodes, links)


def scatter(dimension: int) -> Schedule:
    """All-to-all scatter: step x sends from every v to v xor x, one dimension after the other."""
    nodes = 1 << dimension
    pairs = [(v, v ^ x) for x in range(1, nodes) for v in range(nodes)]
    instance = Instance(
        hypercube(dimension), Collective("AAS", tuple(Message(a, (b,)) for a, b in pairs))
    )
    steps = []
    for x in range(1, nodes):
        step = []
        for v in range(nodes):
            path = [v]
            for bit in range(dimension):
                if x >> bit & 1:
                    path.append(path[-1] ^ 1 << bit)
            step.append(Transfer((x - 1) * nodes + v, tuple(path)))
        steps.append(tuple(step))
    return Schedule(instance, tuple(steps))


def broadcast(dimension: int) -> Schedule:
    """All-to-all broadcast hop by hop: step x informs v xor x of the message of every v."""
    nodes = 1 << dimension
    everybody = range(nodes)
    messages = tuple(Message(v, tuple(w for w in everybody if w != v)) for v in everybody)
    steps = tuple(
        tuple(Transfer(v, (v ^ x ^ 1 << x.bit_length() - 1, v ^ x)) for v in everybody)
        for x in range(1, nodes)
    )
    return Schedule(
        Instance(hypercube(dimension), Collective("AAB", messages), STORE_AND_FORWARD), steps
    )


def seconds_of(check: Any, schedule: Schedule) -> float:
    started = time.perf_counter()
    assert not check(schedule.instance, schedule.steps)
    return time.perf_counter() - started


if __name__ == "__main__":
    for make, large, small in ((scatter, 9, 7), (broadcast, 10, 7)):
        for dimension in (small, large):
            made = make(dimension)
            fast = min(seconds_of(verify, made) for _ in range(3))
            ratio = seconds_of(breaches, made) / fast if dimension == small else None
            twin = "" if ratio is None else f", {ratio:.0f} x its twin"
            uses = f"{made.channel_uses:,} channel uses"
            print(f"{make.__name__} {made.instance.network.name}: {uses}, {fast:.3f} s{twin}")
