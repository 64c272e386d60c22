"""A kernel that makes many random near-solutions in one call."""

from __future__ import annotations

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.initial import complete
from cchybrid.toolkit.evolution.restoration import restore
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.conflicts import mark_needed
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import build
from cchybrid.toolkit.kernels.rng import State

__all__ = ["draw_often"]


@compiled
def draw_often(
    flat: Flat,
    steps: int,
    number: int,
    fewest: int,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> tuple[int, int]:
    """Draw individuals until one has no conflicts; return how many, and the fewest conflicts.

    Options and steps are uniform; then the order of deliveries is restored.

    Parameters
    ----------
    number
        Individuals to draw, at most.
    fewest
        The fewest conflicts so far.
    option, step
        Shape (deliveries,): overwritten if there are fewer; -1 for late or unneeded deliveries.
    stop
        Shape (1,): another thread sets this to end early.
    """
    deliveries = len(option)
    table = np.empty((steps, len(flat.limit)), dtype=np.int32)
    chain = np.empty(deliveries + steps + 1, dtype=np.int32)
    needed = np.empty(deliveries, dtype=np.bool_)
    new_option, new_step = np.empty_like(option), np.empty_like(step)
    required = np.flatnonzero(flat.required).astype(np.int32)
    anything = np.full(deliveries, 2**31 - 1, dtype=np.int32)
    ordered = flat.requires.max() >= 0
    for made in range(number):
        if fewest == 0 or stop[0]:
            return made, fewest
        new_option[:] = -1
        new_step[:] = -1
        complete(flat, anything, required, steps, False, new_option, new_step, stop, state)
        if ordered:
            restore(flat, anything, new_option, new_step, flat.required, table, chain, stop, state)
        if stop[0]:
            return made, fewest
        mark_needed(flat, new_option, needed)
        conflicts = build(flat, new_option, new_step, needed, table)
        for delivery in range(deliveries):
            conflicts += needed[delivery] and new_step[delivery] >= steps
        if conflicts < fewest:
            fewest = conflicts
            for delivery in range(deliveries):
                placed = needed[delivery] and new_step[delivery] < steps
                option[delivery] = new_option[delivery] if placed else -1
                step[delivery] = new_step[delivery] if placed else -1
    return number, fewest
