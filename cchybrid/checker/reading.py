"""JSON from any source: its text, whole numbers and lists.

What is not as it should be is refused by an ``EvidenceError``.
"""

import json
from typing import Any

MAX_NUMBER = 10**40
"""Larger numbers are refused: their products could have more digits than Python writes."""


def read_json(text: str) -> Any:
    """Parse JSON; a repeated key or a value such as NaN is an error.

    Raises
    ------
    ValueError
        If the text is not such JSON.
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key is listed twice in one object")
        return found

    def refuse(word: str) -> float:
        raise ValueError(f"{word} is no number")

    return json.loads(text, object_pairs_hook=distinct, parse_constant=refuse)


class EvidenceError(Exception):
    """The evidence does not prove its claim, or cannot be read."""


def only(record: Any, *keys: str) -> None:
    """Refuse what is no object, or has other keys."""
    if not isinstance(record, dict) or not set(record) <= set(keys):
        raise EvidenceError(f"this is no object of {', '.join(keys)} alone")


def list_of(value: Any) -> list[Any]:
    """Return a list; refuse anything else."""
    if not isinstance(value, list):
        raise EvidenceError("a list is missing")
    return value


def whole(value: Any) -> int:
    """Return a whole number from 0 to ``MAX_NUMBER``; refuse anything else."""
    if type(value) is not int or not 0 <= value <= MAX_NUMBER:
        raise EvidenceError(f"{str(value)[:40]!r} is no whole number from 0 to 10^40")
    return value


def whole_numbers(value: Any) -> tuple[int, ...]:
    """Return the whole numbers of a list."""
    return tuple(map(whole, list_of(value)))


def whole_rows(rows: Any, shortest: int, longest: int) -> list[tuple[int, ...]]:
    """Return a list of lists of whole numbers, each of such a length."""
    found = [*map(whole_numbers, list_of(rows))]
    if not all(shortest <= len(row) <= longest for row in found):
        raise EvidenceError("a row of the evidence has the wrong length")
    return found
