"""The propositional formula: its clauses one by one, and digests of larger ones.

A proof refers to clauses and variables by number, so their order is part of the evidence: a formula
that changes refuses all certificates that exist.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

import cchybrid
from cchybrid.checker import clauses
from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from tests.checker.by_hand import HOPS
from tests.checker.by_hand import network as instance

LINE = [[0, 1], [1, 2]]
SQUARE = [[a, b] for a in range(4) for b in ((a + 1) % 4, (a - 1) % 4)]


def test_two_messages_on_one_channel() -> None:
    formula = Formula(instance(LINE, (0, [2]), (0, [1])), 2)
    assert formula.paths == {(0, 2): [(0, 1, 2)], (1, 1): [(0, 1)]}
    assert formula.number == {
        ("gets", 0, 2, 1): 1, ("has", 0, 2, 1): 2, ("gets", 0, 2, 2): 3, ("has", 0, 2, 2): 4,
        ("gets", 1, 1, 1): 5, ("has", 1, 1, 1): 6, ("gets", 1, 1, 2): 7, ("has", 1, 1, 2): 8,
        ("count", "inject", 0, 1, 0, 0): 9, ("count", "channel", 0, 1, 1, 0, 0): 10,
        ("count", "inject", 0, 2, 0, 0): 11, ("count", "channel", 0, 1, 2, 0, 0): 12,
    }  # fmt: skip
    assert formula.clauses == [
        [-1, 2], [-2, 1],  # message 0 in step 1
        [-3, 4], [-2, 4], [-2, -3], [-4, 2, 3],  # and in step 2
        [-5, 6], [-6, 5], [-7, 8], [-6, 8], [-6, -7], [-8, 6, 7],
        [1, 3], [5, 7],  # both arrive
        [-1, 9], [-5, -9], [-1, 10], [-5, -10],  # one from node 0 and over 0->1 in step 1
        [-3, 11], [-7, -11], [-3, 12], [-7, -12],  # and in step 2
    ]  # fmt: skip


def digest(formula: Formula) -> tuple[int, int, str]:
    """Return the numbers of clauses and variables, and a digest of all of them in order."""
    text = json.dumps([formula.clauses, list(map(list, formula.number))])
    return len(formula.clauses), len(formula.number), hashlib.sha256(text.encode()).hexdigest()[:12]


CASES: dict[str, tuple[Network, int, tuple[int, ...], tuple[int, int, str]]] = {
    "one path each": (
        instance(LINE, (0, [2]), (0, [1])), 2, (), (22, 12, "b9816b6a1cd9"),
    ),
    "several paths": (
        instance(SQUARE, (0, [2]), (1, [3]), (2, [0])), 2, (), (55, 32, "184165f259e2"),
    ),
    "a broadcast": (instance(SQUARE, (0, [1, 2, 3])), 2, (), (129, 68, "72ed31212834")),
    "store-and-forward": (
        instance(SQUARE, (0, [2]), (1, [2]), **HOPS), 2, (), (146, 80, "c95f555ddcb8"),
    ),
    "one port": (
        instance(SQUARE, (0, [1, 2, 3]), (2, [0, 3]), ports=1), 3, (), (358, 174, "f371ef8f0087"),
    ),
    "two ports": (
        instance(SQUARE, (0, [2]), (0, [1]), (0, [3]), (0, [2]), ports=2), 2, (),
        (88, 46, "c783a0fe0b91"),
    ),
    "no ports": (
        instance(SQUARE, (0, [2, 1]), ports={"inject": [1, 0, 1, 1], "accept": 1}), 2, (),
        (50, 26, "9fe3884cab8c"),
    ),
    "half duplex": (
        instance(SQUARE, (0, [1]), (1, [0]), half_duplex=[(1, 0)]), 2, (1, 0),
        (20, 10, "6250a0a94287"),
    ),
    "capacity of two": (
        instance([[0, 1, 2], [1, 2, 3]], *[(0, [2])] * 7), 3, (), (413, 198, "d7531e257ac6"),
    ),
    "seven on a channel": (instance(LINE, *[(0, [2])] * 7), 3, (6, 2), (283, 114, "33079155b4b8")),
    "rounds": (instance(LINE, *[(0, [2])] * 4, rounds=[1, 3, 2]), 3, (), (156, 80, "8bbb2a348823")),
    "a shared channel": (
        instance([*SQUARE, [2, 4]], (0, [4]), (1, [4])), 2, (), (32, 18, "8679770e40f5"),
    ),
    "any routing": (
        instance(SQUARE, (0, [1]), (2, [1, 3]), routing="any"), 2, (), (121, 64, "67b32f54d4bc"),
    ),
    "an order": (
        instance(SQUARE, (0, [1]), (0, [1]), (3, [1])), 2, (1, 0), (49, 26, "993436495d91"),
    ),
    "a suite's instance": (
        Network(cchybrid.instance("spidergon-8", "AAS").to_json()), 3, (),
        (3040, 1440, "3f4729849bf8"),
    ),
}  # fmt: skip
"""Steps and order; clauses, variables and digests of the formulas that certificates refute."""


@pytest.mark.parametrize("name", CASES)
def test_clauses_stay_as_they_are(name: str) -> None:
    network, steps, order, expected = CASES[name]
    assert digest(Formula(network, steps, order)) == expected


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    network = instance(LINE, (0, [2]), (0, [1]))
    total = sum(map(len, Formula(network, 2).clauses))
    monkeypatch.setattr(clauses, "MAX_LITERALS", total)
    Formula(network, 2)
    monkeypatch.setattr(clauses, "MAX_LITERALS", total - 1)
    with pytest.raises(TooLargeError, match="a formula of more literals than fit into memory"):
        Formula(network, 2)


def test_huge_formulas_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps of two paths, one of 3 nodes and one of 2: 2 * (9 + 7) literals."""
    network = instance(LINE, (0, [2]), (0, [1]))
    made: list[Any] = []
    monkeypatch.setattr(Formula, "_add", lambda self, clause: made.append(clause))
    monkeypatch.setattr(clauses, "MAX_LITERALS", 32)
    Formula(network, 2)
    assert made
    made.clear()
    monkeypatch.setattr(clauses, "MAX_LITERALS", 31)
    with pytest.raises(TooLargeError, match="a formula of more literals than fit into memory"):
        Formula(network, 2)
    assert not made


