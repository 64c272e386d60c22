"""A tour of quotients: one engine on one Problem after another, each divided by another group.

The tour learns: a division that the engine refutes is not visited again, and of the others the
half that came nearest gets twice the time in the next round. When few are left, smaller groups
compete with these, and in the end others are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cchybrid.plugin.engine import Budget, Engine, Run, Stop, is_wanted, target_steps
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.symmetry import (
    Automorphisms,
    Choice,
    Division,
    NoQuotientError,
    choices,
    quotient,
)

FIRST_SLICE = 0.5
"""Seconds of processor time that an engine has on a quotient in the first round."""
LARGE = 1_000
"""Deliveries from which on slices are longer, as many times as there are more."""
LONGEST_SLICE = 8.0
"""What it has in its last one: a division that was of no use for so long is given up."""
OVERDUE = 4
"""Times its slice (the next one's length) after which an engine has shown that it cannot stop, and
that quotients with so many options are too large for it."""
REFUSALS = 6
"""Quotients that an engine refuses before it takes any, after which no more are made for it."""
BATCH = 12
"""Divisions that compete with each other: the next ones have their turn when few are left."""
FEW = 2
"""Divisions that go on to compete with the next batch."""


@dataclass(eq=False)
class Visit:
    """What is known of one division.

    Attributes
    ----------
    refuted
        No schedule that keeps to the division has so many steps of its quotient.
    nearest
        Steps asked for last, in steps of the schedule, and the conflicts that were left.
    seconds
        Of processor time, for the next slice.
    drafts
        Per number of steps of the quotient the last near-solution.
    over
        Whether nothing is to be gained by another visit.
    """

    division: Division
    seconds: float = FIRST_SLICE
    refuted: int = 0
    nearest: tuple[int, int] = (1 << 40, 0)
    drafts: dict[int, Assignment] = field(default_factory=dict)
    over: bool = False


class QuotientRun:
    """``engine.Run`` on a quotient: steps of the one are turned into steps of the other."""

    def __init__(self, outer: Run, problem: Problem, visit: Visit) -> None:
        self._outer = outer
        self._visit = visit
        self._problem = problem
        self._stretch = visit.division.stretch
        self.target = None if outer.target is None else outer.target // self._stretch
        self._end = 0.0
        self.seed = outer.seed
        self.budget = outer.budget

    def begin(self, seconds: float, seed: int) -> None:
        """Begin another slice."""
        outer = self._outer.budget
        self.budget = Budget(seconds, None, outer.threads, outer.memory)
        self.seed = seed
        self._end = time.process_time() + seconds

    def targets(self) -> Iterator[int]:
        """See ``Run.targets``."""
        return target_steps(self)

    def wants(self, steps: int) -> bool:
        """See ``Run.wants``."""
        return is_wanted(self, steps)

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """See ``Run.offer``."""
        self._outer.offer(assignment, self._problem if problem is None else problem)

    def suggest(self, assignment: Assignment) -> None:
        """Keep a near-solution for the next slice: of the whole network it would be of no use."""
        self._visit.drafts[assignment.steps] = assignment

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """Take note that the division allows no fewer steps; for the instance it says nothing."""
        self._visit.refuted = max(self._visit.refuted, steps - 1)

    def best(self) -> int | None:
        """See ``Run.best``: fewer steps than this are fewer steps of the schedule, too."""
        best = self._outer.best()
        return None if best is None else -(-best // self._stretch)

    def lower(self) -> int:
        """See ``Run.lower``."""
        return max(-(-self._outer.lower() // self._stretch), self._visit.refuted + 1)

    def hint(self, steps: int) -> Assignment | None:
        """Return the near-solution of an earlier slice."""
        return self._visit.drafts.get(steps)

    def progress(self, steps: int, conflicts: int) -> None:
        """See ``Run.progress``; it ranks the quotients."""
        self._visit.nearest = steps * self._stretch, conflicts

    def note(self, **metrics: float) -> None:
        """See ``Run.note``."""

    def spend(self, evaluations: int) -> None:
        """See ``Run.spend``."""
        self._outer.spend(evaluations)

    def should_stop(self) -> bool:
        """See ``Run.should_stop``."""
        return time.process_time() >= self._end or self._outer.should_stop()


class Tour:
    """An engine's tour.

    Parameters
    ----------
    problem
        The whole Problem, as compiled from its instance.
    run
        The engine's line to the host.
    """

    def __init__(self, engine: Engine, problem: Problem, found: Automorphisms, run: Run) -> None:
        self._engine = engine
        self._problem = problem
        self._found = found
        self._run = run
        self._random = np.random.default_rng(run.seed)
        self._too_large = 1 << 60
        self._visits: dict[tuple[bytes, bytes], Visit] = {}
        self._welcome = False
        self.refusals: list[str] = []
        """Why the engine did not take quotients."""
        self.here: Division | None = None
        """The division that the engine is at work on."""

    def go(self) -> Stop:
        """Travel until the run is over, or until no group of these automorphisms is of use."""
        finalists: list[Visit] = []
        while not self._over():
            waiting = self._draw()
            if not waiting and not finalists:
                return Stop.STALLED
            while not self._over():
                lower = self._run.lower()  # it rises while other workers think about bounds
                waiting.sort(key=lambda choice: choice.promise(lower))
                fresh = [self._visit(choice.division) for choice in waiting[:BATCH]]
                waiting = waiting[BATCH:]
                finalists = self._narrow_down([*finalists, *fresh])
                if len(self.refusals) >= REFUSALS and not self._welcome:
                    return Stop.STALLED
                if not waiting:
                    break
        return Stop.LIMIT if self._run.should_stop() else Stop.EXHAUSTED

    def _narrow_down(self, visits: list[Visit]) -> list[Visit]:
        """Stay twice as long with ever fewer; return those that came nearest."""
        while visits and not self._over():
            for visit in visits:
                visit.over = not self._stay(visit)
            visits = [visit for visit in visits if not visit.over]
            visits.sort(key=lambda visit: visit.nearest)
            if len(visits) <= FEW:
                break
            visits = visits[: (len(visits) + 1) // 2]
        return visits[:FEW]

    def _over(self) -> bool:
        return self._run.should_stop() or next(target_steps(self._run), None) is None

    def _draw(self) -> list[Choice]:
        seed = int(self._random.integers(2**31))
        instance = self._problem.origin.instance
        drawn = choices(instance, self._found, seed, self._run.should_stop)
        return [choice for choice in drawn if not self._visit(choice.division).over]

    def _visit(self, division: Division) -> Visit:
        return self._visits.setdefault(division.key, Visit(division))

    def _stay(self, visit: Visit) -> bool:
        """Work on one quotient for a while; return whether it is worth another visit."""
        division, best = visit.division, self._run.best()
        floor = max(self._run.lower(), division.stretch * (visit.refuted + 1))
        if best is not None and -(-floor // division.stretch) * division.stretch >= best:
            return False
        if self._over():
            return True
        try:
            problem = quotient(self._problem, division)
        except NoQuotientError:
            return False
        if problem.options >= self._too_large:
            return False
        reason = self._engine.unsupported(problem)
        if reason is not None:
            self.refusals.append(str(reason))
            return False
        self._welcome = True
        inner = QuotientRun(self._run, problem, visit)
        scale = max(1.0, problem.deliveries / LARGE)
        inner.begin(visit.seconds * scale, int(self._random.integers(2**31)))
        tried_for_long = visit.seconds >= LONGEST_SLICE
        visit.seconds *= 2
        self.here = division
        begun = time.process_time()
        stop = self._engine.solve(problem, inner)
        self.here = None
        if time.process_time() - begun > OVERDUE * visit.seconds * scale:  # doubled already
            self._too_large = min(self._too_large, problem.options)
        return Stop(stop) is not Stop.EXHAUSTED and not tried_for_long
