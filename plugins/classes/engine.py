"""The engine: list all compatibility classes, cover the deliveries by the fewest of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.packing import IntVector, Packing, refusal
from cchybrid.toolkit.watched import RunOverError

from .cover import Cover, balanced, distinct, fewest
from .listing import list_classes

MAX_COLUMNS = 2_000
"""Options that a Problem may have: the graph of compatible ones has up to half the square."""

EVALUATIONS_PER_UNIT = 10_000
"""Evaluations that one unit of CP-SAT's deterministic time counts as; a unit is about a second."""

LOOK = 64
"""Classes between two looks at the budget."""


class Classes:
    """Exact where all classes can be listed: one-to-all scatter, and the smallest all-to-all."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        limit
            Classes after which the engine gives up; each takes about a kilobyte.
        """

        limit: int = 200_000

        def __post_init__(self) -> None:
            if self.limit < 1:
                raise ValueError("limit must be at least 1")

    def __init__(self, options: Options) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse what is no cover by classes, and what has too many options to pair up."""
        reason = refusal(problem)
        if reason is not None:
            return reason
        columns = Packing.of(problem).columns
        if columns > MAX_COLUMNS:
            return (
                f"{columns:,} options are too many to list their classes, {MAX_COLUMNS:,} at most"
            )
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """List the classes; stalled if they are too many; then cover."""
        if next(run.targets(), None) is None:
            return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED
        if run.best() is None:
            run.offer(first_fit(problem, run.seed))
            run.spend(1)
        packing = Packing.of(problem)
        try:
            found = self._list(packing, run)
            if found is None:
                return Stop.STALLED
            classes = distinct(packing, found)
            run.note(classes=len(classes))
            return self._cover(packing, fewest_of(packing, classes, run), run)
        except RunOverError:
            return Stop.LIMIT

    def _list(self, packing: Packing, run: Run) -> list[list[int]] | None:
        found: list[list[int]] = []
        for number, columns in enumerate(list_classes(packing)):
            if columns:
                found.append(columns)
            if number % LOOK == 0:
                run.spend(1)
                run.note(classes=len(found))
                if run.should_stop():
                    raise RunOverError
            if len(found) > self.options.limit:
                return None
        return found

    def _cover(self, packing: Packing, cover: Cover, run: Run) -> Stop:
        if packing.problem.complete and cover.least > run.lower():
            run.bound(cover.least)
        best = run.best()
        if cover.classes is not None and (best is None or len(cover.classes) < best):
            run.offer(packing.assignment(balanced(packing, cover.classes)))
        run.spend(max(1, math.ceil(cover.units * EVALUATIONS_PER_UNIT)))
        if cover.classes is not None and len(cover.classes) == cover.least:
            return Stop.EXHAUSTED
        return Stop.LIMIT


def fewest_of(packing: Packing, classes: Sequence[IntVector], run: Run) -> Cover:
    """Return the cover that the budget allows for."""
    evaluations = run.budget.evaluations
    units = None if evaluations is None else evaluations / EVALUATIONS_PER_UNIT
    return fewest(packing, classes, run.seed, units, run.should_stop)
