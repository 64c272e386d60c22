"""Initial individuals (thesis section 6.5.4)."""

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.mutation import draw_distributor
from cchybrid.toolkit.evolution.ports import count_ports, free_ports
from cchybrid.toolkit.kernels import compiled, internal
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


@internal
def build_in_order(
    flat: Flat, order: IntArray, option: IntArray, step: IntArray, table: IntArray, state: State
) -> None:
    """Draw the distributor and path of every delivery, then select its step (thesis section 6.5.4).

    Step by step, and in random order, the deliveries whose distributor was informed in an earlier
    step, and whose two ports are free, get that step (port utilisation, section 6.5.1). What is
    left gets the last step, where ``restore`` changes the distributors that are not informed.

    Parameters
    ----------
    order
        Shape (deliveries,): overwritten with their numbers in random order.
    option, step
        Shape (deliveries,): overwritten.
    table
        Shape (steps, resources): overwritten with the loads of the ports.
    """
    steps = len(table)
    table[:] = 0
    for delivery in range(len(order)):
        order[delivery] = delivery
        option[delivery], step[delivery] = draw_distributor(flat, delivery, state), steps
    shuffle(order, state)
    for now in range(steps):
        last = now + 1 == steps
        for delivery in order:
            before, path = flat.requires[option[delivery]], flat.path[option[delivery]]
            if step[delivery] == steps and (
                last
                or (
                    (before < 0 or step[before] < now)
                    and free_ports(flat.inject, flat.accept, flat.capacity, table, now, path) > 0
                )
            ):
                step[delivery] = now
                count_ports(flat, table[now], path)
