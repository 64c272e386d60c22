"""Nested sets prove only true bounds: random sets against optimal schedules."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Instance
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, valid_schedules


def any_sets(instance: Instance, message: int, rng: random.Random) -> list[list[int]]:
    """Return nested sets without the source, a destination in each: unions of random parts."""
    source, destinations = instance.collective.deliver_messages[message]
    nodes = [node for node in range(instance.network.nodes) if node != source]
    rng.shuffle(nodes)
    parts: list[Any] = nodes
    while len(parts) > 1 and rng.random() < 0.8:
        size = rng.randint(1, min(3, len(parts)))
        parts = [parts[:size], *parts[size:]]
        rng.shuffle(parts)
    rows: list[list[int]] = []

    def add(part: Any, outer: int) -> None:
        if isinstance(part, int):
            if outer:
                rows[outer - 1].append(part)
            return
        number = outer
        if not destinations_in(part).isdisjoint(destinations):
            rows.append([outer])
            number = len(rows)
        for inner in part:
            add(inner, number)

    def destinations_in(part: Any) -> set[int]:
        return {part} if isinstance(part, int) else set().union(*map(destinations_in, part))

    for part in parts:
        add(part, 0)
    return rows or [[0, *nodes]]


@settings(max_examples=examples(80))
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL), st.integers(0, 2**32 - 1))
def test_nothing_is_proven_above_the_optimum(schedule, seed):
    steps = fewest_steps(schedule.instance, len(schedule.steps))
    record, rng = schedule.instance.to_json(), random.Random(seed)
    for _ in range(20):
        message = rng.randrange(len(schedule.instance.collective.deliver_messages))
        evidence: dict[str, Any] = {"kind": "nested-sets", "message": message}
        evidence["sets"] = any_sets(schedule.instance, message, rng)
        with suppress(EvidenceError):  # a set without a destination
            assert proven_steps(record, evidence) <= steps
