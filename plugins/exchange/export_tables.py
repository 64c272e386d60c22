"""Schedules as JSON lines and as routing tables."""

import json
from typing import Any

from cchybrid.model import Message, Reduction, Schedule
from cchybrid.model.instance import DEFAULT_MODEL
from cchybrid.model.text import csv_text


def export_jsonl(schedule: Schedule) -> str:
    """Return a JSON object per transfer and line, step by step.

    ``step`` counts from 1; ``message`` is the number as in schedule files, with ``chunk`` where
    messages are cut; ``path`` has the nodes, and ``names`` theirs if the network has names;
    ``source`` is that of the message, of a reduction there is its ``destination``; ``sum`` is as in
    schedule files. ``rounds`` are those of the step, and ``model`` is the communication model as in
    instance files, where it is not the default one.
    """
    instance, rounds = schedule.instance, schedule.rounds
    model = {key: value for key, value in instance.model.to_json().items() if key != "rounds"}
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
            each = instance.collective.messages[message]
            if isinstance(each, Message):
                record["source"] = each.source
            elif isinstance(each, Reduction):
                record["destination"] = each.destination
            else:
                record["sum"] = list(schedule.parts(number, slot))
            if instance.model.rounds:
                record["rounds"] = rounds[number]
            if model != DEFAULT_MODEL.to_json():
                record["model"] = model
            lines.append(json.dumps(record))
    return "\n".join(lines) + "\n"


def export_routes(schedule: Schedule) -> str:
    """Return the routing table of every node, step by step, as CSV.

    A row says from which neighbour a transfer comes and to which it goes on; ``transfer`` is its
    number in its step, from 1. Where it begins ``from`` is empty, where it ends ``to`` is. Nodes
    are numbers, or names if the network has names. There is a column ``sum`` of an allreduce, with
    the parts that are added up, such as ``0+3``, and a column ``rounds`` where steps have several.
    """
    name, several = schedule.instance.network.node_name, schedule.instance.model.rounds
    more = [*(["sum"] if schedule.sums else []), *(["rounds"] if several else [])]
    rows = []
    for number, step in enumerate(schedule.steps, 1):
        for transfer, (message, path) in enumerate(step, 1):
            names = ["", *map(name, path), ""]
            parts = "+".join(map(name, schedule.parts(number - 1, transfer - 1)))
            stated = {"sum": parts, "rounds": str(schedule.rounds[number - 1])}
            for place, node in enumerate(path):
                ends = name(node), names[place], names[place + 2]
                columns = *ends, *(stated[key] for key in more)
                rows.append((node, number, transfer, message, columns))
    listed = ([columns[0], *numbers, *columns[1:]] for _, *numbers, columns in sorted(rows))
    return csv_text([["node", "step", "transfer", "message", "from", "to", *more], *listed])
