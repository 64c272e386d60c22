"""Kernels for messages of one destination: schedules of fixed routes, and many of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import fits
from cchybrid.toolkit.kernels.rng import State, below, uniform

from .kernels import sort
from .ports import match_ports
from .routes import Routes, choose_routes

__all__ = ["match_routes", "restart_routes"]

HOPS = (0.5, 1.0, 4.0)
NOISE = (0.1, 0.5, 2.0)
"""Values from which every schedule draws the two weights of a hop."""
SWEEPS, SCHEDULES = 6, 4
"""Sweeps in which all routes are chosen again, and schedules of the same routes."""


@compiled
def restart_routes(
    flat: Flat,
    delivery_of: IntArray,
    routes: Routes,
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
    delivery_of
        Shape (options,): the delivery of each option.
    routes
        Overwritten: chosen anew for every few schedules.
    number, fewest, option, step, stop
        As in ``restart``.
    """
    new_option, new_step = np.empty_like(option), np.empty_like(step)
    weight = np.empty(2)
    for made in range(number):
        if fewest == 0 or stop[0]:
            return made, fewest
        if made % SCHEDULES == 0:
            choose_routes(flat, delivery_of, routes, SWEEPS, stop, state)
        weight[0] = HOPS[below(state, len(HOPS))]
        weight[1] = NOISE[below(state, len(NOISE))]
        missing = match_routes(flat, routes, weight, steps, new_option, new_step, stop, state)
        if missing < fewest and not stop[0]:
            fewest = missing
            option[:] = new_option
            step[:] = new_step
    return number, fewest


@compiled
def match_routes(
    flat: Flat,
    routes: Routes,
    weight: NDArray[np.float64],
    steps: int,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Make a schedule of at most ``steps`` steps; return the routes that are not completed.

    In every step, the channels take the next hops of the largest value, and a maximum-weight
    matching of senders to receivers chooses among these.

    Parameters
    ----------
    weight
        Shape (2,): factors of the hops left on a route and of a random number below 1. The value of
        the next hop is their sum and that of the loads of its resources: the hops not yet made, in
        relation to the capacity.
    option, step
        Shape (deliveries,): overwritten; -1 for deliveries that are not made.
    """
    option[:] = -1
    step[:] = -1
    size, resources = len(routes.goal), len(flat.limit)
    ahead = routes.first.copy()
    left = np.zeros(size, dtype=np.int32)
    load = np.empty(resources)
    for resource in range(resources):
        load[resource] = routes.load[resource] / max(1, flat.limit[resource])
    for route in range(size):
        delivery = ahead[route]
        while delivery >= 0:
            left[route] += 1
            delivery = routes.following[delivery]
    value = np.empty(size)
    active = np.arange(size).astype(np.int32)
    order = np.empty(size, dtype=np.int32)
    edge_route = np.empty(size, dtype=np.int32)
    sender, receiver = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    edge_value = np.empty(size)
    chosen = np.empty(size, dtype=np.bool_)
    row, ports = np.empty(resources, dtype=np.int32), np.empty(resources, dtype=np.int32)
    gain, via = np.empty(resources), np.empty(resources, dtype=np.int32)
    for now in range(steps):
        if size == 0 or stop[0]:
            return size
        for place in range(size):
            route = active[place]
            value[route] = weight[0] * left[route] + weight[1] * uniform(state)
            path = flat.path[routes.option[ahead[route]]]
            for use in range(flat.limited_start[path], flat.limited_start[path + 1]):
                value[route] += load[flat.limited[use]]
            order[place] = route
        sort(order, size, value)
        row[:] = 0
        edges = 0
        for place in range(size - 1, -1, -1):
            route = order[place]
            path = flat.path[routes.option[ahead[route]]]
            if _take_channels(flat, row, path):
                edge_route[edges] = route
                sender[edges] = flat.inject[path]
                receiver[edges] = flat.accept[path]
                edge_value[edges] = value[route]
                edges += 1
        match_ports(sender, receiver, edge_value, edges, flat.limit, chosen, ports, gain, via)
        row[:] = 0
        for edge in range(edges):
            route = edge_route[edge]
            delivery = ahead[route]
            path = flat.path[routes.option[delivery]]
            # A path of a quotient may use a port more than once.
            if chosen[edge] and fits(flat, row, path):
                option[delivery] = routes.option[delivery]
                step[delivery] = now
                ahead[route] = routes.following[delivery]
                left[route] -= 1
                for place in range(flat.limited_start[path], flat.limited_start[path + 1]):
                    resource = flat.limited[place]
                    load[resource] -= 1.0 / flat.limit[resource]
        kept = 0
        for place in range(size):
            if left[active[place]] > 0:
                active[kept] = active[place]
                kept += 1
        size = kept
    return size


@internal
def _take_channels(flat: Flat, row: IntArray, path: int) -> bool:
    """Add a path to the loads of its channels, if their capacities allow it."""
    for place in range(flat.use_start[path], flat.use_start[path + 1]):
        resource = flat.use[place]
        if resource == flat.inject[path] or resource == flat.accept[path]:
            continue
        if row[resource] >= flat.capacity[resource]:
            return False
    for place in range(flat.use_start[path], flat.use_start[path + 1]):
        row[flat.use[place]] += 1
    return True
