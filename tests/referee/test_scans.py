"""Prefix sums by hand: valid schedules, mistakes, and schedules of scans that are none of others.

The checker must accept what the referee accepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import cchybrid
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import (
    Collective,
    CommunicationModel,
    Exscan,
    Instance,
    Scan,
    Schedule,
    Transfer,
)
from cchybrid.referee.verify import verify_schedule

HOPS = CommunicationModel(switching="store-and-forward")
Rows = list[list[tuple[tuple[int, ...], tuple[int, ...]]]]
"""Per step the path and the sum of every transfer."""


def schedule(topology: str, form: Any, order: Any, rows: Rows, model: Any = HOPS) -> Schedule:
    collective = Collective("prefixes", (form(tuple(order)),))
    instance = Instance(cchybrid.network(topology), collective, model)
    steps = tuple(tuple(Transfer(0, path) for path, _ in step) for step in rows)
    return Schedule(instance, steps, sums=tuple(tuple(s for _, s in step) for step in rows))


def judged(found: Schedule) -> list[str]:
    """Return the referee's rules that are broken; the checker agrees whether there are any."""
    rules = [violation.rule for violation in verify_schedule(found)]
    if rules:
        with pytest.raises(EvidenceError):
            checked_schedule(found.to_json())
    else:
        checked_schedule(found.to_json())
    return rules


DOUBLING: Rows = [
    [
        ((node, node ^ size), tuple(sorted(n for n in range(8) if n // size == node // size)))
        for node in range(8)
    ]
    for size in (1, 2, 4)
]
"""Recursive doubling: neighbours exchange the sums of their blocks."""
IN_LINE: Rows = [[((node, node + 1), tuple(range(node + 1)))] for node in range(3)]
"""Every member adds its part to the sum of those before it."""


@pytest.mark.parametrize("form", [Scan, Exscan])
def test_recursive_doubling_is_a_scan(form: Any) -> None:
    one_port = replace(HOPS, inject=1, accept=1)
    for rows, model, rules in (
        (DOUBLING, HOPS, []),
        (DOUBLING, one_port, []),
        (DOUBLING[:2], HOPS, ["missing-destination"] * 4),
    ):
        assert judged(schedule("hypercube-8", form, range(8), rows, model)) == rules


@pytest.mark.parametrize("form", [Scan, Exscan])
@pytest.mark.parametrize("model", [HOPS, CommunicationModel()])
def test_prefixes_along_a_line(form: Any, model: Any) -> None:
    assert judged(schedule("mesh-1x4", form, range(4), IN_LINE, model)) == []
    # In the other order they are no prefixes.
    backwards = schedule("mesh-1x4", form, range(3, -1, -1), IN_LINE, model)
    found = judged(backwards)
    assert found.count("missing-destination") == 3
    assert ("not-a-destination" in found) == (model is not HOPS)


def test_the_own_part_counts_for_a_scan_alone() -> None:
    """Member 1 gets the sum of both parts from a relay, which has its part and that of 0."""
    rows: Rows = [[((0, 2), (0,)), ((1, 2), (1,))], [((2, 1), (0, 1))]]
    assert judged(schedule("complete-3", Scan, (0, 1), rows)) == []
    assert judged(schedule("complete-3", Exscan, (0, 1), rows)) == ["missing-destination"]


def test_a_sum_with_a_part_of_a_later_member_is_no_prefix() -> None:
    rows: Rows = [[((2, 0), (2,))], [((0, 1), (0, 2))], [((1, 2), (0, 1, 2))]]
    found = verify_schedule(schedule("complete-3", Scan, (0, 1, 2), rows))
    assert [(each.rule, each.text) for each in found] == [
        ("missing-destination", "member 1 never has its whole sum of message 0")
    ]


def test_under_wormhole_a_member_receives_only_parts_that_it_needs() -> None:
    exchange: Rows = [[((0, 1), (0,)), ((1, 0), (1,))]]
    assert judged(schedule("complete-3", Scan, (0, 1), exchange)) == []
    found = schedule("complete-3", Scan, (0, 1), exchange, CommunicationModel())
    assert judged(found) == ["not-a-destination"]
    assert verify_schedule(found)[0].text == (
        "step 1, transfer 2: node 0 receives the sum of the parts of 1 of message 0,"
        " not all of which it needs"
    )
    own: Rows = [[((0, 2), (0,)), ((1, 2), (1,))], [((2, 1), (0, 1))]]
    for form, rules in ((Scan, []), (Exscan, ["not-a-destination", "missing-destination"])):
        assert judged(schedule("complete-3", form, (0, 1, 2), own, CommunicationModel())) == rules