def test_orders_of_the_steps() -> None:
    formula = Formula(instance(SQUARE, (0, [1]), (0, [1]), (2, [3]), (0, [1])), 3)
    before = len(formula.clauses)
    formula.pin(())
    assert len(formula.clauses) == before
    formula.pin([3, 0, 1])
    gets = [formula.number["gets", m, 1, t] for t, m in enumerate((3, 0, 1), 1)]
    assert formula.clauses[before:] == [[literal] for literal in gets]
    for order, message in (
        ([0, 0], "messages that may share a step"),
        ([0, 2], "messages that may share a step"),
        ([0, 1, 3, 0], "messages that may share a step"),
        ([4], "a message that the collective does not have"),
        ([True], r"'True' is no whole number from 0 to 10\^40"),
    ):
        with pytest.raises(EvidenceError, match=f"^{message}$"):
            formula.pin(order)


ONE, TWO = (0, [2]), (0, [1])


@pytest.mark.parametrize(
    ("network", "order", "pinned"),
    [
        (instance(LINE, ONE, TWO), (1, 0), True),
        (instance(LINE, ONE, ONE, rounds=[1]), (1, 0), True),
        (instance(LINE, ONE, ONE, rounds=[1, 2]), (1, 0), False),
        (instance(LINE, ONE, ONE, **HOPS), (1, 0), False),
        (instance(LINE, ONE, (0, [1, 2])), (0, 1), False),
        # Either could come first, but node 1 has to send message 0 on in the second step.
        (instance([[0, 1], [1, 2], [3, 1], [3, 2]], (0, [1, 2]), (3, [1]), (3, [2]),
                  endpoints=[1], ports=1), (1, 2), False),
        (instance(SQUARE, (0, [1]), (1, [0])), (0, 1), False),
        (instance(SQUARE, (0, [1]), (1, [0]), half_duplex=[(1, 0)]), (0, 1), True),
        # Both paths of message 0 leave node 0, and both enter node 2.
        (instance(SQUARE, ONE, TWO), (0, 1), False),
        (instance(SQUARE, ONE, TWO, ports=1), (0, 1), True),
        (instance(SQUARE, ONE, (1, [2]), ports=1), (0, 1), True),
        (instance(SQUARE, ONE, (1, [3]), ports=1), (0, 1), False),
        (instance(SQUARE, ONE, TWO, ports=2), (0, 1), False),
        (instance([[0, 1, 2], [1, 2]], ONE, ONE), (0, 1), True),
        (instance([[0, 1, 2], [1, 2, 2]], ONE, ONE), (0, 1), False),
        # Without a path, a message uses its ports.
        (instance([[0, 1], [2, 1]], ONE, TWO, ports=1), (0, 1), True),
    ],
)  # fmt: skip
def test_messages_that_need_steps_of_their_own(network: Any, order: Any, pinned: bool) -> None:
    formula = Formula(network, 2)
    if pinned:
        formula.pin(order)
    else:
        with pytest.raises(EvidenceError):
            formula.pin(order)
