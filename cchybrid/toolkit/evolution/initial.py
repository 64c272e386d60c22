"""Individuals to begin with (thesis section 6.5.4)."""

from __future__ import annotations

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.first_fit import fill
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, below, shuffle

__all__ = ["complete"]

DRAWS = 5
"""Options that are drawn, at most, until one is no detour."""


@compiled
def complete(
    flat: Flat,
    near: IntArray,
    required: IntArray,
    steps: int,
    greedy: bool,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> None:
    """Give every delivery without a place one at random; ``restore`` makes the order right.

    As in the thesis, but that a step is drawn too and then kept if the order allows: without it,
    restoration would put all that it can into the first step.

    Parameters
    ----------
    near
        See ``restore``: options with more uses are drawn again, a few times.
    required
        The required deliveries.
    steps
        Steps to draw from.
    greedy
        Whether to place what fits before the rest is drawn (ours): no building block is better
        than a part of a schedule without conflicts. The individual has to be empty.
    option, step
        Shape (deliveries,): -1 for what has to be filled in.
    stop
        Shape (1,): another thread sets this to draw the rest without looking for what fits.
    """
    if greedy:
        order = required.copy()
        shuffle(order, state)
        fill(flat, near, steps, order, option, step, stop, state)
    for delivery in range(len(option)):
        if step[delivery] >= 0:
            continue
        first = flat.option_start[delivery]
        size = flat.option_start[delivery + 1] - first
        step[delivery] = below(state, steps)
        for _ in range(DRAWS):
            option[delivery] = first + below(state, size)
            path = flat.path[option[delivery]]
            if flat.use_start[path + 1] - flat.use_start[path] <= near[delivery]:
                break
