"""The known name that a misspelt one probably means."""

import difflib
from collections.abc import Iterable

MIN_LIKENESS = 0.6
"""Likeness from 0 to 1 below which no name is suggested."""
MAX_LENGTH = 100
"""Longer names are like none: comparing takes time in proportion."""
PREFIX_LENGTH, PREFIX_BONUS = 3, 0.2
"""Equal characters at the start of two names, and by how much they raise the likeness."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like ``name`` in any case, or ``None`` if none is.

    Names with the same first letters are preferred, so that abbreviations are found.

    Examples
    --------
    >>> nearest("popsize", ["parents", "population", "polish"])
    'population'
    >>> nearest("luck", ["auto", "race", "relay"]) is None
    True
    """
    if len(name) > MAX_LENGTH:
        return None
    text = name.lower()

    def likeness(other: str) -> float:
        same_start = text[:PREFIX_LENGTH] == other.lower()[:PREFIX_LENGTH]
        bonus = PREFIX_BONUS if same_start and len(text) >= PREFIX_LENGTH else 0.0
        return difflib.SequenceMatcher(None, text, other.lower()).ratio() + bonus

    best = max(known, key=likeness, default=None)
    return best if best is not None and likeness(best) >= MIN_LIKENESS else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a hint for an unknown name: the nearest known one and ``otherwise``, as one text."""
    found = nearest(name, known)
    return " ".join([f"did you mean {found}?" if found else "", otherwise]).strip()
