"""Exact solutions of sparse systems of linear equations."""

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from cchybrid.proof.linear_program import LinearProgram

Number = int | Fraction


def solve_exactly(
    rows: Sequence[Mapping[int, int]], right: Sequence[int], unknowns: int
) -> list[Fraction] | None:
    """Return the only solution of a square system, ``None`` if there is none or several.

    By elimination in an order that keeps the rows short (Markowitz, Management Science 3, 1957).

    Parameters
    ----------
    rows
        Per equation the coefficients other than 0 by the number of the unknown.
    right
        The right-hand sides.
    """
    if len(rows) != unknowns:
        return None
    left: dict[int, dict[int, Number]] = {i: dict(row) for i, row in enumerate(rows)}
    value: list[Number] = list(right)
    columns: list[set[int]] = [set() for _ in range(unknowns)]
    for i, row in left.items():
        for j in row:
            columns[j].add(i)
    order: list[tuple[int, int, dict[int, Number]]] = []
    shortest = [(len(row), i) for i, row in left.items()]
    heapq.heapify(shortest)
    while left:
        length, i = heapq.heappop(shortest)
        if i not in left or len(left[i]) != length:
            continue  # an entry from before the row changed
        row = left.pop(i)
        if not row:
            return None
        j = min(row, key=lambda column: (len(columns[column]), abs(row[column]) != 1))
        order.append((i, j, row))
        for column in row:
            columns[column].discard(i)
        for k in columns[j]:
            other = left[k]
            factor = _quotient(other.pop(j), row[j])
            value[k] = _whole(value[k] - factor * value[i])
            for column, coefficient in row.items():
                if column == j:
                    continue
                change = _whole(other.get(column, 0) - factor * coefficient)
                if change:
                    other[column] = change
                    columns[column].add(k)
                else:
                    other.pop(column, None)
                    columns[column].discard(k)
            heapq.heappush(shortest, (len(other), k))
    found: list[Number] = [0] * unknowns
    for i, j, row in reversed(order):
        rest = value[i] - sum(row[column] * found[column] for column in row if column != j)
        found[j] = _quotient(_whole(rest), row[j])
    return [Fraction(number) for number in found]


def exact_dual(
    rows: Sequence[Mapping[int, int]], objective: Sequence[int], handles: Sequence[Any],
    variables: Sequence[Any],
) -> dict[int, Fraction] | None:  # fmt: skip
    """Return the multipliers of the rows that are tight in the last basis of a linear program.

    ``None`` if the basis has none, or several.

    Parameters
    ----------
    rows
        Per row its coefficients by the number of the variable.
    objective
        The coefficient of every variable in what is minimized.
    handles, variables
        The rows and the variables of the program that was solved.
    """
    tight = [i for i, row in enumerate(handles) if not LinearProgram.is_basic(row)]
    across: dict[int, dict[int, int]] = {
        j: {} for j, each in enumerate(variables) if LinearProgram.is_basic(each)
    }
    for place, i in enumerate(tight):
        for j in rows[i].keys() & across.keys():
            across[j][place] = rows[i][j]
    dual = solve_exactly([*across.values()], [objective[j] for j in across], len(tight))
    return None if dual is None else dict(zip(tight, dual, strict=True))


def _quotient(a: Number, b: Number) -> Number:
    return _whole(Fraction(a) / Fraction(b)) if b not in (1, -1) else a * b


def _whole(number: Number) -> Number:
    """Return a fraction that is an integer as one: integers are much faster."""
    if isinstance(number, Fraction) and number.denominator == 1:
        return number.numerator
    return number
