"""Prices: intervals, what they offer and what is refused, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from cchybrid.checker import prices
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.prices import Interval, Prices, whole_rows
from tests.checker.by_hand import network


def line(**model: Any) -> Network:
    """Return the channels 0->1 of capacity 2, 1->2, and 2->1, which shares that capacity."""
    return network([[0, 1, 2], [1, 2], [2, 1]], (0, [2]), half_duplex=[[1, 2]], **model)


ROWS = {
    "channels": [[0, 1, 5], [2, 1, 2, 3, 7]],
    "inject": [[1, 1, 1, 4], [1, 1]],
    "accept": [[2, 3, 3, 6]],
}


def test_prices_step_by_step() -> None:
    found = Prices(line(), ROWS, 4)
    link = {(0, 1): 5, (1, 2): 0, (2, 1): 0}
    shared = {(0, 1): 5, (1, 2): 7, (2, 1): 7}
    assert found.intervals == [
        Interval(1, 1, link, {1: 5}, {}),
        Interval(2, 2, shared, {1: 1}, {}),
        Interval(3, 3, shared, {1: 1}, {2: 6}),
        Interval(4, 4, link, {1: 1}, {}),
    ]
    # Capacities: 2 from 0, 1 between 1 and 2; node 1 sends 1, node 2 accepts 1.
    assert found.offered == (10 + 5) + (10 + 7 + 1) + (10 + 7 + 1 + 6) + (10 + 1)
    assert found.max_offer == 10 + 7 + 1 + 6
    assert found.steps == 4


def test_prices_of_hops_include_the_ports_in_store_and_forward_switching() -> None:
    found = Prices(line(switching="store-and-forward"), ROWS, 4)
    assert [each.hops for each in found.intervals] == [
        {(0, 1): 5, (1, 2): 0 + 5, (2, 1): 0},
        {(0, 1): 5, (1, 2): 7 + 1, (2, 1): 7},
        {(0, 1): 5, (1, 2): 7 + 1 + 6, (2, 1): 7},
        {(0, 1): 5, (1, 2): 0 + 1, (2, 1): 0},
    ]
    assert all(each[3:] == ({}, {}, False) for each in found.intervals)
    assert found.offered == Prices(line(), ROWS, 4).offered


def test_the_same_for_any_number_of_steps() -> None:
    found = Prices(line(), {"channels": [[0, 1, 5]], "accept": [[1, 2]]}, None)
    assert found.intervals == [Interval(1, None, {(0, 1): 5, (1, 2): 0, (2, 1): 0}, {}, {1: 2})]
    assert found.offered == found.max_offer == 5 * 2 + 2 * 3


def test_rounds_change_what_is_offered() -> None:
    # The second step has a round of three, all further ones have two.
    found = Prices(line(rounds=[3, 1, 2]), {"channels": [[0, 1, 1], [1, 2, 10]]}, 5)
    assert [each[:2] for each in found.intervals] == [(1, 1), (2, 2), (3, 5)]
    assert found.offered == 36 + 12 + 3 * 24
    assert found.max_offer == 36
    fewer = Prices(line(rounds=[3, 1, 2]), {}, 2)
    assert [each[:2] for each in fewer.intervals] == [(1, 1), (2, 2)]


def test_nothing_has_a_price() -> None:
    nothing = {(0, 1): 0, (1, 2): 0, (2, 1): 0}
    found = Prices(line(), {"inject": [[0, 2, 2, 0]]}, 3)
    assert [each.free for each in found.intervals] == [True, False, True]
    assert (found.offered, found.max_offer) == (0, 0)
    assert Prices(line(), {}, 3).intervals == [Interval(1, 3, nothing, {}, {}, free=True)]
    none = Prices(line(), ROWS | {"channels": [], "inject": [], "accept": []}, 0)
    assert (none.intervals, none.offered, none.max_offer) == ([], 0, 0)


@pytest.mark.parametrize(
    ("text", "key", "rows"),
    [
        ("a price for something that is not there", "channels", [[0, 2, 1], [0, 1], [0, 1, 1, 1]]),
        ("a price for something that is not there", "inject", [[3, 1]]),
        ("a price for something that is not there", "accept", [[0, 1, 1], [0, 1, 1, 1, 1]]),
        ("a row of the evidence has the wrong length", "channels", [[1], [0, 1, 1, 1, 1, 1]]),
        (
            "a price for a step that is not there",
            "channels",
            [[0, 1, 0, 1, 1], [0, 1, 2, 1, 1], [0, 1, 1, 3, 1]],
        ),
    ],
)
def test_what_is_no_price(text: str, key: str, rows: list[list[int]]) -> None:
    for row in rows:
        with pytest.raises(EvidenceError, match=f"^{text}$"):
            Prices(line(), {key: [row]}, 2)


def test_prices_of_any_number_of_steps_are_for_no_step() -> None:
    with pytest.raises(EvidenceError, match=r"^a price for a step that is not there$"):
        Prices(line(), {"inject": [[0, 1, 1, 1]]}, None)


def test_rows_of_numbers() -> None:
    assert whole_rows([[0, 1], [2, 3, 10**40]], 2, 3) == [(0, 1), (2, 3, 10**40)]
    for wrong in (
        None, {}, "", [()], [[1]], [[1] * 4], [[0, 10**40 + 1]], [[0, -1]], [[0, True]],
        [[0, "\u0663"]],
    ):  # fmt: skip
        with pytest.raises(EvidenceError):
            whole_rows(wrong, 2, 3)


def test_the_work_for_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three channels and five rows, in four intervals."""
    monkeypatch.setattr(prices, "MAX_WORK", (3 + 5) * 4)
    Prices(line(), ROWS, 4)
    monkeypatch.setattr(prices, "MAX_WORK", (3 + 5) * 4 - 1)
    with pytest.raises(TooLargeError, match="the evidence takes too many operations"):
        Prices(line(), ROWS, 4)
