"""Whole numbers of any type, such as those of NumPy, as integers of Python."""

import operator
from typing import Any

from cchybrid.model.errors import InputError

MAX_CAPACITY = 1 << 128
"""Larger capacities, and numbers of ports and of extra hops, are refused: their products could have
more digits than Python writes."""


def whole(value: Any, where: str) -> int:
    """Return a whole number as an integer of Python; a boolean is none.

    Raises
    ------
    InputError
        The value is no whole number; the error names the place.

    Examples
    --------
    >>> import numpy as np
    >>> whole(np.int64(3), "seed")
    3
    """
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool) or type(value).__name__ == "bool":  # also NumPy's
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise InputError(
            f"{str(value)[:40]!r} is no whole number", where=where, hint="write a whole number"
        ) from None


def whole_tuple(values: Any, where: str) -> tuple[int, ...]:
    """Return several whole numbers as a tuple of integers of Python.

    Raises
    ------
    InputError
        The values are no list or tuple, or one is no whole number; the error names the place.

    Examples
    --------
    >>> whole_tuple([0, 3], "endpoints")
    (0, 3)
    """
    if type(values) is tuple and set(map(type, values)) <= {int}:
        return values
    try:
        items = tuple(values)
    except TypeError:
        raise InputError(
            f"{str(values)[:40]!r} is no list of whole numbers", where=where, hint="give a list"
        ) from None
    return tuple(whole(item, f"{where}[{index}]") for index, item in enumerate(items))
