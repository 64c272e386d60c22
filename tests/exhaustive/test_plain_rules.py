"""The plain rules by hand: every rule of docs/valid-schedule.md broken.

Rounds, chunks and routings beside these: all verdicts on everything small are those of the referee.
"""

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


SUMS = [
    ("no-such-part", [[(0, [0, 1], [])]]),
    ("no-such-part", [[(0, [0, 1], [0, 0])]]),
    ("not-informed", [[(0, [0, 1], [0, 1])]]),
    # Node 2 gets the sums of 0 and 1, and of 0 and 3.
    (
        "counted-twice",
        [[(0, [0, 1], [0]), (0, [0, 3], [0])], [(0, [1, 2], [0, 1])], [(0, [3, 2], [0, 3])]],
    ),
    # A part of the larger sum of the same step.
    (
        "received-twice",
        [[(0, [0, 1], [0]), (0, [3, 2], [3])], [(0, [1, 2], [1]), (0, [3, 2], [3])]],
    ),
]


@pytest.mark.parametrize(("rule", "rows"), SUMS)
def test_sums(rule, rows):
    found = violations(instance(BOTH, "allreduce", [[0, 1, 2, 3]]), steps(*rows))
    assert found == {rule, "missing-destination"}


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


def test_every_rule_of_the_page_is_broken_here_or_by_a_sum():
    table = set(re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE))
    reported = {each[0] for _, _, report in mistakes.MISTAKES.values() for each in report}
    assert reported | {"no-such-part", "counted-twice"} == table


def test_paths_by_hand():
    rules = Rules(instance(BOTH, "deliver", [(0, [2])], routing=2))
    assert sorted(rules.paths(0, 1)) == [(0, 1), (0, 3, 2, 1)]
    rules = Rules(instance(BOTH, "deliver", [(0, [2])]))
    assert sorted(rules.paths(0, 2)) == [(0, 1, 2), (0, 3, 2)]
    assert Rules(instance(BOTH, "deliver", [(0, [2])], **STORE)).paths(0, 2) == []


def test_groups_share_their_capacity():
    given = instance(BOTH, "deliver", [(0, [1]), (0, [3])])
    given["network"]["groups"] = [[[0, 1], [0, 3]]]
    assert violations(given, steps([(0, [0, 1])], [(1, [0, 3])])) == set()
    assert violations(given, steps([(0, [0, 1]), (1, [0, 3])])) == {"group-overload"}


SLOTS = {"switching": "tdm"}
TREE = instance(RING, "deliver", [(0, [1, 2, 3])], **SLOTS)
PAIR = instance(BOTH, "deliver", [(0, [2]), (3, [2])], ports=1, **SLOTS)
NEAR = instance(RING, "deliver", [(0, [2]), (1, [2])], **SLOTS)
IN_SLOTS = [
    # A tree in any order of the slots, empty ones too.
    (TREE, [[(0, [2, 3])], [], [(0, [1, 2])], [(0, [0, 1])], []], set()),
    (TREE, [[(0, [2, 3]), (0, [0, 1]), (0, [0, 1, 2])]], {"channel-overload"}),
    (TREE, [[(0, [2, 3]), (0, [1, 2])]], {"not-informed", "missing-destination"}),
    (TREE, [[(0, [2, 3])], [(0, [0, 1]), (0, [3, 0, 1, 2])]], {"not-informed"}),
    (
        TREE,
        [[(0, [0, 1]), (0, [1, 2]), (0, [2, 3])], [(0, [3, 0])], [(0, [1, 2])]],
        {"received-twice"},
    ),
    (NEAR, [[(0, [0, 1]), (1, [1, 2])]], {"not-a-destination", "missing-destination"}),
    # The second channel is used a slot later; after the last slot in the first one.
    (NEAR, [[(0, [0, 1, 2])], [(1, [1, 2])]], {"channel-overload"}),
    (NEAR, [[(1, [1, 2])], [(0, [0, 1, 2])]], {"channel-overload"}),
    (NEAR, [[], [(0, [0, 1, 2]), (1, [1, 2])]], set()),
    # A port is used in the slot of the first or the last channel.
    (PAIR, [[(0, [0, 1, 2])], [(1, [3, 2])]], {"accept-overload"}),
    (PAIR, [[(0, [0, 1, 2]), (1, [3, 2])], []], set()),
    (PAIR, [[(0, [0, 1, 2]), (1, [3, 2])]], {"accept-overload"}),
]


@pytest.mark.parametrize(("given", "rows", "broken"), IN_SLOTS)
def test_time_slots(given, rows, broken):
    assert violations(given, steps(*rows)) == broken


def test_a_path_over_two_channels_of_a_group():
    given = instance(RING, "deliver", [(0, [3])], **SLOTS)
    given["network"]["groups"] = [[[0, 1], [2, 3]]]
    for slots, broken in ((1, True), (2, True), (3, False)):
        rows = [[(0, [0, 1, 2, 3])], *[[]] * (slots - 1)]
        assert violations(given, steps(*rows)) == ({"group-overload"} if broken else set())
    given["model"] = {"switching": "wormhole"}
    assert violations(given, steps([(0, [0, 1, 2, 3])])) == {"group-overload"}
    given["network"]["channels"] = [[a, b, 2] for a, b in RING]
    assert violations(given, steps([(0, [0, 1, 2, 3])])) == set()


def test_half_duplex_counts_both_directions_in_every_round():
    given = instance(
        [[0, 1, 2], [1, 0, 2]], "deliver", [(0, [1]), (1, [0])],
        chunks=2, half_duplex=[[0, 1]], rounds=[2, 1],
    )  # fmt: skip
    moves = [(0, [0, 1]), (1, [0, 1]), (2, [1, 0]), (3, [1, 0])]
    assert violations(given, steps(moves)) == set()
    assert violations(given, steps([], moves)) == {"half-duplex-overload"}
