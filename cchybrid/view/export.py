"""Exporters of schedules to text and CSV, and the plugin that registers them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from cchybrid.model import Message, Reduction, Schedule
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import ExporterInfo


def export_csv(schedule: Schedule) -> str:
    """Return one row per transfer: step (from 1), message, its end nodes, the path."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", "message", "from", "to", "origin", "path"])
    for number, step in enumerate(schedule.steps, 1):
        for message, path in step:
            origin = _origin(schedule.instance.collective.messages[message])
            nodes = " ".join(map(str, path))
            writer.writerow([number, message, path[0], path[-1], origin, nodes])
    return out.getvalue()


def export_text(schedule: Schedule) -> str:
    """Return one line per transfer under a heading per step, as in the thesis' tables."""
    lines = [f"# {schedule.instance.name}: {len(schedule.steps)} steps"]
    for number, step in enumerate(schedule.steps, 1):
        lines.append(f"step {number}")
        for message, path in step:
            origin = _origin(schedule.instance.collective.messages[message])
            mark = "" if origin == str(path[0]) else f" ({origin})"
            lines.append(f"  {path[0]}{mark}->{path[-1]}: {','.join(map(str, path))}")
    return "\n".join(lines) + "\n"


def _origin(message: Message | Reduction) -> str:
    """Return the source of a message, or of a reduction the destination."""
    if isinstance(message, Reduction):
        return f"to {message.destination}"
    return str(message.source)


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the formats that ship with cchybrid."""
    return (
        ExporterInfo("csv", export_csv, "one row per transfer, for spreadsheets and scripts"),
        ExporterInfo("text", export_text, "one line per transfer, for reading"),
    )
