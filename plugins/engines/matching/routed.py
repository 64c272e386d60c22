"""Kernels for messages of one destination: a schedule of fixed routes."""

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import fits
from cchybrid.toolkit.kernels.rng import State, uniform

from .kernels import sort
from .routes import Routes


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


MIN_GAIN = 1e-9
"""Gains below this are rounding errors."""


@compiled
def match_ports(
    sender: IntArray,
    receiver: IntArray,
    value: NDArray[np.float64],
    edges: int,
    capacity: IntArray,
    chosen: BoolArray,
    load: IntArray,
    gain: NDArray[np.float64],
    via: IntArray,
) -> None:
    """Choose edges of maximum total value, as many at every port as its capacity allows.

    Successive augmenting paths of maximum gain (Bellman and Ford), until none gains anything.

    Parameters
    ----------
    sender, receiver, value
        Shape (at least ``edges``,): the ports and the positive value of each edge. Senders and
        receivers have different numbers.
    capacity
        Shape (ports,).
    chosen
        Shape (at least ``edges``,): overwritten.
    load
        Shape (ports,): overwritten with the number of chosen edges.
    gain, via
        Shape (ports,): the gain of the best path to each port, and its last edge.
    """
    chosen[:edges] = False
    load[:] = 0
    while True:
        gain[:] = -np.inf
        for edge in range(edges):
            if load[sender[edge]] < capacity[sender[edge]]:
                gain[sender[edge]] = 0.0
                via[sender[edge]] = -1
        changed = True
        while changed:
            changed = False
            for edge in range(edges):
                first, last = sender[edge], receiver[edge]
                if not chosen[edge]:
                    if gain[first] + value[edge] > gain[last] + MIN_GAIN:
                        gain[last] = gain[first] + value[edge]
                        via[last] = edge
                        changed = True
                elif gain[last] - value[edge] > gain[first] + MIN_GAIN:
                    gain[first] = gain[last] - value[edge]
                    via[first] = edge
                    changed = True
        end, best = -1, MIN_GAIN
        for edge in range(edges):
            port = receiver[edge]
            if load[port] < capacity[port] and gain[port] > best:
                end, best = port, gain[port]
        if end < 0:
            return
        load[end] += 1
        while via[end] >= 0:
            edge = via[end]
            chosen[edge] = not chosen[edge]
            end = sender[edge] if chosen[edge] else receiver[edge]
        load[end] += 1
