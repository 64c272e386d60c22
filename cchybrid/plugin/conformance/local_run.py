"""A ``Run`` in this process, to test an engine without a host."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.model import Schedule
from cchybrid.plugin.engine import Budget, RunBase, cut_to, is_complete
from cchybrid.problem import Assignment, AssignmentViolation, Problem
from cchybrid.problem.problem import NoOrigin
from cchybrid.referee.verify import Violation, verify


@dataclass
class LocalRun(RunBase):
    """A ``Run`` without a host: keeps everything that the engine reports, and verifies offers.

    Parameters
    ----------
    problem
        The problem that the engine solves.
    seed, budget
        As in ``Run``; ``budget.seconds`` counts from the construction.
    target
        As in ``Run``.
    first_lower
        The lower bound at the start.
    hints
        The near-solutions that ``hint`` returns, per number of steps.
    schedules, violations
        The valid schedules that the engine has offered, and the violations of each other offer.
    assignments
        The valid offers for a Problem without an origin, which has no schedules.
    suggestions, bounds, notes
        What the engine has reported by ``suggest``, ``bound`` and ``note``.
    progressed
        Steps and conflicts of every report of progress.
    spent
        Evaluations so far.
    stopped
        Whether ``should_stop`` returns true from now on.
    """

    problem: Problem
    seed: int = 0
    budget: Budget = field(default_factory=lambda: Budget(seconds=10.0))
    target: int | None = None
    first_lower: int = 1
    hints: dict[int, Assignment] = field(default_factory=dict)
    schedules: list[Schedule] = field(default_factory=list)
    violations: list[tuple[Violation | AssignmentViolation, ...]] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    suggestions: list[Assignment] = field(default_factory=list)
    bounds: list[tuple[int, Mapping[str, Any] | None]] = field(default_factory=list)
    progressed: list[tuple[int, int]] = field(default_factory=list)
    notes: list[dict[str, float]] = field(default_factory=list)
    spent: int = 0
    stopped: bool = False

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._best: Assignment | None = None
        self._lower = 0

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """Lift and verify; add a valid schedule to ``schedules``, else its ``violations``."""
        if isinstance(self.problem.origin, NoOrigin):
            broken = (problem or self.problem).violations(assignment)
            if broken:
                self.violations.append(tuple(broken))
            else:
                self.assignments.append(assignment)
                self._best = min(self.assignments, key=lambda found: found.steps)
            return
        schedule = (self.problem if problem is None else problem).lift(assignment)
        found = verify(schedule.instance, schedule.steps)
        if found:
            self.violations.append(found)
            return
        self.schedules.append(schedule)
        if schedule.cost <= min(other.cost for other in self.schedules):
            self._best = self.problem.match(schedule.steps)

    def suggest(self, assignment: Assignment) -> None:
        """See ``Run.suggest``."""
        self.suggestions.append(assignment)

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """See ``Run.bound``; claims from an incomplete Problem are kept but do not count."""
        self.bounds.append((steps, evidence))
        if instance or self.problem.complete or evidence is not None:
            self._lower = max(self._lower, steps)

    def best(self) -> int | None:
        """See ``Run.best``."""
        steps = [found.steps for found in self.assignments]
        return min([*steps, *(len(found.steps) for found in self.schedules)], default=None)

    def lower(self) -> int:
        """See ``Run.lower``."""
        return max(self.first_lower, self._lower)

    def hint(self, steps: int, *, complete: bool = False) -> Assignment | None:
        """See ``Run.hint``."""
        found = self.hints.get(steps)
        if found is None and self._best is not None:
            found = cut_to(self._best, steps)
        return None if complete and not is_complete(self.problem, found) else found

    def progress(self, steps: int, conflicts: int) -> None:
        """See ``Run.progress``."""
        self.progressed.append((steps, conflicts))

    def note(self, **metrics: float) -> None:
        """See ``Run.note``."""
        self.notes.append(metrics)

    def spend(self, evaluations: int) -> None:
        """See ``Run.spend``."""
        self.spent += evaluations

    def should_stop(self) -> bool:
        """See ``Run.should_stop``."""
        seconds, evaluations = self.budget.seconds, self.budget.evaluations
        return (
            self.stopped
            or (seconds is not None and time.monotonic() - self._started >= seconds)
            or (evaluations is not None and self.spent >= evaluations)
        )
