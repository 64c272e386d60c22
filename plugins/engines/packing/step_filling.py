"""The step that is being filled, and the deliveries that wait: inserted, evicted and listed."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.problem.ragged import offsets_of
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.indexed_list import IndexedList, drop, empty_list, insert
from cchybrid.toolkit.kernels.rng import State, below

from .routes import Routes
from .scatter import Scatter

BASE = 0.1
"""Weight of a use of any resource; that of a resource with the largest load is larger by 1."""
DECLINE = 0.02
"""Difference to the largest load, as a share of it, at which the additional weight is 1 / e."""


class Users(NamedTuple):
    """The waiting deliveries of every resource.

    Parameters
    ----------
    start, size, delivery
        The deliveries of resource r are the first ``size[r]`` from ``delivery[start[r]]`` on.
    place
        Shape (deliveries, longest): where a delivery is listed, per use of its route.
    """

    start: LongArray
    size: IntArray
    delivery: IntArray
    place: LongArray


class Step(NamedTuple):
    """The deliveries of the step that is being filled.

    Parameters
    ----------
    lane_start, lane, used
        The users of resource r are the first ``used[r]`` from ``lane[lane_start[r]]`` on.
    free
        The resources with free capacity.
    weight
        Shape (resources,): the weight of a use.
    value
        Shape (deliveries,): the weight of all uses of a delivery in the step, 0 for others.
    seen, evicted
        Shapes (deliveries,) and (2, longest): working memory.
    """

    lane_start: LongArray
    lane: IntArray
    used: IntArray
    free: IndexedList
    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    seen: LongArray
    evicted: IntArray


class Ends(NamedTuple):
    """The waiting deliveries by their ends, and working memory of searches from a source.

    Parameters
    ----------
    first, next
        Shapes (nodes, nodes) and (deliveries,): the first delivery between two nodes, and the next
        one of the same nodes, -1 for none; scheduled ones are skipped.
    tail
        Shape (resources,): the node at the start of a channel, -1 for ports.
    into_start, into
        The channels into node v are the resources ``into[into_start[v]:into_start[v + 1]]``.
    queue, seen
        Shape (nodes,): the nodes reached by a search, and the number of the last one that did.
    before, channel, blocking
        Shape (nodes,): the node before, the resource of the channel from there, and the delivery to
        be removed from the step for the route (-1 for none).
    kept
        Shape (deliveries, longest + 1): of a delivery in the step, the route it had before, and at
        last the size of that.
    """

    first: IntArray
    next: IntArray
    tail: IntArray
    into_start: IntArray
    into: IntArray
    queue: IntArray
    seen: LongArray
    before: IntArray
    channel: IntArray
    blocking: IntArray
    kept: IntArray


class Filling(NamedTuple):
    """A schedule that is being filled.

    ``step``, shape (deliveries,), has the step of each, -1 for those that wait.
    """

    scatter: Scatter
    routes: Routes
    users: Users
    ends: Ends
    filled: Step
    step: IntArray


def new_filling(scatter: Scatter, routes: Routes) -> Filling:
    """Return an empty schedule."""
    step = np.full(len(scatter.source), -1, dtype=np.int32)
    users, ends = new_users(routes), new_ends(scatter, routes)
    return Filling(scatter, routes, users, ends, new_step(scatter, routes), step)


def new_users(routes: Routes) -> Users:
    """Return lists for all deliveries."""
    deliveries, longest = routes.uses.shape
    resources = len(routes.load)
    return Users(
        np.zeros(resources + 1, dtype=np.int64),
        np.zeros(resources, dtype=np.int32),
        np.zeros(deliveries * longest, dtype=np.int32),
        np.zeros((deliveries, longest), dtype=np.int64),
    )


def new_ends(scatter: Scatter, routes: Routes) -> Ends:
    """Return empty lists."""
    nodes = len(scatter.passable)
    start = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(scatter.first))
    tail = np.full(len(scatter.capacity), -1, dtype=np.int32)
    tail[scatter.resource] = start
    return Ends(
        np.full((nodes, nodes), -1, dtype=np.int32),
        np.full(len(scatter.source), -1, dtype=np.int32),
        tail,
        offsets_of(np.sort(scatter.head), nodes).astype(np.int32),
        scatter.resource[np.argsort(scatter.head, kind="stable")],
        np.zeros(nodes, dtype=np.int32),
        np.full(nodes, -1, dtype=np.int64),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros((len(scatter.source), routes.uses.shape[1] + 1), dtype=np.int32),
    )


def new_step(scatter: Scatter, routes: Routes) -> Step:
    """Return an empty step."""
    deliveries, longest = routes.uses.shape
    resources = len(scatter.capacity)
    lanes = np.minimum(scatter.capacity, deliveries)
    return Step(
        np.concatenate(([0], np.cumsum(lanes))),
        np.zeros(int(lanes.sum()), dtype=np.int32),
        np.zeros(resources, dtype=np.int32),
        empty_list(resources),
        np.zeros(resources),
        np.zeros(deliveries),
        np.full(deliveries, -1, dtype=np.int64),
        np.zeros((2, longest), dtype=np.int32),
    )


@internal
def empty_step(filling: Filling, load: IntArray) -> int:
    """Begin a step by the loads of the waiting deliveries; return its places for uses."""
    scatter, filled = filling.scatter, filling.filled
    largest, places = 0.0, 0
    filled.free.length[0] = 0
    for resource in range(len(load)):
        filled.used[resource] = 0
        if load[resource] > 0:
            largest = max(largest, load[resource] / scatter.capacity[resource])
            places += min(load[resource], scatter.capacity[resource])
            insert(filled.free, resource)
    for resource in range(len(load)):
        if scatter.capacity[resource] > 0:
            behind = largest - load[resource] / scatter.capacity[resource]
            share = math.exp(-behind / (1.0 + DECLINE * largest))
            filled.weight[resource] = BASE + share
    return places


@compiled
def list_users(filling: Filling, waiting: IntArray) -> None:
    """List the waiting deliveries of every resource; ``routes.load`` counts them."""
    routes, users = filling.routes, filling.users
    users.start[0] = 0
    for resource in range(len(users.size)):
        users.start[resource + 1] = users.start[resource] + routes.load[resource]
        users.size[resource] = 0
    for place in range(len(waiting)):
        delivery = waiting[place]
        for use in range(routes.size[delivery]):
            resource = routes.uses[delivery, use]
            position = users.start[resource] + users.size[resource]
            users.delivery[position] = delivery
            users.place[delivery, use] = position
            users.size[resource] += 1


@internal
def fits(filling: Filling, delivery: int) -> bool:
    """Return whether a delivery is not in the step, and its resources have free capacity."""
    scatter, routes, filled = filling.scatter, filling.routes, filling.filled
    for use in range(routes.size[delivery]):
        used = routes.uses[delivery, use]
        if filled.used[used] >= scatter.capacity[used]:
            return False
    return bool(filled.value[delivery] == 0.0)


@internal
def insert_delivery(filling: Filling, delivery: int) -> None:
    """Add a delivery to the step; its resources have free capacity."""
    scatter, routes, filled = filling.scatter, filling.routes, filling.filled
    value = 0.0
    for use in range(routes.size[delivery]):
        resource = int(routes.uses[delivery, use])
        filled.lane[filled.lane_start[resource] + filled.used[resource]] = delivery
        filled.used[resource] += 1
        if filled.used[resource] == scatter.capacity[resource]:
            drop(filled.free, resource)
        value += filled.weight[resource]
    filled.value[delivery] = value


@internal
def evict_delivery(filling: Filling, delivery: int) -> None:
    """Remove a delivery from the step."""
    scatter, routes, filled = filling.scatter, filling.routes, filling.filled
    for use in range(routes.size[delivery]):
        resource = int(routes.uses[delivery, use])
        if filled.used[resource] == scatter.capacity[resource]:
            insert(filled.free, resource)
        filled.used[resource] -= 1
        place = filled.lane_start[resource]
        last = place + filled.used[resource]
        while filled.lane[place] != delivery:
            place += 1
        filled.lane[place] = filled.lane[last]
    filled.value[delivery] = 0.0


@internal
def draw_free(filled: Step, state: State) -> int:
    """Return the resource of larger weight of two random ones with room in the step."""
    resource = int(filled.free.items[below(state, filled.free.length[0])])
    other = int(filled.free.items[below(state, filled.free.length[0])])
    return other if filled.weight[other] > filled.weight[resource] else resource
