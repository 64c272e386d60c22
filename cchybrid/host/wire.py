"""The lines between host and workers, and the lines of the log.

A worker writes one JSON object per line. ``parse`` turns a line into an event or raises a
``WireError``, whatever the line is: nothing that a worker sends is trusted to be well formed. The
same objects, with the second and the seat, are the log of the run, from which it can be replayed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

from cchybrid.host import events as ev
from cchybrid.model import Steps
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_from_json, steps_to_json
from cchybrid.plugin.engine import Stop

Line = dict[str, Any]

MAX_LINE_BYTES = 256 * 1024 * 1024
"""Longest line of a worker: a schedule of a million transfers has about 50 MB."""
MAX_NUMBER = 1 << 53
"""Largest count that a worker may send: JSON readers of other languages keep it exact."""
MAX_TEXT = 500
"""Characters of a text that are kept: one line for a person."""


class WireError(Exception):
    """A worker sent something that is no event; the text says what."""


def encode(line: Line) -> bytes:
    """Return a line as it goes over the pipe."""
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


class LineReader:
    """Cuts what arrives on a pipe into lines and reads them."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[ev.Event]:
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


def parse(raw: bytes) -> ev.Event:
    """Read one line of a worker.

    Raises
    ------
    WireError
        If the line is no event that a worker may send; with a text that says why.
    """
    try:
        line = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise WireError("sent a line that is not JSON") from None
    if not isinstance(line, dict) or not isinstance(line.get("event"), str):
        raise WireError("sent a line that names no event")
    kind = line["event"]
    if kind not in _FROM_WORKERS:
        raise WireError(f"sent an unknown event {_plain(kind)!r}")
    return _read(kind, line)


def to_log(seconds: float, seat: int, event: ev.Event) -> Line:
    """Return what the log keeps of an event: enough to apply it again."""
    content = {item.name: getattr(event, item.name) for item in fields(event)}
    if isinstance(event, (ev.Offer, ev.Suggest)):
        content["steps"] = steps_to_json(event.steps)
    return {"input": _NAMES[type(event)], "seconds": seconds, "seat": seat, **content}


def from_log(line: Line) -> tuple[float, int, ev.Event]:
    """Read what ``to_log`` wrote; raise a ``WireError`` if that is not what it is."""
    reader = _Reader("log line", line)
    kind = line.get("input")
    if not isinstance(kind, str) or kind not in _READERS:
        raise WireError(f"the log has an unknown input {kind!r:.40}")
    return reader.number("seconds"), reader.count("seat"), _read(kind, line)


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _plain(text: str) -> str:
    """Return text that can be printed and encoded: one line, no lone surrogates, not too long."""
    clean = "".join(c if c.isprintable() else " " for c in text[: 4 * MAX_TEXT])
    return " ".join(clean.split())[:MAX_TEXT]


class _Reader:
    """Takes the fields of one event, each of the type that it must have."""

    def __init__(self, kind: str, line: Line) -> None:
        self._kind = kind
        self._line = line

    def _refuse(self, name: str, wanted: str) -> WireError:
        if name not in self._line:
            return WireError(f"sent an event {self._kind} without {name}")
        try:
            shown = _plain(repr(self._line[name])[:60])
        except (ValueError, RecursionError):
            shown = "value"
        return WireError(f"sent an event {self._kind} whose {name} {shown} is no {wanted}")

    def count(self, name: str, least: int = 0) -> int:
        value = self._line.get(name)
        if type(value) is not int or not least <= value <= MAX_NUMBER:
            raise self._refuse(name, f"count from {least} to 2^53")
        return value

    def number(self, name: str) -> float:
        value = self._line.get(name)
        if not _is_number(value):
            raise self._refuse(name, "finite number")
        return float(value)  # type: ignore[arg-type]

    def flag(self, name: str) -> bool:
        value = self._line.get(name)
        if type(value) is not bool:
            raise self._refuse(name, "true or false")
        return value

    def text(self, name: str) -> str:
        value = self._line.get(name)
        if type(value) is not str:
            raise self._refuse(name, "text")
        return _plain(value)

    def mapping(self, name: str) -> dict[str, Any]:
        value = self._line.get(name)
        if type(value) is not dict:
            raise self._refuse(name, "object")
        return value

    def steps(self, name: str) -> Steps:
        value = self._line.get(name)
        if type(value) is not list:
            raise self._refuse(name, "list of steps")
        try:
            return steps_from_json(value, name)
        except InputError as error:
            raise WireError(
                f"sent an event {self._kind} with an unreadable step: {error}"
            ) from None

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._line.get(name)
        if type(value) not in (list, tuple) or not all(type(item) is str for item in value or ()):
            raise self._refuse(name, "list of texts")
        return tuple(_plain(item) for item in value or ())

    def optional(self, name: str, read: Callable[[str], Any]) -> Any:
        return None if self._line.get(name) is None else read(name)


