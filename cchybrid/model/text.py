"""Texts of any origin, such as those of plugins, as one printable line."""

import io
from collections.abc import Iterable
from typing import Any

MAX_TEXT_LENGTH = 500
"""Characters of a text that are kept."""


def one_line(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    """Return a text as one line of at most ``max_length`` characters.

    Characters that cannot be printed, such as line breaks and lone surrogates, become spaces.
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * max_length])
    return " ".join(printable.split())[:max_length]


def printable(text: str) -> str:
    """Return a text in which characters that cannot be printed, such as line breaks, are escaped.

    Examples
    --------
    >>> print(printable("a\\nb"))
    a\\nb
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def described(value: Any) -> str:
    """Return a value of a wrong type as an error names it: short, or by its type.

    Examples
    --------
    >>> described(3), described("mesh"), described([1, 2]), described(int)
    ('3', "'mesh'", 'a list', 'a type')
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return repr(value)[:40]
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeio' else 'a'} {kind}"


def error_line(error: BaseException) -> str:
    """Return the type and the text of an exception as one line."""
    try:
        text = one_line(str(error))
    except Exception:  # the error has a broken method __str__
        text = ""
    return f"{type(error).__name__}: {text or 'no reason given'}"


def shown_number(number: int) -> str:
    """Return a whole number for an error line; Python writes none of over 4,300 digits."""
    return str(number) if number < 10**40 else "above 10^40"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as the text of a CSV file."""
    import csv  # here, as every command imports this module

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
