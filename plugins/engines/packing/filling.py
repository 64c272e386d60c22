"""Fill one step after another with routes that share no resource, by local search."""

import math

from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, below, uniform

from .step_filling import Filling, draw_free, empty_step, evict_delivery, fits, insert_delivery

CANDIDATES = 8
"""Deliveries that are compared for a resource."""


@compiled
def fill_steps(
    filling: Filling,
    first: int,
    steps: int,
    effort: tuple[float, float],
    stop: BoolArray,
    state: State,
) -> int:
    """Fill up to ``steps`` steps from step ``first`` on; return how many.

    Parameters
    ----------
    effort
        Exchanges that are tried per step and resource, and the temperature at the beginning of a
        step.
    stop
        Shape (1,): another thread sets this to end early.
    """
    users, filled = filling.users, filling.filled
    tick = 0
    filled.seen[:] = -1
    for number in range(steps):
        places = empty_step(filling, users.size)
        if places == 0 or stop[0]:
            return number
        tick = _exchange(filling, int(places * effort[0]), effort[1], tick, state)
        _complete(filling)
        _close(filling, first + number)
    return steps


@internal
def _exchange(filling: Filling, trials: int, hottest: float, tick: int, state: State) -> int:
    """Insert deliveries and evict others in their way, by simulated annealing; return the tick."""
    scatter, routes, users, _, filled, _ = filling
    for trial in range(trials):
        if filled.free.length[0] == 0:
            break
        resource = draw_free(filled, state)
        best, best_gain, best_row, best_evicted = -1, -1.0e300, 0, 0
        for _ in range(CANDIDATES):
            place = users.start[resource] + below(state, users.size[resource])
            delivery = int(users.delivery[place])
            if filled.value[delivery] > 0.0:
                continue
            tick += 1
            gain, row, evicted = 0.0, 1 - best_row, 0
            for use in range(routes.size[delivery]):
                used = int(routes.uses[delivery, use])
                gain += filled.weight[used]
                if filled.used[used] < scatter.capacity[used]:
                    continue
                lane = filled.lane_start[used]
                if filled.used[used] > 1:
                    lane += below(state, filled.used[used])
                blocking = int(filled.lane[lane])
                if filled.seen[blocking] != tick:
                    filled.seen[blocking] = tick
                    filled.evicted[row, evicted] = blocking
                    evicted += 1
                    gain -= filled.value[blocking]
            if gain > best_gain:
                best, best_gain, best_row, best_evicted = delivery, gain, row, evicted
        if best < 0:
            continue
        heat = hottest * (1.0 - trial / trials)
        if best_gain > 0.0 or best_gain > heat * math.log(uniform(state) + 1e-300):
            for index in range(best_evicted):
                evict_delivery(filling, int(filled.evicted[best_row, index]))
            insert_delivery(filling, best)
    return tick


@internal
def _complete(filling: Filling) -> None:
    """Insert whatever still fits."""
    scatter, _, users, _, filled, _ = filling
    for resource in range(len(filled.used)):
        for position in range(users.size[resource]):
            if filled.used[resource] == scatter.capacity[resource]:
                break
            delivery = int(users.delivery[users.start[resource] + position])
            if fits(filling, delivery):
                insert_delivery(filling, delivery)


@internal
def _close(filling: Filling, number: int) -> None:
    """Schedule the deliveries of the step: they no longer wait."""
    _, routes, users, _, filled, step = filling
    for resource in range(len(filled.used)):
        while filled.used[resource] > 0:
            delivery = int(filled.lane[filled.lane_start[resource]])
            evict_delivery(filling, delivery)
            step[delivery] = number
            for use in range(routes.size[delivery]):
                used = int(routes.uses[delivery, use])
                users.size[used] -= 1
                last = int(users.delivery[users.start[used] + users.size[used]])
                place = users.place[delivery, use]
                users.delivery[place] = last
                for index in range(routes.size[last]):
                    if routes.uses[last, index] == used:
                        users.place[last, index] = place
