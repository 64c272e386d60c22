"""JSON from any source: its text, whole numbers and lists.

What is not as it should be is one of Python's errors, which the callers turn into their own.
"""

from __future__ import annotations

import json
import math
from typing import Any

LABELS = "name", "positions", "node_names", "switches"
"""Fields of networks and collectives that restrict no schedule."""
_MAX_NUMBER = 1 << 128
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

    def finite(word: str) -> float:
        number = float(word)
        return number if abs(number) < math.inf else refuse(word)

    return json.loads(text, object_pairs_hook=distinct, parse_constant=refuse, parse_float=finite)


def only(record: Any, *keys: str) -> None:
    """Raise ``ValueError`` unless this is an object without other keys."""
    if not isinstance(record, dict) or not set(record) <= set(keys):
        raise ValueError


def list_of(value: Any) -> list[Any]:
    """Return a list; raise ``TypeError`` for anything else."""
    if not isinstance(value, list):
        raise TypeError
    return value


def whole(value: Any) -> int:
    """Return a whole number from 0 to ``_MAX_NUMBER``; raise ``TypeError`` for anything else."""
    if type(value) is not int or not 0 <= value <= _MAX_NUMBER:
        raise TypeError
    return value


def whole_numbers(value: Any) -> tuple[int, ...]:
    """Return the whole numbers of a list."""
    return tuple(map(whole, list_of(value)))
