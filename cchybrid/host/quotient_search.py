"""Quotient search: run one engine on quotients of the Problem by many groups of automorphisms.

A quotient is a smaller Problem whose solutions are the schedules that are invariant under a group
(``problem.symmetry``). Which group admits a good schedule is not known in advance, so groups are
the arms of a best-arm identification by successive halving:

1. Draw a sample of group actions and rank them: those whose schedules can meet the lower bound
   first, then large groups.
2. Take the next batch from the ranking, and the finalists of the batch before.
3. Run the engine for one slice on the quotient of every candidate. Drop a candidate if the engine
   exhausted its quotient, if its next possible number of steps is no improvement, or if it has had
   the longest slice; slices double each time.
4. Sort the rest by the steps tried last and the conflicts left. Keep the better half and repeat
   from 3, until at most ``finalists`` candidates are left.
5. Repeat from 2 until the ranking is used up, then from 1; stop when all groups of a new sample
   have been dropped and no finalist is left.

A candidate keeps its near-solutions, refuted numbers of steps and slice length between slices.
Offers are lifted to the whole network. Refuted numbers of steps hold for the quotient only.

References
----------
K. Jamieson and A. Talwalkar, Non-stochastic best arm identification and hyperparameter
optimization, AISTATS 2016, PMLR 51:240-248, https://arxiv.org/abs/1502.07943.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cchybrid.plugin.engine import Budget, Engine, Run, RunBase, Stop, is_complete
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.symmetry import (
    Automorphisms,
    Choice,
    GroupAction,
    NoQuotientError,
    choices,
    quotient,
)

LARGE_DELIVERIES = 1_000
"""Above this number of deliveries of a quotient, slices grow in proportion: so does the time of a
search step."""
MAX_OVERRUN = 4
"""If a slice takes more than this factor times the length of the next one (twice its own), the
engine is taken not to stop in time for quotients of this size: those with at least as many options
are skipped."""
MAX_REFUSALS = 6
"""If an engine refuses this many quotients before it accepts one, the search ends: the reason then
hardly depends on the group."""


@dataclass(frozen=True)
class QuotientOptions:
    """Options of every quotient search, set as ``--option quotients.NAME=VALUE``.

    The defaults were chosen by repeated runs of the suite ``thesis`` with 60 seconds.

    Parameters
    ----------
    first_slice_seconds, max_slice_seconds
        Processor time of the first slice of a group. Slices double up to the maximum, after which
        the group is dropped.
    batch
        New groups per run of successive halving.
    finalists
        Groups that stay to compete with the next batch.
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


