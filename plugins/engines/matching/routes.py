"""Kernels for messages of one destination: routes of low load, chosen one after another."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.ragged import owners
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, shuffle, uniform

SHARE = 10.0
EXPONENT = 24
NOISE = 0.01
"""A hop costs 1 and, for each of its resources, ``SHARE`` times the load in relation to the largest
load, to the power of ``EXPONENT``, and a random number below ``NOISE`` that is drawn in every
sweep, as many routes cost the same."""
SURCHARGE = 3.0
"""Price that is added for good, in every sweep, per use beyond the allowed load. Chosen by hand."""


class Routes(NamedTuple):
    """A route for every required delivery: a chain of options of one hop.

    Parameters
    ----------
    delivery_of
        Shape (options,): the delivery of each option.
    goal
        Shape (routes,): the required deliveries.
    first
        Shape (routes,): the first delivery of each route, -1 for none yet.
    following
        Shape (deliveries,): the next delivery of the route, -1 at its end.
    option
        Shape (deliveries,): the options of the routes.
    load
        Shape (resources,): the uses of each limited resource by all routes.
    """

    delivery_of: IntArray
    goal: IntArray
    first: IntArray
    following: IntArray
    option: IntArray
    load: IntArray


class Scratch(NamedTuple):
    """Prices of resources, and working memory of the search for a cheapest route.

    Parameters
    ----------
    price, noise, surcharge
        Shape (resources,): the price, its random part, and what earlier overloads add to it.
    distance, via
        Shape (deliveries,): the cost from a delivery to the goal, and the next option.
    seen
        Shape (deliveries,): the number of the last search that saw each delivery.
    queue, queued
        A ring of deliveries, and whether each is in it, which holds for none at the end.
    """

    price: NDArray[np.float64]
    noise: NDArray[np.float64]
    surcharge: NDArray[np.float64]
    distance: NDArray[np.float64]
    via: IntArray
    seen: NDArray[np.int64]
    queue: IntArray
    queued: BoolArray


def new_routes(flat: Flat) -> Routes:
    """Return the arrays of routes that are not yet chosen."""
    goal = np.flatnonzero(flat.required).astype(np.int32)
    deliveries = len(flat.required)
    return Routes(
        owners(flat.option_start).astype(np.int32),
        goal,
        np.full(len(goal), -1, dtype=np.int32),
        np.full(deliveries, -1, dtype=np.int32),
        np.full(deliveries, -1, dtype=np.int32),
        np.zeros(len(flat.limit), dtype=np.int32),
    )


@compiled
def new_scratch(flat: Flat) -> Scratch:
    """Return prices and working memory."""
    deliveries, resources = len(flat.required), len(flat.limit)
    return Scratch(
        np.empty(resources),
        np.empty(resources),
        np.zeros(resources),
        np.empty(deliveries),
        np.empty(deliveries, dtype=np.int32),
        np.full(deliveries, -1, dtype=np.int64),
        np.empty(deliveries + 1, dtype=np.int32),
        np.zeros(deliveries, dtype=np.bool_),
    )


@compiled
def choose_routes(flat: Flat, routes: Routes, sweeps: int, stop: BoolArray, state: State) -> None:
    """Choose all routes anew, in random order, ``sweeps`` times after the shortest ones.

    Every route is the cheapest one for the loads of all others.

    Parameters
    ----------
    routes
        Overwritten.
    stop
        Shape (1,): another thread sets this to end after the first routes.
    """
    scratch = new_scratch(flat)
    order = np.arange(len(routes.goal)).astype(np.int32)
    routes.first[:] = -1
    routes.load[:] = 0
    largest = 0.0
    for sweep in range(sweeps + 1):
        shuffle(order, state)
        _draw_prices(flat, routes, scratch, largest, state)
        for place in range(len(order)):
            if stop[0] and sweep > 0:
                return
            search = sweep * len(order) + place
            _change_route(flat, routes, scratch, int(order[place]), search, largest)
        largest = _largest_load(flat, routes)


@compiled
def reduce_load(
    flat: Flat, routes: Routes, target: int, patience: int, stop: BoolArray, state: State
) -> None:
    """Reduce the largest load in relation to the capacity, until it is ``target`` if possible.

    In every sweep, the routes through resources with this load get the cheapest ones, and these
    resources cost more for good (negotiated congestion).

    Parameters
    ----------
    routes
        Those to begin with; overwritten.
    patience
        Sweeps without a smaller largest load after which the search ends.
    stop
        Shape (1,): another thread sets this to end early.
    """
    scratch = new_scratch(flat)
    order = np.arange(len(routes.goal)).astype(np.int32)
    kept = Routes(
        routes.delivery_of,
        routes.goal,
        routes.first.copy(),
        routes.following.copy(),
        routes.option.copy(),
        routes.load.copy(),
    )
    smallest = _largest_load(flat, routes)
    search, idle = 0, 0
    while smallest > target and idle < patience:
        allowed = max(np.ceil(smallest) - 1.0, float(target))
        for resource in range(len(flat.limit)):
            over = routes.load[resource] / max(1, flat.limit[resource]) - allowed
            if over > 0.0:
                scratch.surcharge[resource] += SURCHARGE * over
        shuffle(order, state)
        _draw_prices(flat, routes, scratch, allowed, state)
        for place in range(len(order)):
            if stop[0]:
                break
            route = int(order[place])
            if _is_over(flat, routes, route, allowed):
                _change_route(flat, routes, scratch, route, search, allowed)
                search += 1
        if stop[0]:
            break
        largest = _largest_load(flat, routes)
        idle += 1
        if largest < smallest:
            smallest, idle = largest, 0
            _copy(routes, kept)
    _copy(kept, routes)


@internal
def _copy(source: Routes, target: Routes) -> None:
    """Copy the routes and their loads."""
    for route in range(len(source.first)):
        target.first[route] = source.first[route]
    for delivery in range(len(source.option)):
        target.following[delivery] = source.following[delivery]
        target.option[delivery] = source.option[delivery]
    for resource in range(len(source.load)):
        target.load[resource] = source.load[resource]


@internal
def _largest_load(flat: Flat, routes: Routes) -> float:
    """Return the largest load in relation to the capacity."""
    largest = 0.0
    for resource in range(len(flat.limit)):
        largest = max(largest, routes.load[resource] / max(1, flat.limit[resource]))
    return largest


@internal
def _is_over(flat: Flat, routes: Routes, route: int, allowed: float) -> bool:
    """Return whether a route uses a resource with a larger load than allowed."""
    delivery = routes.first[route]
    while delivery >= 0:
        path = flat.path[routes.option[delivery]]
        for place in range(flat.limited_start[path], flat.limited_start[path + 1]):
            resource = flat.limited[place]
            if routes.load[resource] > allowed * max(1, flat.limit[resource]):
                return True
        delivery = routes.following[delivery]
    return False


@internal
def _draw_prices(
    flat: Flat, routes: Routes, scratch: Scratch, largest: float, state: State
) -> None:
    """Draw the random part of all prices, and compute the prices."""
    for resource in range(len(flat.limit)):
        scratch.noise[resource] = NOISE * uniform(state)
        _set_price(flat, routes, scratch, resource, largest)


@internal
def _change_route(
    flat: Flat, routes: Routes, scratch: Scratch, route: int, search: int, largest: float
) -> None:
    """Give a message the cheapest route for the loads of all others."""
    _add_load(flat, routes, scratch, route, -1, largest)
    _find_route(flat, routes, scratch, route, search)
    _add_load(flat, routes, scratch, route, 1, largest)


@internal
def _set_price(flat: Flat, routes: Routes, scratch: Scratch, resource: int, largest: float) -> None:
    """Compute the price of a resource from its load; the first routes are the shortest."""
    price = scratch.noise[resource] + scratch.surcharge[resource]
    if largest > 0.0:
        ratio = routes.load[resource] / (max(1, flat.limit[resource]) * largest)
        price += SHARE * ratio**EXPONENT
    scratch.price[resource] = price


@internal
def _add_load(
    flat: Flat, routes: Routes, scratch: Scratch, route: int, sign: int, largest: float
) -> None:
    """Add a route to the loads or remove it, and compute the prices of its resources."""
    delivery = routes.first[route]
    while delivery >= 0:
        path = flat.path[routes.option[delivery]]
        for place in range(flat.limited_start[path], flat.limited_start[path + 1]):
            resource = flat.limited[place]
            routes.load[resource] += sign
            _set_price(flat, routes, scratch, resource, largest)
        delivery = routes.following[delivery]


@internal
def _find_route(flat: Flat, routes: Routes, scratch: Scratch, route: int, search: int) -> None:
    """Choose the cheapest route: Bellman and Ford's labels, backwards from the required delivery.

    ``search`` is another number for every call.
    """
    price, _, _, distance, via, seen, queue, queued = scratch
    goal = routes.goal[route]
    size = len(queue)
    seen[goal] = search
    distance[goal] = 0.0
    queue[0] = goal
    head, tail = 0, 1
    best, source = np.inf, -1
    while head != tail:
        delivery = queue[head]
        head = (head + 1) % size
        queued[delivery] = False
        for option in range(flat.option_start[delivery], flat.option_start[delivery + 1]):
            path = flat.path[option]
            cost = distance[delivery] + 1.0
            for place in range(flat.limited_start[path], flat.limited_start[path + 1]):
                cost += price[flat.limited[place]]
            if cost >= best:
                continue
            before = flat.requires[option]
            if before < 0:
                best, source = cost, option
            elif seen[before] != search or cost < distance[before]:
                seen[before] = search
                distance[before] = cost
                via[before] = option
                if not queued[before]:
                    queued[before] = True
                    queue[tail] = before
                    tail = (tail + 1) % size
    delivery = routes.delivery_of[source]
    routes.first[route] = delivery
    routes.option[delivery] = source
    while delivery != goal:
        option = via[delivery]
        after = routes.delivery_of[option]
        routes.following[delivery] = after
        routes.option[after] = option
        delivery = after
    routes.following[goal] = -1
