"""Bandwidths and latencies of channels, and the ticks that a message of a size takes over them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError
from cchybrid.model.times import ChannelTime

MAX_LENGTH = 20_000
"""The largest number of ticks that a channel takes."""
MAX_BYTES = 1 << 60
ROUNDED = " in rounded times"
"""The end of the names of networks whose times are not exact."""
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True)
class Rates:
    """The bandwidths and latencies of a network's channels.

    Parameters
    ----------
    unit
        The bandwidth of a capacity of 1 in GB/s (10^9 bytes per second).
    latencies
        The latency of each channel in microseconds, in the network's order; nothing if all are 0.
    bandwidths
        The bandwidth of each channel in GB/s where capacities are rounded; nothing if they are not.
    sources
        Lines that say where the figures are from.
    """

    unit: Fraction
    latencies: tuple[Fraction, ...] = ()
    bandwidths: tuple[Fraction, ...] = ()
    sources: tuple[str, ...] = ()

    def of(self, network: Network) -> list[tuple[Fraction, Fraction]]:
        """Return the bandwidth in GB/s and the latency in microseconds of each channel."""
        bandwidths = self.bandwidths or [self.unit * each.capacity for each in network.channels]
        latencies = self.latencies or (Fraction(0),) * len(network.channels)
        return list(zip(bandwidths, latencies, strict=True))


def read_bytes(text: str, where: str = "size") -> Fraction:
    """Return the bytes of a text such as ``64KiB``, ``64K`` (the same), ``1.5MB`` or ``4096``.

    Raises
    ------
    InputError
        It is no such size.
    """
    text = str(text).strip()
    match = re.fullmatch(r"([0-9]{1,19}(?:\.[0-9]{1,9})?) ?([kmgt]?)(i?)(b?)", text.lower())
    size = Fraction(0)
    if match and (match[2] or not match[3]):
        base = 1000 if match[4] and not match[3] else 1024
        size = Fraction(match[1]) * base ** _POWERS[match[2]]
    if not 0 < size <= MAX_BYTES:
        raise InputError(
            f"{text[:40]!r} is no size", where=where, hint="write bytes, or such as 64KiB, 1MB"
        )
    return size


def in_ticks(
    network: Network, rates: Rates, size: Fraction, tick: Fraction | None = None
) -> tuple[Network, str]:
    """Return the network with the times of messages of a size, and a line on the tick.

    A channel is busy for the size over its bandwidth, and a message arrives its latency later. The
    whole bandwidth of a channel serves one message after another, so its capacity is 1; only where
    several messages fit into a tick, it is their number.

    Parameters
    ----------
    size
        The bytes of a message, or of each chunk of it.
    tick
        The microseconds of a tick: times are rounded up to whole ticks, and numbers of messages
        down. By default the largest of which all times are multiples, if no channel takes more than
        ``MAX_LENGTH`` of them; else a hundredth of the time of the fastest channel.

    Raises
    ------
    InputError
        Some channel takes more than ``MAX_LENGTH`` of the ticks that are named.
    """
    # A GB/s is a thousand bytes per microsecond.
    each = rates.of(network)
    busy = [size / (bandwidth * 1000) for bandwidth, _ in each]
    late = [latency for _, latency in each]
    exact = common_divisor([*busy, *late])
    step = exact if tick is None else tick
    longest = max([*busy, *late], default=step)
    if tick is None and longest / step > MAX_LENGTH:
        step = Fraction(f"{float(max(min(busy) / 100, 2 * longest / MAX_LENGTH)):.1e}")
    if longest / step > MAX_LENGTH:
        raise InputError(
            f"the slowest channel takes {math.ceil(longest / step):,} ticks of {_shown(step)} us",
            where="tick",
            hint="name a longer one, such as --tick "
            f"{Decimal(f'{float(longest / 100):.3g}'):f}: times are rounded up",
        )
    together = [max(1, int(step / time)) for time in busy]
    lengths = [math.ceil(time / step) for time in busy]
    fitted = replace(
        network,
        channels=tuple(
            Channel(*channel[:2], number)
            for channel, number in zip(network.channels, together, strict=True)
        ),
        times=tuple(
            ChannelTime(math.ceil(before / step), length)
            for before, length in zip(late, lengths, strict=True)
        ),
        tick=step,
    )
    slower = max(
        length * step / (time * number) - 1
        for length, number, time in zip(lengths, together, busy, strict=True)
    )
    line = f"a tick is {_shown(step)} us, and the slowest channel takes {math.ceil(longest / step)}"
    if exact % step:
        later = float(max(-time % step for time in late))
        line += f"; times are rounded up: sending by up to {100 * float(slower):.2g} %"
        line += f", latencies by up to {later:.3g} us"
        fitted = replace(fitted, name=network.name + ROUNDED)
    return fitted, line


def common_divisor(times: Sequence[Fraction]) -> Fraction:
    """Return the largest number of which all times are whole multiples."""
    multiple = math.lcm(*(time.denominator for time in times))
    return Fraction(math.gcd(*(int(time * multiple) for time in times)) or 1, multiple)


def _shown(number: Fraction) -> str:
    decimal = f"{float(number):.6g}"
    return decimal if Fraction(decimal) == number else f"{decimal} (rounded)"
