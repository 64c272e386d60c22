"""Calls to CP-SAT and linear programs that end when the run ends.

A solver runs in a thread of its own and is interrupted at the end of the run. If it does not stop
in time, it is abandoned in its thread, which ends with the process.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import Run, Stop
from cchybrid.proof.linear_program import LinearProgram as LinearProgram

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

Found = TypeVar("Found")

POLL_SECONDS = 0.05
"""Seconds between two checks whether the run is over."""

GRACE_SECONDS = 0.2
"""Seconds in which a solver may stop at the end of a run; CP-SAT takes several in large models."""

EVALUATIONS_PER_UNIT = 10_000
"""Evaluations per unit of deterministic time, about a second: a convention."""


class StoppedError(Exception):
    """The run is over, or the result is no longer of use."""


def until_stopped(run: Run, search: Callable[[], Stop]) -> Stop:
    """Run a search; return its result, ``LIMIT`` if stopped, ``EXHAUSTED`` without open targets.

    Parameters
    ----------
    search
        Called if there are numbers of steps to try; may raise ``StoppedError``.
    """
    if next(run.targets(), None) is None:
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED
    try:
        return search()
    except StoppedError:
        return Stop.LIMIT


def check(should_stop: Callable[[], bool]) -> None:
    """Raise ``StoppedError`` if the run is over."""
    if should_stop():
        raise StoppedError


def evaluations(units: float) -> int:
    """Return the evaluations, at least 1, that an amount of deterministic time counts as."""
    return max(1, math.ceil(units * EVALUATIONS_PER_UNIT))


def call(
    work: Callable[[], Found],
    interrupt: Callable[[], object],
    should_stop: Callable[[], bool],
    unwanted: Callable[[], bool] | None = None,
) -> Found:
    """Call ``work`` in a thread of its own, which may be abandoned; return its result.

    Parameters
    ----------
    work
        Calls a solver that releases the interpreter lock.
    interrupt
        Interrupts that solver; called repeatedly, as a call before the search has no effect.
    should_stop
        Whether the run is over.
    unwanted
        Whether to interrupt the solver; ``should_stop`` if ``None``.

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
    try:
        while not done.wait(POLL_SECONDS):
            is_over = should_stop()
            if is_over or (unwanted is not None and unwanted()):
                interrupt()
            if is_over:
                since = time.monotonic() if since is None else since
                if time.monotonic() - since > GRACE_SECONDS:
                    raise StoppedError
    except KeyboardInterrupt:
        interrupt()
        done.wait(GRACE_SECONDS)
        raise
    if errors:
        raise errors[0]
    return found[0]


def solve_program(program: LinearProgram, should_stop: Callable[[], bool]) -> bool:
    """Solve a linear program; return whether that ended at an optimum.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    optimal = call(program.solve, program.interrupt, should_stop)
    if not optimal:
        check(should_stop)
    return optimal


def new_solver(
    seed: int,
    *,
    units: float | None = None,
    threads: int = 1,
    memory: int | None = None,
    linearization: int | None = None,
    log: bool = False,
) -> cp_model.CpSolver:
    """Return a CP-SAT solver.

    Parameters
    ----------
    units
        Limit of deterministic time, about seconds: equal calls have equal results.
    memory
        Limit of memory in MiB.
    linearization
        Level of the linear relaxation, 0 to 2; CP-SAT's own choice if ``None``.
    log
        Print CP-SAT's own log.
    """
    # Imported here, as it imports pandas: engines without CP-SAT start in half the time.
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = seed % 2**31
    parameters.num_workers = threads
    parameters.log_search_progress = log
    if units is not None:
        parameters.max_deterministic_time = units
    if memory is not None:
        parameters.max_memory_in_mb = memory
    if linearization is not None:
        parameters.linearization_level = linearization
    return solver


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a call to CP-SAT.

    Parameters
    ----------
    values
        Shape (variables,): the best solution; ``None`` if none was found.
    infeasible, optimal
        Whether there is provably no solution, or none better.
    bound
        Lower bound on the objective (integer, before scaling).
    units
        Deterministic time spent, about seconds.
    branches, conflicts
        The size of the search tree.
    """

    values: NDArray[np.int64] | None
    infeasible: bool
    optimal: bool
    bound: int
    units: float
    branches: int
    conflicts: int


NO_SOLUTION = Solution(None, False, False, 0, 0.0, 0, 0)
"""The result where CP-SAT was not called."""


def solve_model(model: cp_model.CpModel, solver: cp_model.CpSolver) -> Solution:
    """Solve a model; the interpreter lock is released meanwhile."""
    from ortools.sat.python import cp_model

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


def solve(
    model: cp_model.CpModel, solver: cp_model.CpSolver, should_stop: Callable[[], bool]
) -> Solution:
    """Solve a model until the run is over.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    found = call(lambda: solve_model(model, solver), solver.stop_search, should_stop)
    check(should_stop)
    return found
