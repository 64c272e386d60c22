"""The engine under test, and the plainest schedule to hold against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cchybrid.plugin.conformance.trial import Trial, Witness, observe
from cchybrid.plugin.engine import Engine, EngineInfo
from cchybrid.problem import Assignment, Problem

Due = Callable[[Witness], bool]
"""Says whether the engine has a reason to return by now."""

CHANCES = 2
"""Runs that an engine gets before its slowness counts: the first may have compiled code."""


@dataclass(frozen=True)
class Subject:
    """The engine under test.

    Parameters
    ----------
    name
        For messages.
    load
        Returns its class.
    info
        What it is registered with, if that is known.
    options
        What it is constructed with; ``None`` for the defaults.
    patience
        Seconds that a run may take at most.
    """

    name: str
    load: Callable[[], Any]
    info: EngineInfo | None
    options: Any
    patience: float

    def engine(self) -> Engine:
        """Return a fresh engine."""
        kind = self.load()
        engine: Engine = kind(kind.Options() if self.options is None else self.options)
        prepare = getattr(engine, "prepare", None)
        if prepare is not None:
            prepare()
        return engine

    def supports(self, problem: Problem) -> bool:
        """Return whether the engine says that it can work on the problem."""
        return self.engine().unsupported(problem) is None

    def witness(self, problem: Problem, optimum: int | None, **rest: Any) -> Witness:
        """Return a run on which the engine can be let loose."""
        proves = None if self.info is None else self.info.proves
        return Witness(problem, optimum=optimum, proves=proves, **{"seed": 1, **rest})

    def try_out(self, make: Callable[[], Witness], due: Due, reason: str) -> Trial:
        """Run a fresh engine on ``make()``.

        One that is slow is given another chance: it may have compiled code, which belongs into
        ``prepare()`` where there is much of it.
        """
        for _ in range(CHANCES):
            trial = self._once(make(), due, reason)
            if not trial.slow:
                break
        return trial

    def _once(self, run: Witness, due: Due, reason: str) -> Trial:
        return observe(self.engine(), run, lambda: due(run), reason, self.patience)


def one_by_one(problem: Problem) -> Assignment:
    """Return the plainest schedule: every step makes one delivery, by the first option that can."""
    found = problem.empty()
    steps = 0
    while (found.option[problem.required] < 0).any():
        before = problem.option_requires
        possible = (before < 0) | (found.option[before] >= 0)
        possible &= found.option[problem.option_delivery] < 0
        option = int(np.flatnonzero(possible)[0])
        delivery = problem.option_delivery[option]
        found.option[delivery], found.step[delivery] = option, steps
        steps += 1
    return problem.match(problem.lift(found).steps)
