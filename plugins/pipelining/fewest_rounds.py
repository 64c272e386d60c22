"""One decision by CP-SAT: whether a number of steps and a total number of rounds suffice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from cchybrid.model import Schedule
from cchybrid.plugin.engine import Budget, NoOptions, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import decide, decision_solver
from cchybrid.toolkit.cpsat.windows import NEVER, Windows, min_steps
from cchybrid.toolkit.solver import StoppedError
from cchybrid.toolkit.usage_matrix import UsageMatrix

MAX_BOOLEANS = 2_000_000
"""Options times steps that a model may have; each takes about a kilobyte in the solver."""


@dataclass(frozen=True)
class RoundsAnswer:
    """The outcome of a decision.

    Attributes
    ----------
    assignment
        The assignment, if there is one.
    rounds
        The rounds of its steps.
    refuted
        Whether CP-SAT says that there is none.
    too_large
        Whether the model would be too large.
    """

    assignment: Assignment | None = None
    rounds: tuple[int, ...] = ()
    refuted: bool = False
    too_large: bool = False


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
                answer = decide_rounds(
                    problem, few, total, run.budget, run.seed, seconds, run.should_stop
                )
            except StoppedError:
                return Stop.LIMIT
            if answer.assignment is not None:
                lifted = problem.lift(answer.assignment, few)
                run.offer_schedule(lifted, "", answer.rounds)
                return Stop.EXHAUSTED
        return Stop.STALLED


def decide_rounds(
    problem: Problem,
    steps: int,
    total: int,
    budget: Budget,
    seed: int,
    seconds: float,
    should_stop: Callable[[], bool],
) -> RoundsAnswer:
    """Decide whether there is an assignment of ``steps`` steps and ``total`` rounds in all.

    Parameters
    ----------
    problem
        The Problem of one round per step; the rounds of the steps are chosen, at least 1 each.
    seconds
        Limit of CPU time for each thread.

    Raises
    ------
    StoppedError
        If ``should_stop`` becomes true.
    """
    # As wide as a step can be: what does not fit there fits nowhere.
    wide = replace(problem, rounds=(total - steps + 1,))
    uses = UsageMatrix.of(wide)
    fewest = min_steps(wide, uses)
    if fewest > steps:
        return RoundsAnswer(refuted=fewest < NEVER and problem.complete)
    if problem.options * steps > MAX_BOOLEANS:
        return RoundsAnswer(too_large=True)
    made: list[StepModel] = []

    def make() -> StepModel:
        windows = Windows.of(wide, uses, steps, symmetry=False)
        made.append(build(wide, uses, windows, should_stop, total_rounds=total))
        return made[-1]

    solver = decision_solver(budget, seed, seconds)
    answer = decide(make, solver, lambda: True, should_stop, seconds)
    if answer.assignment is None or answer.solution.values is None:
        return RoundsAnswer(refuted=answer.solvable is False and problem.complete)
    return RoundsAnswer(answer.assignment, made[-1].rounds(answer.solution.values))
