"""Exporters of schedules to CSV and to text, a line per transfer."""

from cchybrid.model import Network, Reduction, Schedule, SummedMessage
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError
from cchybrid.model.text import csv_text, printable
from cchybrid.view.step_table import chunk_text, step_heading

from .csv_model import is_ambiguous


def export_csv(schedule: Schedule) -> str:
    """Return one row per transfer: step (from 1), message, its end nodes, origin, the path.

    The origin is the source of the message, of a reduction its destination, of an allreduce the
    nodes whose parts are added up, such as ``0+3``. Further columns are written where a reader
    would take something else: the communication model (``switching``, ``routing``, ``inject``,
    ``accept``), the ``rounds`` of the step, and ``members``, the destinations of the message, of a
    reduction the sources. The network is not written, but for the paths.

    Nodes are numbers, separated by spaces in paths; of a network with node names they are names,
    separated by arrows, as names may contain spaces.

    Raises
    ------
    InputError
        The name of a node would be read as something else.
    """
    network, messages = schedule.instance.network, schedule.instance.collective.messages
    _refuse_names(network)
    model = _model_columns(schedule)
    rounds = bool(schedule.instance.model.rounds)
    relays = _has_relays(schedule)
    name = network.node_name
    between = " " if network.node_names is None else " -> "
    more = [*model, *(["rounds"] if rounds else []), *(["members"] if relays else [])]
    rows: list[list[object]] = [["step", "message", "from", "to", "origin", "path", *more]]
    for number, step in enumerate(schedule.steps, 1):
        for place, (message, path) in enumerate(step):
            origin = _origin(schedule, number - 1, place)
            nodes = between.join(map(name, path))
            ends = name(path[0]), name(path[-1])
            row = [number, message, *ends, origin, nodes, *model.values()]
            row += [schedule.rounds[number - 1]] if rounds else []
            row += ["+".join(map(name, one_and_many(messages[message])[1]))] if relays else []
            rows.append(row)
    return csv_text(rows)


def _model_columns(schedule: Schedule) -> dict[str, object]:
    """Return the columns of the communication model that a reader would not guess from the paths.

    Without them it is wormhole switching if a path has several hops, otherwise store-and-forward,
    with any routing and all ports.
    """
    model = schedule.instance.model
    far = any(len(path) > 2 for step in schedule.steps for _, path in step)
    found: dict[str, object] = {}
    if (not model.hop_by_hop) != far:
        found["switching"] = model.switching
    if not model.hop_by_hop and model.routing != "any":
        found["routing"] = model.routing
    if model.inject is not None:
        found |= {"inject": model.inject, "accept": model.accept}
    return found


def _has_relays(schedule: Schedule) -> bool:
    """Return whether nodes take part in a message that are none of its ends."""
    messages = schedule.instance.collective.messages
    ends = [{one, *many} for one, many in map(one_and_many, messages)]
    return any(not {p[0], p[-1]} <= ends[m] for step in schedule.steps for m, p in step) and (
        schedule.instance.collective.kind != "allreduce"
    )


def _refuse_names(network: Network) -> None:
    for name in network.node_names or ():
        if is_ambiguous(name):
            raise InputError(
                f"the node name {name[:40]!r}, which would be read as something else in a CSV file",
                where=network.name,
                hint="rename it, or use --to jsonl",
            )


def export_text(schedule: Schedule) -> str:
    """Return one line per transfer under a heading per step, as in the thesis' tables."""
    network = schedule.instance.network
    lines = [f"# {printable(schedule.instance.full_name)}: {len(schedule.steps)} steps"]
    for number, step in enumerate(schedule.steps, 1):
        lines.append(step_heading(schedule, number))
        for place, (message, path) in enumerate(step):
            origin = _origin(schedule, number - 1, place)
            names = [printable(network.node_name(node)) for node in path]
            mark = "" if origin == network.node_name(path[0]) else f" ({printable(origin)})"
            chunk = chunk_text(schedule, message)
            lines.append(f"  {names[0]}{mark}->{names[-1]}{chunk}: {','.join(names)}")
    return "\n".join(lines) + "\n"


def _origin(schedule: Schedule, step: int, place: int) -> str:
    """Return the source of a message, of a reduction the destination, of a sum its parts."""
    network = schedule.instance.network
    message = schedule.instance.collective.messages[schedule.steps[step][place].message]
    if isinstance(message, SummedMessage):
        return "+".join(map(network.node_name, schedule.parts(step, place)))
    if isinstance(message, Reduction):
        return f"to {network.node_name(message.destination)}"
    return network.node_name(message.source)
