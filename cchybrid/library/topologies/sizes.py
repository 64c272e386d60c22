"""Sizes of named networks: numbers read from names, and the limits that guard the memory."""

from __future__ import annotations

from collections.abc import Callable

from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_NODES = 65_536
MAX_CHANNELS = 2_097_152


def whole(text: str) -> int:
    """Return the number that decimal digits write, unless it is absurdly large."""
    if len(text) > 15:
        raise InputError(f"{text[:15]}... is too large", mend=f"use at most {MAX_NODES} nodes")
    return int(text)


def sized(build: Callable[[int], Network]) -> Callable[[str], Network]:
    """Return a builder for names with one number out of a function of that number."""
    return lambda text: build(whole(text))


def check_size(nodes: int, channels: int = 0) -> None:
    """Refuse more nodes or channels than a named network may have, before any is made."""
    if nodes > MAX_NODES:
        raise InputError(f"{nodes} nodes are too many", mend=f"use at most {MAX_NODES}")
    if channels > MAX_CHANNELS:
        raise InputError(f"{channels} channels are too many", mend=f"use at most {MAX_CHANNELS}")


def at_least(nodes: int, smallest: int, family: str) -> None:
    """Refuse fewer nodes than the family is defined for."""
    if nodes < smallest:
        raise InputError(
            f"a {family} has at least {smallest} nodes", mend=f"use {family}-{smallest}"
        )


def power_of_two(number: int, family: str) -> int:
    """Return the exponent of a number that must be a power of two, 2 being the least."""
    if number < 2:
        raise InputError(f"{number} is less than 2", mend=f"use {family}-2")
    check_size(number)
    exponent = number.bit_length() - 1
    if number != 1 << exponent:
        lower = 1 << exponent
        raise InputError(
            f"{number} is no power of two", mend=f"use {family}-{lower} or {family}-{2 * lower}"
        )
    return exponent
