"""Fill steps by searches of paths with at most one delivery in the way, for many deliveries."""

import math

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, below, uniform

from .routes import add_ports
from .step_filling import Filling, draw_free, empty_step, evict_delivery, fits, insert_delivery

HEAT = 0.3
"""Temperature at the beginning of a step."""
PRICE = 0.3
"""Weight that a delivery must exceed to be inserted without another one's removal, so that short
ones are left for later steps."""


OTHER = 0.7
"""Share of the weight of a channel that counts where a delivery takes another channel in the step:
that one remains as loaded as it was."""


@compiled
def fill_by_paths(
    filling: Filling,
    waiting: IntArray,
    first: int,
    steps: int,
    effort: tuple[float, float],
    stop: BoolArray,
    state: State,
) -> int:
    """Fill up to ``steps`` steps from step ``first`` on with any shortest paths; return how many.

    A delivery may take another path than its route, which is overwritten only then. ``routes.load``
    counts the routes of those that still wait.

    Parameters
    ----------
    effort
        Per step and use of a resource that has room: random deliveries that are inserted if they
        fit, and exchanges of paths.
    stop
        Shape (1,): another thread sets this to end early.
    """
    scatter, routes, ends, step = filling.scatter, filling.routes, filling.ends, filling.step
    ends.first[:] = -1
    ends.seen[:] = -1
    for place in range(len(waiting)):
        delivery = waiting[place]
        source, target = scatter.source[delivery], scatter.target[delivery]
        ends.next[delivery] = ends.first[source, target]
        ends.first[source, target] = delivery
    tick = 0
    for number in range(steps):
        places = empty_step(filling, routes.load)
        if places == 0 or stop[0]:
            return number
        for _ in range(int(places * effort[0])):
            delivery = int(waiting[below(state, len(waiting))])
            if step[delivery] < 0 and fits(filling, delivery):
                _insert(filling, delivery, _value(filling, delivery, False), False)
        tick = _exchange_paths(filling, int(places * effort[1]), tick, state)
        _close(filling, first + number)
    return steps


@internal
def _exchange_paths(filling: Filling, trials: int, tick: int, state: State) -> int:
    """Insert deliveries with at most one other in their way, by simulated annealing.

    Every trial searches all such routes from one source, near a free channel. Returns the tick.
    """
    scatter, routes, _, ends, filled, step = filling
    for trial in range(trials):
        if filled.free.length[0] == 0:
            break
        resource = draw_free(filled, state)
        if ends.tail[resource] < 0:
            continue
        source = _upstream(filling, int(ends.tail[resource]), state)
        tick += 1
        ends.seen[source] = tick
        ends.blocking[source] = -1
        port = int(scatter.inject[source])
        if port >= 0 and filled.used[port] >= scatter.capacity[port]:
            ends.blocking[source] = filled.lane[filled.lane_start[port]]
        ends.queue[0] = source
        head, tail = 0, 1
        best, best_gain, best_blocking, best_value = -1, -1.0e300, -1, 0.0
        while head < tail:
            node = int(ends.queue[head])
            head += 1
            blocking = int(ends.blocking[node])
            if node != source:
                delivery = int(ends.first[source, node])
                while delivery >= 0 and (filled.value[delivery] > 0.0 or step[delivery] >= 0):
                    delivery = int(ends.next[delivery])
                if delivery >= 0:
                    port = int(scatter.accept[node])
                    removed = blocking
                    if port >= 0 and filled.used[port] >= scatter.capacity[port]:
                        removed = int(filled.lane[filled.lane_start[port]])
                    value = _value(filling, delivery, True)
                    gain = value - (filled.value[removed] if removed >= 0 else PRICE)
                    if gain > best_gain and (blocking < 0 or removed == blocking):
                        best, best_gain, best_blocking = delivery, gain, removed
                        best_value = value
                if not scatter.passable[node]:
                    continue
            hops = scatter.distance[source, node] + 1
            for channel in range(scatter.first[node], scatter.first[node + 1]):
                after = int(scatter.head[channel])
                used = int(scatter.resource[channel])
                if scatter.distance[source, after] != hops or routes.load[used] == 0:
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
        if best < 0:
            continue
        heat = HEAT * (1.0 - trial / trials)
        if best_gain > 0.0 or best_gain > heat * math.log(uniform(state) + 1e-300):
            if best_blocking >= 0:
                _evict(filling, best_blocking)
            _insert(filling, best, best_value, True)
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
def _insert(filling: Filling, delivery: int, value: float, is_found: bool) -> None:
    """Insert a delivery, by the path of the last search or its own route; keep the latter."""
    scatter, routes, _, ends, filled, _ = filling
    count = int(routes.size[delivery])
    for use in range(count):
        ends.kept[delivery, use] = routes.uses[delivery, use]
    ends.kept[delivery, -1] = count
    if is_found:
        node = int(scatter.target[delivery])
        hops = int(scatter.distance[scatter.source[delivery], node])
        for use in range(hops - 1, -1, -1):
            routes.uses[delivery, use] = ends.channel[node]
            node = int(ends.before[node])
        add_ports(scatter, routes, delivery, hops)
    insert_delivery(filling, delivery)
    filled.value[delivery] = value


@internal
def _evict(filling: Filling, delivery: int) -> None:
    """Remove a delivery from the step; its route is again the one that it had before."""
    routes, ends = filling.routes, filling.ends
    evict_delivery(filling, delivery)
    routes.size[delivery] = ends.kept[delivery, -1]
    for use in range(routes.size[delivery]):
        routes.uses[delivery, use] = ends.kept[delivery, use]


@internal
def _value(filling: Filling, delivery: int, is_found: bool) -> float:
    """Return the weight of the route of a delivery, less where the last search found another."""
    scatter, routes, _, ends, filled, _ = filling
    node = int(scatter.target[delivery])
    hops = int(scatter.distance[scatter.source[delivery], node])
    value = 0.0
    for use in range(routes.size[delivery] - 1, -1, -1):
        resource = int(routes.uses[delivery, use])
        share = 1.0
        if is_found and use < hops:
            if ends.channel[node] != resource:
                share = OTHER
            node = int(ends.before[node])
        value += share * filled.weight[resource]
    return value


@internal
def _close(filling: Filling, number: int) -> None:
    """Schedule the deliveries of the step: they no longer wait."""
    _, routes, _, ends, filled, step = filling
    for resource in range(len(filled.used)):
        while filled.used[resource] > 0:
            delivery = int(filled.lane[filled.lane_start[resource]])
            evict_delivery(filling, delivery)
            step[delivery] = number
            for use in range(ends.kept[delivery, -1]):
                routes.load[ends.kept[delivery, use]] -= 1
