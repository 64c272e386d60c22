"""Fill a step by searches of paths with at most one delivery in the way, for many deliveries."""

from __future__ import annotations

import math

from cchybrid.toolkit.kernels import internal
from cchybrid.toolkit.kernels.rng import State, below, uniform

from .step_filling import Filling, draw_free, evict_delivery, insert_delivery

HEAT = 0.3
"""Temperature at the beginning of a step."""
PRICE = 0.3
"""Weight that a delivery must exceed to be inserted without another one's removal, so that short
ones are left for later steps."""


@internal
def exchange_paths(filling: Filling, trials: int, tick: int, state: State) -> int:
    """Insert deliveries with at most one other in their way, by simulated annealing.

    Every trial searches all such routes from one source, near a free channel. Returns the tick.
    """
    scatter, _, _, ends, filled, step = filling
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
                evict_delivery(filling, best_blocking)
            insert_delivery(filling, best)
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
