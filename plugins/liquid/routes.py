"""The choice of one route per delivery with the smallest maximal load."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.problem.ragged import grouped
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
        Maximal load that is small enough to stop.
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
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(packing.columns)]
    users: list[list[cp_model.IntVar]] = [[] for _ in packing.capacity]
    for resource, (columns,) in grouped(packing.uses.resource, packing.column):
        users[resource] = [taken[column] for column in columns]
    choices: list[list[cp_model.IntVar]] = [[] for _ in packing.delivery]
    for column, row in enumerate(packing.row.tolist()):
        choices[row].append(taken[column])
    for choice in choices:
        model.add_exactly_one(choice)
    max_load = model.new_int_var(min(min_load, packing.rows), packing.rows, "")
    for literals in users:
        model.add(cp_model.LinearExpr.sum(literals) <= max_load)
    model.minimize(max_load)
    greedy = np.concatenate(packing.classes(first_fit(packing.problem, seed)))
    if hint:
        chosen = np.bincount(greedy, minlength=packing.columns).tolist()
        for boolean, value in zip(taken, chosen, strict=True):
            model.add_hint(boolean, value)
        model.add_hint(max_load, max(int(packing.uses.load(greedy).max(initial=0)), min_load))
    found = solve(model, new_solver(seed, units=units), should_stop)
    if found.values is None:
        return np.sort(greedy), found.units
    return np.flatnonzero(found.values[: packing.columns]), found.units
