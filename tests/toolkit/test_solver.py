"""Solvers end when the run does, and what they found in time is returned."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from itertools import combinations
from multiprocessing.connection import Connection

import numpy as np
import pytest
from ortools.sat.python import cp_model

from cchybrid.plugin.engine import Budget
from cchybrid.toolkit.cpsat.solve import decide, small_solver
from cchybrid.toolkit.solver import (
    GRACE_SECONDS,
    LinearProgram,
    StoppedError,
    call,
    new_solver,
    solve,
    solve_program,
)


def never() -> bool:
    return False


def after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def pigeons(holes: int) -> cp_model.CpModel:
    """One pigeon too many, without symmetry breaking: hard to refute by search alone."""
    model = cp_model.CpModel()
    inside = [[model.new_bool_var("") for _ in range(holes)] for _ in range(holes + 1)]
    for pigeon in inside:
        model.add_bool_or(pigeon)
    for hole in zip(*inside, strict=True):
        for one, other in combinations(hole, 2):
            model.add_bool_or(~one, ~other)
    return model


class Hard:
    """A decision model that takes minutes."""

    model, booleans = pigeons(12), 0

    def solution(self, values: object) -> None:
        raise AssertionError("there is none")


def decide_for_a_second(sender: Connection) -> None:
    before = time.process_time()
    sender.send(None)
    answer = decide(Hard, plain_solver(), lambda: True, never, 1.0)
    sender.send((answer.solvable, time.process_time() - before))


def plain_solver() -> cp_model.CpSolver:
    solver = new_solver(1, linearization=0)
    solver.parameters.symmetry_level = 0
    solver.parameters.cp_model_presolve = False
    return solver


def slow_program(size: int) -> LinearProgram:
    random = np.random.default_rng(0)
    program = LinearProgram(maximize=True)
    columns = [program.variable(float(random.random()), 10.0) for _ in range(size)]
    for _ in range(size):
        chosen = random.choice(size, 10, replace=False).tolist()
        terms = [(columns[c], float(random.random())) for c in chosen]
        program.row(-np.inf, 1.0 + random.random(), terms)
    return program


def test_a_call_returns_or_raises_what_the_work_does():
    assert call(lambda: 3, lambda: None, never) == 3
    with pytest.raises(ZeroDivisionError):
        call(lambda: 1 / 0, lambda: None, never)


def test_a_late_solver_is_left_behind():
    release = threading.Event()
    started = time.monotonic()
    with pytest.raises(StoppedError):
        call(lambda: release.wait(30), lambda: None, lambda: True)
    assert time.monotonic() - started < GRACE_SECONDS + 0.3
    release.set()


def test_a_solver_is_interrupted_again_and_again():
    polls = []
    done = threading.Event()

    def interrupt() -> None:
        polls.append(True)
        if len(polls) == 2:
            done.set()

    assert call(lambda: done.wait(30), interrupt, never, lambda: True) is True


def test_cpsat_stops_with_the_run():
    started = time.monotonic()
    with pytest.raises(StoppedError):
        solve(pigeons(14), plain_solver(), after(0.2))
    assert time.monotonic() - started < 1.0


@pytest.mark.slow
def test_a_linear_program_stops_with_the_run():
    program = slow_program(6000)
    started = time.monotonic()
    with pytest.raises(StoppedError):
        solve_program(program, after(0.2))
    assert time.monotonic() - started < 1.0


def test_cpsat_says_what_it_found():
    model = cp_model.CpModel()
    x = [model.new_int_var(0, 5, "") for _ in range(3)]
    model.add(sum(x) >= 7)
    model.minimize(sum(x))
    found = solve(model, new_solver(0), never)
    assert (found.values.sum(), found.bound, found.optimal) == (7, 7, True)
    model.add(x[0] > 5)
    found = solve(model, new_solver(0), never)
    assert (found.values, found.infeasible) == (None, True)
    model.proto.constraints.add().bool_or.literals.append(7)
    with pytest.raises(RuntimeError, match="invalid"):
        solve(model, new_solver(0), never)


@pytest.mark.long
def test_the_time_of_a_decision_does_not_pass_in_a_pause():
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=decide_for_a_second, args=(sender,))
    child.start()
    receiver.recv()
    os.kill(child.pid, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(child.pid, signal.SIGCONT)
    solvable, seconds = receiver.recv()
    child.join()
    assert solvable is None
    assert seconds >= 1.0


def test_an_answer_of_no_more_use_is_left_open():
    def make() -> None:
        raise StoppedError

    solver = small_solver(Budget(), 0, 1.0)
    assert decide(make, solver, never, never).solvable is None
    with pytest.raises(StoppedError):
        decide(make, solver, never, lambda: True)
