"""One question to CP-SAT, answered, cut short, or walked away from."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.plugin.engine import Budget
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.model import StoppedError

PORTFOLIO = ("max_lp", "no_lp", "default_lp", "quick_restart")
"""CP-SAT's complete searches, the best first; from 8 threads on it makes a good choice itself.

The full linear relaxation refutes in a blink what others cannot in minutes; schedules are found
by feasibility jump, which CP-SAT runs on a thread that has none of these.
"""

TIGHT_PORTFOLIO = ("default_lp", "no_lp", "quick_restart", "max_lp")
"""The same where a linear program has shown that steps have no room to spare.

It has refuted what it can, and with channels that are full in every step propagation goes far.
"""

WATCH_INTERVAL = 0.05
"""Seconds between two looks at whether the answer is still wanted."""

PATIENCE = 0.4
"""Seconds that CP-SAT gets to stop at the end of a run; in large models it takes several."""


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
    solvable
        Whether the model has a solution; ``None`` if that is still open.
    assignment
        What the solution stands for, if there is one.
    problem
        The Problem that it is an assignment of, with paths that the run's own may not list.
    booleans, branches, conflicts
        The size of the model and of the search.
    units
        The deterministic time that it took.
    """

    solvable: bool | None
    assignment: Assignment | None = None
    problem: Problem | None = None
    booleans: int = 0
    branches: int = 0
    conflicts: int = 0
    units: float = 0.0


def small_solver(budget: Budget, seed: int, units: float) -> cp_model.CpSolver:
    """Return a solver for a small question, asked again and again.

    Parameters
    ----------
    units
        Deterministic time that it may take: no clock decides.
    """
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = seed % 2**31
    parameters.max_deterministic_time = units
    # These take longer than the search.
    parameters.cp_model_probing_level = 0
    parameters.symmetry_level = 0
    parameters.num_workers = 1 if budget.evaluations is not None else budget.threads
    if budget.memory is not None:
        parameters.max_memory_in_mb = budget.memory
    return solver


def new_solver(
    budget: Budget, seed: int, limit: float, *, log: bool = False, tight: bool = False
) -> cp_model.CpSolver:
    """Return a solver that keeps to the budget.

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
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = seed % 2**31
    parameters.log_search_progress = log
    if budget.evaluations is not None:
        parameters.max_deterministic_time = limit
    else:
        parameters.max_time_in_seconds = limit
    threads = 1 if budget.evaluations is not None else budget.threads
    parameters.num_workers = threads
    # On one thread, the searches take turns; CP-SAT would run the first alone.
    parameters.interleave_search = threads == 1
    if threads < 8:
        portfolio = TIGHT_PORTFOLIO if tight else PORTFOLIO
        parameters.subsolvers.extend(portfolio[: max(2 if threads == 1 else 1, threads - 1)])
    if budget.memory is not None:
        parameters.max_memory_in_mb = budget.memory
    return solver


def ask(
    make: Callable[[], Model],
    solver: cp_model.CpSolver,
    wanted: Callable[[], bool],
    over: Callable[[], bool],
) -> Answer | None:
    """Make a model and solve it.

    Parameters
    ----------
    make
        Makes the model; may raise ``StoppedError``.
    wanted
        Whether the answer is still wanted; if not, the search ends.
    over
        Whether the run is over. Then CP-SAT is not waited for any longer than ``PATIENCE``: the
        thread that it runs in is left behind, and the answer is ``None``.
    """
    done = threading.Event()
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(_answer(make(), solver))
        except StoppedError:
            answers.append(Answer(None))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=work, name="cpsat", daemon=True).start()
    since: float | None = None
    while not done.wait(WATCH_INTERVAL):
        if not wanted():
            # Again and again: what comes before the search has begun is lost.
            solver.stop_search()
        if over():
            since = time.monotonic() if since is None else since
            if time.monotonic() - since > PATIENCE:
                return None
    if errors:
        raise errors[0]
    return answers[0]


def _answer(model: Model, solver: cp_model.CpSolver) -> Answer:
    status = solver.solve(model.model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT calls the model invalid: {model.model.validate()}")
    found: Assignment | None = None
    problem: Problem | None = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = np.array(solver.response_proto.solution, dtype=np.int64)
        problem, found = model.solution(values)
    return Answer(
        solvable=True if found is not None else False if status == cp_model.INFEASIBLE else None,
        assignment=found,
        problem=problem,
        booleans=model.booleans,
        branches=solver.num_branches,
        conflicts=solver.num_conflicts,
        units=solver.response_proto.deterministic_time,
    )
