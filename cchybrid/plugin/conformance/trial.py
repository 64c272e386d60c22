"""One run of an engine under observation: what it said, when it returned, what it touched."""

from __future__ import annotations

import json
import operator
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.plugin.conformance.local_run import LocalRun
from cchybrid.plugin.engine import Engine, Stop
from cchybrid.problem import Assignment, Problem

MAX_STOP_SECONDS = 2.0
"""Seconds within which an engine has to return when it has a reason to; in a run the host gives
one."""
TICK_SECONDS = 0.005
"""Seconds between two checks of a running engine."""


class ConformanceError(AssertionError):
    """An engine breaks its contract; the text says how, and how to correct it."""


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
    engine: Engine, run: CheckedRun, due: Callable[[], bool], reason: str, patience: float
) -> Trial:
    """Run an engine on ``run.problem`` in a thread, and check that it returns in time.

    Parameters
    ----------
    due
        Whether the engine has a reason to return; called repeatedly. It may set ``run.stopped``.
    reason
        The reason, for messages.
    patience
        Seconds after which the run is stopped although it was not due; after as many more it is
        abandoned.
    """
    before, state = _snapshot(run.problem), _global_random_state()
    outcome: list[object] = []

    def solve() -> None:
        try:
            outcome.append(engine.solve(run.problem, run))
        except BaseException as error:  # SystemExit, too
            outcome.append(error)

    thread = threading.Thread(target=solve, name="engine under test", daemon=True)
    begun = time.monotonic()
    since: float | None = None
    thread.start()
    while thread.is_alive():
        now = time.monotonic()
        if since is None and due():
            since = now
        if since is not None and now - since > MAX_STOP_SECONDS:
            break
        if now - begun > patience:
            break
        thread.join(TICK_SECONDS)
    timely = not thread.is_alive()
    run.stopped = True
    thread.join(patience)  # compilation cannot be interrupted

    faults = list(run.faults)
    if thread.is_alive() and since is None:
        faults.append(f"did not return within {patience:g} s, nor when asked to stop afterwards")
    elif thread.is_alive():
        faults.append(f"did not return although {reason}, nor when asked to stop afterwards")
    elif not timely and since is not None:
        faults.append(f"was still running {MAX_STOP_SECONDS:g} s after {reason}")
    elif not timely:
        faults.append(f"did not return within {patience:g} s; it was never so that {reason}")
    if outcome:
        faults.extend(_wrong_outcome(outcome[0]))
    if _global_random_state() != state:
        faults.append(
            "used or seeded the global random state; make a generator of your own from run.seed, "
            "as in numpy.random.default_rng(run.seed)"
        )
    changed = [name for name, kept in before.items() if not _same(run.problem, name, kept)]
    if changed:
        faults.append(f"changed problem.{changed[0]}; others use it too: work on a copy")
    return Trial(run, faults, slow=not timely and not thread.is_alive())


def _wrong_outcome(outcome: object) -> list[str]:
    if isinstance(outcome, BaseException):
        return [
            f"raised {type(outcome).__name__}: {outcome} in solve; "
            "say in unsupported() what the engine cannot work on"
        ]
    if not isinstance(outcome, Stop):
        return [f"returned {outcome!r} from solve; return a cchybrid.plugin.engine.Stop"]
    return []


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


def _global_random_state() -> tuple[object, ...]:
    # The legacy state has to be compared here.
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), kind, np.asarray(keys).tobytes(), *rest


def _snapshot(problem: Problem) -> dict[str, np.ndarray[Any, Any]]:
    values = {item.name: getattr(problem, item.name) for item in fields(problem)}
    return {name: value.copy() for name, value in values.items() if isinstance(value, np.ndarray)}


def _same(problem: Problem, name: str, kept: np.ndarray[Any, Any]) -> bool:
    return np.array_equal(getattr(problem, name), kept)
