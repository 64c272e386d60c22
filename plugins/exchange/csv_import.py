"""Schedules as CSV: a row per transfer, by columns of any order."""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from cchybrid.model import (
    AllReduction,
    Collective,
    Instance,
    Message,
    Reduction,
    Schedule,
    Transfer,
)
from cchybrid.model.collective import AnyMessage, one_and_many
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.network import Network
from cchybrid.plugin.imported import Imported, ImportRequest, Place

from .csv_model import MODEL_COLUMNS, is_ambiguous, stated_model
from .lines import OnLine
from .message_table import MAX_MESSAGES, collective_of, match_messages
from .msccl_import import judged_on_used, used_network

MAX_STEP = 1_000_000
MAX_NAME = 200
"""Characters of a node's name."""

_COLUMNS = (
    "step", "message", "source", "origin", "destination", "from", "to", "path", *MODEL_COLUMNS,
    "rounds", "members",
)  # fmt: skip


@dataclass(frozen=True)
class Row(OnLine):
    """A transfer: its line in the file, step from 0, message, ends of the message, and path.

    ``origin`` is empty in a file without such a column, ``members`` names the ends of the message
    besides its source; ``fields`` has the text of every column.
    """

    line: int
    step: int
    message: str
    source: str
    origin: str
    destination: str
    path: tuple[str, ...]
    members: tuple[str, ...]
    fields: dict[str, str]


def recognises_csv(text: str) -> bool:
    """Return whether a text begins with a header of the columns that can be read."""
    header = _header(text.partition("\n")[0])
    return "step" in header and ("path" in header or {"source", "destination"} <= set(header))


def read_csv(text: str, request: ImportRequest) -> Imported:
    """Return a schedule that is given by rows with a step and a path.

    Raises
    ------
    InputError
        A row cannot be read; with its line.
    """
    # A table is a set of rows: their order in the file says nothing.
    rows = sorted(_read_rows(text), key=lambda row: row.step)
    if not rows:
        raise InputError("no rows", where="line 1", hint="give a row for each transfer")
    number, network_names = _node_numbers(rows, request.network)
    keys = _message_keys(rows)
    messages = _messages(rows, keys, number)
    if request.collective is None:
        used = {number[name] for row in rows for name in row.path}
        terminals = used if request.network is None else request.network.terminals
        collective, numbers = collective_of(messages.items(), terminals)
    else:
        collective, numbers = _numbers_in(request.collective, messages, request.network)
    steps: list[list[Transfer]] = [[] for _ in range(max(row.step for row in rows) + 1)]
    sums: list[list[tuple[int, ...]]] = [[] for _ in steps]
    places: dict[Place, str] = {}
    for row, key in zip(rows, keys, strict=True):
        places[row.step, len(steps[row.step])] = f"line {row.line}"
        steps[row.step].append(Transfer(numbers[key], tuple(number[n] for n in row.path)))
        if collective.kind == "allreduce":
            sums[row.step].append(tuple(number[name] for name in row.source.split("+")))
    stated = [(row.line, row.step, row.fields) for row in rows]
    guess = "wormhole" if any(len(row.path) > 2 for row in rows) else "store-and-forward"
    model = stated_model(stated, guess, collective.kind == "combine")
    facts = [f"{len(rows)} rows"]
    network = request.network
    if network is None:
        if not model.hop_by_hop and model.routing != "any":
            # What is shortest depends on channels without use, and on endpoints.
            facts.append(f"judged with any routing: {model.routing} needs --topology")
            model = replace(model, routing="any")
        rounds = [model.rounds_in(step) for step in range(len(steps))]
        if collective.kind == "combine":
            rounds.reverse()
        network = used_network(request.name, max(number.values()) + 1, steps, rounds)
        network = replace(network, node_names=network_names)
        facts.append(judged_on_used(network))
    instance = Instance(network, collective, model)
    listed = tuple(map(tuple, sums)) if collective.kind == "allreduce" else ()
    schedule = Schedule(instance, tuple(map(tuple, steps)), sums=listed)
    return Imported(instance, schedule, places=places, facts=tuple(facts))


def _header(line: str) -> list[str]:
    return [name.strip().lower() for name in next(csv.reader([line.lstrip("﻿")]), [])]


