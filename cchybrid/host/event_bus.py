"""The event bus: passes events to observers, and writes the log of the run."""

import time
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from cchybrid.model.text import error_line
from cchybrid.plugin.records import Observer
from cchybrid.system.output import output_to_stderr


class EventBus:
    """Distributor of events to observers, with the seconds since the start of the run.

    Parameters
    ----------
    observers
        Pairs of the name of a plugin and a function. One that raises is removed and named.
    log
        Called with every line of the log, until it raises.
    on_event
        Called with every event after the observers; what it prints goes to standard output.

    Attributes
    ----------
    troubles
        One line for each observer that raised, and for a log that did.
    """

    def __init__(
        self,
        observers: Iterable[tuple[str, Observer]],
        log: Callable[[Mapping[str, Any]], None] | None = None,
        on_event: Callable[[Mapping[str, Any]], None] = lambda event: None,
    ) -> None:
        self._observers = list(observers)
        self._log = log
        self._on_event = on_event
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
                self._log(deepcopy(line))  # nothing that it changes is the run's
            except Exception as error:  # such as a full disk
                self._log = None
                self.troubles.append(f"the log is incomplete: {error_line(error)}")

    def emit(self, event: str, seconds: float, content: Mapping[str, Any]) -> None:
        """Write an event to the log and pass it to the observers."""
        line = {"event": event, "seconds": seconds, **content}
        self.record(line)
        for entry in list(self._observers):
            try:
                with output_to_stderr():  # standard output may be JSON
                    entry[1](deepcopy(line))  # nothing that it changes is the run's
            except (Exception, SystemExit) as error:
                self._observers.remove(entry)
                self.troubles.append(f"observer of plugin {entry[0]}: {error_line(error)}")
        self._on_event(deepcopy(line))
