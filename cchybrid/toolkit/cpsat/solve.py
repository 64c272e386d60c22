"""One decision by CP-SAT: whether a model has a solution."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

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

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

PORTFOLIO = ("max_lp", "no_lp", "default_lp", "quick_restart")
"""CP-SAT's complete subsolvers, the best first; from 8 threads on CP-SAT's own choice is good.

The full linear relaxation refutes at once models that others cannot refute in minutes; schedules
are found by feasibility jump, which CP-SAT runs on a thread without a complete subsolver.
"""

TIGHT_PORTFOLIO = ("default_lp", "no_lp", "quick_restart", "max_lp")
"""The same for models in which resources are known to be full in every step.

There propagation is strong, and the linear relaxation has already refuted what it can.
"""


class Model(Protocol):
    """A decision model."""

    @property
    def model(self) -> cp_model.CpModel:
        """The model, ready to be solved."""

    def solution(self, values: NDArray[np.int64]) -> tuple[Problem, Assignment]:
        """Return the Problem and the assignment that a solution encodes."""


@dataclass(frozen=True)
class Answer:
    """The outcome of a decision.

    Parameters
    ----------
    solution
        CP-SAT's solution.
    assignment
        The assignment that it encodes, if there is one.
    problem
        The Problem of that assignment; it may list more paths than the run's own Problem.
    booleans
        The size of the model.
    """

    solution: Solution = NO_SOLUTION
    assignment: Assignment | None = None
    problem: Problem | None = None
    booleans: int = 0

    @property
    def solvable(self) -> bool | None:
        """Whether the model has a solution; ``None`` if that is not decided."""
        return True if self.assignment is not None else False if self.solution.infeasible else None

    @property
    def units(self) -> float:
        """The deterministic time spent, about seconds."""
        return self.solution.units


def small_solver(budget: Budget, seed: int, units: float) -> cp_model.CpSolver:
    """Return a solver for small models that are solved many times.

    Parameters
    ----------
    units
        Limit of deterministic time, about seconds; the wall clock has no influence.
    """
    solver = new_solver(seed, units=units, threads=_threads(budget), memory=budget.memory)
    return _without_probing(solver)


def _without_probing(solver: cp_model.CpSolver) -> cp_model.CpSolver:
    """Leave out probing and symmetry detection, which take longer than the search."""
    solver.parameters.cp_model_probing_level = 0
    solver.parameters.symmetry_level = 0
    return solver


def decision_solver(
    budget: Budget, seed: int, limit: float, *, log: bool = False, tight: bool = False
) -> cp_model.CpSolver:
    """Return a solver for a decision that may take most of the budget.

    Parameters
    ----------
    limit
        Limit of deterministic time under an evaluation budget, because then nothing may depend on
        the clock or on the timing of threads; otherwise the limit is that of ``decide``.
    log
        Print CP-SAT's own log.
    tight
        Whether resources are known to be full in every step.
    """
    threads = _threads(budget)
    solver = new_solver(
        seed,
        units=limit if budget.evaluations is not None else None,
        threads=threads,
        memory=budget.memory,
        log=log,
    )
    # Interleave the subsolvers on one thread; by default CP-SAT would run the first alone.
    solver.parameters.interleave_search = threads == 1
    if threads < 8:
        portfolio = TIGHT_PORTFOLIO if tight else PORTFOLIO
        solver.parameters.subsolvers.extend(portfolio[: max(2 if threads == 1 else 1, threads - 1)])
    return solver


LOCAL_SEARCH_BATCH = 0.5
"""Deterministic time of local search before it changes its rules of moves. Chosen by hand."""


def local_search_solver(
    budget: Budget, seed: int, limit: float, *, log: bool = False
) -> cp_model.CpSolver:
    """Return a solver that only finds solutions, by CP-SAT's local search (feasibility jump).

    For the parameters see ``decision_solver``.

    References
    ----------
    B. Luteberget, G. Sartor, "Feasibility Jump: an LP-free Lagrangian MIP heuristic", Mathematical
    Programming Computation 15, 2023. doi:10.1007/s12532-023-00234-8

    T. Davies, F. Didier, L. Perron, "ViolationLS: constraint-based local search in CP-SAT", CPAIOR
    2024. doi:10.1007/978-3-031-60597-0_16
    """
    solver = decision_solver(budget, seed, limit, log=log)
    solver.parameters.subsolvers.clear()
    solver.parameters.use_ls_only = True
    solver.parameters.feasibility_jump_batch_dtime = LOCAL_SEARCH_BATCH
    return _without_probing(solver)


def cpu_limit(budget: Budget, seconds: float) -> float | None:
    """Return the limit for ``decide``; none under an evaluation budget, independent of clocks."""
    return seconds if budget.evaluations is None else None


def _threads(budget: Budget) -> int:
    return 1 if budget.evaluations is not None else budget.threads


def decide(
    make: Callable[[], Model],
    solver: cp_model.CpSolver,
    useful: Callable[[], bool],
    should_stop: Callable[[], bool],
    seconds: float | None = None,
) -> Answer:
    """Build a model and solve it; undecided if the answer stops being useful.

    Parameters
    ----------
    make
        Builds the model; may raise ``StoppedError``.
    useful
        Whether the answer is still of use; if not, the search ends.
    should_stop
        Whether the run is over.
    seconds
        Limit of CPU time for each thread of the solver. Unlike the seconds of CP-SAT's own limit,
        they do not pass while the process is paused.

    Raises
    ------
    StoppedError
        If the run is over and there is no answer.
    """
    threads = max(1, solver.parameters.num_workers)
    end = math.inf if seconds is None else time.process_time() + seconds * threads

    def unwanted() -> bool:
        return time.process_time() > end or not useful()

    try:
        return call(lambda: _answer(make(), solver), solver.stop_search, should_stop, unwanted)
    except StoppedError:
        check(should_stop)
        return Answer()


def _answer(model: Model, solver: cp_model.CpSolver) -> Answer:
    found = solve_model(model.model, solver)
    problem, assignment = (None, None) if found.values is None else model.solution(found.values)
    return Answer(found, assignment, problem, len(model.model.proto.variables))
