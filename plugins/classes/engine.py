"""The engine ``classes``: list all maximal compatibility classes, solve the minimum set cover."""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.options import require
from cchybrid.toolkit.packing import Packing, refusal
from cchybrid.toolkit.solver import EVALUATIONS_PER_UNIT, check, evaluations, until_stopped
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .cover import Cover, balanced, distinct, fewest
from .listing import list_classes

CLASSES_PER_CHECK = 64
"""Classes between two checks of the budget, which count as one evaluation; listing them takes well
below a tenth of a second."""


class Classes:
    """Minimum set cover by all compatibility classes: exact for one-to-all scatter and small cases.

    References
    ----------
    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 4.2.1.

    C. Bron, J. Kerbosch, "Algorithm 457: finding all cliques of an undirected graph",
    Communications of the ACM 16, 1973. doi:10.1145/362342.362367
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        limit
            Classes after which the engine gives up; each takes about a kilobyte.
        max_columns
            Options that a Problem may have: the compatibility graph has up to half the square of
            that many edges.
        """

        limit: int = 200_000
        max_columns: int = 2_000

        def __post_init__(self) -> None:
            require(self, limit=1, max_columns=1)

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self) -> None:
        """Compile the kernels of greedy schedules."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse Problems with precedence, and those with too many options."""
        reason = refusal(problem)
        if reason is not None:
            return reason
        columns, limit = Packing.of(problem).columns, self.options.max_columns
        if columns > limit:
            return f"{columns:,} options are too many to list their classes, {limit:,} at most"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """List the classes and solve the set cover; ``STALLED`` if there are too many classes."""
        return until_stopped(run, lambda: self._search(problem, run))

    def _search(self, problem: Problem, run: Run) -> Stop:
        if run.best() is None:
            run.offer(first_fit(problem, run.seed))
            run.spend(1)
        packing = Packing.of(problem)
        found = self._list(packing, run)
        if found is None:
            return Stop.STALLED
        classes = distinct(packing, found)
        run.note(classes=len(classes))
        # All the time that the budget allows.
        limit = run.budget.evaluations
        units = None if limit is None else limit / EVALUATIONS_PER_UNIT
        cover = fewest(packing, classes, run.seed, units, run.should_stop)
        return self._cover(packing, cover, run)

    def _list(self, packing: Packing, run: Run) -> list[list[int]] | None:
        found: list[list[int]] = []
        for number, columns in enumerate(list_classes(packing)):
            if columns:
                found.append(columns)
            if number % CLASSES_PER_CHECK == 0:
                run.spend(1)
                run.note(classes=len(found))
                check(run.should_stop)
            if len(found) > self.options.limit:
                return None
        return found

    def _cover(self, packing: Packing, cover: Cover, run: Run) -> Stop:
        if packing.problem.complete and cover.lower_bound > run.lower():
            run.bound(cover.lower_bound)
        best = run.best()
        if cover.classes is not None and (best is None or len(cover.classes) < best):
            run.offer(packing.assignment(balanced(packing, cover.classes)))
        run.spend(evaluations(cover.units))
        if cover.classes is not None and len(cover.classes) == cover.lower_bound:
            return Stop.EXHAUSTED
        return Stop.LIMIT
