"""Numbers of a stored run; what is none, or out of range, is an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cchybrid.model.errors import InputError


def amount(values: Mapping[str, Any], name: str = "seconds") -> float:
    """Return a time, or another cost, as stored.

    Raises
    ------
    InputError, LookupError, TypeError, ValueError
        It is missing, or no finite number from 0 on.
    """
    value = float(values[name])
    if not 0 <= value < math.inf:
        raise InputError(f"{name} is {value}")
    return value


def amounts(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the values that are known as floats."""
    known = (name for name, value in values.items() if value is not None)
    return {str(name): amount(values, name) for name in known}


def count(value: Any) -> Any:
    """Return a whole number, or ``None``."""
    if value is not None and abs(int(value)) >= 1 << 53:
        raise InputError("a number is too large")  # for the integer columns of the table
    return None if value is None else int(value)


def total(values: Mapping[str, Any] | None) -> float | None:
    """Return the sum over all engines; ``None`` if one is unknown or there are none."""
    if not values or None in values.values():
        return None
    return amount({"sum": sum(values.values())}, "sum")
