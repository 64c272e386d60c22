"""Sizes of named networks: numbers in names, and limits of nodes and channels."""

import re
from collections.abc import Callable, Iterable

from cchybrid.library.records import TopologyInfo
from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_NODES = 65_536
MAX_CHANNELS = 2_097_152
_PLACE = re.compile(r"(?:[A-Z]x)*[A-Z]\[x[A-Z]\.{3}\]|[A-Z]+")
"""A number, or a list of extents, in the usage of a family."""


def whole(text: str) -> int:
    """Return the number of a decimal text of at most 15 digits."""
    if len(text) > 15:
        raise InputError(f"{text[:15]}... is too large", hint=f"use at most {MAX_NODES} nodes")
    return int(text)


def numbered(usage: str, build: Callable[..., Network], summary: str, example: str) -> TopologyInfo:
    """Return the family whose parameters are numbers: the capitals in its ``usage``.

    ``build`` is called with these numbers in order; for several extents, such as ``AxB[xC...]``,
    with one list of all.
    """
    lists = ["[" in place for place in _PLACE.findall(usage)]

    def read(*texts: str) -> Network:
        numbers = [[whole(part) for part in text.split("x")] for text in texts]
        return build(*(n if many else n[0] for n, many in zip(numbers, lists, strict=True)))

    pattern = _PLACE.sub(lambda place: r"(\d+(?:x\d+)*)" if "[" in place[0] else r"(\d+)", usage)
    return TopologyInfo(re.split("-[A-Z]", usage)[0], usage, pattern, read, summary, example)


def check_size(nodes: int, channels: int = 0) -> None:
    """Raise an ``InputError`` if there are too many nodes or channels for a named network."""
    if nodes > MAX_NODES:
        raise InputError(f"{nodes} nodes are too many", hint=f"use at most {MAX_NODES}")
    if channels > MAX_CHANNELS:
        raise InputError(f"{channels} channels are too many", hint=f"use at most {MAX_CHANNELS}")


def checked_product(factors: Iterable[int]) -> int:
    """Return a number of nodes, checked factor by factor, as the whole product could be huge."""
    nodes = 1
    for factor in factors:
        nodes *= factor
        check_size(nodes)
    return nodes


def check_min_nodes(nodes: int, smallest: int, family: str) -> None:
    """Raise an ``InputError`` if there are fewer nodes than the family is defined for."""
    if nodes < smallest:
        raise InputError(
            f"a {family} has at least {smallest} nodes", hint=f"use {family}-{smallest}"
        )


def power_of_two(number: int, family: str, rest: str = "") -> int:
    """Return the exponent of a number that must be a power of two, at least 2.

    ``rest`` is what follows the number in the names of the family.
    """
    if number < 2:
        raise InputError(f"{number} is less than 2", hint=f"use {family}-2{rest}")
    check_size(number)
    exponent = number.bit_length() - 1
    if number != 1 << exponent:
        lower = 1 << exponent
        raise InputError(
            f"{number} is no power of two",
            hint=f"use {family}-{lower}{rest} or {family}-{2 * lower}{rest}",
        )
    return exponent
