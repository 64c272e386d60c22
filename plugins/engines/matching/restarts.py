"""The kernel that makes many schedules with random weights."""

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.rng import State, below

from .kernels import Tables, match
from .routed import match_routes
from .routes import Routes, choose_routes, reduce_load

NEED = (0.5, 1.0, 2.0)
COPIES = (0.1, 0.2, 0.5, 1.0)
LACKING = (1.0, 3.0, 10.0)
NOISE = (0.1, 0.5, 1.0, 2.0)
"""Values from which every schedule draws the four weights of a delivery."""
HOPS = (0.5, 1.0, 4.0)
HOP_NOISE = (0.1, 0.5, 2.0)
"""Values from which every schedule of fixed routes draws the two weights of a hop."""
SWEEPS, SCHEDULES = 6, 4
"""Sweeps in which all routes are chosen again, and schedules of the same routes."""


@compiled
def restart(
    tables: Tables,
    routes: Routes,
    has_routes: bool,
    target: int,
    patience: int,
    steps: int,
    number: int,
    fewest: int,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> tuple[int, int]:
    """Make schedules with random weights until one is complete; return how many, and ``fewest``.

    Parameters
    ----------
    routes, has_routes
        With ``has_routes`` the messages have one destination each, and routes, which are chosen
        anew for every few schedules.
    target, patience
        See ``reduce_load``.
    number
        Schedules to make, at most.
    fewest
        The fewest required deliveries that a schedule has left unmade so far.
    option, step
        Shape (deliveries,): overwritten by a schedule that leaves fewer unmade.
    stop
        Shape (1,): another thread sets this to end early.
    """
    new_option, new_step = np.empty_like(option), np.empty_like(step)
    weight = np.empty(4)
    for made in range(number):
        if fewest == 0 or stop[0]:
            return made, fewest
        if has_routes:
            if made % SCHEDULES == 0:
                choose_routes(tables.flat, routes, SWEEPS, stop, state)
                reduce_load(tables.flat, routes, target, patience, stop, state)
            weight[0] = HOPS[below(state, len(HOPS))]
            weight[1] = HOP_NOISE[below(state, len(HOP_NOISE))]
            missing = match_routes(
                tables.flat, routes, weight, steps, new_option, new_step, stop, state
            )
        else:
            weight[0] = NEED[below(state, len(NEED))]
            weight[1] = COPIES[below(state, len(COPIES))]
            weight[2] = LACKING[below(state, len(LACKING))]
            weight[3] = NOISE[below(state, len(NOISE))]
            missing = match(tables, weight, steps, new_option, new_step, stop, state)
        if missing < fewest and not stop[0]:
            fewest = missing
            option[:] = new_option
            step[:] = new_step
    return number, fewest
