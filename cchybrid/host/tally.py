"""The tally: what the engines of a run have spent, and how near they came to the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Tally:
    """Counts evaluations, seconds of search and conflicts, as workers tell them.

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
        """Take note that an engine starts: what it spends is unknown until it ends."""
        self._earlier[engine] = self._evaluations.get(engine) or 0
        self._evaluations[engine] = None

    def end(self, engine: str, line: Mapping[str, Any]) -> None:
        """Take what an engine says at its end; raise ``ValueError`` for what makes no sense."""
        spent, seconds = line["evaluations"], line["searched"]
        if type(spent) is not int or spent < 0 or not isinstance(seconds, (int, float)):
            raise ValueError("no count of evaluations")
        if engine not in self._closers:
            self._evaluations[engine] = self._earlier.get(engine, 0) + spent
        self._seconds[engine] = self._seconds.get(engine, 0.0) + float(seconds)
        self._near(line["conflicts"])

    def progress(self, steps: object, conflicts: object) -> None:
        """Take how near an engine says it is."""
        if self._target is not None and steps == self._target:
            self._near(conflicts)

    def best(self, engine: str, spent: object, closed: bool) -> None:
        """Take how much an engine had spent when it offered the best schedule so far.

        What it does after an offer that closed the case does not count: how much that is depends
        on how soon it hears of it, and the same run would not give the same numbers.
        """
        if type(spent) is not int or spent < 0:
            raise ValueError("no count of evaluations")
        self._best = self._earlier.get(engine, 0) + spent
        if closed:
            self._evaluations[engine] = self._best
            self._closers.add(engine)

    def _near(self, conflicts: object) -> None:
        if conflicts is None or self._target is None:
            return
        if not isinstance(conflicts, (int, float)) or conflicts < 0:
            raise ValueError("no count of conflicts")
        found = int(conflicts)
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
