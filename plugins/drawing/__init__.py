"""Schedules and networks drawn: interactive pages, and figures for papers and notebooks."""

from cchybrid.plugin import CommandInfo, ExporterInfo, NameInfo, hookimpl
from cchybrid.plugin.records import later

_EVERY = (
    "store-and-forward", "extra hops", "routing table", "limited ports", "ports by node", "rounds",
    "empty steps", "chunks", "combining", "allreduce", "scan", "wide channels", "half duplex",
    "endpoints", "switches",
)  # fmt: skip
"""The features of what is drawn."""


@hookimpl
def cchybrid_commands() -> tuple[CommandInfo, ...]:
    """Return the command that draws."""
    summary = "Draw a schedule as a page or a figure, or a network as a figure."
    return (CommandInfo("draw", f"{__name__}.commands:draw", summary, group="Exchange"),)


@hookimpl
def cchybrid_exporters() -> tuple[ExporterInfo, ...]:
    """Return the formats of pages and figures."""
    page, figure = later(f"{__name__}.page:page"), later(f"{__name__}.figures:svg")
    return (
        ExporterInfo("html", page, "an interactive page, as of draw", expresses=_EVERY),
        ExporterInfo("svg", figure, "a figure of all steps, as of draw", expresses=_EVERY),
    )


@hookimpl
def cchybrid_names() -> tuple[NameInfo, ...]:
    """Return the function that ``plot`` of networks, schedules and results calls."""
    return (NameInfo("draw", f"{__name__}.figures:draw", "the figure of a network or a schedule"),)
