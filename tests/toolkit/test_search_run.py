"""The flag that stops the kernels of an engine."""

import time

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.problem import build_problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.search_run import WATCH_SECONDS, watched

MANY_CHECKS = 5 * WATCH_SECONDS
LATE = 10.0
"""Seconds in which the flag has to be set, however busy the machine is."""


def ring() -> LocalRun:
    """Return a run whose lower bound is still far from the optimum, 5 steps."""
    return LocalRun(build_problem(instance("ring-10", "AAB")))


def is_set(stop: BoolArray, seconds: float) -> bool:
    """Return whether the flag is set within this time."""
    end = time.monotonic() + seconds
    while not stop[0] and time.monotonic() < end:
        time.sleep(WATCH_SECONDS / 4)
    return bool(stop[0])


def test_steps_below_the_bound_are_of_no_use():
    run = ring()
    with watched(run, 4) as stop:
        assert not is_set(stop, MANY_CHECKS)
        run.first_lower = 5
        assert is_set(stop, LATE)


def test_a_better_bound_does_not_stop_a_search_for_any_schedule():
    run = ring()
    with watched(run) as stop:
        run.first_lower = 5
        assert not is_set(stop, MANY_CHECKS)
        greedy = first_fit(run.problem, 0)
        run.offer(greedy)
        run.first_lower = greedy.steps
        assert is_set(stop, LATE)
