"""Checks of an engine's options."""

from __future__ import annotations


def require(options: object, **minimum: float) -> None:
    """Raise ``ValueError`` unless each named field is at least the given number."""
    for name, low in minimum.items():
        value = getattr(options, name)
        if not value >= low:
            raise ValueError(f"{name} is {value}, use at least {low:g}")
