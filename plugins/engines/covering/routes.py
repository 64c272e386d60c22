"""The choice of one route per delivery with the smallest maximal load."""

from collections.abc import Callable

import numpy as np

from cchybrid.problem.ragged import grouped
from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.solver import new_solver, solve
from cchybrid.toolkit.usage_matrix import IntVector


def has_fixed_routes(packing: Packing) -> bool:
    """Return whether every required delivery has exactly one route."""
    return packing.columns == packing.rows


def choose_routes(
    packing: Packing,
    min_load: int,
    units: float,
    seed: int,
    should_stop: Callable[[], bool],
    *,
    hint: bool = False,
) -> tuple[IntVector, float]:
    """Return a column for every row, and CP-SAT's deterministic time.

    Parameters
    ----------
    min_load
        Maximal relative load that is small enough to stop.
    units
        Limit of deterministic time, about seconds.
    seed
        Seed of the search, and of a greedy schedule whose routes are the fallback.
    hint
        Whether to start from these: it helps with very many routes, and delays otherwise.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    if has_fixed_routes(packing):
        return np.arange(packing.columns), 0.0
    greedy = np.sort(np.concatenate(packing.classes(first_fit(packing.problem, seed))))
    model = Rows(packing.columns)
    for _, (columns,) in grouped(packing.row, np.arange(packing.columns)):
        model.exactly_one(columns)
    load = model.integer(min(min_load, packing.rows), packing.rows)
    place, resource, times = packing.uses.entries(np.arange(packing.columns))
    for found, (columns, weights) in grouped(resource, place, times):
        weights.append(-int(packing.capacity[found]))
        model.weighted([*columns, load], weights, -(1 << 40), 0)
    model.minimize([load], [1])
    if hint:
        loads = -(-packing.uses.load(greedy) // packing.capacity)
        taken = np.bincount(greedy, minlength=packing.columns).tolist()
        model.hint([*taken, max(int(loads.max(initial=0)), min_load)])
    solution = solve(model.model, new_solver(seed, units=units), should_stop)
    if solution.values is None:
        return greedy, solution.units
    return np.flatnonzero(solution.values[: packing.columns]), solution.units
