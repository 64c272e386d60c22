"""The exact engine: CP-SAT decides, for one number of steps after the other, whether it suffices.

The lower bound is usually tight and is tried first; from there the search halves its way to the
best known schedule, so that every answer, yes or no, closes part of the gap.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.engine import Run, Stop
from cchybrid.problem import Assignment, Problem, needed

from .cpsat_model import StepModel, StoppedError, build
from .cpsat_windows import NEVER, Windows, least_steps
from .uses import Uses

MAX_BOOLEANS = 3_000_000
"""Options times steps that a model may have; each takes about a kilobyte in the solver."""

EVALUATIONS_PER_UNIT = 10_000
"""Evaluations that one unit of CP-SAT's deterministic time counts as; a unit is about a second."""

PORTFOLIO = ("max_lp", "no_lp", "default_lp", "quick_restart")
"""CP-SAT's complete searches, the best first; from 8 threads on it makes a good choice itself.

The full linear relaxation refutes in a blink what others cannot in minutes; schedules are found
by feasibility jump, which CP-SAT runs on a thread that has none of these.
"""

WATCH_INTERVAL = 0.05
"""Seconds between two looks at whether the step count in hand is still wanted."""


class CpSat:
    """Finds schedules and refutes step counts; what it refutes is CP-SAT's claim."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        symmetry
            Tell interchangeable steps apart before the search (scatter-like collectives).
        hints
            Start from what others have found.
        log
            Print CP-SAT's own log.
        """

        symmetry: bool = True
        hints: bool = True
        log: bool = False

    def __init__(self, options: Options) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse models that would not fit into memory."""
        steps = least_steps(problem, Uses.of(problem))
        if steps >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        booleans = problem.options * steps
        if booleans <= MAX_BOOLEANS:
            return None
        return f"{booleans:,} booleans for {steps} steps, more than {MAX_BOOLEANS:,}"

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Decide step counts until none between bound and best is open."""
        return _Search(problem, run, self.options).run_all()


