"""Farkas: rows of the time-expanded relaxation, added up to something that cannot be.

Every row holds for every schedule of so many steps. Multiplied by numbers that are not negative
and added up, they say that a weighted sum of columns is at least some number. If the columns at
their limits do not reach it, there is no such schedule. How the numbers were found plays no part:
bad ones prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.relaxation import Column, Key, Relaxation, Row

MOST_STEPS = 10_000
"""Evidence for more steps is refused: rows are made per step."""
MOST_TERMS = 20_000_000
"""Terms of all rows; evidence with more is refused."""
_LARGEST = 10**40


def farkas_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return how many steps are needed because the rows refute one step less.

    ``steps`` is what is to be proven; ``rows`` holds, per family of rows, lists of the key's
    numbers followed by a positive integer, the row's multiplier. With ``"routing": "any"`` the
    rows are those over any routes, which are fewer and hold for the instance's own, too.
    """
    steps = evidence.get("steps")
    if type(steps) is not int or not 1 < steps <= MOST_STEPS:
        raise EvidenceError("the number of steps is missing")
    routing = evidence.get("routing")
    if routing not in (None, "any"):
        raise EvidenceError('the routing of the rows is not "any"')
    relaxation = Relaxation(network if routing is None else network.freed(), steps - 1)
    rows, looked_at = [], 0
    for key, times in _multipliers(evidence.get("rows")):
        row = relaxation.row(key)
        rows.append((row, times))
        looked_at += len(row[0])
        if looked_at > MOST_TERMS:
            raise TooLargeError("rows with more terms than fit into memory")
    if not contradict(relaxation, rows):
        raise EvidenceError(f"the rows do not refute {steps - 1} steps")
    return steps


def contradict(relaxation: Relaxation, rows: Iterable[tuple[Row, int]]) -> bool:
    """Return whether the rows, each with its multiplier, add up to something that cannot be."""
    sides, total = 0, dict[Column, int]()
    for (terms, side), times in rows:
        sides += times * side
        for column, coefficient in terms.items():
            total[column] = total.get(column, 0) + times * coefficient
    reached = sum(
        relaxation.most(column) * weight for column, weight in total.items() if weight > 0
    )
    return reached < sides


def _multipliers(families: Any) -> Iterator[tuple[Key, int]]:
    if not isinstance(families, dict):
        raise EvidenceError("the rows are missing")
    for family, rows in families.items():
        if not isinstance(rows, list):
            raise EvidenceError("the rows of a family are not a list")
        for row in rows:
            if not isinstance(row, list) or not row:
                raise EvidenceError("a row has the wrong form")
            *numbers, times = row
            if type(times) is not int or not 0 < times < _LARGEST:
                raise EvidenceError("a row is multiplied by something else than a positive integer")
            yield (family, *numbers), times
