"""Farkas: rows of the time-expanded relaxation that add up to a contradiction.

Every row holds for every schedule of the given number of steps. Multiplied by nonnegative numbers
and added up, the rows state that a weighted sum of columns is at least some number. If the columns
at their upper limits do not reach it, there is no such schedule. The origin of the multipliers is
irrelevant: wrong ones prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.relaxation import Column, Key, Relaxation, Row

MAX_STEPS = 10_000
"""Evidence for more steps is refused, since there are rows for every step."""
MAX_TERMS = 20_000_000
"""Terms of all rows; evidence with more is refused."""
_MAX_MULTIPLIER = 10**40


def farkas_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps needed, since the rows refute one step less.

    ``steps`` is the number to be proven; ``rows`` holds, per kind of rows, lists of the key's
    numbers followed by a positive integer, the row's multiplier. With ``"routing": "any"`` the
    rows are those for any routing, which are fewer and hold for the instance's own routing, too.
    """
    steps = read_steps(evidence)
    routing = evidence.get("routing")
    if routing not in (None, "any"):
        raise EvidenceError('the routing of the rows is not "any"')
    relaxation = Relaxation(network if routing is None else network.with_any_routing(), steps - 1)
    if not rows_contradict(relaxation, evidence.get("rows")):
        raise EvidenceError(f"the rows do not refute {steps - 1} steps")
    return steps


class Rows(Protocol):
    """Linear rows by their keys, and the upper limits of their columns."""

    def row(self, key: Key) -> Row:
        """Return a row, or raise an ``EvidenceError`` if there is none."""

    def max_value(self, column: Column) -> int:
        """Return the upper limit of a column."""


def read_steps(evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the evidence is to prove."""
    steps = evidence.get("steps")
    if type(steps) is not int or not 1 < steps <= MAX_STEPS:
        raise EvidenceError("the number of steps is missing")
    return steps


def rows_contradict(relaxation: Rows, listed: Any) -> bool:
    """Return whether the rows that evidence lists by kind add up to a contradiction."""
    rows, terms_read = [], 0
    for key, times in multipliers(listed):
        row = relaxation.row(key)
        rows.append((row, times))
        terms_read += len(row[0])
        if terms_read > MAX_TERMS:
            raise TooLargeError("rows with more terms than fit into memory")
    return contradict(relaxation, rows)


def contradict(relaxation: Rows, rows: Iterable[tuple[Row, int]]) -> bool:
    """Return whether the rows, each with its multiplier, add up to a contradiction."""
    sides, total = 0, dict[Column, int]()
    for (terms, side), times in rows:
        sides += times * side
        for column, coefficient in terms.items():
            total[column] = total.get(column, 0) + times * coefficient
    reached = sum(
        relaxation.max_value(column) * weight for column, weight in total.items() if weight > 0
    )
    return reached < sides


def multipliers(kinds: Any) -> Iterator[tuple[Key, int]]:
    """Yield the keys of the rows in evidence, each with its multiplier."""
    if not isinstance(kinds, dict):
        raise EvidenceError("the rows are missing")
    for kind, rows in kinds.items():
        if not isinstance(rows, list):
            raise EvidenceError("the rows of a kind are not a list")
        for row in rows:
            if not isinstance(row, list) or not row:
                raise EvidenceError("a row has the wrong form")
            *numbers, times = row
            if type(times) is not int or not 0 < times < _MAX_MULTIPLIER:
                raise EvidenceError("a row is multiplied by something else than a positive integer")
            yield (kind, *numbers), times
