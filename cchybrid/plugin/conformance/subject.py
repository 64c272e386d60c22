"""The plugin under test, and a trivial schedule for comparison."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from cchybrid.plugin.conformance.small_instances import conformance_instances
from cchybrid.plugin.conformance.trial import CheckedRun, Trial, observe
from cchybrid.plugin.conformance.watch import ConformanceError
from cchybrid.plugin.engine import Budget, Engine, EngineInfo
from cchybrid.plugin.records import DesignerInfo, load_target
from cchybrid.problem import Assignment, Problem

Due = Callable[[CheckedRun], bool]
"""Returns whether the engine has a reason to return."""

MIN_EVALUATIONS, MAX_EVALUATIONS = 10, 100
"""The range of the evaluation budget of checks with one."""
MEASURED_SECONDS = 0.25
"""Seconds within which that many evaluations are made, on the largest instance."""
LATER_SECONDS = 10.0
"""Largest number of seconds for a run, after one that had its ``patience`` and was not done."""
MAX_RUNS = 2
"""Largest number of runs of an engine that returns too late: the first may have compiled code."""


@dataclass(frozen=True)
class PluginSubject:
    """The engine or designer under test.

    Parameters
    ----------
    name
        Name for messages.
    load
        Returns the class.
    info
        The record of the engine or designer, or ``None``.
    options
        The ``Options`` object; ``None`` for the defaults.
    patience
        Largest number of seconds of a run.
    """

    name: str
    load: Callable[[], Any]
    info: EngineInfo | DesignerInfo | None
    options: Any
    patience: float

    def construct(self) -> Any:
        """Return a new engine or designer, its kernels compiled."""
        kind = self.load()
        made = kind(kind.Options() if self.options is None else self.options)
        prepare = getattr(made, "prepare", None)
        if prepare is not None:
            prepare()
        return made

    def refusal(self, subject: object) -> str | None:
        """Return the answer of ``unsupported``; raise a ``ConformanceError`` unless it is one."""
        try:
            reason: object = self.construct().unsupported(subject)
        except Exception as error:
            raise ConformanceError(
                f"raised {type(error).__name__}: {error} in unsupported(); "
                "return None or the reason"
            ) from error
        if reason is None or (isinstance(reason, str) and reason.strip()):
            return reason
        raise ConformanceError(
            f"returned {reason!r} from unsupported(); return None or the reason as text"
        )


@dataclass(frozen=True)
class Subject(PluginSubject):
    """The engine under test."""

    info: EngineInfo | None
    failed: list[str] = field(default_factory=list, compare=False)
    """The reasons to return that runs were still waiting for when their patience was over."""

    def engine(self) -> Engine:
        """Return a new engine."""
        engine: Engine = self.construct()
        return engine

    def supports(self, problem: Problem) -> bool:
        """Return whether the engine supports the problem.

        Steps of several rounds are only for engines whose ``EngineInfo.rounds`` says so.
        """
        if problem.rounds != (1,) and (self.info is None or self.info.rounds == "one"):
            return False
        if problem.horizon not in (("steps",) if self.info is None else self.info.horizons):
            return False
        return self.engine().unsupported(problem) is None

    def new_run(self, problem: Problem, optimum: int | None, **rest: Any) -> CheckedRun:
        """Return a new run for the engine."""
        proves = None if self.info is None else self.info.proves
        return CheckedRun(problem, optimum=optimum, proves=proves, **{"seed": 1, **rest})

    @cached_property
    def evaluations(self) -> int:
        """The evaluation budget of checks: small for slow engines, whose suite takes no longer."""
        cases = reversed(conformance_instances())
        problem = next(filter(self.supports, (case.problem() for case in cases)))
        budget = Budget(seconds=MEASURED_SECONDS, evaluations=MAX_EVALUATIONS)
        make = partial(self.new_run, problem, None, budget=budget)
        rates = []
        for _ in range(2):  # the first run may compile code
            started = time.monotonic()
            run = self.run_engine(make, CheckedRun.should_stop, "time was up").run
            rates.append(run.spent / (time.monotonic() - started))
        return int(min(MAX_EVALUATIONS, max(MIN_EVALUATIONS, MEASURED_SECONDS * max(rates))))

    def run_engine(self, make: Callable[[], CheckedRun], due: Due, reason: str) -> Trial:
        """Run a new engine on ``make()``.

        If it returns too late, it is run again, as it may have compiled code (work that takes long
        belongs in ``prepare()``).
        """
        for _ in range(MAX_RUNS):
            trial = self._once(make(), due, reason)
            if not trial.slow:
                break
        return trial

    def _once(self, run: CheckedRun, due: Due, reason: str) -> Trial:
        patience = min(self.patience, LATER_SECONDS) if self.failed else self.patience
        started = time.monotonic()
        trial = observe(self.engine(), run, due, reason, patience)
        if time.monotonic() - started > patience:
            self.failed.append(reason)
        return trial


def load_class(target: str) -> Any:
    """Return the class of a target ``package.module:Class``; a ``ConformanceError`` if none."""
    try:
        return load_target(target)
    except (ImportError, AttributeError) as error:
        raise ConformanceError(
            f"cannot be loaded from {target!r}: {error}; write package.module:Class"
        ) from error


def serial_schedule(problem: Problem) -> Assignment:
    """Return a schedule with one delivery at a time, by the first possible option."""
    found = problem.empty()
    steps, ticks = 0, problem.horizon == "ticks"
    while (found.option[problem.required] < 0).any():
        before = problem.option_requires
        possible = (before < 0) | (found.option[before] >= 0)
        possible &= found.option[problem.option_delivery] < 0
        option = int(np.flatnonzero(possible)[0])
        delivery = problem.option_delivery[option]
        steps += int(problem.path_duration[problem.option_path[option]]) if ticks else 1
        found.option[delivery], found.step[delivery] = option, steps - 1
    return problem.match(problem.lift(found).steps)