def _is_number(value: object) -> bool:
    # The size first: an integer of 401 digits is no float at all.
    if type(value) is int:
        return abs(value) <= MAX_NUMBER
    return type(value) is float and math.isfinite(value)


def _metrics(reader: _Reader) -> dict[str, float]:
    found = reader.mapping("metrics")
    for name, value in found.items():
        if not _is_number(value):
            raise WireError(f"sent a note whose metric {_plain(name)} is no finite number")
    return {_plain(name): float(value) for name, value in found.items()}


def _options(reader: _Reader) -> dict[str, Any]:
    """Return the options of an engine, which are only for the record."""
    found = reader.optional("options", reader.mapping) or {}
    plain: dict[str, Any] = {}
    for name, value in found.items():
        if type(value) is str:
            plain[_plain(name)] = _plain(value)
        elif type(value) is bool or _is_number(value):
            plain[_plain(name)] = value
        else:
            raise WireError(f"sent an option {_plain(name)} that is no number, text or truth value")
    return plain


def _stop(reader: _Reader) -> str:
    stop = reader.text("stop")
    if stop not in list(Stop):
        raise WireError(f"sent an unknown reason to stop {stop!r}")
    return stop


_READERS: Mapping[str, Callable[[_Reader], ev.Event]] = {
    "started": lambda r: ev.Started(r.optional("complete", r.flag), _options(r)),
    "offer": lambda r: ev.Offer(r.steps("steps"), r.count("spent"), r.text("how")),
    "suggest": lambda r: ev.Suggest(r.count("draft"), r.steps("steps")),
    "bound": lambda r: ev.Bound(
        r.count("steps"),
        r.optional("evidence", r.mapping),
        bool(r.optional("complete", r.flag)),
        r.optional("provider", r.text) or "",
    ),
    "progress": lambda r: ev.Progress(r.count("steps"), r.count("conflicts")),
    "note": lambda r: ev.Note(_metrics(r)),
    "end": lambda r: ev.End(
        _stop(r),
        r.optional("evaluations", r.count),
        r.optional("conflicts", r.count),
        r.optional("searched", r.number) or 0.0,
    ),
    "unsupported": lambda r: ev.Unsupported(r.text("text")),
    "refused": lambda r: ev.Refused(r.text("text")),
    "failed": lambda r: ev.Failed(r.text("text")),
    "trouble": lambda r: ev.Trouble(r.text("text")),
    "silent": lambda r: ev.Silent(r.number("lasted")),
    "overdue": lambda r: ev.Overdue(),
    "opened": lambda r: ev.Opened(r.text("name"), r.text("role"), r.text("view"), r.flag("proves")),
    "garbled": lambda r: ev.Garbled(r.text("text")),
    "exited": lambda r: ev.Exited(r.text("how"), r.count("code"), r.text("last_words")),
    "sliced": lambda r: ev.Sliced(r.number("worked")),
    "phased": lambda r: ev.Phased(r.texts("engines")),
    "compiling": lambda r: ev.Compiling(r.texts("engines")),
    "compiled": lambda r: ev.Compiled(r.text("engine"), r.number("worked"), r.text("error")),
    "infeasible": lambda r: ev.Infeasible(r.mapping("evidence")),
    "remarked": lambda r: ev.Remarked(r.text("text")),
    "finished": lambda r: ev.Finished(r.flag("interrupted")),
}
"""What reads each kind of event."""

_NAMES: Mapping[type, str] = {kind: kind.__name__.lower() for kind in get_args(ev.Event)}

_FROM_WORKERS = frozenset(list(_READERS)[:13])
"""What a worker may send; the rest comes from the host."""


def _read(kind: str, line: Line) -> ev.Event:
    return _READERS[kind](_Reader(kind, line))
