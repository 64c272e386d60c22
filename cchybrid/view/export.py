"""Exporters of schedules to text, CSV, Markdown and LaTeX, and the plugin that registers them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from cchybrid.model import Message, Network, Reduction, Schedule
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import ExporterInfo
from cchybrid.view.step_table import export_latex, export_markdown, export_table_csv, printable


def export_csv(schedule: Schedule) -> str:
    """Return one row per transfer: step (from 1), message, its end nodes, the path.

    Nodes are numbers, separated by spaces in paths; of a network with node names they are names,
    separated by arrows, as names may contain spaces.
    """
    network = schedule.instance.network
    name = network.node_name
    between = " " if network.node_names is None else " -> "
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", "message", "from", "to", "origin", "path"])
    for number, step in enumerate(schedule.steps, 1):
        for message, path in step:
            origin = _origin(network, schedule.instance.collective.messages[message])
            nodes = between.join(map(name, path))
            writer.writerow([number, message, name(path[0]), name(path[-1]), origin, nodes])
    return out.getvalue()


def export_text(schedule: Schedule) -> str:
    """Return one line per transfer under a heading per step, as in the thesis' tables."""
    network = schedule.instance.network
    lines = [f"# {schedule.instance.name}: {len(schedule.steps)} steps"]
    for number, step in enumerate(schedule.steps, 1):
        lines.append(f"step {number}")
        for message, path in step:
            origin = _origin(network, schedule.instance.collective.messages[message])
            names = [printable(network.node_name(node)) for node in path]
            mark = "" if origin == network.node_name(path[0]) else f" ({printable(origin)})"
            lines.append(f"  {names[0]}{mark}->{names[-1]}: {','.join(names)}")
    return "\n".join(lines) + "\n"


def _origin(network: Network, message: Message | Reduction) -> str:
    """Return the source of a message, or of a reduction the destination."""
    if isinstance(message, Reduction):
        return f"to {network.node_name(message.destination)}"
    return network.node_name(message.source)


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the formats that ship with cchybrid."""
    return (
        ExporterInfo("csv", export_csv, "one row per transfer, for spreadsheets and scripts"),
        ExporterInfo("text", export_text, "one line per transfer, for reading"),
        ExporterInfo("table", export_table_csv, "sources by steps, as CSV"),
        ExporterInfo("markdown", export_markdown, "sources by steps, as a Markdown table"),
        ExporterInfo("latex", export_latex, "sources by steps, as a LaTeX table (booktabs)"),
    )
