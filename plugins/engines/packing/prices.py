"""Dual prices of resources: routes of the smallest largest load cost little at these prices."""

from __future__ import annotations

import math

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled

from .routes import Floats, Routing, find_route

STEP = 4.0
"""Change of the price that changes the most in the first sweep, in relation to an even price; sweep
k changes prices by the root of k less."""
LEVEL = 3.0
"""Mean price of the resources that are not free; the weight of an overload is 1 at first."""
FREE = 1e-3
"""Share of the highest price up to which a resource is free."""


@compiled
def set_dual_prices(
    routing: Routing, order: IntArray, sweeps: int, value: Floats, stop: BoolArray
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
    sweeps
        Times that all routes are chosen; after as many as 200 prices are good enough to reduce
        loads.
    value
        Shape (resources,), overwritten: working memory.
    stop
        Shape (1,): another thread sets this to end; the base prices are those of the last sweep.

    References
    ----------
    M. Held, P. Wolfe, H. P. Crowder, "Validation of subgradient optimization", Mathematical
    Programming 6, 1974. doi:10.1007/BF01580223
    """
    scatter, routes, prices = routing
    usable = 0
    for resource in range(len(value)):
        value[resource] = 1.0 if scatter.capacity[resource] > 0 else 0.0
        usable += scatter.capacity[resource] > 0
        prices.base[resource] = 0.0
    total = float(usable)
    prices.seen[:] = -1
    search = 0
    for sweep in range(1, sweeps + 1):
        for resource in range(len(value)):
            value[resource] /= total
            prices.price[resource] = value[resource] / max(1, scatter.capacity[resource])
            prices.base[resource] += sweep * prices.price[resource]
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
        for resource in range(len(value)):
            if scatter.capacity[resource] > 0:
                change = routes.load[resource] / scatter.capacity[resource] - cost
                largest = max(largest, abs(change))
        if largest == 0.0 or stop[0]:
            break
        total = 0.0
        step = STEP / math.sqrt(sweep) / usable / largest
        for resource in range(len(value)):
            if scatter.capacity[resource] > 0:
                change = routes.load[resource] / scatter.capacity[resource] - cost
                value[resource] = max(0.0, value[resource] + step * change)
                total += value[resource]
    _level(prices.base)


@compiled
def _level(price: Floats) -> None:
    """Scale prices so that the mean of those that are not nearly 0 is ``LEVEL``."""
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
