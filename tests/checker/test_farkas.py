"""Farkas evidence that nearly holds: true duals, changed a little, and duals of other instances."""

from __future__ import annotations

import copy
import math
import random
from collections import Counter
from functools import cache
from typing import Any

import pytest

import cchybrid
from cchybrid.checker import EvidenceError, farkas, proven_steps
from cchybrid.checker import Network as CheckerNetwork
from cchybrid.checker.farkas import multipliers
from cchybrid.checker.relaxation import Relaxation
from cchybrid.model import Instance, Network
from cchybrid.proof.farkas import refute
from tests.proof.optimum import fewest_steps
from tests.random_instances import list_schedule

LATER = (0, *range(8, 60))  # that of seed 0 is large
SEEDS = [*range(1, 8), *(pytest.param(seed, marks=pytest.mark.long) for seed in LATER)]
_TERMS = 20_000


@cache
def drawn(seed: int) -> tuple[Instance, int]:
    """Return a small random instance, and the fewest steps of a schedule."""
    rng = random.Random(seed)
    nodes = rng.choice((5, 6))
    instance = cchybrid.instance(
        f"random-links-{nodes}-{nodes + rng.randint(0, 3)}-{seed}",
        rng.choice(("AAB", "OAB", "AOR", "MNB")),
        transmitters="0-2",
        receivers=f"2-{nodes - 1}",
        switching=rng.choice(("wormhole", "store-and-forward")),
        routing=rng.choice(("minimal", "any")),
        ports=rng.choice(("all", 1)),
    )
    return instance, fewest_steps(instance, len(list_schedule(instance, seed)))


def changed(evidence: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return the evidence with a few multipliers, rows or numbers of rows changed."""
    evidence = copy.deepcopy(evidence)
    rows = evidence["rows"]
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind = rng.choice(list(rows))
        row = rng.choice(rows[kind])
        change = rng.randrange(7)
        if change == 0:
            row[-1] += rng.choice((-1, 1))
        elif change == 1:
            row[-1] *= 2
        elif change == 2 and len(rows[kind]) > 1:
            rows[kind].remove(row)
        elif change == 3:
            rows[kind].append(list(row))
        elif change == 4:
            place = rng.randrange(len(row) - 1)
            row[place] += rng.choice((-1, 1))
        elif change == 5:
            row[-2] = max(1, row[-2] - 1)  # one step earlier, or the node before
        else:
            evidence["steps"] += rng.choice((-1, 1))
    return evidence


def accepted(record: dict[str, Any], evidence: dict[str, Any]) -> int:
    """Return the steps that the evidence proves, 0 where the checker refuses it."""
    try:
        return proven_steps(record, evidence)
    except EvidenceError:
        return 0


def tried(seed: int) -> Counter[str]:
    """Check changed duals of an instance against its optimum, and count them."""
    instance, optimum = drawn(seed)
    record, rng, count = instance.to_json(), random.Random(seed), Counter[str]()
    for steps in range(1, optimum):
        evidence = refute(record, steps, _TERMS)
        if evidence is None:
            break
        assert accepted(record, evidence) == steps + 1
        for _ in range(25):
            proven = accepted(record, changed(evidence, rng))
            assert proven <= optimum
            count["accepted" if proven else "refused"] += 1
    return count


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_duals_prove_nothing_above_the_optimum(seed: int) -> None:
    tried(seed)


def test_changed_duals_are_accepted_and_refused() -> None:
    """The test above would see a checker that accepts, or refuses, whatever it gets."""
    count = sum(map(tried, range(1, 8)), Counter[str]())
    assert count["accepted"] > 100, count
    assert count["refused"] > 50, count


@pytest.mark.parametrize("seed", SEEDS)
def test_duals_of_a_harder_instance_are_refused(seed: int) -> None:
    """Without one of its channels an instance may need a step more; the duals say so of it only."""
    instance, optimum = drawn(seed)
    for dropped in instance.network.channels:
        network = instance.network
        channels = tuple(channel for channel in network.channels if channel is not dropped)
        harder = Instance(
            Network(network.name, network.nodes, channels), instance.collective, instance.model
        )
        evidence = refute(harder.to_json(), optimum, _TERMS)
        if evidence is None:
            continue
        assert accepted(harder.to_json(), evidence) == optimum + 1
        assert accepted(instance.to_json(), evidence) == 0


@cache
def chain() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a message over two hops, and duals that need two steps, as small as they can be."""
    network = Network.from_arcs("chain", 3, [(0, 1), (1, 2)])
    instance = cchybrid.instance(network, [(0, 2)], switching="store-and-forward")
    record = instance.to_json()
    evidence = refute(record, 1, _TERMS)
    assert evidence is not None
    rows = [row for listed in evidence["rows"].values() for row in listed]
    unit = math.gcd(*(row[-1] for row in rows))
    for row in rows:
        row[-1] //= unit
    assert min(row[-1] for row in rows) == 1
    return record, evidence


@pytest.mark.parametrize("times", [1, 2, 10**30])
def test_multiples_prove_the_same(times: int) -> None:
    record, evidence = chain()
    evidence = copy.deepcopy(evidence)
    for rows in evidence["rows"].values():
        for row in rows:
            row[-1] *= times
    assert proven_steps(record, evidence) == 2


def malformed() -> dict[str, dict[str, Any]]:
    """Return changes of the evidence, each of which makes it malformed."""
    rows = chain()[1]["rows"]
    first = next(iter(rows))
    times = {
        f"a multiplier {each!r:.9}": {"rows": {**rows, first: [[*rows[first][0][:-1], each]]}}
        for each in (0, -1, True, 1.0, "1", None, 10**40)
    }
    return times | {
        "rows that are a list": {"rows": list(rows)},
        "a kind that is an object": {"rows": {**rows, first: {"a": rows[first]}}},
        "an empty row": {"rows": {**rows, first: [*rows[first], []]}},
        "a row that is a number": {"rows": {**rows, first: [*rows[first], 5]}},
        "a row that is a text": {"rows": {**rows, first: [*rows[first], "ab"]}},
        "a kind that is none": {"rows": {**rows, "wish": [[0, 1]]}},
        "another routing": {"routing": "minimal"}, "a routing that is true": {"routing": True},
        "no rows": {"rows": {}}, "one step": {"steps": 1}, "steps that are true": {"steps": True},
        "steps that are a float": {"steps": 2.0}, "too many steps": {"steps": 10_001},
    }  # fmt: skip


@pytest.mark.parametrize("change", malformed())
def test_malformed_duals_are_refused(change: str) -> None:
    record, evidence = chain()
    with pytest.raises(EvidenceError):
        proven_steps(record, {**evidence, **malformed()[change]})


def test_the_error_names_the_steps_that_are_not_refuted() -> None:
    record, evidence = chain()
    with pytest.raises(EvidenceError, match="the rows do not refute 2 steps"):
        proven_steps(record, {**evidence, "steps": 3})


def test_rows_of_too_many_terms_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    record, evidence = chain()
    relaxation = Relaxation(CheckerNetwork(record).with_any_routing(), 1)
    terms = sum(len(relaxation.row(key)[0]) for key, _ in multipliers(evidence["rows"]))
    monkeypatch.setattr(farkas, "MAX_TERMS", terms)
    assert proven_steps(record, evidence) == 2
    monkeypatch.setattr(farkas, "MAX_TERMS", terms - 1)
    with pytest.raises(EvidenceError, match="more terms than fit into memory"):
        proven_steps(record, evidence)
