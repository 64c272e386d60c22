"""One run of an engine under observation: what it said, when it returned, what it touched."""

import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.plugin.conformance.local_run import LocalRun
from cchybrid.plugin.conformance.watch import ConformanceError, arrays_of, changes, watch
from cchybrid.plugin.engine import Engine
from cchybrid.problem import Assignment, Problem


@dataclass
class CheckedRun(LocalRun):
    """A ``LocalRun`` that records every breach of contract.

    Parameters
    ----------
    optimum
        The fewest steps of any schedule; ``None`` if unknown.
    proves
        ``EngineInfo.proves`` of the engine; ``None`` if it has no record.
    faults
        The breaches, each with a hint how to correct it.
    """

    optimum: int | None = None
    proves: bool | None = None
    faults: list[str] = field(default_factory=list)

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """Keep a valid offer; record anything else as a fault."""
        misfit = _misfit(self.problem if problem is None else problem, assignment)
        if misfit:
            self.faults.append(f"offered an assignment {misfit}")
            return
        before = len(self.violations)
        super().offer(assignment, problem)
        for found in self.violations[before:]:
            self.faults.append(
                f"offered an invalid schedule: {found[0].text}; in every step each resource is "
                "used at most `capacity` times, every required delivery is made, and the "
                "delivery that an option requires is made in an earlier step"
            )

    def suggest(self, assignment: Assignment) -> None:
        """Keep a near-solution, which may have conflicts but must be an assignment."""
        misfit = _misfit(self.problem, assignment)
        if misfit:
            self.faults.append(f"suggested an assignment {misfit}")
        else:
            super().suggest(assignment)

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """Keep a bound, and record its faults."""
        steps = int(steps)
        super().bound(steps, evidence, instance=instance)
        if self.optimum is not None and steps > self.optimum:
            self.faults.append(
                f"reported that {steps} steps are needed, but a schedule has {self.optimum}; "
                '"none in S steps" is bound(S + 1)'
            )
        if evidence is not None:
            self.faults.extend(_unproven(self.problem, steps, evidence))
        elif not (self.problem.complete or instance):
            self.faults.append(
                "claimed a bound although the Problem is not complete; where "
                "problem.complete is False, report only bounds that have evidence, or that hold "
                "for the instance whatever its pool (instance=True)"
            )
        elif self.proves is False:
            self.faults.append(
                "claimed a bound although its EngineInfo says that it proves none; "
                "register it with kind='exact', or do not call run.bound"
            )

    def progress(self, steps: int, conflicts: int) -> None:
        """Keep a report of progress, which must be two counts."""
        try:
            super().progress(operator.index(steps), operator.index(conflicts))
        except TypeError:
            self.faults.append(
                f"reported progress({steps!r}, {conflicts!r}); give run.progress whole numbers"
            )

    def note(self, **metrics: float) -> None:
        """Keep metrics, which must be numbers."""
        try:
            super().note(**{name: float(value) for name, value in metrics.items()})
        except (TypeError, ValueError):
            self.faults.append(f"noted {metrics}; give run.note numbers only")


@dataclass
class Trial:
    """The outcome of a run of an engine.

    Parameters
    ----------
    run
        The run, with everything that the engine reported.
    faults
        The breaches, each with a hint how to correct it; those of ``run`` come first.
    slow
        Whether the engine returned, but too late.
    """

    run: CheckedRun
    faults: list[str]
    slow: bool

    @property
    def is_empty(self) -> bool:
        """Whether the engine reported neither schedules nor bounds nor near-solutions."""
        run = self.run
        return not (run.schedules or run.bounds or run.suggestions)

    def raise_first_fault(self) -> None:
        """Raise a ``ConformanceError`` for the first fault."""
        if self.faults:
            raise ConformanceError(self.faults[0])


def observe(
    engine: Engine, run: CheckedRun, due: Callable[[CheckedRun], bool], reason: str, patience: float
) -> Trial:
    """Run an engine on ``run.problem`` in a thread, and check that it returns in time.

    Parameters
    ----------
    due
        Whether the engine has a reason to return; called repeatedly. It may set ``run.stopped``.
    reason
        The reason, for messages.
    patience
        See ``watch``.
    """
    before = arrays_of(run.problem, (item.name for item in fields(run.problem)))
    watched = watch("solve", run, lambda: engine.solve(run.problem, run), due, reason, patience)
    faults = [*run.faults, *watched.faults, *changes("problem", run.problem, before)]
    return Trial(run, faults, slow=watched.slow)


def _misfit(problem: Problem, assignment: Assignment) -> str:
    """Return why this is no assignment of the problem, even an invalid one; or ""."""
    size = problem.deliveries
    for name in ("option", "step"):
        values = getattr(assignment, name, None)
        if not isinstance(values, np.ndarray) or values.shape != (size,):
            return f"whose {name} is no array of shape ({size},); start from problem.empty()"
        if values.dtype.kind != "i":
            return f"whose {name} has type {values.dtype}; use integers, as problem.empty() does"
    return next(
        (
            f"in which {found.text}"
            for found in problem.violations(assignment)
            if found.rule in ("half-assigned", "foreign-option")
        ),
        "",
    )


def _unproven(problem: Problem, steps: int, evidence: Mapping[str, Any]) -> list[str]:
    record = problem.origin.instance.to_json()
    try:
        proven = proven_steps(record, json.loads(json.dumps(dict(evidence))))
    except (EvidenceError, TypeError, ValueError) as error:
        return [f"gave evidence that proves nothing: {error}; see cchybrid.checker"]
    if proven < steps:
        return [f"gave evidence for {proven} steps, not for {steps}; see cchybrid.checker"]
    return []
