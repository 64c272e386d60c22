"""Greedy schedule of a scatter in store-and-forward switching: balanced routes, then their hops.

1. Every delivery takes the cheapest of its shortest routes, in random order. The price of a channel
   or port grows with its load: the number of routes that use it, relative to its capacity.
2. All routes are chosen again, twice, with prices that grow steeply near the largest load.
3. In every step each channel carries the messages with most hops left of those that wait for it.
   If ports are limited, the channels with the largest remaining load come first.

The steps are at least the largest load of the routes. On meshes, tori, hypercubes and regular
random graphs of 16 to 128 nodes with all ports this schedule took no step more than that.

Sources: F. T. Leighton, B. M. Maggs, S. B. Rao, Packet routing and job-shop scheduling in
O(congestion + dilation) steps, Combinatorica 14, 1994, doi:10.1007/BF01215349 (routes of low load,
then their schedule).
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush

from cchybrid.host.step_usage import StepUsage
from cchybrid.model import Instance, Steps, Transfer

SWEEPS = 2
"""Times that all routes are chosen again; four more saved no step on the networks above."""
SHARE, EXPONENT = 10.0, 12
"""In these sweeps a resource of the largest load costs ``SHARE``, one of half the load
``SHARE / 2**EXPONENT``."""
NOISE = 0.01
"""Largest random part of a price, which is drawn anew in every sweep: many routes cost the same."""
HOP_WEIGHT = 0.5
"""Weight of a hop left on a route, in relation to a hop of load, where ports are limited."""

Hop = tuple[int, int]


class HopScatter:
    """Greedy schedule of single hops for messages of one destination."""

    def __init__(self, forward: Instance) -> None:
        self._steps: list[tuple[Transfer, ...]] = []
        messages = forward.collective.deliver_messages
        self._ends = [(source, target) for source, (target,) in messages]
        usage = StepUsage(forward)
        self._capacity = usage.capacity
        self._resources = {hop: usage.resources(hop) for hop in usage.channel}
        sources = sorted({source for source, _ in self._ends})
        self._hops, self._predecessors = usage.hops_from(sources)
        self._routes: list[list[Hop]] = [[] for _ in messages]
        self._load = [0] * len(usage.capacity)
        self._price: list[float] = []
        self._noise: list[float] = []
        self._top = 0.0
        """The largest load before the present sweep, 0 in the first one."""
        self._random = random.Random(0)

    def place_all(self) -> Iterator[None]:
        """Choose all routes and schedule their hops; yield after each route and each step."""
        for _ in range(SWEEPS + 1):
            yield from self._choose_routes()
        yield from self._schedule_hops()

    def steps(self) -> Steps:
        """Return the steps so far."""
        return tuple(self._steps)

    def _choose_routes(self) -> Iterator[None]:
        """Choose the route of every message once, for the loads of all others."""
        resources = range(len(self._load))
        self._top = max(map(self._relative_load, resources))
        self._noise = [NOISE * self._random.random() for _ in resources]
        self._price = [self._price_of(resource) for resource in resources]
        order = list(range(len(self._routes)))
        self._random.shuffle(order)
        for message in order:
            self._add_load(self._routes[message], -1)
            self._routes[message] = self._cheapest(*self._ends[message])
            self._add_load(self._routes[message], 1)
            yield

    def _relative_load(self, resource: int) -> float:
        # A resource without capacity is never used.
        return self._load[resource] / max(1, self._capacity[resource])

    def _price_of(self, resource: int) -> float:
        load = self._relative_load(resource)
        if self._top:
            load = SHARE * (load / self._top) ** EXPONENT
        return self._noise[resource] + load

    def _add_load(self, route: list[Hop], sign: int) -> None:
        """Add a route to the loads or remove it, and update the prices."""
        for hop in route:
            for resource in self._resources[hop]:
                self._load[resource] += sign
                self._price[resource] = self._price_of(resource)

    def _cheapest(self, source: int, target: int) -> list[Hop]:
        """Return the cheapest shortest route, by the costs from each node to the target."""
        hops, price, resources = self._hops[source], self._price, self._resources
        cost, following = {target: 0.0}, {}
        layer = [target]
        for distance in range(hops[target] - 1, -1, -1):
            nearer = []
            for after in layer:
                for node in self._predecessors[after]:
                    if hops[node] == distance:
                        found = cost[after]
                        for resource in resources[node, after]:
                            found += price[resource]
                        if node not in cost:
                            nearer.append(node)
                        elif found >= cost[node]:
                            continue
                        cost[node], following[node] = found, after
            layer = nearer
        route, node = [], source
        while node != target:
            route.append((node, following[node]))
            node = following[node]
        return route

    def _schedule_hops(self) -> Iterator[None]:
        """Fill step after step; yield after each."""
        load = [self._relative_load(resource) for resource in range(len(self._load))]
        waiting: defaultdict[Hop, list[tuple[int, float, int]]] = defaultdict(list)
        made = [0] * len(self._routes)

        def wait(message: int) -> None:
            left = len(self._routes[message]) - made[message]
            if left:
                hop = self._routes[message][made[message]]
                heappush(waiting[hop], (-left, self._random.random(), message))

        def value(hop: Hop) -> float:
            left = -waiting[hop][0][0]
            return max(load[resource] for resource in self._resources[hop]) + HOP_WEIGHT * left

        for message in range(len(made)):
            wait(message)
        while waiting:
            room, step = self._capacity.copy(), []
            for hop in sorted(waiting, key=value, reverse=True):
                used = self._resources[hop]
                while waiting[hop] and all(room[resource] for resource in used):
                    for resource in used:
                        room[resource] -= 1
                        load[resource] -= 1 / self._capacity[resource]
                    message = heappop(waiting[hop])[2]
                    made[message] += 1
                    step.append(Transfer(message, hop))
                if not waiting[hop]:
                    del waiting[hop]
            for transfer in step:
                wait(transfer.message)
            self._steps.append(tuple(step))
            yield
