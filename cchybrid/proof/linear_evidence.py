"""Evidence of the kind ``linear``: prices per range of steps, and groups of messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

Rows = list[list[int]]


def rows_over_time(places: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Rows:
    """Return the rows of prices, or of charges, that are given per step.

    Parameters
    ----------
    places
        The numbers of each channel or node, and its prices in steps 1, 2, ...
    """
    return [
        [*place, first, last, price]
        for place, prices in places
        for first, last, price in _ranges(prices)
    ]


def _ranges(prices: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the first and last step of each longest range of one price other than 0."""
    step = 1
    for price, same in groupby(prices):
        first, step = step, step + sum(1 for _ in same)
        if price:
            yield first, step - 1, price


def linear(steps: int | None, **tables: Sequence[Any]) -> dict[str, Any]:
    """Return evidence with the tables that are not empty; about any steps if ``None``."""
    evidence: dict[str, Any] = {"kind": "linear"}
    if steps is not None:
        evidence["steps"] = steps
    return evidence | {key: list(rows) for key, rows in tables.items() if len(rows)}


def groups_of_goals(goals: Mapping[int, Sequence[int]]) -> list[dict[str, Any]]:
    """Return groups of messages with the same goals, each worth 1; ``goals`` by message."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for message, nodes in goals.items():
        alike.setdefault(tuple(nodes), []).append(message)
    return [
        {"messages": messages, "worth": [[node, 1] for node in nodes]}
        for nodes, messages in alike.items()
    ]
