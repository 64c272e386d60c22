"""Measure the referee on a million channel uses, against its plain twin.

Run as ``python -m tests.benchmarks.bench_verify``. Every time is the best of three, and every
line gives both the seconds and the ratio to the plain twin on the same schedule in the same run
(the ratio does not depend on the machine). The twin runs on a smaller member of the family too,
because a million channel uses take it long; ``--full`` runs it on the large one as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from cchybrid.model import (
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
    Schedule,
    Transfer,
)
from cchybrid.model.schedule import reverse_steps
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


def reduction(dimension: int) -> Schedule:
    """The broadcast read backwards."""
    there = broadcast(dimension)
    messages = tuple(
        Reduction(m.destinations, m.source) for m in there.instance.collective.deliver_messages
    )
    instance = Instance(there.instance.network, Collective("AAR", messages), STORE_AND_FORWARD)
    return Schedule(instance, reverse_steps(there.steps))


def spoilt(dimension: int) -> Schedule:
    """The scatter with every hundredth path leading back to where it began."""
    sound = scatter(dimension)
    steps = tuple(
        tuple(
            Transfer(m, (*path, path[0])) if index % 100 == 0 else Transfer(m, path)
            for index, (m, path) in enumerate(step)
        )
        for step in sound.steps
    )
    return Schedule(sound.instance, steps)


def best(check: Callable[[], object], times: int = 3) -> float:
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        check()
        spent.append(time.perf_counter() - started)
    return min(spent)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--full", action="store_true", help="run the twin on every schedule")
    full = options.parse_args().full
    print(
        f"{'schedule':<44}{'channel uses':>14}{'violations':>12}{'verify':>10}{'twin':>10}  ratio"
    )
    cases = ((scatter, 9, 7), (broadcast, 10, 7), (reduction, 10, 7), (spoilt, 9, 7))
    for make, large, small in cases:
        for dimension in (small, large):
            made = make(dimension)
            instance, steps = made.instance, made.steps
            found = len(verify(instance, steps))
            assert found == 0 or make is spoilt
            name = f"{make.__name__} {instance.network.name} {instance.model.switching}"
            line = f"{name:<44}{made.channel_uses:>14,}{found:>12,}"
            fast = best(lambda i=instance, s=steps: verify(i, s))
            line += f"{fast:>9.3f}s"
            if full or dimension == small:
                slow = best(lambda i=instance, s=steps: breaches(i, s), 1)
                line += f"{slow:>9.3f}s{slow / fast:>6.0f}x"
            print(line, flush=True)


if __name__ == "__main__":
    main()
