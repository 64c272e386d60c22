"""Reading and writing of events: the lines between host and workers, and those of the log.

A worker writes one JSON object per line. ``parse`` reads any line as an event or raises a
``WireError``; it does not trust workers to send well-formed lines. The same fields, with the time,
the seat and the key ``input`` instead of ``event``, form the log of the run, from which it can be
replayed.
"""

import base64
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np

from cchybrid.host import events as ev
from cchybrid.model import FlatSteps, Steps, Sums
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_from_json, steps_to_json
from cchybrid.model.text import one_line
from cchybrid.plugin.engine import Stop

Line = dict[str, Any]
Kinds = Mapping[str, type]
Links = tuple[tuple[int, int], ...]

MAX_LINE_BYTES = 256 * 1024 * 1024
"""Longest line of a worker; a schedule of a million transfers has about 50 MB."""
MAX_NUMBER = 1 << 53
"""Largest count that a worker may send; JSON readers of other languages keep it exact."""
MAX_EVIDENCE_NUMBER = 10**40 - 1
"""Largest number in evidence; the checker refuses larger ones, too."""
MAX_EVIDENCE_DEPTH = 8
"""Levels of lists and objects in evidence; the kinds that the checker knows have up to four."""


class WireError(Exception):
    """A line is no event; the text says what is wrong with it."""


def encode(line: Line) -> bytes:
    """Return a line as bytes for a pipe."""
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def steps_to_line(steps: Steps) -> Any:
    """Return steps for a line: those of ``FlatSteps`` as their arrays, others as in files."""
    if not isinstance(steps, FlatSteps):
        return steps_to_json(steps)
    sizes = {"first": np.diff(steps.first), "start": np.diff(steps.start)}
    arrays = {"message": steps.message, "node": steps.node, **sizes}
    return {name: _pack(array) for name, array in arrays.items()}


def steps_from_line(value: Any) -> Steps:
    """Return the steps of a line; raise a ``ValueError`` or an ``InputError`` if it has none."""
    if type(value) is not dict:
        return steps_from_json(value, "steps")
    if {*value} != {"message", "node", "first", "start"}:
        raise ValueError("not the arrays of steps")
    arrays = {name: _unpack(text) for name, text in value.items()}
    first, start = (
        np.append(0, np.cumsum(arrays[name], dtype=np.int64)) for name in ("first", "start")
    )
    return FlatSteps(arrays["message"], first, arrays["node"], start)


def _pack(array: Any) -> str:
    """Return the numbers of an array as text: bytes of each, and all in base 64."""
    reach = max(int(array.max(initial=0)), -1 - int(array.min(initial=0)))
    size = next(size for size in (1, 2, 4, 8) if reach < 1 << (8 * size - 1))
    return f"{size}{base64.b64encode(array.astype(f'<i{size}')).decode()}"


def _unpack(text: Any) -> Any:
    if type(text) is not str or text[:1] not in ("1", "2", "4", "8"):
        raise ValueError("not an array of steps")
    content = base64.b64decode(text[1:], validate=True)
    array = np.frombuffer(content, dtype=f"<i{text[0]}")
    return array if array.itemsize > 4 else array.astype(np.int32)


def encode_steps(steps: Steps) -> str:
    """Return the steps of a schedule as text in a line of news."""
    return json.dumps(steps_to_line(steps), separators=(",", ":"))


def decode_steps(text: str) -> Steps:
    """Return the steps that the host has written as text."""
    return steps_from_line(json.loads(text))


class LineReader:
    """Reader that splits the bytes of a pipe into lines and parses them."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the events that ``data`` completes; raise ``WireError`` for anything else."""
        searched = len(self._pending)
        self._pending += data
        while (end := self._pending.find(b"\n", searched)) >= 0:
            raw = bytes(self._pending[:end])
            del self._pending[: end + 1]
            searched = 0
            yield parse(raw)
        if len(self._pending) > MAX_LINE_BYTES:
            raise WireError("sent a line without end")


def parse(raw: bytes) -> Any:
    """Read one line of a worker as an event.

    Raises
    ------
    WireError
        If the line is no event that a worker may send.
    """
    try:
        line = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise WireError("sent a line that is not JSON") from None
    if not isinstance(line, dict) or not isinstance(line.get("event"), str):
        raise WireError("sent a line that names no event")
    kind = line["event"]
    found = _FROM_WORKERS.get(kind)
    if found is None:
        raise WireError(f"sent an unknown event {one_line(kind)!r}")
    return _read(found, line)


def to_log(seconds: float, seat: int, event: ev.Event) -> Line:
    """Return the line of the log for an event, from which it can be applied again."""
    content = {item.name: getattr(event, item.name) for item in fields(event)}
    if isinstance(event, ev.Offer | ev.Suggest):
        content["steps"] = steps_to_line(event.steps)
    return {"input": type(event).__name__.lower(), "seconds": seconds, "seat": seat, **content}


def from_log(line: Line) -> tuple[float, int, ev.Event]:
    """Read a line that ``to_log`` wrote; raise a ``WireError`` for any other line."""
    kind = line.get("input")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise WireError(f"the log has an unknown input {kind!r:.40}")
    seconds = _field(kind, "seconds", line.get("seconds"), float)
    return seconds, _field(kind, "seat", line.get("seat"), int), _read(_KINDS[kind], line)


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _by_name(union: Any) -> Kinds:
    return {kind.__name__.lower(): kind for kind in get_args(union)}


