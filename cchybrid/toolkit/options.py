"""Checks of an engine's options."""

import math


def require(options: object, largest: float = math.inf, /, **smallest: float) -> None:
    """Raise ``ValueError`` unless each named field is from the given number up to ``largest``."""
    for name, low in smallest.items():
        value = getattr(options, name)
        if not low <= value <= largest:
            allowed = f"at least {low:g}" if largest == math.inf else f"{low:g} to {largest:.0f}"
            raise ValueError(f"{name} is {value}, use {allowed}")


def require_one_of(options: object, **allowed: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless each named field has one of the given values."""
    for name, values in allowed.items():
        if getattr(options, name) not in values:
            raise ValueError(f"{name} is {getattr(options, name)!r}, use {' or '.join(values)}")
