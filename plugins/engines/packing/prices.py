"""Dual prices of resources: routes of the smallest largest load cost little at these prices."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled

from .routes import Floats, Routing, find_route
from .scatter import Scatter

STEP = 4.0
"""Change of the price that changes the most in the first sweep, in relation to an even price; sweep
k changes prices by the root of k less."""
LEVEL = 3.0
"""Mean price of the resources that are not free; the weight of an overload is 1 at first."""
FREE = 1e-3
"""Share of the highest price up to which a resource is free."""


class Duals(NamedTuple):
    """The state of a search for dual prices.

    Parameters
    ----------
    price
        Shape (resources,): the price of the whole capacity of each resource; their sum is 1.
    total
        Shape (resources,): the sum of the prices per use of all sweeps, each times its number.
    sweeps
        Shape (1,): the number of sweeps.
    """

    price: Floats
    total: Floats
    sweeps: NDArray[np.int64]


def new_duals(scatter: Scatter) -> Duals:
    """Return even prices."""
    usable = (scatter.capacity > 0).astype(np.float64)
    even = usable / max(1.0, float(usable.sum()))
    return Duals(even, np.zeros(len(usable)), np.zeros(1, dtype=np.int64))


@compiled
def improve_duals(
    routing: Routing, order: IntArray, duals: Duals, sweeps: int, stop: BoolArray
) -> None:
    """Set the base prices to approximate duals of the smallest largest load.

    At prices of resources whose sum over all capacities is 1, the cheapest routes of all deliveries
    cost at most the smallest largest load per capacity. In every sweep all deliveries get their
    cheapest routes, and the prices of resources with more load than these cost increase: a
    subgradient. The base prices are the mean of all sweeps, later ones with more weight.

    Parameters
    ----------
    routing
        The base prices are set; the routes of the deliveries in ``order``, their load and other
        prices are overwritten.
    order
        The deliveries.
    duals
        Overwritten; the next call continues from them.
    sweeps
        Times that all routes are chosen.
    stop
        Shape (1,): another thread sets this to end after a sweep.

    References
    ----------
    M. Held, P. Wolfe, H. P. Crowder, "Validation of subgradient optimization", Mathematical
    Programming 6, 1974. doi:10.1007/BF01580223
    """
    scatter, routes, prices = routing
    price, total = duals.price, duals.total
    usable = 0
    for resource in range(len(price)):
        usable += scatter.capacity[resource] > 0
    prices.seen[:] = -1
    search = 0
    for _ in range(sweeps):
        duals.sweeps[0] += 1
        number = duals.sweeps[0]
        for resource in range(len(price)):
            prices.price[resource] = price[resource] / max(1, scatter.capacity[resource])
            total[resource] += number * prices.price[resource]
        routes.load[:] = 0
        cost = 0.0
        for place in range(len(order)):
            find_route(routing, int(order[place]), search)
            search += 1
            for use in range(routes.size[order[place]]):
                used = routes.uses[order[place], use]
                routes.load[used] += 1
                cost += prices.price[used]
        largest = 0.0
        for resource in range(len(price)):
            if scatter.capacity[resource] > 0:
                change = routes.load[resource] / scatter.capacity[resource] - cost
                largest = max(largest, abs(change))
        if largest == 0.0 or stop[0]:
            break
        step = STEP / math.sqrt(number) / usable / largest
        paid = 0.0
        for resource in range(len(price)):
            if scatter.capacity[resource] > 0:
                change = routes.load[resource] / scatter.capacity[resource] - cost
                price[resource] = max(0.0, price[resource] + step * change)
                paid += price[resource]
        for resource in range(len(price)):
            price[resource] /= paid
    prices.base[:] = total
    _level(prices.base)


@compiled
def _level(price: Floats) -> None:
    """Scale prices so that the mean of all that are not nearly 0 is ``LEVEL``."""
    highest = 0.0
    for resource in range(len(price)):
        highest = max(highest, price[resource])
    total, paid = 0.0, 0
    for resource in range(len(price)):
        if price[resource] > FREE * highest:
            total += price[resource]
            paid += 1
    for resource in range(len(price)):
        price[resource] *= LEVEL * paid / max(total, 1e-300)
