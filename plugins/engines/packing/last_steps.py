"""The last steps of a schedule, all at once: CP-SAT's local search over all listed routes."""

from __future__ import annotations

from collections.abc import Callable

from cchybrid.plugin.engine import Run
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.repack import Repack, places_for
from cchybrid.toolkit.cpsat.solve import cpu_limit, decide, local_search_solver
from cchybrid.toolkit.partial_schedule import PartialSchedule
from cchybrid.toolkit.solver import evaluations
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix

SECONDS = 2.0
"""Limit of processor time, or of deterministic time under an evaluation budget."""
MAX_PLACES = 50_000
"""Largest number of places, pairs of a route and a step, of a model."""


def schedule_last(
    problem: Problem, free: IntVector, steps: int, run: Run, useful: Callable[[], bool], seed: int
) -> Assignment | None:
    """Return places of free deliveries in ``steps`` steps of their own; ``None`` if none is found.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    partial = PartialSchedule(problem, UsageMatrix.of(problem), steps)
    places = places_for(partial, free)
    if len(places.option) > MAX_PLACES:
        return None
    answer = decide(
        lambda: Repack(partial, places, problem.empty(), lambda: not useful()),
        local_search_solver(run.budget, seed, SECONDS),
        useful,
        run.should_stop,
        cpu_limit(run.budget, SECONDS),
    )
    run.spend(evaluations(answer.units))
    return answer.assignment
