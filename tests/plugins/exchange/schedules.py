"""Valid schedules of standard collectives, made by plain greedy methods, for exporters."""

import random
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

import cchybrid
from cchybrid.host.compositions import Halves, moved_ahead, with_sums
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import Collective, Instance, Message, Reduction, Schedule, Steps, Transfer
from cchybrid.referee.verify import verify_schedule
from tests.random_instances import list_schedule

HOPS = "store-and-forward"
COLLECTIVES = (
    "allgather", "alltoall", "broadcast", "scatter", "gather", "reduce", "reduce-scatter",
)  # fmt: skip


@cache
def schedule(network: str, collective: str, seed: int = 0, **more: Any) -> Schedule:
    """Return a valid schedule, store-and-forward unless stated, not short.

    An allreduce is a reduce-scatter and an allgather, overlapped.
    """
    instance = cchybrid.instance(network, collective, **{"switching": HOPS, **more})
    return made(instance, seed)


def wormhole(network: str, collective: str) -> Schedule:
    """Return a wormhole schedule; on larger networks the greedy one of the host."""
    instance = cchybrid.instance(network, collective, switching="wormhole")
    if network != "dgx-a100-x2" or collective == "allreduce":
        return made(instance, 0)
    return Schedule(instance, first_schedule(instance))


def made(instance: Instance, seed: int) -> Schedule:
    if instance.collective.kind in ("scan", "exscan"):
        blocks = Halves(instance).of_blocks(lambda: False)
        assert blocks is not None
        found = blocks
    elif instance.collective.kind != "allreduce":
        found = Schedule(instance, _without_useless(instance, list_schedule(instance, seed)))
    else:
        homes = [m.members[i % len(m.members)] for i, m in enumerate(instance.collective.messages)]
        halves = []
        for build in (lambda home, rest: Reduction(rest, home), Message):
            messages = tuple(
                build(home, tuple(node for node in message.members if node != home))
                for home, message in zip(homes, instance.collective.messages, strict=True)
            )
            half = replace(instance, collective=Collective("half", messages), name="half")
            halves += list_schedule(half, seed)
        found = moved_ahead(with_sums(instance, tuple(halves)))
    assert verify_schedule(found) == ()
    return found


def _without_useless(instance: Instance, steps: Steps) -> Steps:
    """Drop what no destination needs, so that every transfer matters."""
    if instance.collective.kind == "combine":
        return steps
    needed = {(m, d) for m, each in enumerate(instance.collective.messages) for d in each[1]}
    kept = []
    for step in reversed(steps):
        kept.append(tuple(t for t in step if (t.message, t.path[-1]) in needed))
        needed.update((message, path[0]) for message, path in kept[-1])
    return tuple(step for step in reversed(kept) if step or instance.model.rounds)


def gathered_allreduce(network: str, seed: int = 0, chunks: int = 1) -> Schedule:
    """Return an allreduce in which every node gets every part by itself and adds them up."""
    instance = cchybrid.instance(network, "allreduce", switching=HOPS, chunks=chunks)
    members = instance.collective.messages[0].members
    parts = [(m, a) for m in range(chunks) for a in members]
    spread = tuple(Message(a, tuple(b for b in members if b != a)) for _, a in parts)
    half = replace(instance, collective=Collective("parts", spread), name="parts")
    steps = list_schedule(half, seed)
    found = Schedule(
        instance,
        tuple(tuple(Transfer(parts[n][0], path) for n, path in step) for step in steps),
        sums=tuple(tuple((parts[n][1],) for n, _ in step) for step in steps),
    )
    assert verify_schedule(found) == ()
    return found


def random_allreduce(network: str, seed: int) -> Schedule | None:
    """Return an allreduce whose nodes send sums of any values that they have, or ``None``."""
    rng = random.Random(seed)
    instance = _allreduce(network).in_chunks(rng.choice((1, 2)))
    everyone = (1 << instance.network.nodes) - 1
    messages = range(len(instance.collective.messages))
    values = {(m, n): [1 << n] for m in messages for n in range(instance.network.nodes)}
    steps, sums = [], []
    for _ in range(60):
        if all(everyone in held for held in values.values()) or all(
            union(held) == everyone for held in values.values()
        ):
            found = Schedule(instance, tuple(map(tuple, steps)), sums=tuple(map(tuple, sums)))
            return found if verify_schedule(found) == () else None
        step, carried, arrived = [], [], defaultdict(list)
        channels = instance.network.channels
        for source, target, capacity in rng.sample(channels, rng.randint(1, len(channels))):
            for message in rng.sample(messages, min(capacity, len(messages))):
                held = largest(values[message, source])
                some = union(rng.sample(held, rng.choice((len(held), rng.randint(1, len(held))))))
                known = [*values[message, target], *arrived[message, target]]
                new = some & ~union(known)
                if new and all(v & some == 0 or v | some == some for v in known):
                    step.append(Transfer(message, (source, target)))
                    carried.append(tuple(n for n in range(30) if some >> n & 1))
                    arrived[message, target].append(some)
        for key, several in arrived.items():
            values[key] += several
        if not step:
            return None
        steps.append(step)
        sums.append(carried)
    return None


@cache
def _allreduce(network: str) -> Instance:
    return cchybrid.instance(network, "allreduce", switching=HOPS)


def union(masks: list[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def largest(masks: list[int]) -> list[int]:
    return [m for m in masks if not any(m != other and m | other == other for other in masks)]
