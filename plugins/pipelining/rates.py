"""Rates in GB/s and times in microseconds, the units of all outputs; buffers as in nccl-tests."""

import re
from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

from cchybrid.cli.arguments import ReadInstance
from cchybrid.library.rates import read_bytes
from cchybrid.model import Collective
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
"""The prefixes of sizes, binary as in nccl-tests."""


class Buffer(NamedTuple):
    """The buffer whose size nccl-tests states for a collective.

    Attributes
    ----------
    messages
        The number of messages that are as large as the buffer.
    bus
        Its bus bandwidth over its algorithm bandwidth; ``None`` where nccl-tests has none.
    """

    messages: int
    bus: Fraction | None

    def large_messages(self, unit: Fraction, ratio: Fraction) -> str:
        """Return the line on large messages, given GB/s of a capacity of 1 and rounds per chunk."""
        shown = self.shown(unit / ratio)
        return f"large messages, at {float(unit):g} GB/s per unit of capacity: {shown}"

    def shown(self, message_rate: Fraction) -> str:
        """Return the two bandwidths, given the rate of every message in GB/s."""
        rate = message_rate * self.messages
        if self.bus is None:
            return f"{float(rate):.3f} GB/s per message"
        bus = float(rate * self.bus)
        return f"algorithm bandwidth {float(rate):.3f} GB/s, bus bandwidth {bus:.3f} GB/s"


def buffer_of(collective: Collective) -> Buffer:
    """Return the buffer of a collective: all parts of an allgather, an all-to-all or a scatter."""
    if collective.kind == "allreduce":
        n = max(len(message.members) for message in collective.messages)  # type: ignore[union-attr]
        return Buffer(1, Fraction(2 * (n - 1), n))
    ends = [(each.source, each.destinations) for each in collective.deliver_messages]
    ends = ends[:: collective.chunks]
    sources, goals = Counter(s for s, _ in ends), Counter(g for _, many in ends for g in many)
    n = len({*sources, *goals})
    if len(ends) == 1:
        return Buffer(1, Fraction(1) if len(goals) > 1 else None)
    # Each node gets one message from each other: together, in pairs, or all from one or at one.
    spread = len(sources) == n and {*sources.values()} == {1} and {*goals.values()} == {n - 1}
    alone = len({*ends}) == len(ends) and all(len(many) == 1 for _, many in ends)
    rooted = len(ends) == n - 1 and 1 in (len(sources), len(goals))
    if spread or (alone and (rooted or len(ends) == n * (n - 1))):
        return Buffer(n, Fraction(n - 1, n))
    return Buffer(1, None)


def read_bandwidth(
    read: ReadInstance, context: Any, text: str | None, *, required: bool = False
) -> Fraction | None:
    """Return the GB/s of a capacity of 1, by the graph file, the option or the machine.

    Raises
    ------
    InputError
        The option is no number; or ``required``, and none says it.
    """
    given = None if text is None else positive(text, "--bandwidth", "bandwidth")
    found = read.bandwidth(context, "bandwidth") or given or read.known_bandwidth
    if found is None and required:
        hint = "give the GB/s of a capacity of 1"
        raise InputError("the bandwidth is not known", where="--bandwidth", hint=hint)
    return found


def positive(text: str, where: str, what: str) -> Fraction:
    """Return the number above 0 of an option."""
    number = Fraction(text) if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text) else Fraction(0)
    if not number:
        raise InputError(f"{text[:40]!r} is no {what}", where=where, hint="use a number above 0")
    return number


def read_size(text: str) -> int:
    """Return the bytes of a size such as ``64MiB``, ``64M`` or ``4096``."""
    size = read_bytes(text, "--size")
    if size.denominator > 1:
        raise InputError(f"{text[:40]!r} is no whole number of bytes", where="--size")
    return int(size)


def shown_size(number: int) -> str:
    """Return a size in its largest unit."""
    for unit in "TGMK":
        if number >= UNITS[unit]:
            return f"{number / UNITS[unit]:.4g} {unit}iB"
    return counted(number, "byte")
