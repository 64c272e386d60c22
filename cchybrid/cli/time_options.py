"""Options of the time model, which several commands share."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cchybrid.cli.single_options import refuse_given
from cchybrid.model.errors import InputError

if TYPE_CHECKING:
    from cchybrid.run.time_models import TimeModel

SIZES = "1024,32768,1048576"
MAX_SIZE = 1 << 40
"""The largest size of a message, in bytes."""
Startup = Annotated[float, typer.Option(metavar="US", help="Start-up of a step, in microseconds.")]
Bandwidth = Annotated[
    float, typer.Option(metavar="MB/S", help="Megabytes per second of a channel of capacity 1.")
]
PerHop = Annotated[float, typer.Option(metavar="US", help="Microseconds for every hop.")]
Sizes = Annotated[
    str, typer.Option("--sizes", metavar="BYTES,...", help="Sizes of a message, in bytes.")
]


def file_bandwidth(context: Any, unit_bandwidth: Fraction | None, option: str) -> Fraction | None:
    """Return the GB/s of a capacity of 1 that a graph file states; the option is then refused.

    Parameters
    ----------
    context
        The context of the command.
    unit_bandwidth
        What the file states, or ``None``.
    option
        The parameter that would state it once more.
    """
    if unit_bandwidth is not None:
        why = f"the file says it: capacity 1 is {float(unit_bandwidth):g} GB/s"
        refuse_given(context, why, names=(option,))
    return unit_bandwidth


def read_model(startup: float, bandwidth: float, per_hop: float) -> TimeModel:
    """Return the time model that the options describe."""
    from cchybrid.run.time_models import TimeModel

    for name, value in (("--startup", startup), ("--per-hop", per_hop)):
        if not 0 <= value < math.inf:
            raise InputError(f"{value:g} microseconds", where=name, hint="use a number from 0")
    if not 0 < bandwidth < math.inf:
        raise InputError(
            f"{bandwidth:g} megabytes per second", where="--bandwidth", hint="use more than 0"
        )
    return TimeModel(startup, bandwidth, per_hop)


def read_sizes(text: str) -> list[int]:
    """Return the message sizes of a list such as ``1024,4096``, in bytes, each once."""
    found: dict[int, None] = {}
    for part in text.split(","):
        try:
            size = float(part)
        except ValueError:
            size = math.nan
        if not (size >= 1 and (size > MAX_SIZE or size.is_integer())):
            raise InputError(
                f"{part.strip()[:40]!r} is no size", where="--sizes", hint=f"write {SIZES}"
            )
        if size > MAX_SIZE:
            raise InputError(
                f"{part.strip()[:40]} bytes are too many",
                where="--sizes",
                hint=f"use at most {MAX_SIZE} bytes (1 TiB)",
            )
        found[int(size)] = None
    return list(found)