class _Search:
    """One run of the engine: what it knows, and what it tries next."""

    def __init__(self, problem: Problem, run: Run, options: CpSat.Options) -> None:
        self.problem = problem
        self.run = run
        self.options = options
        self.uses = Uses.of(problem)
        first = next(run.targets(), None)
        self.hopeless = first is None
        """Nothing that was asked for can be found."""
        best = run.best()
        natural = run.lower() if best is None else best - 1
        # Targets that begin elsewhere show that the user asked for one number of steps.
        self.asked = None if first == natural else first
        self.least = 1
        """No assignment of this Problem has fewer steps."""
        self.offered: int | None = None
        """Steps of the best own offer, which the host may not have verified yet."""
        self.vain = 0
        """The last number of steps that this round gave up on."""
        self.rounds = 0
        self.spent = 0
        self.started = time.monotonic()

    def run_all(self) -> Stop:
        if self.hopeless:
            return Stop.LIMIT if self.run.should_stop() else Stop.EXHAUSTED
        self._refute(least_steps(self.problem, self.uses) - 1)
        if self.run.best() is None and not self.run.should_stop():
            self._offer_first()
        while not self.run.should_stop():
            target = self._target()
            if target is None:
                return Stop.EXHAUSTED
            if target * self.problem.options > 2 * MAX_BOOLEANS:
                return Stop.STALLED
            try:
                self._decide(target)
            except StoppedError:
                continue
        return Stop.LIMIT

    def _offer_first(self) -> None:
        from cchybrid.kernels.first_fit import first_fit

        self._offer(first_fit(self.problem, self.run.seed))
        self._spend(1)

    def _offer(self, assignment: Assignment) -> None:
        steps = len(np.unique(assignment.step[needed(self.problem, assignment)]))
        self.offered = steps if self.offered is None else min(steps, self.offered)
        self.run.offer(assignment)

    def _refute(self, steps: int) -> None:
        """Note that no assignment has so many steps or fewer, and claim it if that means more."""
        self.least = max(self.least, steps + 1)
        if self.problem.complete and self.least > self.run.lower():
            self.run.bound(self.least)

    def _spend(self, evaluations: int) -> None:
        self.spent += evaluations
        self.run.spend(evaluations)

    def _open(self) -> tuple[int, int | None]:
        """Return the fewest steps that are open, and the most unless any number is."""
        low = max(self.least, self.run.lower())
        best = min((s for s in (self.run.best(), self.offered) if s is not None), default=None)
        most = None if best is None else best - 1
        if self.asked is not None:
            low, most = (self.asked, self.asked) if low <= self.asked else (low, low - 1)
            if best is not None and best <= self.asked:
                most = low - 1
        return low, most

    def _target(self) -> int | None:
        """Return the steps to try next, ``None`` if none are open.

        A round begins at the fewest; after every number that it gives up on it goes half the way
        to the best known, and while nothing is known twice as far.
        """
        low, most = self._open()
        if most is not None and low > most:
            return None
        if most is not None and self.vain >= most:
            self.vain = 0
            self.rounds += 1
        if self.vain < low:
            return low
        if most is None:
            return 2 * self.vain - low + 1
        return (self.vain + most + 1) // 2

    def _limit(self) -> float:
        """Return what to spend on a target: a slice, or all that is left if no other is open.

        Seconds, or units of deterministic time if evaluations are what is limited: then nothing
        may depend on the clock.
        """
        low, most = self._open()
        choices = 4 if most is None else min(most - low + 1, 4)
        if self.rounds == 0:  # some is left for a second round, with hints
            choices = max(choices, 2)
        budget = self.run.budget
        if budget.evaluations is not None:
            left = (budget.evaluations - self.spent) / EVALUATIONS_PER_UNIT
        elif budget.seconds is not None:
            left = budget.seconds - (time.monotonic() - self.started)
        else:
            left = 40.0 * 2**self.rounds
        return max(left / choices, min(left, 1.0), 1e-3)

    def _decide(self, target: int) -> None:
        """Ask CP-SAT whether there is an assignment of so many steps, and act on the answer."""
        run = self.run
        windows = Windows.of(self.problem, self.uses, target, symmetry=self.options.symmetry)
        model = build(self.problem, self.uses, windows, lambda: not run.wants(target))
        hint = run.hint(target) if self.options.hints else None
        if hint is not None and (self.rounds > 0 or self._whole(hint)):
            model.hint(hint, run.seed + self.rounds)
        solver = self._solver()
        run.note(target=target, booleans=model.booleans)
        with _stopped_when_unwanted(solver, run, target):
            status = solver.solve(model.model)
        run.note(
            target=target,
            booleans=model.booleans,
            branches=solver.num_branches,
            conflicts=solver.num_conflicts,
        )
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            self._offer(_solution(model, solver))
        elif status == cp_model.INFEASIBLE:
            self._refute(target)
        elif status == cp_model.UNKNOWN:
            self.vain = target
        else:
            raise RuntimeError(f"CP-SAT calls the model invalid: {model.model.validate()}")
        units = solver.response_proto.deterministic_time
        self._spend(max(1, math.ceil(units * EVALUATIONS_PER_UNIT)))

    def _whole(self, hint: Assignment) -> bool:
        """Return whether the hint is more than a schedule cut short.

        Those double the time of what is easy, and help only with what is hard.
        """
        return bool((hint.option[self.problem.required] >= 0).all())

    def _solver(self) -> cp_model.CpSolver:
        solver = cp_model.CpSolver()
        parameters = solver.parameters
        parameters.random_seed = self.run.seed % 2**31
        parameters.log_search_progress = self.options.log
        limit, budget = self._limit(), self.run.budget
        if budget.evaluations is not None:
            parameters.max_deterministic_time = limit
        else:
            parameters.max_time_in_seconds = limit
        threads = 1 if budget.evaluations is not None else budget.threads
        parameters.num_workers = threads
        # On one thread, the searches take turns; CP-SAT would run the first alone.
        parameters.interleave_search = threads == 1
        if threads < 8:
            parameters.subsolvers.extend(PORTFOLIO[: max(2 if threads == 1 else 1, threads - 1)])
        if budget.memory is not None:
            parameters.max_memory_in_mb = budget.memory
        return solver


def _solution(model: StepModel, solver: cp_model.CpSolver) -> Assignment:
    return model.read(np.array(solver.response_proto.solution, dtype=np.int64))


@contextmanager
def _stopped_when_unwanted(solver: cp_model.CpSolver, run: Run, target: int) -> Iterator[None]:
    """Stop the solver as soon as the run is over or others have closed the target."""
    done = threading.Event()

    def watch() -> None:
        # Again and again: what comes before the search has begun is lost.
        while not done.wait(WATCH_INTERVAL):
            if not run.wants(target):
                solver.stop_search()

    watcher = threading.Thread(target=watch, name="cpsat-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
