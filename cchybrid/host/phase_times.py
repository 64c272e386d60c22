"""The seconds that the parts of a run take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class PhaseTimes:
    """The wall-clock seconds of the parts of a run; of nested parts, only the inner one counts.

    ``now`` returns the seconds since the start of the run.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now, self._since = now, 0.0
        self._part = "preparing"
        self._seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time of the block for a part of this name."""
        outer = self._enter(name)
        try:
            yield
        finally:
            self._enter(outer)

    def _enter(self, name: str) -> str:
        now, outer = self._now(), self._part
        self._seconds[outer] = self._seconds.get(outer, 0.0) + now - self._since
        self._part, self._since = name, now
        return outer

    def seconds(self) -> dict[str, float]:
        """Return the seconds of all parts so far, the longest first, without those of no length."""
        self._enter(self._part)
        found = {name: round(seconds, 3) for name, seconds in self._seconds.items()}
        return {n: found[n] for n in sorted(found, key=lambda n: -found[n]) if found[n] > 0}
