"""The lines between host and workers: one JSON object each. The same lines are the run's log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Line = dict[str, Any]

LONGEST = 256 * 1024 * 1024
"""Bytes of one line; a worker that sends a longer one is taken to babble."""


def encode(line: Line) -> bytes:
    """Return a line as it goes over the pipe."""
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


class GarbledError(Exception):
    """What came over the pipe is no line of this protocol."""


class LineReader:
    """Cuts what arrives on a pipe into lines."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Line]:
        """Yield the lines that ``data`` completes; raise ``GarbledError`` for anything else."""
        searched = len(self._pending)
        self._pending += data
        while (end := self._pending.find(b"\n", searched)) >= 0:
            raw = bytes(self._pending[:end])
            del self._pending[: end + 1]
            searched = 0
            yield _decode(raw)
        if len(self._pending) > LONGEST:
            raise GarbledError("a line without end")


def _decode(raw: bytes) -> Line:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        raise GarbledError("a line that is not JSON") from None
    if not isinstance(line, dict) or not isinstance(line.get("event"), str):
        raise GarbledError("a line that names no event")
    return line
