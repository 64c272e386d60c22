"""Checks of an engine's options."""

from __future__ import annotations


def require(options: object, **minimum: float) -> None:
    """Raise ``ValueError`` unless each named field is at least the given number."""
    for name, low in minimum.items():
        if getattr(options, name) < low:
            raise ValueError(f"{name} must be at least {low:g}")
