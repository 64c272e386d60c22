"""The event bus: passes events to observers, and writes the log of the run."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cchybrid.model.text import error_line
from cchybrid.plugin.records import Observer


class EventBus:
    """Distributor of events to observers, with the seconds since the start of the run.

    Parameters
    ----------
    observers
        Pairs of the name of a plugin and a function. One that raises is removed and named, and what
        it prints goes to standard error. The name is "" for a function of the caller, whose
        exceptions end the run.
    log
        Called with every line of the log, until it raises.

    Attributes
    ----------
    troubles
        One line for each observer that raised, and for a log that did.
    """

    def __init__(
        self,
        observers: Iterable[tuple[str, Observer]],
        log: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self._observers = list(observers)
        self._log = log
        self._started = time.monotonic()
        self.troubles: list[str] = []

    def now(self) -> float:
        """Return the seconds since the start of the run, rounded to milliseconds."""
        return round(time.monotonic() - self._started, 3)

    @property
    def has_log(self) -> bool:
        """Whether a log is written."""
        return self._log is not None

    def record(self, line: Mapping[str, Any]) -> None:
        """Write a line to the log."""
        if self._log is not None:
            try:
                self._log(line)
            except Exception as error:  # such as a full disk
                self._log = None
                self.troubles.append(f"the log is incomplete: {error_line(error)}")

    def emit(self, event: str, seconds: float, content: Mapping[str, Any]) -> None:
        """Write an event to the log and pass it to the observers."""
        line = {"event": event, "seconds": seconds, **content}
        self.record(line)
        for entry in list(self._observers):
            if not entry[0]:
                try:
                    entry[1](dict(line))
                except BaseException:
                    self._observers.remove(entry)
                    raise
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):  # standard output may be JSON
                    entry[1](dict(line))
            except (Exception, SystemExit) as error:
                self._observers.remove(entry)
                self.troubles.append(f"observer of plugin {entry[0]}: {error_line(error)}")
