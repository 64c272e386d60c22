"""What a run says: events for observers, and the lines that end up in the result."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable
from typing import Any

from cchybrid.plugin.records import Observer


class Announcer:
    """Tells observers every event, with the seconds since the run began.

    Parameters
    ----------
    observers
        With the name of their plugin. One that raises is dropped and named.

    Attributes
    ----------
    troubles, remarks
        As in ``Result``.
    """

    def __init__(self, observers: Iterable[tuple[str, Observer]]) -> None:
        self._observers = list(observers)
        self._started = time.monotonic()
        self.troubles: list[str] = []
        self.remarks: list[str] = []

    def now(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self._started

    def trouble(self, text: str) -> None:
        """Take note that something misbehaved, and tell."""
        self.troubles.append(text)
        self.emit("trouble", text=text)

    def emit(self, event: str, **content: Any) -> None:
        """Tell an event."""
        line = {"event": event, "seconds": round(self.now(), 3), **content}
        for entry in list(self._observers):
            try:
                with contextlib.redirect_stdout(sys.stderr):  # ours may be JSON
                    entry[1](dict(line))
            except (Exception, SystemExit) as error:
                self._observers.remove(entry)
                text = f"observer of plugin {entry[0]}: {type(error).__name__}: {error}"
                self.troubles.append(" ".join(text.split()))
