"""Exporters of schedules to CSV and to text, a line per transfer."""

from __future__ import annotations

import csv
import io

from cchybrid.model import AllReduction, Network, Reduction, Schedule
from cchybrid.model.errors import InputError
from cchybrid.view.step_table import printable


def export_csv(schedule: Schedule) -> str:
    """Return one row per transfer: step (from 1), message, its end nodes, origin, the path.

    The origin is the source of the message, of a reduction its destination, of an allreduce the
    nodes whose parts are added up, such as ``0+3``.

    Nodes are numbers, separated by spaces in paths; of a network with node names they are names,
    separated by arrows, as names may contain spaces.

    Raises
    ------
    InputError
        The name of a node would be read as something else.
    """
    _refuse_names(schedule.instance.network)
    network = schedule.instance.network
    name = network.node_name
    between = " " if network.node_names is None else " -> "
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", "message", "from", "to", "origin", "path"])
    for number, step in enumerate(schedule.steps, 1):
        for place, (message, path) in enumerate(step):
            origin = _origin(schedule, number - 1, place)
            nodes = between.join(map(name, path))
            writer.writerow([number, message, name(path[0]), name(path[-1]), origin, nodes])
    return out.getvalue()


def _refuse_names(network: Network) -> None:
    for name in network.node_names or ():
        if "+" in name or "->" in name or name.startswith("to ") or name != name.strip():
            raise InputError(
                f"the node name {name[:40]!r}, which would be read as something else in a CSV file",
                where=network.name,
                hint="rename it, or use --to jsonl",
            )


def export_text(schedule: Schedule) -> str:
    """Return one line per transfer under a heading per step, as in the thesis' tables."""
    network = schedule.instance.network
    lines = [f"# {schedule.instance.name}: {len(schedule.steps)} steps"]
    for number, step in enumerate(schedule.steps, 1):
        lines.append(f"step {number}")
        for place, (_, path) in enumerate(step):
            origin = _origin(schedule, number - 1, place)
            names = [printable(network.node_name(node)) for node in path]
            mark = "" if origin == network.node_name(path[0]) else f" ({printable(origin)})"
            lines.append(f"  {names[0]}{mark}->{names[-1]}: {','.join(names)}")
    return "\n".join(lines) + "\n"


def _origin(schedule: Schedule, step: int, place: int) -> str:
    """Return the source of a message, of a reduction the destination, of a sum its parts."""
    network = schedule.instance.network
    message = schedule.instance.collective.messages[schedule.steps[step][place].message]
    if isinstance(message, AllReduction):
        return "+".join(map(network.node_name, schedule.parts(step, place)))
    if isinstance(message, Reduction):
        return f"to {network.node_name(message.destination)}"
    return network.node_name(message.source)
