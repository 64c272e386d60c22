"""Kernels for messages of one destination: routes of low load, chosen one after another."""

from __future__ import annotations

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
    price, noise
        Shape (resources,): the price, and its random part.
    distance, via
        Shape (deliveries,): the cost from a delivery to the goal, and the next option.
    seen
        Shape (deliveries,): the number of the last search that saw each delivery.
    queue, queued
        A ring of deliveries, and whether each is in it, which holds for none at the end.
    """

    price: NDArray[np.float64]
    noise: NDArray[np.float64]
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
    deliveries = len(flat.required)
    order = np.arange(len(routes.goal)).astype(np.int32)
    scratch = Scratch(
        np.empty(len(flat.limit)),
        np.empty(len(flat.limit)),
        np.empty(deliveries),
        np.empty(deliveries, dtype=np.int32),
        np.full(deliveries, -1, dtype=np.int64),
        np.empty(deliveries + 1, dtype=np.int32),
        np.zeros(deliveries, dtype=np.bool_),
    )
    routes.first[:] = -1
    routes.load[:] = 0
    search = 0
    largest = 0.0
    for sweep in range(sweeps + 1):
        shuffle(order, state)
        for resource in range(len(flat.limit)):
            scratch.noise[resource] = NOISE * uniform(state)
            _set_price(flat, routes, scratch, resource, largest)
        for place in range(len(order)):
            route = int(order[place])
            if stop[0] and sweep > 0:
                return
            _add_load(flat, routes, scratch, route, -1, largest)
            _find_route(flat, routes, scratch, route, search)
            search += 1
            _add_load(flat, routes, scratch, route, 1, largest)
        largest = 0.0
        for resource in range(len(flat.limit)):
            largest = max(largest, routes.load[resource] / max(1, flat.limit[resource]))


@internal
def _set_price(flat: Flat, routes: Routes, scratch: Scratch, resource: int, largest: float) -> None:
    """Compute the price of a resource from its load; the first routes are the shortest."""
    price = scratch.noise[resource]
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
    price, _, distance, via, seen, queue, queued = scratch
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
