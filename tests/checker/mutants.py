"""Certificates and schedules with one error each, of many types."""

from __future__ import annotations

import base64
import copy
import json
import lzma
import random
from collections.abc import Callable, Iterator
from typing import Any

from cchybrid.checker import KINDS, fingerprint

Pair = tuple[Any, Any]
Mutation = Callable[[random.Random, Any, Any], Pair]
SCOPES = [
    *("any routing", "minimal routing", "at most 2 extra hops", "routing table"),
    *("these paths", "", 3, None),
]
NAMES = [*KINDS, "unreachable", "growth"]


def mutants(
    schedule: dict[str, Any], certificate: dict[str, Any], others: list[dict[str, Any]],
    count: int, first: int = 0,
) -> Iterator[tuple[str, Any, Any]]:  # fmt: skip
    """Yield ``count`` times the name of a mutation, a schedule and a certificate.

    Those with another ``first`` number are others.
    """
    mutations: dict[str, Mutation] = {
        "another schedule": lambda r, s, c: (r.choice(others), c),
        "another instance, hash and all": _transplanted(others),
        "raised bound": _raised,
        "raised bound and evidence": _raised_twice,
        "a changed number": lambda r, s, c: (s, with_change(r, c)),
        "a part dropped": lambda r, s, c: (s, without(r, c)),
        "truncated text": lambda r, s, c: (s, truncated(r, c)),
        "another scope": _rescoped,
        "a changed evidence": _evidence_changed,
        "a changed schedule": lambda r, s, c: (with_change(r, s, "steps"), c),
        "a transfer dropped": lambda r, s, c: (_dropped(r, s), c),
        "steps exchanged": lambda r, s, c: (_exchanged(r, s), c),
        "a network with more channels": _richer,
    }
    if certificate["evidence"]["kind"] == "refutation":
        mutations["a changed proof"] = proof_changed
    if "scope" not in certificate["claim"]:
        del mutations["another scope"]
    names = list(mutations)
    for number in range(first, first + count):
        name = names[number % len(names)]
        rng = random.Random(number)
        yield name, *mutations[name](rng, copy.deepcopy(schedule), copy.deepcopy(certificate))


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        yield path
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _leaves(inner, (*path, key))


def _at(record: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a place."""
    for key in path:
        record = record[key]
    return record


def with_change(rng: random.Random, record: Any, *part: Any) -> Any:
    """Change a number or a text of a record, or of a part of it."""
    leaves = [(*part, *path) for path in _leaves(_at(record, part))]
    *outer, key = rng.choice([path for path in leaves if type(_at(record, path)) in (int, str)])
    inner = _at(record, tuple(outer))
    value = inner[key]
    if isinstance(value, int):
        inner[key] += rng.choice((-2, -1, 1, 2, 1000))
    else:
        place = rng.randrange(len(value)) if value else 0
        inner[key] = value[:place] + rng.choice("0aZ/") + value[place + 1 :]
    return record


def without(rng: random.Random, record: Any) -> Any:
    """Drop a part of a record."""
    path = rng.choice(list(_leaves(record)))
    *outer, key = path[: rng.randrange(1, len(path) + 1)]
    del _at(record, tuple(outer))[key]
    return record


def truncated(rng: random.Random, record: Any) -> Any:
    """Return what a reader gets of a text that is cut off."""
    text = json.dumps(record)
    try:
        return json.loads(text[: rng.randrange(len(text))])
    except ValueError:
        return None


def _transplanted(others: list[dict[str, Any]]) -> Mutation:
    def mutation(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
        other = rng.choice(others)
        certificate["instance"]["sha256"] = fingerprint(other["instance"])
        return other, certificate

    return mutation


def _raised(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
    certificate["claim"]["steps"] += rng.choice((1, 1, 2, 100))
    return schedule, certificate


def _raised_twice(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
    schedule, certificate = _raised(rng, schedule, certificate)
    if "steps" in certificate["evidence"]:
        certificate["evidence"]["steps"] = certificate["claim"]["steps"]
    return schedule, certificate


def _rescoped(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
    claim = certificate["claim"]
    claim["scope"] = rng.choice([scope for scope in SCOPES if scope != claim["scope"]])
    return schedule, certificate


def _evidence_changed(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
    evidence = certificate["evidence"]
    if rng.random() < 0.3:
        evidence["kind"] = rng.choice([kind for kind in NAMES if kind != evidence["kind"]])
    else:
        with_change(rng, certificate, "evidence")
    return schedule, certificate


def proof_changed(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
    """Change a word or a line of the proof of a refutation."""
    text = lzma.decompress(base64.b64decode(certificate["evidence"]["proof"])).decode()
    lines = text.split("\n")
    place = rng.randrange(len(lines) - 1)
    words = lines[place].split()
    spot = rng.randrange(len(words))
    action = rng.randrange(4)
    if action == 0:
        del lines[place]
    elif action == 1:
        del lines[place:]
    else:
        if action == 2 and words[spot] != "d":
            words[spot] = str(int(words[spot]) + rng.choice((-1, 1)))
        else:
            del words[spot]
        lines[place] = " ".join(words)
    packed = lzma.compress("\n".join(lines).encode())
    certificate["evidence"]["proof"] = base64.b64encode(packed).decode()
    return schedule, certificate


def _dropped(rng: random.Random, schedule: Any) -> Any:
    step = rng.choice(schedule["steps"])
    del step[rng.randrange(len(step))]
    return schedule


def _exchanged(rng: random.Random, schedule: Any) -> Any:
    steps = schedule["steps"]
    a, b = rng.sample(range(len(steps)), 2)
    steps[a], steps[b] = steps[b], steps[a]
    return schedule


def _richer(rng: random.Random, schedule: Any, certificate: Any) -> Pair:
    """Add a channel to the network, and name the new instance in the certificate."""
    network = schedule["instance"]["network"]
    there = {(a, b) for a, b, *_ in network["channels"]}
    nodes = range(network["nodes"])
    free = [(a, b) for a in nodes for b in nodes if a != b and (a, b) not in there]
    for a, b in rng.sample(free, min(len(free), 60)):
        network["channels"].append([a, b])
    certificate["instance"]["sha256"] = fingerprint(schedule["instance"])
    return schedule, certificate
