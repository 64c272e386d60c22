"""A stopwatch for a process: its processor seconds, and its wall-clock seconds without pauses."""

import time
from collections.abc import Callable

from cchybrid.system.working_time import Usage


class Stopwatch:
    """A stopwatch of a process, which reports what it has used; it runs from the beginning.

    Attributes
    ----------
    processor, wall
        The seconds at the last update; ``wall`` is without pauses. Where the system does not tell
        the processor time (only Linux does), it stays 0.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at = now()
        self._paused = False
        self.processor = self.wall = 0.0

    def update(self, used: Usage | None) -> None:
        """Take the time, with the usage of the process; ``None`` if it is unknown.

        A sample may be less than one before, as it lacks children that have not been waited for.
        """
        now = self._now()
        if not self._paused:
            self.wall += now - self._at
        self._at = now
        if used is not None:
            self.processor = max(self.processor, used.processor)

    def pause(self, used: Usage | None) -> None:
        """Stop the wall clock."""
        self.update(used)
        self._paused = True

    def resume(self) -> None:
        """Let the wall clock go on."""
        self.update(None)
        self._paused = False
