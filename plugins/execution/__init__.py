"""Schedules executed and simulated: MPI programs, SimGrid, models of time."""

from cchybrid.plugin import CommandInfo, ExporterInfo, hookimpl
from cchybrid.plugin.records import later

GROUP = "Exchange"
EXPRESSED = (
    "store-and-forward", "extra hops", "routing table", "limited ports", "ports by node", "rounds",
    "empty steps", "chunks", "combining", "allreduce", "wide channels", "half duplex", "endpoints",
    "switches",
)  # fmt: skip
"""The features that programs of MPI perform, whose steps wait for all their messages."""


@hookimpl
def cchybrid_commands() -> tuple[CommandInfo, ...]:
    """Return the commands on the time of a schedule."""
    return (
        CommandInfo("time", f"{__name__}.commands:time",
            "Say how long a schedule takes: start-ups, hops, and sizes over bandwidth.",
            group=GROUP),
        CommandInfo("simulate", f"{__name__}.commands:simulate",
            "Replay a schedule in SimGrid, beside the collective of MPI.", group=GROUP),
    )  # fmt: skip


@hookimpl
def cchybrid_exporters() -> tuple[ExporterInfo, ...]:
    """Return the format of programs."""
    export = later(f"{__name__}.mpi:export_mpi")
    summary = "an mpi4py program that performs, checks and times it"
    return (ExporterInfo("mpi", export, summary, expresses=EXPRESSED),)
