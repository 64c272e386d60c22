"""Calls to solvers: their limits, stopping them from outside, and leaving late ones behind.

CP-SAT and linear programs are called alike: in a thread of their own, watched for the end of the
run. A solver that does not stop in time is left behind in its thread, which ends with the process.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.plugin.engine import Run, Stop
from cchybrid.proof.linear_program import LinearProgram

__all__ = [
    "EVALUATIONS_PER_UNIT",
    "NO_SOLUTION",
    "LinearProgram",
    "Solution",
    "StoppedError",
    "call",
    "check",
    "evaluations",
    "new_solver",
    "solve",
    "solve_model",
    "solve_program",
    "until_stopped",
]

Found = TypeVar("Found")

POLL_SECONDS = 0.05
"""Seconds between two looks at whether the run is over."""

GRACE_SECONDS = 0.2
"""Seconds that a solver gets to stop at the end of a run; CP-SAT takes several in large models."""

EVALUATIONS_PER_UNIT = 10_000
"""Evaluations that a unit of deterministic time, about a second, counts as: a convention."""


class StoppedError(Exception):
    """The run is over, or the answer is no longer wanted."""


def until_stopped(run: Run, search: Callable[[], Stop]) -> Stop:
    """Return why a search ended: ``search()``, ``LIMIT`` if stopped, ``EXHAUSTED`` if none is open.

    Parameters
    ----------
    search
        Called if there are steps to try; may raise ``StoppedError``.
    """
    if next(run.targets(), None) is None:
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED
    try:
        return search()
    except StoppedError:
        return Stop.LIMIT


def check(over: Callable[[], bool]) -> None:
    """Raise ``StoppedError`` if the run is over."""
    if over():
        raise StoppedError


def evaluations(units: float) -> int:
    """Return what to spend for so many units of deterministic time, at least 1."""
    return max(1, math.ceil(units * EVALUATIONS_PER_UNIT))


def call(
    work: Callable[[], Found],
    interrupt: Callable[[], object],
    over: Callable[[], bool],
    unwanted: Callable[[], bool] | None = None,
) -> Found:
    """Return what ``work`` returns; it runs in a thread of its own, which may be left behind.

    Parameters
    ----------
    work
        Calls a solver that releases the interpreter lock.
    interrupt
        Asks that solver to stop; called again and again, as a call before the search is lost.
    over
        Whether the run is over.
    unwanted
        Whether to interrupt the solver; ``over`` if ``None``.

    Raises
    ------
    StoppedError
        If the run is over and the solver has not stopped within ``GRACE_SECONDS``.
    """
    done = threading.Event()
    found: list[Found] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            found.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=target, name="solver", daemon=True).start()
    since: float | None = None
    while not done.wait(POLL_SECONDS):
        is_over = over()
        if is_over or (unwanted is not None and unwanted()):
            interrupt()
        if is_over:
            since = time.monotonic() if since is None else since
            if time.monotonic() - since > GRACE_SECONDS:
                raise StoppedError
    if errors:
        raise errors[0]
    return found[0]


def solve_program(program: LinearProgram, over: Callable[[], bool]) -> bool:
    """Solve a linear program; return whether that ended at an optimum.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    optimal = call(program.solve, program.interrupt, over)
    if not optimal:
        check(over)
    return optimal


def new_solver(
    seed: int,
    *,
    units: float | None = None,
    seconds: float | None = None,
    threads: int = 1,
    memory: int | None = None,
    linearization: int | None = None,
    log: bool = False,
) -> cp_model.CpSolver:
    """Return a CP-SAT solver.

    Parameters
    ----------
    units
        Deterministic time that it may take, about seconds: equal calls end alike.
    seconds
        Wall-clock time that it may take.
    memory
        Mebibytes that it may use.
    linearization
        How much goes into the linear relaxation, 0 to 2; CP-SAT's own choice if ``None``.
    log
        Print CP-SAT's own log.
    """
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = seed % 2**31
    parameters.num_workers = threads
    parameters.log_search_progress = log
    if units is not None:
        parameters.max_deterministic_time = units
    if seconds is not None:
        parameters.max_time_in_seconds = seconds
    if memory is not None:
        parameters.max_memory_in_mb = memory
    if linearization is not None:
        parameters.linearization_level = linearization
    return solver


@dataclass(frozen=True, eq=False)
class Solution:
    """What CP-SAT found.

    Parameters
    ----------
    values
        Shape (variables,): the best solution; ``None`` if none was found.
    infeasible, optimal
        Whether there is no solution at all, or none better.
    bound
        No solution has a smaller objective, of whole numbers and before any scaling.
    units
        The deterministic time that it took.
    branches, conflicts
        The size of the search.
    """

    values: NDArray[np.int64] | None
    infeasible: bool
    optimal: bool
    bound: int
    units: float
    branches: int
    conflicts: int


NO_SOLUTION = Solution(None, False, False, 0, 0.0, 0, 0)
"""What a search comes to that was not made."""


def solve_model(model: cp_model.CpModel, solver: cp_model.CpSolver) -> Solution:
    """Return what CP-SAT finds; the interpreter lock is released meanwhile."""
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT calls the model invalid: {model.validate()}")
    response = solver.response_proto
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return Solution(
        values=np.array(response.solution, dtype=np.int64) if found else None,
        infeasible=status == cp_model.INFEASIBLE,
        optimal=status == cp_model.OPTIMAL,
        bound=int(response.inner_objective_lower_bound),
        units=float(response.deterministic_time),
        branches=int(solver.num_branches),
        conflicts=int(solver.num_conflicts),
    )


def solve(model: cp_model.CpModel, solver: cp_model.CpSolver, over: Callable[[], bool]) -> Solution:
    """Return what CP-SAT finds until the run is over.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    found = call(lambda: solve_model(model, solver), solver.stop_search, over)
    check(over)
    return found
