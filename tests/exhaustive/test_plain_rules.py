"""The plain rules by hand: valid schedules, and every rule of docs/valid-schedule.md broken."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests import broken_schedules as mistakes
from tests.checker.by_hand import record
from tests.exhaustive.plain_rules import PATH_RULES, Rules, violations

PAGE = Path(__file__).parents[2] / "docs" / "valid-schedule.md"

RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
"""Four nodes, one way."""
BOTH = [*RING, *([b, a] for a, b in RING)]
"""The same with links in both directions."""
STORE = {"switching": "store-and-forward"}


def instance(
    channels: list[list[int]], kind: str, messages: list[Any], **more: Any
) -> dict[str, Any]:
    """Return an instance of four nodes."""
    return record(channels, *messages, kind=kind, nodes=4, **more)


def steps(*rows: list[tuple[Any, ...]]) -> list[list[dict[str, Any]]]:
    """Return steps; a transfer is the number of its message, its path, and its sum if any."""
    names = "message", "path", "sum"
    return [[dict(zip(names, row, strict=False)) for row in step] for step in rows]


def broken(given: dict[str, Any], *rows: list[tuple[Any, ...]]) -> set[str]:
    return violations(given, steps(*rows))


HOPS = instance(BOTH, "deliver", [(0, [2])], **STORE)
SUM = instance(BOTH, "allreduce", [[0, 1, 2, 3]])

VALID: list[tuple[dict[str, Any], list[list[tuple[Any, ...]]]]] = [
    # Under any routing the long way round is a path, and with two extra hops.
    (instance(BOTH, "deliver", [(0, [1])], routing="any"), [[(0, [0, 3, 2, 1])]]),
    (instance(BOTH, "deliver", [(0, [1])], routing=2), [[(0, [0, 3, 2, 1])]]),
    # The short way passes endpoint 1, so the long way is the shortest path.
    (instance([*RING, [0, 3], [3, 2]], "deliver", [(0, [2])], endpoints=[1]), [[(0, [0, 3, 2])]]),
    # Hop by hop a message may pass endpoint 1, and stay at node 3, which is no destination.
    (instance(BOTH, "deliver", [(0, [2])], endpoints=[1], **STORE),
     [[(0, [0, 1]), (0, [0, 3])], [(0, [1, 2])]]),
    # A capacity of two, two rounds, two chunks: numbers 0 and 1.
    (instance([[0, 1, 2]], "deliver", [(0, [1])], chunks=2), [[(0, [0, 1]), (1, [0, 1])]]),
    (instance([[0, 1]], "deliver", [(0, [1])], chunks=2, rounds=[2]), [[(0, [0, 1]), (1, [0, 1])]]),
    # Steps of one and of two rounds: an empty step is allowed.
    (instance([[0, 1]], "deliver", [(0, [1])], chunks=2, rounds=[1, 2]),
     [[], [(0, [0, 1]), (1, [0, 1])]]),
    # A reduction: the rounds count from its last step.
    (instance([[1, 0]], "combine", [(0, [1])], chunks=3, rounds=[2, 1]),
     [[(0, [1, 0])], [(1, [1, 0]), (2, [1, 0])]]),
    # Of a reduction, the ports of acceptance limit what arrives.
    (instance(BOTH, "combine", [(0, [1, 3])], ports={"inject": 1, "accept": [2, 0, 0, 0]}),
     [[(0, [1, 0]), (0, [3, 0])]]),
    # Pairs add up their parts and exchange the sums.
    (SUM, [[(0, [0, 1], [0]), (0, [1, 0], [1]), (0, [2, 3], [2]), (0, [3, 2], [3])],
           [(0, [0, 3], [0, 1]), (0, [3, 0], [2, 3]), (0, [1, 2], [0, 1]), (0, [2, 1], [2, 3])]]),
    # Node 1 has the whole sum, and still its own part, which node 2 lacks.
    (instance(BOTH, "allreduce", [[0, 1, 2]], **STORE),
     [[(0, [0, 3], [0]), (0, [2, 1], [2])], [(0, [3, 2], [0])], [(0, [2, 1], [0, 2])],
      [(0, [1, 2], [1]), (0, [1, 0], [1, 2])]]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(VALID)))
def test_valid_schedules(number):
    given, rows = VALID[number]
    assert violations(given, steps(*rows)) == set()


@pytest.mark.parametrize("name", mistakes.VALID)
def test_valid_schedules_of_the_referee(name):
    given, raw = mistakes.VALID[name]
    assert violations(given.to_json(), steps(*raw)) == set()


@pytest.mark.parametrize("name", mistakes.MISTAKES)
def test_mistakes_of_the_referee(name):
    """Of rules about a transfer by itself, only these are named."""
    valid, changes, reported = mistakes.MISTAKES[name]
    given, raw = mistakes.VALID[valid]
    rules = {rule for rule, *_ in reported}
    if name == "node beyond 64 bits":
        rules.add("path-not-simple")  # it is there twice; the referee stops at the first
    found = violations(given.to_json(), steps(*mistakes.changed(raw, changes)))
    assert found == (rules & PATH_RULES or rules)


BROKEN: list[tuple[str, dict[str, Any], list[list[tuple[Any, ...]]]]] = [
    ("empty-step", instance([[0, 1]], "deliver", [(0, [1])], rounds=[2, 2]), [[(0, [0, 1])], []]),
    ("path-not-simple", instance(BOTH, "deliver", [(0, [1])], routing="any"),
     [[(0, [0, 3, 0, 1])]]),
    ("path-too-long", instance(BOTH, "deliver", [(0, [1])], routing=1), [[(0, [0, 3, 2, 1])]]),
    ("channel-overload", instance([[0, 1]], "deliver", [(0, [1])], chunks=3, rounds=[2, 1]),
     [[(0, [0, 1])], [(1, [0, 1]), (2, [0, 1])]]),
    ("not-informed", SUM, [[(0, [0, 1], [0, 1])]]),
    ("not-a-destination", instance(BOTH, "allreduce", [[0, 2]]),
     [[(0, [0, 1], [0])], [(0, [0, 1, 2], [0]), (0, [2, 3, 0], [2])]]),
    ("received-twice", instance(BOTH, "combine", [(0, [1])], **STORE),
     [[(0, [1, 2])], [(0, [2, 3])], [(0, [3, 0]), (0, [1, 0])]]),
    ("no-such-part", SUM, [[(0, [0, 1], [])]]),
    ("no-such-part", SUM, [[(0, [0, 1], [0, 0])]]),
    ("no-such-part", instance(BOTH, "allreduce", [[0, 1]]), [[(0, [0, 1], [0, 2])]]),
    # Node 2 gets the sums of 0 and 1, and of 0 and 3.
    ("counted-twice", SUM,
     [[(0, [0, 1], [0]), (0, [0, 3], [0])], [(0, [1, 2], [0, 1])], [(0, [3, 2], [0, 3])]]),
    ("received-twice", SUM, [[(0, [0, 1], [0])], [(0, [0, 1], [0])]]),
    # A part of the larger sum of the same step.
    ("received-twice", SUM,
     [[(0, [0, 1], [0]), (0, [3, 2], [3])], [(0, [1, 2], [1]), (0, [3, 2], [3])]]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_broken_schedules(number):
    rule, given, rows = BROKEN[number]
    found = violations(given, steps(*rows))
    # A transfer that nothing else is wrong with may leave destinations without their message.
    assert rule in found
    assert found <= {rule, "missing-destination"}


def test_every_rule_of_the_page_is_broken_once():
    table = set(re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE))
    reported = {each[0] for _, _, report in mistakes.MISTAKES.values() for each in report}
    assert {rule for rule, _, _ in BROKEN} | reported == table


def test_paths_by_hand():
    rules = Rules(instance(BOTH, "deliver", [(0, [2])], routing=2))
    assert sorted(rules.paths(0, 1)) == [(0, 1), (0, 3, 2, 1)]
    rules = Rules(instance(BOTH, "deliver", [(0, [2])]))
    assert sorted(rules.paths(0, 2)) == [(0, 1, 2), (0, 3, 2)]
    assert Rules(HOPS).paths(0, 2) == []


def test_half_duplex_counts_both_directions_in_every_round():
    given = instance(
        [[0, 1, 2], [1, 0, 2]], "deliver", [(0, [1]), (1, [0])],
        chunks=2, half_duplex=[[0, 1]], rounds=[2, 1],
    )  # fmt: skip
    moves = [(0, [0, 1]), (1, [0, 1]), (2, [1, 0]), (3, [1, 0])]
    assert broken(given, moves) == set()
    assert broken(given, [], moves) == {"half-duplex-overload"}
