"""Times of channels in ticks, and groups of channels that share their capacity."""

import re
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import show
from cchybrid.model.whole_numbers import whole_tuple

MAX_TICKS = 1_000_000
"""Largest latency and length of a channel."""


class ChannelTime(NamedTuple):
    """The ticks of a channel.

    ``latency`` is the number of ticks after which the head of a message leaves the channel,
    ``length`` the number of ticks for which the message occupies it.
    """

    latency: int = 0
    length: int = 1


_TICK = re.compile(r"\d{1,20}([./]\d{1,20})?")
STEP = ChannelTime()
"""The time of a channel where every transfer takes one step."""


def channel_times(values: Any, channels: int) -> tuple[ChannelTime, ...]:
    """Return the times of all channels, nothing if each is that of a step.

    Raises
    ------
    InputError
        The values are no such times; the error names the place.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError("no list", where="network.times", hint="give a list")
    times = []
    for index, value in enumerate(values):
        where = f"network.times[{index}]"
        pair = whole_tuple(value, where)
        if len(pair) != 2 or not (0 <= pair[0] <= MAX_TICKS and 1 <= pair[1] <= MAX_TICKS):
            raise InputError(
                f"{str(list(pair))[:60]} is no latency and length",
                where=where,
                hint=f"write [latency, length] in ticks, at most {MAX_TICKS}; lengths are above 0",
            )
        times.append(ChannelTime(*pair))
    if times and len(times) != channels:
        raise InputError(
            f"{len(times)} times for {channels} channels",
            where="network.times",
            hint="give one per channel",
        )
    return tuple(times) if set(times) - {STEP} else ()


def checked_groups(network: Any) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the groups of channels of a network as tuples.

    Raises
    ------
    InputError
        A group is none; the error names the place.
    """
    found: list[tuple[tuple[int, int], ...]] = []
    taken = {end for a, b in network.half_duplex for end in ((a, b), (b, a))}
    channels = {channel[:2]: channel[2] for channel in network.channels}
    for index, group in enumerate(_lists(network.groups)):
        where = f"network.groups[{index}]"
        hops: list[Any] = [whole_tuple(hop, where) for hop in _lists(group)]
        problem = ""
        for hop in hops:
            if hop not in channels:
                problem = f"{str(hop)[:40]} is no channel"
            elif hop in taken:
                problem = f"channel {hop[0]}->{hop[1]} is in two groups or half-duplex pairs"
            taken.add(hop)
        if not problem and len({(channels[hop], network.time_of(hop)) for hop in hops}) != 1:
            problem = "no channels, or of different capacities or times"
        if problem:
            raise InputError(problem, where=where, hint="list channels that share one capacity")
        found.append(tuple(hops))
    return tuple(found)


def _lists(values: Any) -> Iterable[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError("no list", where="network.groups", hint="write [[[0, 1], [0, 2]], ...]")
    return values


def read_tick(value: Any) -> Fraction | None:
    """Return the microseconds of a tick from a number or a text such as ``1/3``.

    Raises
    ------
    InputError
        It is no positive number.
    """
    if value is None:
        return None
    tick = Fraction(0)
    # Of a text such as 1e999999999 the number alone would exhaust the memory.
    if not isinstance(value, str) or _TICK.fullmatch(value):
        with suppress(TypeError, ValueError, OverflowError, ZeroDivisionError):
            tick = Fraction(value)
    if isinstance(value, bool) or not 0 < tick.numerator < 10**20 > tick.denominator:
        raise InputError(
            f"{show(value)} is no number of microseconds",
            where="network.tick",
            hint="write a positive number, or a text such as 1/3",
        )
    return tick
