"""Plain-Python twin of the kernels ``choose_routes`` and ``fill_steps`` of the engine packing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from cchybrid_plugins.packing.filling import BASE, CANDIDATES, DECLINE, HEAT
from cchybrid_plugins.packing.routes import LOAD_EXPONENT, LOAD_SHARE, NOISE, WEIGHT_STEP, Scatter

from tests.toolkit.kernels.plain_random import PlainRandom


class PlainPacking:
    """Routes and steps of the deliveries of a scatter."""

    def __init__(self, scatter: Scatter, random: PlainRandom) -> None:
        self.random = random
        self.ends = list(zip(scatter.source.tolist(), scatter.target.tolist(), strict=True))
        self.distance = scatter.distance.tolist()
        head, resource = scatter.head.tolist(), scatter.resource.tolist()
        self.channels = [
            list(zip(head[first:last], resource[first:last], strict=True))
            for first, last in pairwise(scatter.first.tolist())
        ]
        self.passable = scatter.passable.tolist()
        self.inject, self.accept = scatter.inject.tolist(), scatter.accept.tolist()
        self.capacity = scatter.capacity.tolist()
        self.extra = scatter.extra
        self.routes: list[list[int]] = [[] for _ in self.ends]
        self.load: Counter[int] = Counter()
        self.steps = [-1] * len(self.ends)

    def choose(self, order: list[int], exponents: list[float]) -> None:
        """Choose the routes of the deliveries in ``order``."""
        self.load = Counter()
        for delivery in order:
            self.load.update(self.routes[delivery])
        resources = range(len(self.capacity))
        for exponent in exponents:
            ratios = [
                self.load[one] / self.capacity[one] for one in resources if self.capacity[one]
            ]
            largest = max(1.0, *ratios)
            noise = [NOISE * self.random.uniform() for _ in resources]

            def price(one: int, noise: list[float] = noise, exponent: float = exponent) -> float:
                load = (self.load[one] + 1) / max(1, self.capacity[one])
                return float(noise[one] + (load / largest) ** exponent)  # noqa: B023

            self.random.shuffle(order)
            for delivery in order:
                self.change(delivery, price)

    def change(self, delivery: int, price: Callable[[int], float]) -> None:
        """Give a delivery the cheapest route for the loads of all others."""
        self.load.subtract(self.routes[delivery])
        self.routes[delivery] = self.cheapest(delivery, price)
        self.load.update(self.routes[delivery])

    def reduce(self, order: list[int], target: int, moves: int) -> bool:
        """Change routes until no load exceeds the target; return whether that is so."""
        resources = range(len(self.capacity))
        weight = [1.0 for _ in resources]
        made = 0

        def is_overloaded(one: int) -> bool:
            return self.load[one] > target * self.capacity[one]

        while made < moves:
            noise = []
            for one in resources:
                weight[one] += WEIGHT_STEP * is_overloaded(one)
                noise.append(NOISE * self.random.uniform())
            if not any(map(is_overloaded, resources)):
                return True

            def price(one: int, noise: list[float] = noise) -> float:
                load = (self.load[one] + 1) / max(1, self.capacity[one])
                cost = noise[one] + LOAD_SHARE * (load / target) ** LOAD_EXPONENT
                return float(cost + weight[one] * max(0.0, load - target))

            self.random.shuffle(order)
            for delivery in order:
                if any(map(is_overloaded, self.routes[delivery])):
                    self.change(delivery, price)
                    made += 1
        return False

    def cheapest(self, delivery: int, price: Callable[[int], float]) -> list[int]:
        """Return the resources of the cheapest allowed route; the ports are the last ones."""
        source, target = self.ends[delivery]
        limit = self.distance[source][target] + self.extra
        level: dict[int, tuple[float, list[int]]] = {source: (0.0, [])}
        arrived: list[tuple[float, list[int]]] = []
        for hops in range(1, limit + 1):
            following: dict[int, tuple[float, list[int]]] = {}
            for node, (cost, route) in level.items():
                for after, one in self.channels[node] if node != target else ():
                    left = self.distance[after][target]
                    if left < 0 or hops + left > limit or after == source:
                        continue
                    if after != target and not self.passable[after]:
                        continue
                    spent = cost + price(one)
                    if after not in following or spent < following[after][0]:
                        following[after] = spent, [*route, one]
            level = following
            arrived += [level[target]] if target in level else []
        best = min(arrived, key=lambda each: each[0])[1]
        ports = (self.inject[source], self.accept[target])
        return best + [port for port in ports if port >= 0]

    def fill(self, waiting: list[int], first: int, steps: int, effort: float) -> int:
        """Fill up to ``steps`` steps; return how many."""
        self.users: list[list[int]] = [[] for _ in self.capacity]
        for delivery in waiting:
            for one in self.routes[delivery]:
                self.users[one].append(delivery)
        for number in range(steps):
            if not any(self.users):
                return number
            self.fill_step(effort)
            for one in range(len(self.capacity)):
                while self.inside[one]:
                    delivery = self.inside[one][0]
                    self.evict(delivery)
                    self.steps[delivery] = first + number
                    for used in self.routes[delivery]:
                        remove(self.users[used], delivery)
        return steps

    def fill_step(self, effort: float) -> None:
        """Fill one step: ``inside`` lists the deliveries that use each resource."""
        used = [one for one, users in enumerate(self.users) if users]
        ratio = {one: len(self.users[one]) / self.capacity[one] for one in used}
        largest = max(ratio.values())
        trials = 0.0
        for one in used:
            trials += effort * min(len(self.users[one]), self.capacity[one])
        self.weight = {
            one: BASE + math.exp(-(largest - ratio[one]) / (1.0 + DECLINE * largest))
            for one in used
        }
        self.free = list(used)
        self.inside: list[list[int]] = [[] for _ in self.capacity]
        self.value: dict[int, float] = {}
        for trial in range(int(trials)):
            if not self.free:
                break
            self.exchange(HEAT * (1.0 - trial / int(trials)))
        for one in range(len(self.capacity)):
            for delivery in self.users[one]:
                if delivery not in self.value and not any(
                    self.is_full(other) for other in self.routes[delivery]
                ):
                    self.insert(delivery)

    def is_full(self, one: int) -> bool:
        """Return whether a resource has no free capacity in the step."""
        return len(self.inside[one]) == self.capacity[one]

    def exchange(self, heat: float) -> None:
        """Try to insert a delivery, and evict those in its way."""
        random = self.random
        one = self.free[random.below(len(self.free))]
        other = self.free[random.below(len(self.free))]
        if self.weight[other] > self.weight[one]:
            one = other
        best, best_gain, best_evicted = -1, -1e300, list[int]()
        for _ in range(CANDIDATES):
            delivery = self.users[one][random.below(len(self.users[one]))]
            if delivery in self.value:
                continue
            gain, evicted = 0.0, list[int]()
            for used in self.routes[delivery]:
                gain += self.weight[used]
                if not self.is_full(used):
                    continue
                inside = self.inside[used]
                blocking = inside[random.below(len(inside)) if len(inside) > 1 else 0]
                if blocking not in evicted:
                    evicted.append(blocking)
                    gain -= self.value[blocking]
            if gain > best_gain:
                best, best_gain, best_evicted = delivery, gain, evicted
        if best < 0:
            return
        if best_gain > 0.0 or best_gain > heat * math.log(random.uniform() + 1e-300):
            for delivery in best_evicted:
                self.evict(delivery)
            self.insert(best)

    def insert(self, delivery: int) -> None:
        """Add a delivery to the step."""
        self.value[delivery] = 0.0
        for one in self.routes[delivery]:
            self.inside[one].append(delivery)
            if self.is_full(one):
                remove(self.free, one)
            self.value[delivery] += self.weight[one]

    def evict(self, delivery: int) -> None:
        """Remove a delivery from the step."""
        for one in self.routes[delivery]:
            if self.is_full(one):
                self.free.append(one)
            remove(self.inside[one], delivery)
        del self.value[delivery]


def remove(values: list[int], value: int) -> None:
    """Remove a value; the last one takes its place."""
    values[values.index(value)] = values[-1]
    values.pop()
