"""Fill one step after another with routes that share no resource, by local search."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.problem.ragged import offsets_of
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.indexed_list import IndexedList, drop, empty_list, insert
from cchybrid.toolkit.kernels.rng import State, below, uniform

from .routes import Routes
from .scatter import Scatter

CANDIDATES = 8
"""Deliveries that are compared for a resource."""
BASE = 0.1
"""Weight of a use of any resource; that of a resource with the largest load is larger by 1."""
DECLINE = 0.02
"""Difference to the largest load, as a share of it, at which the additional weight is 1 / e."""
HEAT = 0.3
"""Temperature at the beginning of a step."""
PRICE = 0.3
"""Weight that a delivery must exceed to be inserted without another one's removal, so that short
ones are left for later steps."""


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
    before, channel, blocking, value
        Shape (nodes,): the node before, the resource of the channel from there, the delivery to be
        removed from the step for the route (-1 for none), and the weight of the route.
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
    value: NDArray[np.float64]


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
    users, ends = new_users(routes), new_ends(scatter)
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


def new_ends(scatter: Scatter) -> Ends:
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
        np.zeros(nodes),
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


@compiled
def list_users(filling: Filling, waiting: IntArray) -> None:
    """List the waiting deliveries of every resource; ``routes.load`` counts them."""
    scatter, routes, users, ends = filling.scatter, filling.routes, filling.users, filling.ends
    ends.first[:] = -1
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
        source, target = scatter.source[delivery], scatter.target[delivery]
        ends.next[delivery] = ends.first[source, target]
        ends.first[source, target] = delivery


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
        Exchanges that are tried per step and resource: of random deliveries, and of paths.
        Without the latter, whatever fits is inserted at the end.
    stop
        Shape (1,): another thread sets this to end early.
    """
    scatter, users, filled = filling.scatter, filling.users, filling.filled
    tick = 0
    filled.seen[:] = -1
    filling.ends.seen[:] = -1
    for number in range(steps):
        largest = 0.0
        trials = 0.0
        for resource in range(len(users.size)):
            if users.size[resource] > 0:
                largest = max(largest, users.size[resource] / scatter.capacity[resource])
                trials += min(users.size[resource], scatter.capacity[resource])
        if largest == 0.0 or stop[0]:
            return number
        filled.free.length[0] = 0
        for resource in range(len(users.size)):
            filled.used[resource] = 0
            if users.size[resource] > 0:
                behind = largest - users.size[resource] / scatter.capacity[resource]
                weight = BASE + math.exp(-behind / (1.0 + DECLINE * largest))
                filled.weight[resource] = weight
                insert(filled.free, resource)
        tick = _exchange(filling, int(trials * effort[0]), tick, state)
        if effort[1] > 0.0:
            tick = _exchange_paths(filling, int(trials * effort[1]), tick, state)
        else:
            _complete(filling)
        _close(filling, first + number)
    return steps


@internal
def _insert(filling: Filling, delivery: int) -> None:
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
def _evict(filling: Filling, delivery: int) -> None:
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
def _exchange(filling: Filling, trials: int, tick: int, state: State) -> int:
    """Insert deliveries and evict others in their way, by simulated annealing; return the tick."""
    scatter, routes, users, _, filled, _ = filling
    for trial in range(trials):
        if filled.free.length[0] == 0:
            break
        resource = int(filled.free.items[below(state, filled.free.length[0])])
        other = int(filled.free.items[below(state, filled.free.length[0])])
        if filled.weight[other] > filled.weight[resource]:
            resource = other
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
        heat = HEAT * (1.0 - trial / trials)
        if best_gain > 0.0 or best_gain > heat * math.log(uniform(state) + 1e-300):
            for index in range(best_evicted):
                _evict(filling, int(filled.evicted[best_row, index]))
            _insert(filling, best)
    return tick


@internal
def _complete(filling: Filling) -> None:
    """Insert whatever still fits."""
    scatter, routes, users, _, filled, _ = filling
    for resource in range(len(filled.used)):
        for position in range(users.size[resource]):
            if filled.used[resource] == scatter.capacity[resource]:
                break
            delivery = int(users.delivery[users.start[resource] + position])
            fits = filled.value[delivery] == 0.0
            for use in range(routes.size[delivery]):
                used = routes.uses[delivery, use]
                fits = fits and filled.used[used] < scatter.capacity[used]
            if fits:
                _insert(filling, delivery)


