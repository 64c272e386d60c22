"""What the engines of a run have spent, and how near they came to the target."""

from __future__ import annotations

from typing import Any

from cchybrid.host.events import End


class EffortCounter:
    """Counts evaluations, seconds of search and conflicts.

    Parameters
    ----------
    target
        The number of steps asked for; ``None``: any, and no conflicts are kept.
    """

    def __init__(self, target: int | None) -> None:
        self._target = target
        self._evaluations: dict[str, int | None] = {}
        self._seconds: dict[str, float] = {}
        self._earlier: dict[str, int] = {}
        self._conflicts: int | None = None
        self._best: int | None = None
        self._closers: set[str] = set()

    def begin(self, engine: str) -> None:
        """Record that an engine starts: what it spends is unknown until it ends."""
        self._earlier[engine] = self._evaluations.get(engine) or 0
        self._evaluations[engine] = None

    def end(self, engine: str, event: End) -> None:
        """Record what an engine spent; one that was only asked about its options counts nothing."""
        if event.evaluations is None:
            return
        if engine not in self._closers:
            self._evaluations[engine] = self._earlier.get(engine, 0) + event.evaluations
        self._seconds[engine] = self._seconds.get(engine, 0.0) + event.searched
        self._lower_conflicts(event.conflicts)

    def progress(self, steps: int, conflicts: int) -> None:
        """Record how near an engine is to so many steps."""
        if steps == self._target:
            self._lower_conflicts(conflicts)

    def best(self, engine: str, spent: int, closed: bool) -> None:
        """Record how much an engine had spent when it offered the best schedule so far.

        What it does after an offer that closed the case does not count: how much that is depends
        on when the news reaches it, and the same run would not give the same numbers.
        """
        self._best = self._earlier.get(engine, 0) + spent
        if closed:
            self._evaluations[engine] = self._best
            self._closers.add(engine)

    def _lower_conflicts(self, found: int | None) -> None:
        if found is not None and self._target is not None:
            self._conflicts = found if self._conflicts is None else min(self._conflicts, found)

    def facts(self, scheduled: bool) -> dict[str, Any]:
        """Return what goes into the result, by the names that it has there.

        Parameters
        ----------
        scheduled
            Whether there is a schedule; one within the target leaves no conflicts.
        """
        return {
            "conflicts": 0 if scheduled and self._target is not None else self._conflicts,
            "evaluations": dict(self._evaluations),
            "search_seconds": dict(self._seconds),
            "evaluations_to_best": self._best if scheduled else None,
        }
