"""The functions by which a caller in Python follows a run and ends it."""

from collections.abc import Callable, Mapping
from typing import Any

from cchybrid.plugin.records import Observer


class Callbacks:
    """The caller's functions; an exception in one of them ends the run, and is raised at its end.

    Parameters
    ----------
    stop
        Called some twenty times a second; a true value ends the run.
    on_event
        Called with every event.
    """

    def __init__(
        self, stop: Callable[[], object] | None = None, on_event: Observer | None = None
    ) -> None:
        self._stop = stop
        self._on_event = on_event
        self._error: Exception | None = None

    def notify(self, event: Mapping[str, Any]) -> None:
        """Pass on an event, until ``on_event`` raises."""
        if self._on_event is not None and self._error is None:
            try:
                self._on_event(dict(event))
            except Exception as error:
                self._error = error

    def stop_requested(self) -> bool:
        """Return whether the run has to end."""
        if self._stop is not None and self._error is None:
            try:
                return bool(self._stop())
            except Exception as error:
                self._error = error
        return self._error is not None

    def raise_error(self) -> None:
        """Raise the exception of a callback, if there was one."""
        if self._error is not None:
            raise self._error
