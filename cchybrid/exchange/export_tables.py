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

    A row says from which neighbour a message comes and to which it goes on. Where it begins
    ``from`` is empty, where it ends ``to`` is. Nodes are numbers, or names if the network has names.
    """
    name = schedule.instance.network.node_name
    rows = []
    for number, step in enumerate(schedule.steps, 1):
        for message, path in step:
            names = ["", *map(name, path), ""]
            for place, node in enumerate(path):
                rows.append((node, number, message, name(node), names[place], names[place + 2]))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["node", "step", "message", "from", "to"])
    for _, number, message, node_name, before, after in sorted(rows):
        writer.writerow([node_name, number, message, before, after])
    return out.getvalue()
