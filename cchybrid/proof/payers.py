"""The least that messages pay for static prices, and the evidence of the steps that follow.

A message with one destination pays for a cheapest allowed route. One with several destinations pays
for each of them at least the cheapest route from any other node that may hold the message: so much
is the worth of the destination, or the weight of the set of the destination alone.
"""

import heapq
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.checker import Network
from cchybrid.model import Instance
from cchybrid.proof.climbing import network_of
from cchybrid.proof.linear_evidence import linear

Numbers = NDArray[np.number]
Costs = dict[tuple[int, int], int]
"""The price of each channel, or of a transfer over it."""


class Payers:
    """The messages of an instance, those with several destinations by the nodes that hold them."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.network = network = network_of(instance)
        self.alone: dict[int, Counter[int]] = {}
        """The messages with one destination: by source, the number of them by destination."""
        self.groups: dict[frozenset[int], list[int]] = {}
        """The others by the nodes that may hold them; hop by hop all."""
        everywhere: frozenset[int] = frozenset()
        for message, (source, goals) in enumerate(network.messages):
            if len(goals) == 1:
                self.alone.setdefault(source, Counter())[goals[0]] += 1
            else:
                holders = everywhere if network.hop_by_hop else frozenset((source, *goals))
                self.groups.setdefault(holders, []).append(message)

    def evidence(self, channel: Numbers, inject: Numbers, accept: Numbers) -> dict[str, Any] | None:
        """Return evidence of the steps that integer prices show; ``None`` if they show none.

        Parameters
        ----------
        channel
            The prices of channels, in the network's order; those of a half-duplex pair are equal.
        inject, accept
            The prices of ports by node.
        """
        network = self.network
        ends = [(a, b) for a, b, _ in self.instance.network.channels]
        prices = dict(zip(ends, map(int, channel), strict=True))
        ports = [{v: int(p) for v, p in enumerate(side) if p > 0} for side in (inject, accept)]
        links = {network.link(*hop): price for hop, price in prices.items() if price > 0}
        offered = sum(price * network.channels[hop] for hop, price in links.items())
        for side, limits in zip(ports, (network.inject, network.accept), strict=True):
            offered += sum(price * limits[v] for v, price in side.items())
        if not offered:
            return None
        paid, groups = 0, []
        if self.alone:
            paid += self._paid_alone(prices, *ports)
        for holders, messages in self.groups.items():
            goals: Counter[int] = Counter()
            for message in messages:
                goals.update(network.messages[message][1])
            value_of = self._values(holders, set(goals), prices, *ports)
            if value_of is None:
                return None
            paid += sum(value_of[v] * times for v, times in goals.items())
            if self._by_last_hops(holders) and (network.hop_by_hop or not any(ports)):
                # The last hop leads into the set of the destination alone, which is checked faster.
                group: dict[str, Any] = {
                    "sets": [[price, v] for v, price in value_of.items() if price]
                }
            else:
                group = {"worth": [[v, price] for v, price in value_of.items() if price]}
            if len(messages) < len(network.messages):
                group["messages"] = messages
            groups.append(group)
        return linear(
            -(-paid // offered),
            channels=[[*hop, price] for hop, price in links.items()],
            inject=[[*row] for row in ports[0].items()],
            accept=[[*row] for row in ports[1].items()],
            groups=groups,
        )

    def _by_last_hops(self, holders: frozenset[int]) -> bool:
        """Return whether all nodes may hold the messages, so that a route may be one channel."""
        return len(holders) in (0, self.network.nodes)

    def _paid_alone(self, prices: Costs, inject: dict[int, int], accept: dict[int, int]) -> int:
        """Return what the messages with one destination pay for cheapest routes."""
        network, table, paid = self.network, self.instance.model.table, 0
        costs = _hop_costs(network, prices, inject, accept)
        for source, goals in self.alone.items():
            if table is not None:
                paths = {goal: table.path(source, goal) for goal in goals}
                cost = {v: sum(costs[hop] for hop in pairwise(paths[v])) for v in paths}
            else:
                cost = _cheapest(network, costs, source, goals)
            for goal, times in goals.items():
                if goal not in cost:
                    return 0
                ports = 0
                if not network.hop_by_hop:
                    ports = inject.get(source, 0) + accept.get(goal, 0)
                paid += times * (cost[goal] + ports)
        return paid

    def _values(
        self,
        holders: frozenset[int],
        goals: set[int],
        prices: Costs,
        inject: dict[int, int],
        accept: dict[int, int],
    ) -> dict[int, int] | None:
        """Return the price of a cheapest route to each goal from another holder."""
        network = self.network
        costs = _hop_costs(network, prices, inject, accept)
        last = {v: [costs[a, v] for a in network.predecessors[v]] for v in goals}
        if not all(last.values()):
            return None
        if self._by_last_hops(holders) and not (inject and holders):
            found = {v: min(hops) for v, hops in last.items()}
        else:
            found = {}
            for goal in goals:
                cheapest = _cheapest_from(network, costs, goal, holders, inject)
                if cheapest is None:
                    return None
                found[goal] = cheapest
        if network.hop_by_hop:
            return found
        return {v: price + accept.get(v, 0) for v, price in found.items()}


def _hop_costs(
    network: Network, prices: Costs, inject: dict[int, int], accept: dict[int, int]
) -> Costs:
    """Return the price of each channel, hop by hop with the ports at its ends."""
    if not network.hop_by_hop or not (inject or accept):
        return prices
    return {(a, b): p + inject.get(a, 0) + accept.get(b, 0) for (a, b), p in prices.items()}


def _cheapest(network: Network, costs: Costs, source: int, goals: Counter[int]) -> dict[int, int]:
    """Return the price of a cheapest route from the source to each goal.

    With minimal routing or some extra hops only the hops that are allowed count.
    """
    if network.extra_hops is not None:
        return _cheapest_within(network, costs, source)
    found: dict[int, int] = {}
    left = len(goals)
    queue = [(0, source)]
    while queue and left:
        paid, node = heapq.heappop(queue)
        if node in found:
            continue
        found[node] = paid
        left -= node in goals
        if node == source or node not in network.endpoints:
            for other in network.successors[node]:
                if other not in found:
                    heapq.heappush(queue, (paid + costs[node, other], other))
    return found


def _cheapest_within(network: Network, costs: Costs, source: int) -> dict[int, int]:
    """Return the price of a cheapest walk to each node within the hops that are allowed."""
    hops = network.hops(source)
    assert network.extra_hops is not None
    found: dict[int, int] = {}
    layer = {source: 0}
    for step in range(1, max(hops.values()) + network.extra_hops + 1):
        after: dict[int, int] = {}
        for node, paid in layer.items():
            if node != source and node in network.endpoints:
                continue
            for other in network.successors[node]:
                if step <= hops[other] + network.extra_hops:
                    price = paid + costs[node, other]
                    if price < after.get(other, price + 1):
                        after[other] = price
        for node, paid in after.items():
            found[node] = min(paid, found.get(node, paid))
        layer = after
    return found


def _cheapest_from(
    network: Network, costs: Costs, goal: int, holders: frozenset[int], inject: dict[int, int]
) -> int | None:
    """Return the price of a cheapest route to the goal from any other holder; over any routes."""
    done: set[int] = set()
    best: int | None = None
    queue = [(0, goal)]
    while queue:
        paid, node = heapq.heappop(queue)
        if best is not None and paid >= best:
            break
        if node in done:
            continue
        done.add(node)
        if node != goal and node in holders:
            price = paid + inject.get(node, 0)
            best = price if best is None else min(best, price)
        if node == goal or node not in network.endpoints:
            for other in network.predecessors[node]:
                if other not in done:
                    heapq.heappush(queue, (paid + costs[other, node], other))
    return best
