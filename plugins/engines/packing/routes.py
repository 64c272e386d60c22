"""Routes of low load for deliveries from the source, chosen one after another."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Problem
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.structure import NetworkStructure
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, shuffle, uniform

from .scatter import Scatter, new_scatter

NOISE = 0.01
"""A resource costs its load in relation to the largest load, to the power of an exponent, and a
random number below ``NOISE`` that is drawn in every sweep, as many routes cost the same."""
WEIGHT_STEP, LOAD_SHARE, LOAD_EXPONENT = 0.3, 0.3, 64.0
"""Prices while the largest load is reduced to a target: ``LOAD_SHARE`` times the load in relation
to the target to the power of ``LOAD_EXPONENT``, and a weight for every use beyond the target: 1 at
first, and ``WEIGHT_STEP`` more after each sweep that leaves the resource overloaded."""

MAX_SHUFFLED, SCANS = 100_000, 256
"""Deliveries up to which those with overloaded routes change them in random order; in their own
order a scan of more takes a tenth of the time. ``SCANS`` scans count as a change of every route."""

Floats = NDArray[np.float64]


class Routes(NamedTuple):
    """A route for every delivery.

    Parameters
    ----------
    uses
        Shape (deliveries, longest): the resources of each, in the order of the route; the ports
        are the last ones.
    size
        Shape (deliveries,): the number of resources, 0 for no route yet.
    load
        Shape (resources,): the uses by the deliveries of the last ``choose_routes``.
    """

    uses: IntArray
    size: IntArray
    load: IntArray


class Prices(NamedTuple):
    """Prices of resources, and working memory of the search for a cheapest route.

    Parameters
    ----------
    price, noise, weight, base
        Shape (resources,): the price, its random part, the price of each use beyond a target, and
        a part that stays (see ``improve_duals``).
    cost, seen, via
        Per label (a node, and the hops to it beyond the fewest): its cost, the number of the last
        search that saw it, and the label and the resource before it.
    queue
        Shape (labels,): the nodes of the search.
    """

    price: Floats
    noise: Floats
    weight: Floats
    base: Floats
    cost: Floats
    seen: NDArray[np.int64]
    via: IntArray
    queue: IntArray


class Routing(NamedTuple):
    """The routes of a scatter, and the prices by which they are chosen."""

    scatter: Scatter
    routes: Routes
    prices: Prices


class Terms(NamedTuple):
    """The terms of a price.

    A resource costs ``share`` times its load in relation to ``target``, to the power of
    ``exponent``, and its weight for every use beyond the target.
    """

    target: float
    share: float
    exponent: float


def new_routing(problem: Problem, structure: NetworkStructure) -> Routing:
    """Return the required deliveries of a Problem without forwarding, with no route chosen yet."""
    scatter = new_scatter(problem, structure)
    return Routing(scatter, new_routes(scatter), new_prices(scatter))


def new_routes(scatter: Scatter) -> Routes:
    """Return the arrays of routes that are not yet chosen."""
    deliveries = len(scatter.source)
    hops = int(scatter.distance[scatter.source, scatter.target].max(initial=0)) + scatter.extra
    longest = hops + 2
    return Routes(
        np.zeros((deliveries, longest), dtype=np.int32),
        np.zeros(deliveries, dtype=np.int32),
        np.zeros(len(scatter.capacity), dtype=np.int32),
    )


def new_prices(scatter: Scatter) -> Prices:
    """Return prices and working memory for a scatter."""
    labels, resources = len(scatter.passable) * (1 + scatter.extra), len(scatter.capacity)
    return Prices(
        np.zeros(resources),
        np.zeros(resources),
        np.zeros(resources),
        np.zeros(resources),
        np.zeros(labels),
        np.zeros(labels, dtype=np.int64),
        np.zeros((labels, 2), dtype=np.int32),
        np.zeros(labels, dtype=np.int32),
    )


@compiled
def choose_routes(
    routing: Routing, order: IntArray, exponents: Floats, stop: BoolArray, state: State
) -> None:
    """Choose the routes of some deliveries anew, in random order, once for each exponent.

    Every route is the cheapest allowed one, for the loads of all others.

    Parameters
    ----------
    routing
        The routes of the deliveries in ``order`` are overwritten; ``load`` counts only these
        afterwards. Prices are overwritten.
    order
        The deliveries; permuted.
    exponents
        Of the prices: low ones spread the load, high ones reduce the largest load.
    stop
        Shape (1,): another thread sets this to end as soon as every delivery has a route.
    """
    scatter, routes, prices = routing
    prices.weight[:] = 0.0
    prices.seen[:] = -1
    search = 0
    count_load(routes, order)
    for exponent in exponents:
        largest = 1.0
        for resource in range(len(routes.load)):
            if scatter.capacity[resource] > 0:
                load = routes.load[resource] / scatter.capacity[resource]
                largest = max(largest, load)
        terms = Terms(largest, 1.0, exponent)
        _draw_prices(routing, terms, state)
        shuffle(order, state)
        for place in range(len(order)):
            delivery = int(order[place])
            if stop[0] and routes.size[delivery] > 0:
                continue
            _change_route(routing, terms, delivery, search)
            search += 1


@compiled
def count_load(routes: Routes, order: IntArray) -> None:
    """Let ``routes.load`` count the uses by the deliveries in ``order``."""
    routes.load[:] = 0
    for place in range(len(order)):
        for use in range(routes.size[order[place]]):
            routes.load[routes.uses[order[place], use]] += 1


@compiled
def reduce_load(
    routing: Routing, order: IntArray, target: int, moves: int, stop: BoolArray, state: State
) -> bool:
    """Change routes until no load exceeds ``target``; return whether that is so.

    In every sweep, each delivery that uses an overloaded resource gets the cheapest route. The
    prices of overloaded resources increase from sweep to sweep, as the weights of violated
    constraints in the breakout method (P. Morris, AAAI 1993).

    Parameters
    ----------
    order
        The deliveries with a route; permuted. ``routes.load`` counts them.
    target
        Uses per capacity.
    moves
        The number of routes after which the search ends.
    """
    scatter, routes, prices = routing
    terms = Terms(float(target), LOAD_SHARE, LOAD_EXPONENT)
    prices.weight[:] = 1.0
    prices.seen[:] = -1
    search = 0
    while search < moves:
        overloaded = False
        for resource in range(len(routes.load)):
            if routes.load[resource] > target * scatter.capacity[resource]:
                overloaded = True
                prices.weight[resource] += WEIGHT_STEP
        _draw_prices(routing, terms, state)
        if not overloaded or stop[0]:
            return not overloaded
        if len(order) > MAX_SHUFFLED:
            search += len(order) // SCANS
        else:
            shuffle(order, state)
        for place in range(len(order)):
            delivery = int(order[place])
            overloaded = False
            for use in range(routes.size[delivery]):
                used = routes.uses[delivery, use]
                if routes.load[used] > target * scatter.capacity[used]:
                    overloaded = True
            if overloaded:
                _change_route(routing, terms, delivery, search)
                search += 1
    return False


@internal
def _draw_prices(routing: Routing, terms: Terms, state: State) -> None:
    """Draw the random part of all prices, and compute the prices."""
    for resource in range(len(routing.routes.load)):
        routing.prices.noise[resource] = NOISE * uniform(state)
        _set_price(routing, terms, resource)


@internal
def _set_price(routing: Routing, terms: Terms, resource: int) -> None:
    """Compute the price of a resource from its load and its weight."""
    scatter, routes, prices = routing
    load = (routes.load[resource] + 1) / max(1, scatter.capacity[resource])
    price = prices.base[resource] + prices.noise[resource]
    price += terms.share * (load / terms.target) ** terms.exponent
    if load > terms.target:
        price += prices.weight[resource] * (load - terms.target)
    prices.price[resource] = price


@internal
def _change_route(routing: Routing, terms: Terms, delivery: int, search: int) -> None:
    """Give a delivery the cheapest route for the loads of all others; keep loads and prices."""
    routes = routing.routes
    for sign in (-1, 1):
        for use in range(routes.size[delivery]):
            resource = int(routes.uses[delivery, use])
            routes.load[resource] += sign
            _set_price(routing, terms, resource)
        if sign < 0:
            find_route(routing, delivery, search)


@internal
def find_route(routing: Routing, delivery: int, search: int) -> None:
    """Choose the cheapest allowed route: labels, hop by hop from the source.

    A label is a node and the hops to it beyond the fewest. Among equally cheap routes the shorter
    one is taken.

    ``search`` is another number for every call.
    """
    scatter, routes, prices = routing
    cost, seen, via, queue = prices.cost, prices.seen, prices.via, prices.queue
    source, target = int(scatter.source[delivery]), int(scatter.target[delivery])
    width = scatter.extra + 1
    limit = scatter.distance[source, target] + scatter.extra
    queue[0] = source
    seen[source * width] = search
    cost[source * width] = 0.0
    head, tail = 0, 1
    for hops in range(1, limit + 1):
        end = tail
        while head < end:
            node = int(queue[head])
            head += 1
            if node == target:
                continue
            here = node * width + hops - 1 - scatter.distance[source, node]
            for channel in range(scatter.first[node], scatter.first[node + 1]):
                after = int(scatter.head[channel])
                left = scatter.distance[after, target]
                if left < 0 or hops + left > limit or after == source:
                    continue
                if after != target and not scatter.passable[after]:
                    continue
                resource = int(scatter.resource[channel])
                spent = cost[here] + prices.price[resource]
                there = after * width + hops - scatter.distance[source, after]
                if seen[there] != search:
                    seen[there] = search
                    queue[tail] = after
                    tail += 1
                elif spent >= cost[there]:
                    continue
                cost[there] = spent
                via[there, 0] = here
                via[there, 1] = resource
    label = -1
    for extra in range(width):
        there = target * width + extra
        if seen[there] == search and (label < 0 or cost[there] < cost[label]):
            label = there
    count = scatter.distance[source, target] + label - target * width
    for hop in range(count - 1, -1, -1):
        routes.uses[delivery, hop] = via[label, 1]
        label = int(via[label, 0])
    add_ports(scatter, routes, delivery, count)


@internal
def add_ports(scatter: Scatter, routes: Routes, delivery: int, hops: int) -> None:
    """Complete a route, of which the channels are set, by the ports of its ends."""
    inject = scatter.inject[scatter.source[delivery]]
    accept = scatter.accept[scatter.target[delivery]]
    count = hops
    if inject >= 0:
        routes.uses[delivery, count] = inject
        count += 1
    if accept >= 0:
        routes.uses[delivery, count] = accept
        count += 1
    routes.size[delivery] = count


def route_hops(scatter: Scatter, routes: Routes) -> IntArray:
    """Return the hops of the route of every delivery."""
    ports = (scatter.inject[scatter.source] >= 0).astype(np.int32)
    ports += scatter.accept[scatter.target] >= 0
    return routes.size - ports


@compiled
def route_nodes(scatter: Scatter, routes: Routes, start: NDArray[np.int64], node: IntArray) -> None:
    """Write the nodes of all routes into ``node``, those of a delivery from ``start`` on."""
    for delivery in range(len(scatter.source)):
        here = int(scatter.source[delivery])
        place = start[delivery]
        node[place] = here
        for use in range(start[delivery + 1] - place - 1):
            for channel in range(scatter.first[here], scatter.first[here + 1]):
                if scatter.resource[channel] == routes.uses[delivery, use]:
                    here = int(scatter.head[channel])
                    break
            node[place + use + 1] = here
