"""One question to CP-SAT: whether a model has a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.plugin.engine import Budget
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.solver import (
    NO_SOLUTION,
    Solution,
    StoppedError,
    call,
    check,
    new_solver,
    solve_model,
)

PORTFOLIO = ("max_lp", "no_lp", "default_lp", "quick_restart")
"""CP-SAT's complete searches, the best first; from 8 threads on it makes a good choice itself.

The full linear relaxation refutes in a blink what others cannot in minutes; schedules are found
by feasibility jump, which CP-SAT runs on a thread that has none of these.
"""

TIGHT_PORTFOLIO = ("default_lp", "no_lp", "quick_restart", "max_lp")
"""The same where a linear program has shown that steps have no room to spare.

It has refuted what it can, and with channels that are full in every step propagation goes far.
"""


class Model(Protocol):
    """What can be asked."""

    @property
    def model(self) -> cp_model.CpModel:
        """The model, ready to be solved."""

    @property
    def booleans(self) -> int:
        """The number of variables."""

    def solution(self, values: NDArray[np.int64]) -> tuple[Problem, Assignment]:
        """Return what a solution stands for, and the Problem that it is an assignment of."""


@dataclass(frozen=True)
class Answer:
    """What came of a question.

    Parameters
    ----------
    solution
        What CP-SAT found.
    assignment
        What the solution stands for, if there is one.
    problem
        The Problem that it is an assignment of, with paths that the run's own may not list.
    booleans
        The size of the model.
    """

    solution: Solution = NO_SOLUTION
    assignment: Assignment | None = None
    problem: Problem | None = None
    booleans: int = 0

    @property
    def solvable(self) -> bool | None:
        """Whether the model has a solution; ``None`` if that is still open."""
        return True if self.assignment is not None else False if self.solution.infeasible else None

    @property
    def units(self) -> float:
        """The deterministic time that it took."""
        return self.solution.units


def small_solver(budget: Budget, seed: int, units: float) -> cp_model.CpSolver:
    """Return a solver for a small question, asked again and again.

    Parameters
    ----------
    units
        Deterministic time that it may take: no clock decides.
    """
    solver = new_solver(seed, units=units, threads=_threads(budget), memory=budget.memory)
    # These take longer than the search.
    solver.parameters.cp_model_probing_level = 0
    solver.parameters.symmetry_level = 0
    return solver


def decision_solver(
    budget: Budget, seed: int, limit: float, *, log: bool = False, tight: bool = False
) -> cp_model.CpSolver:
    """Return a solver for a question that may take most of the budget.

    Parameters
    ----------
    limit
        Seconds; units of deterministic time if the budget is one of evaluations, because then
        nothing may depend on the clock or on threads that race each other.
    log
        Print CP-SAT's own log.
    tight
        Whether resources are known to be full in every step.
    """
    threads = _threads(budget)
    timed = budget.evaluations is None
    solver = new_solver(
        seed,
        seconds=limit if timed else None,
        units=None if timed else limit,
        threads=threads,
        memory=budget.memory,
        log=log,
    )
    # On one thread, the searches take turns; CP-SAT would run the first alone.
    solver.parameters.interleave_search = threads == 1
    if threads < 8:
        portfolio = TIGHT_PORTFOLIO if tight else PORTFOLIO
        solver.parameters.subsolvers.extend(portfolio[: max(2 if threads == 1 else 1, threads - 1)])
    return solver


def _threads(budget: Budget) -> int:
    return 1 if budget.evaluations is not None else budget.threads


def ask(
    make: Callable[[], Model],
    solver: cp_model.CpSolver,
    useful: Callable[[], bool],
    over: Callable[[], bool],
) -> Answer:
    """Make a model and solve it; the answer is open if it is no longer wanted.

    Parameters
    ----------
    make
        Makes the model; may raise ``StoppedError``.
    useful
        Whether the answer is still wanted; if not, the search ends.
    over
        Whether the run is over.

    Raises
    ------
    StoppedError
        If the run is over and there is no answer.
    """
    try:
        return call(lambda: _answer(make(), solver), solver.stop_search, over, lambda: not useful())
    except StoppedError:
        check(over)
        return Answer()


def _answer(model: Model, solver: cp_model.CpSolver) -> Answer:
    found = solve_model(model.model, solver)
    problem, assignment = (None, None) if found.values is None else model.solution(found.values)
    return Answer(found, assignment, problem, model.booleans)
