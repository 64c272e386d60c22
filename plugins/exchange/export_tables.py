"""Schedules as JSON lines and as routing tables."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from cchybrid.model import Schedule


def export_jsonl(schedule: Schedule) -> str:
    """Return a JSON object per transfer and line, step by step.

    ``step`` counts from 1; ``message`` is the number as in schedule files, with ``chunk`` where
    messages are cut; ``path`` has the nodes, and ``names`` theirs if the network has names; ``sum``
    is as in schedule files.
    """
    network, chunks = schedule.instance.network, schedule.instance.collective.chunks
    lines = []
    for number, step in enumerate(schedule.steps):
        for slot, (message, path) in enumerate(step):
            record: dict[str, Any] = {"step": number + 1, "message": message}
            if chunks > 1:
                record["chunk"] = message % chunks
            record |= {"from": path[0], "to": path[-1], "path": list(path)}
            if network.node_names is not None:
                record["names"] = [network.node_name(node) for node in path]
            if schedule.sums:
                record["sum"] = list(schedule.parts(number, slot))
            lines.append(json.dumps(record))
    return "\n".join(lines) + "\n"


def export_routes(schedule: Schedule) -> str:
    """Return the routing table of every node, step by step, as CSV.

    A row says from which neighbour a transfer comes and to which it goes on; ``transfer`` is its
    number in its step, from 1. Where it begins ``from`` is empty, where it ends ``to`` is. Nodes
    are numbers, or names if the network has names.
    """
    name = schedule.instance.network.node_name
    rows = []
    for number, step in enumerate(schedule.steps, 1):
        for transfer, (message, path) in enumerate(step, 1):
            names = ["", *map(name, path), ""]
            for place, node in enumerate(path):
                ends = name(node), names[place], names[place + 2]
                rows.append((node, number, transfer, message, *ends))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["node", "step", "transfer", "message", "from", "to"])
    for _, number, transfer, message, node_name, before, after in sorted(rows):
        writer.writerow([node_name, number, transfer, message, before, after])
    return out.getvalue()
