"""Quotient search: one engine on quotients of the Problem by many groups, one after another.

Groups compete by successive halving (K. Jamieson and A. Talwalkar, Non-stochastic best arm
identification and hyperparameter optimization, 2016, https://arxiv.org/abs/1502.07943): of a batch
the half that came nearest to a schedule gets twice the time in the next round. A group whose
quotient is refuted is not tried again; smaller groups compete with the finalists, and in the end
others are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cchybrid.plugin.engine import Budget, Engine, Run, RunBase, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.symmetry import (
    Automorphisms,
    Choice,
    Division,
    NoQuotientError,
    choices,
    quotient,
)


@dataclass(frozen=True)
class QuotientOptions:
    """Options of every search on quotients, set as ``--option quotients.NAME=VALUE``.

    The defaults were chosen by repeated runs of the suite ``thesis`` with 60 seconds.

    Parameters
    ----------
    first_slice_seconds, max_slice_seconds
        Processor time of an engine on a quotient: in the first round, and in the longest, after
        which the group is given up.
    batch
        Groups that compete with each other at a time.
    finalists
        Groups that go on to compete with the next batch.
    """

    first_slice_seconds: float = 0.5
    max_slice_seconds: float = 8.0
    batch: int = 12
    finalists: int = 2

    def __post_init__(self) -> None:
        if not (self.first_slice_seconds > 0 and self.max_slice_seconds > 0):
            raise ValueError("first_slice_seconds and max_slice_seconds are numbers above 0")
        if self.batch < 1 or not 0 <= self.finalists <= self.batch:
            raise ValueError("batch is at least 1, and finalists are 0 to batch")


MIN_LARGE_DELIVERIES = 1_000
"""Above this number of deliveries slices grow in proportion: a search step takes as much longer."""
MAX_OVERRUN = 4
"""Times its slice (the next one's length) after which an engine has shown that it does not stop in
time, and that quotients with this many options are too large for it."""
MAX_REFUSALS = 6
"""Quotients that an engine may refuse before it has taken any, after which no more are built: the
reason is then hardly the group's."""


@dataclass(eq=False)
class Candidate:
    """What is known of one group.

    Attributes
    ----------
    refuted
        No schedule that is invariant under the group has this many steps of its quotient.
    nearest
        Steps tried last, in steps of the schedule, and the conflicts that were left.
    seconds
        Processor time for the next slice.
    drafts
        Per number of steps of the quotient the last near-solution.
    over
        Whether nothing is to be gained by another slice.
    """

    division: Division
    seconds: float
    refuted: int = 0
    nearest: tuple[int, int] = (1 << 40, 0)
    drafts: dict[int, Assignment] = field(default_factory=dict)
    over: bool = False


class QuotientRun(RunBase):
    """``engine.Run`` on a quotient; converts steps of the quotient and steps of the schedule."""

    def __init__(self, outer: Run, problem: Problem, candidate: Candidate) -> None:
        self._outer = outer
        self._candidate = candidate
        self._problem = problem
        self._stretch = candidate.division.stretch
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

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """See ``Run.offer``."""
        self._outer.offer(assignment, self._problem if problem is None else problem)

    def suggest(self, assignment: Assignment) -> None:
        """Keep a near-solution for the next slice: of the whole network it would be of no use."""
        self._candidate.drafts[assignment.steps] = assignment

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """Record that the quotient has no fewer steps; for the instance that means nothing."""
        self._candidate.refuted = max(self._candidate.refuted, steps - 1)

    def best(self) -> int | None:
        """See ``Run.best``: fewer steps than this are fewer steps of the schedule, too."""
        best = self._outer.best()
        return None if best is None else -(-best // self._stretch)

    def lower(self) -> int:
        """See ``Run.lower``."""
        return max(-(-self._outer.lower() // self._stretch), self._candidate.refuted + 1)

    def hint(self, steps: int) -> Assignment | None:
        """Return the near-solution of an earlier slice."""
        return self._candidate.drafts.get(steps)

    def progress(self, steps: int, conflicts: int) -> None:
        """See ``Run.progress``; it ranks the quotients."""
        self._candidate.nearest = steps * self._stretch, conflicts

    def note(self, **metrics: float) -> None:
        """See ``Run.note``."""

    def spend(self, evaluations: int) -> None:
        """See ``Run.spend``."""
        self._outer.spend(evaluations)

    def should_stop(self) -> bool:
        """See ``Run.should_stop``."""
        return time.process_time() >= self._end or self._outer.should_stop()


class QuotientSearch:
    """The search of one engine.

    Parameters
    ----------
    problem
        The whole Problem, as built from its instance.
    run
        The engine's line to the host.
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        found: Automorphisms,
        run: Run,
        options: QuotientOptions | None = None,
    ) -> None:
        self._engine = engine
        self._problem = problem
        self._found = found
        self._run = run
        self._options = QuotientOptions() if options is None else options
        self._random = np.random.default_rng(run.seed)
        self._too_large = 1 << 60
        self._candidates: dict[tuple[bytes, bytes], Candidate] = {}
        self._accepted = False
        self.refusals: list[str] = []
        """Why the engine did not take quotients."""
        self.division: Division | None = None
        """The group whose quotient the engine works on."""

    def search(self) -> Stop:
        """Search until the run is over, or until no group of these automorphisms is of use."""
        finalists: list[Candidate] = []
        while not self._over():
            waiting = self._draw()
            if not waiting and not finalists:
                return Stop.STALLED
            while not self._over():
                lower = self._run.lower()  # it may have risen since the groups were drawn
                waiting.sort(key=lambda choice: choice.promise(lower))
                batch = self._options.batch
                fresh = [self._candidate(choice.division) for choice in waiting[:batch]]
                waiting = waiting[batch:]
                finalists = self._halve([*finalists, *fresh])
                if len(self.refusals) >= MAX_REFUSALS and not self._accepted:
                    return Stop.STALLED
                if not waiting:
                    break
        return Stop.LIMIT if self._run.should_stop() else Stop.EXHAUSTED

    def _halve(self, candidates: list[Candidate]) -> list[Candidate]:
        """Give ever fewer candidates twice the time; return those that came nearest."""
        finalists = self._options.finalists
        while candidates and not self._over():
            for candidate in candidates:
                candidate.over = not self._work_on(candidate)
            candidates = [candidate for candidate in candidates if not candidate.over]
            candidates.sort(key=lambda candidate: candidate.nearest)
            if len(candidates) <= finalists:
                break
            candidates = candidates[: (len(candidates) + 1) // 2]
        return candidates[:finalists]

    def _over(self) -> bool:
        return self._run.should_stop() or next(self._run.targets(), None) is None

    def _draw(self) -> list[Choice]:
        seed = int(self._random.integers(2**31))
        instance = self._problem.origin.instance
        drawn = choices(instance, self._found, seed, self._run.should_stop)
        return [choice for choice in drawn if not self._candidate(choice.division).over]

    def _candidate(self, division: Division) -> Candidate:
        fresh = Candidate(division, self._options.first_slice_seconds)
        return self._candidates.setdefault(division.key, fresh)

    def _work_on(self, candidate: Candidate) -> bool:
        """Work on one quotient for a slice; return whether it is worth another one."""
        division, best = candidate.division, self._run.best()
        floor = max(self._run.lower(), division.stretch * (candidate.refuted + 1))
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
        self._accepted = True
        inner = QuotientRun(self._run, problem, candidate)
        scale = max(1.0, problem.deliveries / MIN_LARGE_DELIVERIES)
        inner.begin(candidate.seconds * scale, int(self._random.integers(2**31)))
        had_the_longest = candidate.seconds >= self._options.max_slice_seconds
        candidate.seconds *= 2
        self.division = division
        begun = time.process_time()
        stop = self._engine.solve(problem, inner)
        self.division = None
        if time.process_time() - begun > MAX_OVERRUN * candidate.seconds * scale:
            self._too_large = min(self._too_large, problem.options)
        return Stop(stop) is not Stop.EXHAUSTED and not had_the_longest
