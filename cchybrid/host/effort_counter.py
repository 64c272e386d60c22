"""The effort of the engines of a run, and the conflicts left at the target."""

from collections.abc import Iterable
from typing import Any

from cchybrid.host.events import End
from cchybrid.host.task import WorkerState


def unfinished(workers: Iterable[WorkerState]) -> tuple[str, ...]:
    """Return the engines that had begun a search which a limit ended: they did not end it."""
    last = {each.arm: each for each in workers if each.opened.role == "engine" and each.started}
    return tuple(sorted({each.opened.name for each in last.values() if not each.finished}))


class EffortCounter:
    """Counter of evaluations and conflicts.

    Parameters
    ----------
    target
        The user's number of steps; without one (``None``) no conflicts are kept.
    """

    def __init__(self, target: int | None) -> None:
        self._target = target
        self._evaluations: dict[str, int | None] = {}
        self._earlier: dict[str, int] = {}
        self._conflicts: int | None = None
        self._best: int | None = None
        self._done_by: set[str] = set()

    def start(self, engine: str) -> None:
        """Record that an engine starts; its evaluations are unknown until it ends."""
        self._earlier[engine] = self._evaluations.get(engine) or 0
        self._evaluations[engine] = None

    def end(self, engine: str, event: End) -> None:
        """Record the effort of an engine; a check of options (no evaluations) is ignored."""
        if event.evaluations is None:
            return
        if engine not in self._done_by:
            self._evaluations[engine] = self._earlier.get(engine, 0) + event.evaluations
        self._lower_conflicts(event.conflicts)

    def progress(self, steps: int, conflicts: int) -> None:
        """Record the conflicts left in a search for this number of steps."""
        if steps == self._target:
            self._lower_conflicts(conflicts)

    def best(self, engine: str, spent: int, done: bool) -> None:
        """Record the evaluations of an engine when it offered the best schedule so far.

        Parameters
        ----------
        done
            Whether engines have nothing left to do. Evaluations after that are not counted: their
            number depends on the moment at which the engine gets the news, so it is not repeatable.
        """
        self._best = self._earlier.get(engine, 0) + spent
        if done:
            self._evaluations[engine] = self._best
            self._done_by.add(engine)

    def _lower_conflicts(self, found: int | None) -> None:
        if found is not None and self._target is not None:
            self._conflicts = found if self._conflicts is None else min(self._conflicts, found)

    def facts(self, scheduled: bool, by_engine: bool) -> dict[str, Any]:
        """Return the fields of ``Result`` that concern effort.

        Parameters
        ----------
        scheduled
            Whether there is a schedule; then no conflicts are left.
        by_engine
            Whether the best schedule is that of an engine, and not the host's.
        """
        return {
            "conflicts": 0 if scheduled and self._target is not None else self._conflicts,
            "evaluations": dict(self._evaluations),
            "evaluations_to_best": self._best if by_engine else None,
        }
