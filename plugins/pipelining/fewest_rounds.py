"""One decision by CP-SAT: whether a number of steps and a total number of rounds suffice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from cchybrid.model import Schedule
from cchybrid.plugin.engine import NoOptions, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import decide, decision_solver
from cchybrid.toolkit.cpsat.windows import Windows, min_steps
from cchybrid.toolkit.solver import StoppedError
from cchybrid.toolkit.usage_matrix import UsageMatrix

MAX_BOOLEANS = 2_000_000
"""Options times steps that a model may have; each takes about a kilobyte in the solver."""


class RoundsRun(Run, Protocol):
    """The run of this engine."""

    settings: Mapping[str, Any]
    """``steps``, the largest number, and ``totals``, the numbers of rounds to try, in order."""

    def left(self) -> float:
        """Return the seconds left."""

    def offer_schedule(self, schedule: Schedule, how: str, rounds: Sequence[int]) -> None:
        """Submit a schedule with the rounds of its steps."""


class FewestRounds:
    """The engine for the fewest rounds: one decision after another, up to the first schedule."""

    Options = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        """Every Problem has such a model; one that is too large is not decided."""
        return None

    def solve(self, problem: Problem, run: RoundsRun) -> Stop:
        """Try each number of rounds; each of several gets half of the time left."""
        steps, totals = run.settings["steps"], run.settings["totals"]
        for total in totals:
            if run.should_stop():
                return Stop.LIMIT
            few = min(steps, total)
            seconds = run.left() / (1 if len(totals) == 1 else 2)
            try:
                found = decide_rounds(problem, few, total, run, seconds)
            except StoppedError:
                return Stop.LIMIT
            if found is not None:
                assignment, rounds = found
                run.offer_schedule(problem.lift(assignment, few), "", rounds)
                return Stop.EXHAUSTED
        return Stop.STALLED


def decide_rounds(
    problem: Problem, steps: int, total: int, run: Run, seconds: float
) -> tuple[Assignment, tuple[int, ...]] | None:
    """Return an assignment of ``steps`` steps and ``total`` rounds in all, and the rounds of each.

    ``None`` if none was found, or if the model would be too large.

    Parameters
    ----------
    problem
        The Problem of one round per step; the rounds of the steps are chosen, at least 1 each.
    seconds
        Limit of CPU time for each thread.

    Raises
    ------
    StoppedError
        If ``run.should_stop`` becomes true.
    """
    # As wide as a step can be: what does not fit there fits nowhere.
    wide = replace(problem, rounds=(total - steps + 1,))
    uses = UsageMatrix.of(wide)
    if min_steps(wide, uses) > steps or problem.options * steps > MAX_BOOLEANS:
        return None
    made: list[StepModel] = []

    def make() -> StepModel:
        windows = Windows.of(wide, uses, steps, symmetry=False)
        made.append(build(wide, uses, windows, run.should_stop, total_rounds=total))
        return made[-1]

    solver = decision_solver(run.budget, run.seed, seconds)
    answer = decide(make, solver, lambda: True, run.should_stop, seconds)
    if answer.assignment is None or answer.solution.values is None:
        return None
    return answer.assignment, made[-1].rounds(answer.solution.values)