_KINDS = _by_name(ev.Event)
_FROM_WORKERS = _by_name(ev.WorkerEvent)


def _read(event: type, line: Line) -> Any:
    """Return the event of a line; a field that is missing or null gets its default, if any."""
    found, kind = {}, event.__name__.lower()
    hints = _hints(event)
    for item in fields(event):
        if line.get(item.name) is not None:
            found[item.name] = _field(kind, item.name, line[item.name], hints[item.name])
        elif item.default is MISSING and item.default_factory is MISSING:
            raise WireError(f"sent an event {kind} without {item.name}")
    return event(**found)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the types of the fields of an event, without ``| None``."""
    hints = get_type_hints(kind)
    return {
        name: get_args(hint)[0] if type(None) in get_args(hint) else hint
        for name, hint in hints.items()
    }


def _field(kind: str, name: str, value: object, hint: Any) -> Any:
    """Return a field's value if it has its type, else raise a ``WireError``."""
    try:
        return _convert(value, hint)
    except (InputError, ValueError) as error:
        try:
            shown = one_line(repr(value)[:60])
        except (ValueError, RecursionError):
            shown = "value"
        why = f": {one_line(str(error))}" if str(error) else ""
        raise WireError(
            f"sent an event {kind} whose {name} {shown} is no {_EXPECTED[hint]}{why}"
        ) from None


def _convert(value: Any, hint: Any) -> Any:
    """Return a value of the type, or raise a ``ValueError``."""
    if hint is float and _is_number(value):
        return float(value)
    if hint in (Mapping[str, float], Mapping[str, ev.Option]) and type(value) is dict:
        part, plain = get_args(hint)[1], {}
        for key, inner in value.items():
            plain[one_line(key)] = _convert_item(key, inner, part)
        return plain
    if hint in _LISTS and type(value) in (list, tuple):
        part = get_args(hint)[0]
        return tuple(_convert(item, part) for item in value)
    if hint == Links and type(value) in (list, tuple):
        return tuple(_read_link(pair) for pair in value)
    if hint == Steps and type(value) in (list, dict):
        return steps_from_line(value)
    if hint is Stop and value in list(Stop):
        return Stop(value)
    if hint is str and type(value) is str:
        return one_line(value)
    if hint is int and type(value) is int and 0 <= value <= MAX_NUMBER:
        return value
    if hint is bool and type(value) is bool:
        return value
    if hint == Mapping[str, Any] and type(value) is dict:
        _check_evidence(value, MAX_EVIDENCE_DEPTH)
        return value
    raise ValueError


def _read_link(pair: Any) -> tuple[int, int]:
    if type(pair) not in (list, tuple) or [type(node) for node in pair] != [int, int]:
        raise ValueError("a link is no pair of nodes")
    return pair[0], pair[1]


def _check_evidence(value: Any, depth: int) -> None:
    """Raise a ``ValueError`` unless data can be printed, written as JSON and read again."""
    if type(value) is dict:
        value = [*value, *value.values()]
    if type(value) is list:
        if depth == 0:
            raise ValueError("nested too deeply")
        if set(map(type, value)) == {int}:  # a fast test first: evidence may have millions of rows
            value = [min(value), max(value)]
        for item in value:
            _check_evidence(item, depth - 1)
    elif type(value) is str:
        if not value.isprintable():
            raise ValueError("a text cannot be printed")
    elif value is not None and not (
        abs(value) <= MAX_EVIDENCE_NUMBER  # bool, int or float; false for what is not a number
    ):
        raise ValueError("a number is too large")


def _convert_item(name: str, value: Any, hint: Any) -> Any:
    """Return one metric or option, or raise a ``ValueError`` that names it."""
    if hint is float and _is_number(value):
        return float(value)
    if hint is not float and (type(value) is bool or _is_number(value)):
        return value
    if hint is not float and type(value) is str:
        return one_line(value)
    raise ValueError(f"{one_line(name)} is no finite number" if hint is float else one_line(name))


def _is_number(value: object) -> bool:
    # The size first: an integer of 401 digits is no float at all.
    if type(value) is int:
        return abs(value) <= MAX_NUMBER
    return type(value) is float and math.isfinite(value)


_LISTS: tuple[Any, ...] = (tuple[int, ...], tuple[str, ...], Sums, get_args(Sums)[0])
"""The types of lists that are read item by item."""
_EXPECTED: Mapping[Any, str] = {
    int: "count from 0 to 2^53",
    float: "finite number",
    bool: "true or false",
    str: "text",
    Stop: "reason to stop",
    Steps: "list of steps",
    Links: "list of links",
    Sums: "list of sums",
    tuple[int, ...]: "list of counts",
    tuple[str, ...]: "list of texts",
    Mapping[str, Any]: "object of evidence",
    Mapping[str, float]: "object of finite numbers",
    Mapping[str, ev.Option]: "object of numbers, texts and truth values",
}
"""Name of each type of a field in error messages."""
