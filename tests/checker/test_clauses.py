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


def instance(
    channels: list[list[int]], *messages: tuple[int, list[int]], half: Any = (), **model: Any
) -> Network:
    return Network({
        "network": {
            "nodes": 1 + max(max(channel[:2]) for channel in channels), "channels": channels,
            "half_duplex": [list(pair) for pair in half],
        },
        "collective": {
            "kind": "deliver",
            "messages": [{"source": a, "destinations": goals} for a, goals in messages],
        },
        "model": model,
    })  # fmt: skip


LINE = [[0, 1], [1, 2]]
SQUARE = [[a, b] for a in range(4) for b in ((a + 1) % 4, (a - 1) % 4)]


def test_two_messages_on_one_channel() -> None:
    formula = Formula(instance(LINE, (0, [2]), (0, [1])), 2)
    assert formula.paths == {(0, 2): [(0, 1, 2)], (1, 1): [(0, 1)]}
    assert formula.number == {
        ("gets", 0, 2, 1): 1, ("has", 0, 2, 1): 2, ("gets", 0, 2, 2): 3, ("has", 0, 2, 2): 4,
        ("gets", 1, 1, 1): 5, ("has", 1, 1, 1): 6, ("gets", 1, 1, 2): 7, ("has", 1, 1, 2): 8,
    }  # fmt: skip
    assert formula.clauses == [
        [-1, 2], [-2, 1],  # message 0 in step 1
        [-3, 4], [-2, 4], [-2, -3], [-4, 2, 3],  # and in step 2
        [-5, 6], [-6, 5], [-7, 8], [-6, 8], [-6, -7], [-8, 6, 7],
        [1, 3], [5, 7],  # both arrive
        [-1, -5], [-1, -5], [-3, -7], [-3, -7],  # node 0 and the channel 0->1, step by step
    ]  # fmt: skip


def digest(formula: Formula) -> tuple[int, int, str]:
    """Return the numbers of clauses and variables, and a digest of all of them in order."""
    text = json.dumps([formula.clauses, list(map(list, formula.number))])
    return len(formula.clauses), len(formula.number), hashlib.sha256(text.encode()).hexdigest()[:12]


CASES: dict[str, tuple[Network, int, tuple[int, ...]]] = {
    "one path each": (instance(LINE, (0, [2]), (0, [1])), 2, ()),
    "several paths": (instance(SQUARE, (0, [2]), (1, [3]), (2, [0])), 2, ()),
    "a broadcast": (instance(SQUARE, (0, [1, 2, 3])), 2, ()),
    "store-and-forward": (
        instance(SQUARE, (0, [2]), (1, [2]), switching="store-and-forward"),
        2,
        (),
    ),
    "one port": (instance(SQUARE, (0, [1, 2, 3]), (2, [0, 3]), ports=1), 3, ()),
    "two ports": (instance(SQUARE, (0, [2]), (0, [1]), (0, [3]), (0, [2]), ports=2), 2, ()),
    "no ports": (instance(SQUARE, (0, [2, 1]), ports={"inject": [1, 0, 1, 1], "accept": 1}), 2, ()),
    "half duplex": (instance(SQUARE, (0, [1]), (1, [0]), half=[(1, 0)]), 2, (1, 0)),
    "capacity of two": (instance([[0, 1, 2], [1, 2, 3]], *[(0, [2])] * 7), 3, ()),
    "seven on a channel": (instance(LINE, *[(0, [2])] * 7), 3, (6, 2)),
    "rounds": (instance(LINE, *[(0, [2])] * 4, rounds=[1, 3, 2]), 3, ()),
    "a shared channel": (instance([*SQUARE, [2, 4]], (0, [4]), (1, [4])), 2, ()),
    "any routing": (instance(SQUARE, (0, [1]), (2, [1, 3]), routing="any"), 2, ()),
    "an order": (instance(SQUARE, (0, [1]), (0, [1]), (3, [1])), 2, (1, 0)),
    "a suite's instance": (Network(cchybrid.instance("spidergon-8", "AAS").to_json()), 3, ()),
}
DIGESTS = {
    "one path each": (18, 8, "431dbb1035e9"),
    "several paths": (47, 24, "0805dce3255c"),
    "a broadcast": (117, 60, "e4f80102e645"),
    "store-and-forward": (138, 72, "c9ec6535eb0c"),
    "one port": (298, 114, "de672087369c"),
    "two ports": (76, 34, "77c0a662f220"),
    "no ports": (46, 22, "50bc74683f38"),
    "half duplex": (18, 8, "f4870d0233fb"),
    "capacity of two": (413, 198, "79b0c08abf4b"),
    "seven on a channel": (283, 114, "2250a1a291c6"),
    "rounds": (148, 68, "d55fc882a914"),
    "a shared channel": (26, 12, "904eafcd3f7b"),
    "any routing": (105, 52, "aababd9c4671"),
    "an order": (45, 22, "27c3983149f6"),
    "a suite's instance": (2968, 1152, "158074f8fe14"),
}
"""Clauses, variables and digest of the formulas that certificates of version 0.9.0 refute."""


