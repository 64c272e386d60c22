"""The last steps of a schedule, all at once: CP-SAT's local search over the listed routes."""

from collections.abc import Callable

from cchybrid.plugin.engine import Run
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.repack import Repack, places_for
from cchybrid.toolkit.cpsat.solve import LOCAL_SEARCH_BATCH, cpu_limit, decide, local_search_solver
from cchybrid.toolkit.partial_schedule import PartialSchedule
from cchybrid.toolkit.solver import EVALUATIONS_PER_UNIT, evaluations
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix

SECONDS, SHARE = 2.0, 0.1
"""Limit of processor time; under an evaluation budget, of deterministic time, and the share of what
is left that may be used."""
MAX_PLACES = 50_000
"""Largest number of places, pairs of a route and a step, of a model."""


def schedule_last(
    problem: Problem,
    free: IntVector,
    steps: int,
    run: Run,
    useful: Callable[[], bool],
    seed: int,
    left: int | None,
) -> tuple[Assignment | None, int]:
    """Schedule free deliveries in ``steps`` steps of their own.

    Parameters
    ----------
    left
        What is left of an evaluation budget, if there is one; a tenth of it may be used. Without
        enough for one batch of local search nothing is tried.

    Returns
    -------
    assignment
        The places of the free deliveries; ``None`` if none are found.
    evaluations
        What the search counts as.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    partial = PartialSchedule(problem, UsageMatrix.of(problem), steps)
    places = places_for(partial, free)
    units = SECONDS if left is None else min(SECONDS, SHARE * left / EVALUATIONS_PER_UNIT)
    if len(places.option) > MAX_PLACES or units < LOCAL_SEARCH_BATCH:
        return None, 0
    answer = decide(
        lambda: Repack(partial, places, problem.empty(), lambda: not useful()),
        local_search_solver(run.budget, seed, units),
        useful,
        run.should_stop,
        cpu_limit(run.budget, SECONDS),
    )
    return answer.assignment, evaluations(answer.units)