def _read_rows(text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        unknown = [name for name in header if name not in _COLUMNS]
        if unknown or "step" not in header or len(set(header)) != len(header):
            raise InputError(
                f"columns {', '.join(header)[:80]}", where="line 1",
                hint=f"name step, source, destination and path; known: {', '.join(_COLUMNS)}",
            )  # fmt: skip
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            if reader.line_num > MAX_MESSAGES:
                raise InputError(f"more than {MAX_MESSAGES:,} rows", hint="audit a smaller file")
            with with_context(f"line {reader.line_num}"):
                if len(fields) != len(header):
                    raise InputError(
                        f"{len(fields)} fields for {len(header)} columns",
                        hint="give one for each column",
                    )
                row = _row(dict(zip(header, map(str.strip, fields), strict=True)), reader.line_num)
            yield row
    except csv.Error as error:
        raise InputError(
            f"not readable as CSV: {error}", where=f"line {reader.line_num}", hint="correct it"
        ) from None


def _row(fields: dict[str, str], line: int) -> Row:
    step = fields["step"]
    if re.fullmatch(r"[0-9]{1,9}", step, re.ASCII) is None or not 0 < int(step) <= MAX_STEP:
        raise InputError(f"{step[:40]!r} is no step", hint=f"use 1 to {MAX_STEP:,}")
    if fields.get("source") == "":
        raise InputError("no source", hint="name one in all rows, or drop the column")
    source = fields.get("source") or fields.get("origin") or fields.get("from", "")
    destination = fields.get("destination") or fields.get("to", "")
    ends = fields.get("from") or source, fields.get("to") or destination
    path = tuple(_split(fields.get("path", ""))) or tuple(filter(None, ends))
    if len(path) < 2 or not all(0 < len(name) <= MAX_NAME for name in path):
        raise InputError("a path of less than two nodes", hint="write the nodes, such as 0 4 7")
    for name in filter(is_ambiguous, path if fields.get("message") else ()):
        raise InputError(
            f"the node name {name[:40]!r}, which in a file with messages means something else",
            hint="rename it",
        )
    origin = fields.get("origin", "")
    for column, stated, used in (
        ("from", fields.get("from"), path[0]), ("to", fields.get("to"), path[-1]),
        ("origin", origin, source),
    ):  # fmt: skip
        if stated and stated != used:
            raise InputError(
                f"{column} is {stated[:40]!r}, and the row also says {used[:40]!r}",
                hint="from and to are the ends of the path, origin is the source",
            )
    return Row(
        line, int(step) - 1, fields.get("message", ""), source or path[0], origin,
        destination or path[-1], path, tuple(filter(None, fields.get("members", "").split("+"))),
        fields,
    )  # fmt: skip


def _split(text: str) -> list[str]:
    """Return the nodes of a path; names that contain spaces are separated by arrows."""
    if "->" in text:
        return [part.strip() for part in text.split("->")]
    return re.split(r"[\s,;]+", text.strip()) if text.strip() else []


def _node_numbers(
    rows: list[Row], network: Network | None
) -> tuple[dict[str, int], tuple[str, ...] | None]:
    """Return the number of each node by name, and all names unless they are numbers."""
    named: dict[str, int] = {}
    for row in rows:
        for name in (*row.path, *_ends(row), *row.members):
            named.setdefault(name, row.line)
    known = {} if network is None or network.node_names is None else network.node_by_name
    numbers: dict[str, int] = {}
    if all(re.fullmatch(r"0|[1-9][0-9]{0,6}", name, re.ASCII) for name in named) and not known:
        for name, line in named.items():
            if network is not None and int(name) >= network.nodes:
                _refuse_node(network, name, line)
        return {name: int(name) for name in named}, None
    if network is None:
        order = sorted(named)
        return {name: number for number, name in enumerate(order)}, tuple(order)
    for name, line in named.items():
        if name not in known:
            _refuse_node(network, name, line)
        numbers[name] = known[name]
    return numbers, None


def _refuse_node(network: Network, name: str, line: int) -> NoReturn:
    names = f"{network.node_name(0)[:40]} to {network.node_name(network.nodes - 1)[:40]}"
    raise InputError(
        f"{network.name} has no node {name[:40]!r}: its nodes are {names}",
        where=f"line {line}",
        hint="name the nodes as cchybrid network does, or the network of the file by --topology",
    )


def _ends(row: Row) -> list[str]:
    source = row.source.removeprefix("to ") if row.message else row.source
    names = source.split("+") if row.message else [source]
    return names if row.message else [*names, row.destination]


def _message_keys(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return the key of the message of each row.

    By its number if there is one. Otherwise rows of one source and destination are one message,
    unless paths begin elsewhere and all end at the destination: then each source has one message.
    """
    if any(row.message for row in rows):
        for row in rows:
            if not row.message:
                raise row.error(
                    "a row without the number of its message", "give one in all rows, or in none"
                )
        return [(row.message,) for row in rows]
    forwarded = any(row.path[0] != row.source for row in rows)
    if forwarded and all(row.path[-1] == row.destination for row in rows):
        return [(row.source, "", "") for row in rows]
    return [(row.source, row.destination) for row in rows]


def _messages(
    rows: list[Row], keys: list[tuple[str, ...]], number: dict[str, int]
) -> dict[tuple[str, ...], AnyMessage]:
    """Return the message of each key, in the order of their numbers if they have some."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row, key in zip(rows, keys, strict=True):
        groups[key].append(row)
    sums = any(_adds_up(group) for group in groups.values())
    found: dict[tuple[str, ...], AnyMessage] = {}
    for key in sorted(groups, key=lambda key: (len(key[0]), key)):
        group = groups[key]
        first = group[0]
        if first.message:
            _refuse_other_ends(group, sums)
        members = _members(group, number)
        if sums and members:
            found[key] = AllReduction(members)
        elif sums:
            parts = {number[name] for row in group for name in row.source.split("+")}
            found[key] = AllReduction(tuple(sorted(parts)))
        elif first.message and first.source.startswith("to "):
            goal = number[first.source.removeprefix("to ")]
            senders = {number[row.path[0]] for row in group} - {goal}
            found[key] = Reduction(members or tuple(sorted(senders)), goal)
        else:
            source = number[first.source]
            if members:
                goals = set(members)
            elif len(key) == 2:
                goals = {number[first.destination]}
            else:
                goals = {number[row.path[-1]] for row in group} - {source}
            if not goals or goals == {source}:
                raise first.error(f"node {first.source} would send to itself", "leave it out")
            found[key] = Message(source, tuple(sorted(goals)))
    return found


def _members(rows: list[Row], number: dict[str, int]) -> tuple[int, ...]:
    """Return the members that the rows of a message state; none without such a column."""
    for row in rows:
        if row.members != rows[0].members or (row.members and not row.message):
            raise row.error(
                f"members {'+'.join(row.members)[:40]!r} of a message",
                "state the same ones in all rows of a message, with its number as message",
            )
    return tuple(sorted({number[name] for name in rows[0].members}))


def _adds_up(rows: list[Row]) -> bool:
    """Return whether a message is an allreduce: it has sums, or origins that each send their part.

    Where nothing is added up before the end, every origin is one node.
    """
    if not rows[0].message:
        return False
    origins = {row.origin for row in rows}
    sending = {row.origin for row in rows if row.origin == row.path[0]}
    return any("+" in row.source for row in rows) or 1 < len(origins) == len(sending)


def _refuse_other_ends(rows: list[Row], sums: bool) -> None:
    """Raise an ``InputError`` if rows of one message state ends that are not used."""
    source = rows[0].source
    for row in rows:
        if row.destination != row.path[-1]:
            raise row.error(
                f"the path ends at {row.path[-1]}, not at the destination {row.destination}",
                "name the end of the path, or leave out the column message",
            )
        # A source where the path begins may be that of the transfer.
        if not sums and row.source not in (source, row.path[0]):
            raise row.error(
                f"message {row.message} has the sources {source!r} and {row.source!r}",
                "give a message one source, of a reduction one destination",
            )


def _numbers_in(
    collective: Collective, messages: dict[tuple[str, ...], AnyMessage], network: Network | None
) -> tuple[Collective, dict[tuple[str, ...], int]]:
    """Return a collective that the user names, and the number of each message in it.

    By the ends of the messages. A message may also be received by nodes that are no destinations
    of it: then numbers of the file count as they are, if the ends agree or leave no other choice.
    """
    try:
        return match_messages(collective, messages, network)
    except InputError:
        listed: tuple[AnyMessage, ...] = collective.messages
        alone = Counter(one_and_many(message)[0] for message in listed)
        numbers: dict[tuple[str, ...], int] = {}
        for key, message in messages.items():
            index = int(key[0]) if len(key) == 1 and re.fullmatch("[0-9]{1,9}", key[0]) else -1
            if not 0 <= index < len(listed) or type(listed[index]) is not type(message):
                raise
            (one, many), (there, named) = map(one_and_many, (message, listed[index]))
            if one != there or (alone[one] > 1 and not set(named) <= set(many)):
                raise
            numbers[key] = index
        if len({*numbers.values()}) < len(numbers):
            raise
        return collective, numbers
