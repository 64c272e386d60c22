"""Initial individuals (thesis section 6.5.4)."""

from __future__ import annotations

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.first_fit import fill
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, below, shuffle

DRAWS = 5
"""Draws of an option, at most, until one is no detour."""


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
    """Give every unscheduled delivery a random option and step; ``restore`` repairs the order.

    In the thesis only the option is drawn. Here a step is drawn as well and kept if the order
    allows; otherwise restoration would put as much as possible into the first step.

    Parameters
    ----------
    near
        See ``restore``: options with more uses are redrawn, up to ``DRAWS`` times.
    required
        The required deliveries.
    steps
        Number of steps to draw from.
    greedy
        Whether to schedule greedily what fits before the rest is drawn (ours); the individual has
        to be empty.
    option, step
        Shape (deliveries,): -1 for unscheduled deliveries; overwritten.
    stop
        Shape (1,): another thread sets this to end the greedy part early.
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
