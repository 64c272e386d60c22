"""Schedules executed and simulated: MPI programs, SimGrid, models of time."""

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import CommandInfo, ExporterInfo, later

GROUP = "Pictures and times"


@hookimpl
def cchybrid_commands() -> Iterable[CommandInfo]:
    """Return the commands on the time of a schedule."""
    return (
        CommandInfo("time", f"{__name__}.commands:time",
            "Say how long a schedule takes: start-ups, hops, and sizes over bandwidth.",
            group=GROUP),
        CommandInfo("simulate", f"{__name__}.commands:simulate",
            "Replay a schedule in SimGrid, beside the collective of MPI.", group=GROUP),
    )  # fmt: skip


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the format of programs."""
    export = later(f"{__name__}.mpi:export_mpi")
    return (ExporterInfo("mpi", export, "an mpi4py program that performs, checks and times it"),)