class QuotientSearch:
    """The quotient search of one engine, by successive halving; see the module.

    Parameters
    ----------
    engine
        Solves the quotients.
    problem
        The whole Problem, as built from its instance.
    found
        The automorphisms of the instance.
    run
        The engine's connection to the host.

    Attributes
    ----------
    refusals
        Reasons why the engine cannot work on quotients.
    action
        The group action of the current slice; ``None`` between slices. ``WorkerRun.offer`` reports
        it.
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
        self.action: GroupAction | None = None

    def search(self) -> Stop:
        """Search until the run is over, or until no group is left; see the module."""
        finalists: list[Candidate] = []
        while not self._is_over():
            waiting = self._draw_choices()
            if not waiting and not finalists:
                return Stop.STALLED
            while not self._is_over():
                lower = self._run.lower()  # may have increased since the last batch
                waiting.sort(key=lambda choice: choice.sort_key(lower))
                batch = self._options.batch
                fresh = [self._candidate(choice.action) for choice in waiting[:batch]]
                waiting = waiting[batch:]
                finalists = self._halve(list(dict.fromkeys([*finalists, *fresh])))
                if len(self.refusals) >= MAX_REFUSALS and not self._accepted:
                    return Stop.STALLED
                if not waiting:
                    break
        return Stop.LIMIT if self._run.should_stop() else Stop.EXHAUSTED

    def _is_over(self) -> bool:
        """Return whether the run is over or no number of steps is left to try."""
        return self._run.should_stop() or next(self._run.targets(), None) is None

    def _draw_choices(self) -> list[Choice]:
        """Return a new sample of group actions, without actions that were dropped before."""
        seed = int(self._random.integers(2**31))
        instance = self._problem.origin.instance
        drawn = choices(instance, self._found, seed, self._run.should_stop)
        return [choice for choice in drawn if not self._candidate(choice.action).dropped]

    def _candidate(self, action: GroupAction) -> "Candidate":
        """Return the candidate of a group action, a new one if it was not drawn before."""
        fresh = Candidate(action, self._options.first_slice_seconds)
        return self._candidates.setdefault(action.key, fresh)

    def _halve(self, candidates: "list[Candidate]") -> "list[Candidate]":
        """Run rounds of successive halving; return the finalists."""
        finalists = self._options.finalists
        while candidates and not self._is_over():
            for candidate in candidates:
                candidate.dropped = not self._run_slice(candidate)
            candidates = [candidate for candidate in candidates if not candidate.dropped]
            candidates.sort(key=lambda candidate: candidate.progress)
            if len(candidates) <= finalists:
                break
            candidates = candidates[: (len(candidates) + 1) // 2]
        return candidates[:finalists]

    def _run_slice(self, candidate: "Candidate") -> bool:
        """Run the engine on a quotient for one slice; return whether to keep the candidate."""
        action, best = candidate.action, self._run.best()
        size = action.steps_per_round
        lower = max(self._run.lower(), size * (candidate.refuted + 1))
        if best is not None and -(-lower // size) * size >= best:
            return False
        if self._is_over():
            return True
        try:
            problem = quotient(self._problem, action)
        except NoQuotientError:
            return False
        if problem.options >= self._too_large:
            return False
        reason = self._engine.unsupported(problem)
        if reason is not None:
            self.refusals.append(str(reason))
            return False
        self._accepted = True
        scale = max(1.0, problem.deliveries / LARGE_DELIVERIES)
        seed = int(self._random.integers(2**31))
        inner = QuotientRun(self._run, problem, candidate, candidate.seconds * scale, seed)
        was_longest = candidate.seconds >= self._options.max_slice_seconds
        candidate.seconds *= 2
        self.action = action
        start = time.process_time()
        stop = self._engine.solve(problem, inner)
        self.action = None
        if time.process_time() - start > MAX_OVERRUN * candidate.seconds * scale:
            self._too_large = min(self._too_large, problem.options)
        return Stop(stop) is not Stop.EXHAUSTED and not was_longest


@dataclass(eq=False)
class Candidate:
    """A group action and the state of the search on its quotient.

    Attributes
    ----------
    seconds
        Processor time of the next slice.
    refuted
        Largest number of steps of the quotient that was shown to be impossible.
    progress
        Sort key: the steps tried last, in steps of the schedule, and the conflicts left.
    drafts
        The last near-solution per number of steps of the quotient.
    dropped
        Whether the candidate gets no further slice.
    """

    action: GroupAction
    seconds: float
    refuted: int = 0
    progress: tuple[int, int] = (1 << 40, 0)
    drafts: dict[int, Assignment] = field(default_factory=dict)
    dropped: bool = False


class QuotientRun(RunBase):
    """A ``Run`` on a quotient: converts between steps of the quotient and of the schedule.

    Parameters
    ----------
    outer
        The run on the whole Problem.
    problem
        The quotient.
    candidate
        Stores what is kept between slices.
    seconds
        Processor time of the slice.
    seed
        Seed of the slice.
    """

    def __init__(
        self, outer: Run, problem: Problem, candidate: Candidate, seconds: float, seed: int
    ) -> None:
        self._outer = outer
        self._candidate = candidate
        self._problem = problem
        self._steps_per_round = candidate.action.steps_per_round
        self.target = None if outer.target is None else outer.target // self._steps_per_round
        self.seed = seed
        self.budget = Budget(seconds, None, outer.budget.threads, outer.budget.memory)
        # Processor time of all threads, unlike Budget's wall-clock seconds: other arms may run.
        self._end = time.process_time() + seconds

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """See ``Run.offer``."""
        self._outer.offer(assignment, self._problem if problem is None else problem)

    def suggest(self, assignment: Assignment) -> None:
        """Keep a near-solution for the next slice; other engines cannot use it."""
        self._candidate.drafts[assignment.steps] = assignment

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """Record a bound of the quotient; it does not hold for the instance."""
        self._candidate.refuted = max(self._candidate.refuted, steps - 1)

    def best(self) -> int | None:
        """Return the best number of steps, in steps of the quotient, rounded up.

        Fewer steps of the quotient are fewer steps of the schedule.
        """
        best = self._outer.best()
        return None if best is None else -(-best // self._steps_per_round)

    def lower(self) -> int:
        """Return the lower bound of the quotient."""
        return max(-(-self._outer.lower() // self._steps_per_round), self._candidate.refuted + 1)

    def hint(self, steps: int, *, complete: bool = False) -> Assignment | None:
        """Return the near-solution of an earlier slice."""
        found = self._candidate.drafts.get(steps)
        return None if complete and not is_complete(self._problem, found) else found

    def progress(self, steps: int, conflicts: int) -> None:
        """Record the sort key of the candidate."""
        self._candidate.progress = steps * self._steps_per_round, conflicts

    def note(self, **metrics: float) -> None:
        """See ``Run.note``."""

    def spend(self, evaluations: int) -> None:
        """See ``Run.spend``."""
        self._outer.spend(evaluations)

    def should_stop(self) -> bool:
        """Return whether the slice or the run is over."""
        return time.process_time() >= self._end or self._outer.should_stop()
