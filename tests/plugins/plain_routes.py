"""Plain-Python twins of the kernels ``choose_routes`` and ``match_routes``."""

from __future__ import annotations

from collections import Counter, deque
from itertools import pairwise

from cchybrid.toolkit.kernels.flat import Flat
from tests.toolkit.kernels.plain_random import PlainRandom


class PlainRoutes:
    """The routes of all required deliveries: lists of options of one hop."""

    def __init__(self, flat: Flat, sweeps: int, random: PlainRandom) -> None:
        self.flat = flat
        start = flat.option_start.tolist()
        self.options = [range(*pair) for pair in pairwise(start)]
        self.delivery = {one: d for d, options in enumerate(self.options) for one in options}
        self.requires = flat.requires.tolist()
        self.paths = flat.path.tolist()
        uses, start = flat.limited.tolist(), flat.limited_start.tolist()
        self.uses = [uses[start[path] : start[path + 1]] for path in self.paths]
        self.limit = flat.limit.tolist()
        self.goals = [d for d, required in enumerate(flat.required.tolist()) if required]
        self.routes: list[list[int]] = [[] for _ in self.goals]
        self.load: Counter[int] = Counter()
        self.largest = 0.0
        order = list(range(len(self.goals)))
        for _ in range(sweeps + 1):
            random.shuffle(order)
            self.noise = [0.01 * random.uniform() for _ in self.limit]
            for route in order:
                for option in self.routes[route]:
                    self.load.subtract(self.uses[option])
                self.routes[route] = self.cheapest(self.goals[route])
                for option in self.routes[route]:
                    self.load.update(self.uses[option])
            self.largest = max(uses / self.limit[one] for one, uses in self.load.items())

    def price(self, resource: int) -> float:
        """Return the price of a resource; noise only in the first sweep."""
        if not self.largest:
            return self.noise[resource]
        ratio = self.load[resource] / (self.limit[resource] * self.largest)
        return self.noise[resource] + float(10.0 * ratio**24)

    def cheapest(self, goal: int) -> list[int]:
        """Return the cheapest route to a required delivery."""
        cost, via = {goal: 0.0}, {}
        best, source = float("inf"), -1
        queue = deque([goal])
        while queue:
            delivery = queue.popleft()
            for option in self.options[delivery]:
                total = cost[delivery] + 1.0
                for resource in self.uses[option]:
                    total += self.price(resource)
                before = self.requires[option]
                if total >= best or (before >= 0 and total >= cost.get(before, best)):
                    continue
                if before < 0:
                    best, source = total, option
                else:
                    cost[before], via[before] = total, option
                    if before not in queue:
                        queue.append(before)
        route = [source]
        while self.delivery[route[-1]] != goal:
            route.append(via[self.delivery[route[-1]]])
        return route

    def match(
        self, weight: tuple[float, float], steps: int, random: PlainRandom
    ) -> dict[int, tuple[int, int]]:
        """Return the option and the step of every delivery that is made."""
        flat = self.flat
        made: dict[int, tuple[int, int]] = {}
        left = {number: list(route) for number, route in enumerate(self.routes)}
        load = {one: uses / self.limit[one] for one, uses in self.load.items()}
        use_start = flat.use_start.tolist()
        for now in range(steps):
            value = {}
            for number, route in left.items():
                value[number] = weight[0] * len(route) + weight[1] * random.uniform()
                for resource in self.uses[route[0]]:
                    value[number] += load[resource]
            taken: Counter[int] = Counter()
            edges = []
            for number in sorted(value, key=lambda one: -value[one]):
                path = self.paths[left[number][0]]
                ports = int(flat.inject[path]), int(flat.accept[path])
                used = flat.use[use_start[path] : use_start[path + 1]].tolist()
                channels = [one for one in used if one not in ports]
                if all(taken[one] < flat.capacity[one] for one in channels):
                    taken.update(channels)
                    edges.append((*ports, value[number], number))
            for edge in sorted(plain_match(edges, self.limit)):
                number = edges[edge][3]
                option = left[number].pop(0)
                made[self.delivery[option]] = option, now
                for resource in self.uses[option]:
                    load[resource] -= 1.0 / self.limit[resource]
            left = {number: route for number, route in left.items() if route}
        return made


def plain_match(edges: list[tuple[int, int, float, int]], limit: list[int]) -> set[int]:
    """Return the edges of maximum total value that the limits of senders and receivers allow."""
    chosen: set[int] = set()
    while True:
        load = Counter(edges[edge][side] for edge in chosen for side in (0, 1))
        gain = {e[0]: 0.0 for e in edges if load[e[0]] < limit[e[0]]}
        via: dict[int, int] = {}
        changed = True
        while changed:
            changed = False
            for number, (first, last, value, _) in enumerate(edges):
                start, end, more = (
                    (last, first, -value) if number in chosen else (first, last, value)
                )
                if start in gain and gain[start] + more > gain.get(end, -1e300) + 1e-9:
                    gain[end] = gain[start] + more
                    via[end] = number
                    changed = True
        ends = [e[1] for e in edges if load[e[1]] < limit[e[1]] and gain.get(e[1], 0.0) > 1e-9]
        if not ends:
            return chosen
        end = max(ends, key=lambda port: gain[port])
        while end in via:
            number = via[end]
            end = edges[number][number in chosen]
            chosen ^= {number}
