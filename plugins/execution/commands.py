"""``time`` and ``simulate``: how long a schedule takes, by a model or by a simulator."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cchybrid.cli import arguments
from cchybrid.cli.schedules import ScheduleFile
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.expressed import refuse_slots_ticks_groups
from cchybrid.view.screen import print_lines, print_table

if TYPE_CHECKING:
    from .time_models import TimeModel

SIZES = "1024,32768,1048576"
MAX_SIZE = 1 << 40
"""The largest size of a message, in bytes."""
Startup = Annotated[float, arguments.option("US", "Start-up of a step, in microseconds.")]
Bandwidth = Annotated[
    float,
    arguments.option(
        "MB/S", "Megabytes per second of a channel of capacity 1; no schedule file has them."
    ),
]
PerHop = Annotated[float, arguments.option("US", "Microseconds for every hop.")]
Sizes = Annotated[str, arguments.option("BYTES,...", "Sizes of a message, in bytes.", "--sizes")]


def time(
    schedule: ScheduleFile,
    startup: Startup = 1.0,
    bandwidth: Bandwidth = 2000.0,
    per_hop: PerHop = 0.0,
    sizes: Sizes = SIZES,
    as_json: arguments.AsJson = False,
) -> None:
    """Say how long a schedule takes: start-ups, hops, and rounds times size over bandwidth.

    The defaults are those of the thesis (section 3.1): 1 microsecond and 0.5 nanoseconds per byte.
    """
    model = read_model(startup, bandwidth, per_hop)
    read = load_valid(schedule)
    record = model.to_json(read, read_sizes(sizes))
    if as_json:
        print(json.dumps(record))
        return
    size = f"{counted(record['steps'], 'step')}, {counted(record['rounds'], 'round')}"
    print_lines([f"{read.instance.name}: {size}", f"  {model.line}"])
    print_table(
        ("bytes", "microseconds"),
        [(str(row["bytes"]), f"{row['microseconds']:.3f}") for row in record["times"]],
    )


def simulate(
    schedule: ScheduleFile,
    startup: Startup = 1.0,
    bandwidth: Bandwidth = 2000.0,
    per_hop: PerHop = 0.1,
    sizes: Sizes = SIZES,
    folder: Path | None = None,
    plot: Path | None = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Replay a schedule in SimGrid, beside all messages at once and the collective of MPI.

    Exit status: 0 if every transfer takes as long as it would alone, 1 if some have to share a
    channel or a port, 2 bad input or no SimGrid.

    Options
    -------
    folder : FOLDER
        Keep platform and program of the simulation there.
    plot : FILE
        Draw the times by size: .svg, .png or .pdf.
    """
    from cchybrid.view.plot import check_plot

    from .simulation import replay
    from .time_plot import plot_times

    check_plot(plot)
    model = read_model(startup, bandwidth, per_hop)
    read = load_valid(schedule)
    result = replay(read, model, read_sizes(sizes), folder)
    if plot is not None:
        plot_times(result, plot)
    if as_json:
        print(json.dumps({**result.to_json(), **model.settings()}))
    else:
        print_lines([*result.lines(), f"  {model.line}"])
        if result.remark:
            print_lines([f"  {result.remark}"])
        heads = ("bytes", "schedule", "all at once")
        print_table(
            (*heads, f"MPI_{result.library}") if result.library else heads,
            [
                tuple(
                    [str(row.size), f"{row.schedule:.3f}", f"{row.exchange:.3f}"]
                    + ([] if row.library is None else [f"{row.library:.3f}"])
                )
                for row in result.rows
            ],
        )
        if plot is not None:
            print(f"written to {plot}")
    raise typer.Exit(0 if result.undisturbed else 1)


def read_model(startup: float, bandwidth: float, per_hop: float) -> "TimeModel":
    """Return the time model that the options describe."""
    from .time_models import TimeModel

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


def load_valid(path: Path) -> Schedule:
    """Return the valid schedule of a file."""
    from cchybrid.referee.verify import refuse_invalid

    found = Schedule.load(path)
    refuse_invalid(found, path)
    refuse_slots_ticks_groups(found.instance, "a model of time")
    return found