@pytest.mark.parametrize("name", CASES)
def test_clauses_stay_as_they_are(name: str) -> None:
    network, steps, order = CASES[name]
    assert digest(Formula(network, steps, order)) == DIGESTS[name]


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


def test_interchangeable_steps() -> None:
    one, two = (0, [2]), (0, [1, 2])
    assert Formula(instance(LINE, one, one), 2).interchangeable
    assert not Formula(instance(LINE, one, two), 2).interchangeable
    assert not Formula(instance(LINE, one, switching="store-and-forward"), 2).interchangeable
    assert not Formula(instance(LINE, one, rounds=[1, 2]), 2).interchangeable
    assert Formula(instance(LINE, one, rounds=[2]), 2).interchangeable


def test_bottlenecks() -> None:
    formula = Formula(instance(SQUARE, (0, [2]), (0, [1]), half=[(1, 0)]), 2)
    assert formula.bottlenecks(0) == set()
    assert formula.bottlenecks(1) == {("channel", 1, 0)}
    ports = Formula(instance(SQUARE, (0, [2]), (0, [1]), ports=1), 2)
    assert ports.bottlenecks(0) == {("inject", 0), ("accept", 2)}
    assert ports.bottlenecks(1) == {("inject", 0), ("accept", 1), ("channel", 0, 1)}
    wide = Formula(instance([[0, 1, 2], [1, 2]], (0, [2])), 2)
    assert wide.bottlenecks(0) == {("channel", 1, 2), ("accept", 2)}
    lost = Formula(instance([[0, 1], [2, 1]], (0, [2]), ports=1), 2)
    assert lost.bottlenecks(0) == {("inject", 0)}


def test_orders_of_the_steps() -> None:
    formula = Formula(instance(SQUARE, (0, [1]), (0, [1]), (2, [3]), (0, [1])), 3)
    before = len(formula.clauses)
    formula.pin(())
    assert len(formula.clauses) == before
    formula.pin([3, 0, 1])
    gets = [formula.number["gets", m, 1, t] for t, m in enumerate((3, 0, 1), 1)]
    assert formula.clauses[before:] == [[literal] for literal in gets]
    for order, message in (
        ([0, 0], "an order of the steps that names more than there are"),
        ([0, 1, 3, 0], "an order of the steps that names more than there are"),
        ([0, 2], "messages that may share a step"),
        ([4], "a message that the collective does not have"),
        ([True], "a message that the collective does not have"),
    ):
        with pytest.raises(EvidenceError, match=f"^{message}$"):
            formula.pin(order)
    one = Formula(instance(SQUARE, (0, [1]), (0, [1])), 1)
    with pytest.raises(EvidenceError, match="names more than there are"):
        one.pin([0, 1])
    with pytest.raises(EvidenceError, match="the steps are not interchangeable"):
        Formula(instance(LINE, (0, [1, 2])), 2, [0])