@internal
def _exchange_paths(filling: Filling, trials: int, tick: int, state: State) -> int:
    """Insert deliveries with at most one other in their way, by simulated annealing.

    Every trial searches all such routes from one source, near a free channel. Returns the tick.
    """
    scatter, _, _, ends, filled, step = filling
    for trial in range(trials):
        if filled.free.length[0] == 0:
            break
        resource = int(filled.free.items[below(state, filled.free.length[0])])
        other = int(filled.free.items[below(state, filled.free.length[0])])
        if filled.weight[other] > filled.weight[resource]:
            resource = other
        if ends.tail[resource] < 0:
            continue
        source = _upstream(filling, int(ends.tail[resource]), state)
        tick += 1
        ends.seen[source] = tick
        ends.blocking[source] = -1
        ends.value[source] = 0.0
        port = int(scatter.inject[source])
        if port >= 0:
            ends.value[source] = filled.weight[port]
            if filled.used[port] >= scatter.capacity[port]:
                ends.blocking[source] = filled.lane[filled.lane_start[port]]
        ends.queue[0] = source
        head, tail = 0, 1
        best, best_gain, best_blocking = -1, -1.0e300, -1
        while head < tail:
            node = int(ends.queue[head])
            head += 1
            blocking = int(ends.blocking[node])
            if node != source:
                delivery = int(ends.first[source, node])
                while delivery >= 0 and (
                    filled.value[delivery] > 0.0
                    or step[delivery] >= 0
                    or not _is_reached(filling, delivery)
                ):
                    delivery = int(ends.next[delivery])
                if delivery >= 0:
                    port = int(scatter.accept[node])
                    gain, removed = ends.value[node], blocking
                    if port >= 0:
                        gain += filled.weight[port]
                        if filled.used[port] >= scatter.capacity[port]:
                            removed = int(filled.lane[filled.lane_start[port]])
                    gain -= filled.value[removed] if removed >= 0 else PRICE
                    if gain > best_gain and (blocking < 0 or removed == blocking):
                        best, best_gain, best_blocking = delivery, gain, removed
                if not scatter.passable[node]:
                    continue
            hops = scatter.distance[source, node] + 1
            for channel in range(scatter.first[node], scatter.first[node + 1]):
                after = int(scatter.head[channel])
                used = int(scatter.resource[channel])
                if scatter.distance[source, after] != hops or scatter.capacity[used] == 0:
                    continue
                removed = blocking
                if filled.used[used] >= scatter.capacity[used]:
                    removed = int(filled.lane[filled.lane_start[used]])
                    if blocking >= 0 and removed != blocking:
                        continue
                if ends.seen[after] != tick:
                    ends.seen[after] = tick
                    ends.queue[tail] = after
                    tail += 1
                elif removed >= 0 or ends.blocking[after] < 0:
                    continue
                ends.before[after], ends.channel[after] = node, used
                ends.blocking[after] = removed
                ends.value[after] = ends.value[node] + filled.weight[used]
        if best < 0:
            continue
        heat = HEAT * (1.0 - trial / trials)
        if best_gain > 0.0 or best_gain > heat * math.log(uniform(state) + 1e-300):
            if best_blocking >= 0:
                _evict(filling, best_blocking)
            _insert(filling, best)
    return tick


@internal
def _upstream(filling: Filling, node: int, state: State) -> int:
    """Return a random node from which deliveries may pass a node."""
    scatter, routes, _, ends, filled, _ = filling
    count = ends.into_start[node + 1] - ends.into_start[node]
    if count == 0 or below(state, 3) == 0:
        return node
    resource = int(ends.into[ends.into_start[node] + below(state, count)])
    if filled.used[resource] < scatter.capacity[resource] or scatter.capacity[resource] == 0:
        return int(ends.tail[resource])
    delivery = int(filled.lane[filled.lane_start[resource]])
    use = 0
    while routes.uses[delivery, use] != resource:
        use += 1
    return int(ends.tail[routes.uses[delivery, below(state, use + 1)]])


@internal
def _is_reached(filling: Filling, delivery: int) -> bool:
    """Return whether the last search reached the target of a delivery by its route."""
    scatter, routes, _, ends, _, _ = filling
    node = int(scatter.target[delivery])
    source = int(scatter.source[delivery])
    hops = int(scatter.distance[source, node])
    ports = int(scatter.inject[source] >= 0) + int(scatter.accept[node] >= 0)
    if routes.size[delivery] != hops + ports:
        return False
    for use in range(hops - 1, -1, -1):
        if routes.uses[delivery, use] != ends.channel[node]:
            return False
        node = int(ends.before[node])
    return True


@internal
def _close(filling: Filling, number: int) -> None:
    """Schedule the deliveries of the step: they no longer wait."""
    _, routes, users, _, filled, step = filling
    for resource in range(len(filled.used)):
        while filled.used[resource] > 0:
            delivery = int(filled.lane[filled.lane_start[resource]])
            _evict(filling, delivery)
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
