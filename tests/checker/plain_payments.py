"""Least payments of messages: the theorems read plainly, step by step and path by path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

from cchybrid.checker.instance import Network
from cchybrid.checker.payments import NEVER
from cchybrid.checker.prices import Interval, Prices
from cchybrid.checker.routes import Path, allowed_paths


class Plain(NamedTuple):
    """An instance and prices for a number of steps, as the evidence lists them."""

    network: Network
    evidence: dict[str, Any]
    steps: int

    def rows(self, table: str, step: int, *place: int) -> list[int]:
        """Return the prices at a place in a step."""
        size = len(place)
        return [
            row[-1]
            for row in self.evidence.get(table, [])
            if (self.network.link(*row[:2]) if table == "channels" else (row[0],)) == place
            and (len(row) == size + 1 or row[size] <= step <= row[size + 1])
        ]

    def hops(self, step: int, path: Path) -> int:
        """Return what a path pays for its channels."""
        links = [self.network.link(*hop) for hop in pairwise(path)]
        return sum(sum(self.rows("channels", step, *link)) for link in links)

    def ports(self, step: int, path: Path) -> int:
        """Return what a path pays for the ports at its ends."""
        sent = self.rows("inject", step, path[0])
        return sum(sent) + sum(self.rows("accept", step, path[-1]))

    def free(self, step: int) -> bool:
        """Return whether no row is about this step."""
        rows = [(row, size) for table, size in (("channels", 2), ("inject", 1), ("accept", 1))
                for row in self.evidence.get(table, [])]  # fmt: skip
        return not any(len(r) == size + 1 or r[size] <= step <= r[size + 1] for r, size in rows)

    def paths(self) -> dict[tuple[int, int], list[Path]]:
        """Return the allowed paths from any node to any other."""
        nodes = range(self.network.nodes)
        everyone = copy(self.network)
        everyone.messages = [(a, tuple(b for b in nodes if b != a)) for a in nodes]
        return allowed_paths(everyone)

    def routes(self, source: int, goals: tuple[int, ...]) -> float:
        """Return the price of the cheapest routes to the most expensive destination."""
        steps = range(1, self.steps + 1)
        if self.network.hop_by_hop:
            cost: dict[int, float] = {source: 0}
            for t in steps:
                cost = {
                    b: min([
                        cost.get(b, NEVER),
                        *(cost[a] + self.hops(t, (a, b)) + self.ports(t, (a, b))
                          for a in cost if (a, b) in self.network.channels),
                    ])
                    for b in range(self.network.nodes)
                    if b in cost or any(b in self.network.successors[a] for a in cost)
                }  # fmt: skip
            return max(cost.get(goal, NEVER) for goal in goals)
        free = self.network
        if len(goals) > 1:  # a chain of paths may end and begin at destinations
            free = self.network.with_any_routing()
            free.endpoints = self.network.endpoints - set(goals)
        found = Plain(free, self.evidence, self.steps).paths()

        def lowest(table: str, *place: int) -> int:
            return min((sum(self.rows(table, t, *place)) for t in steps), default=0)

        def price(path: Path) -> int:
            links = [self.network.link(*hop) for hop in pairwise(path)]
            ends = lowest("inject", path[0]) + lowest("accept", path[-1])
            return ends + sum(lowest("channels", *link) for link in links)

        return max(min(map(price, found[source, goal]), default=NEVER) for goal in goals)


def largest(values: Iterable[int], number: int) -> int:
    return sum(sorted(values, reverse=True)[:number])


class PlainIncomes:
    """Payments of messages from these sources to these destinations, given the worth of these."""

    def __init__(
        self, plain: Plain, group: dict[str, Any], any_rounds: bool,
        sources: list[int], goals: tuple[int, ...],
    ) -> None:  # fmt: skip
        self.plain, self.any_rounds, self.sources = plain, any_rounds, sources
        self.network = network = plain.network
        together = {v: tuple(nodes) for nodes in group.get("blocks", []) for v in nodes}
        self.block = {v: together.get(v, (v,)) for v in range(network.nodes)}
        self.holders = range(network.nodes) if network.hop_by_hop else (sources[0], *goals)
        self.home = {self.block[source] for source in sources}
        self.amounts = {
            v: amount
            for v, amount in group["worth"]
            if v in goals and self.block[v] not in self.home
        }
        self.total = sum(self.amounts.values())
        self.once = group.get("once", [])
        self.paths = plain.paths()

    def charge(self, block: tuple[int, ...], step: int) -> int:
        rows = [row for row in self.once if row[0] in block and row[1] <= step <= row[2]]
        return sum(row[3] for row in rows)

    def neighbours(self, block: tuple[int, ...]) -> int:
        """Return to how many neighbours a block sends, but for the one that informed it."""
        (node, *others), channels = block, self.network.channels
        leading = sum(a in block for a, _ in channels)
        informing = {a for a, b in channels if b == node}
        informed = {b for a, b in channels if a == node}
        alone = not others and node not in self.sources
        return leading - (alone and informing <= informed)

    def sent(self, block: tuple[int, ...], step: int) -> int:
        """Return how many transfers a block sends in a step."""
        if self.any_rounds:
            return self.neighbours(block)
        inside = [v for v in self.holders if self.block[v] == block]
        ports = sum(self.network.in_step(step, self.network.inject[v]) for v in inside)
        return min(ports, self.neighbours(block)) if self.network.hop_by_hop else ports

    def cost(self, step: int, hop: tuple[int, int], goal: int) -> float:
        """Return the lowest price of a transfer to the goal that begins with this channel."""
        (a, b), plain = hop, self.plain
        if b == goal:
            return plain.hops(step, hop) + plain.ports(step, hop)
        if self.network.hop_by_hop or b in self.network.endpoints or not self.paths[b, goal]:
            return NEVER
        near, beyond = (min(map(len, self.paths[v, goal])) for v in hop if v != goal)
        extra = self.network.extra_hops
        if extra is not None and beyond + 1 > near + extra:
            return NEVER
        rest = min(plain.hops(step, path) for path in self.paths[b, goal])
        return plain.hops(step, hop) + rest + plain.ports(step, (a, goal))

    def paid(self) -> int:
        """Return what every message pays."""
        blocks = {self.block[v] for v in self.holders}
        income, sums = dict.fromkeys(blocks, 0), dict.fromkeys(blocks, 0)
        best: dict[Any, Counter[Any]] = {block: Counter() for block in blocks}
        for step in reversed(range(1, self.plain.steps + 1)):
            earned = {block: self.earned(block, step, income, best[block]) for block in blocks}
            for block in blocks:
                sums[block] += earned[block]
                income[block] = min(self.total, sums[block])
                if self.network.hop_by_hop:
                    all_steps = largest(best[block].values(), self.neighbours(block))
                    income[block] = min(income[block], all_steps)
        steps = range(1, self.plain.steps)
        charges = sum(max([0, *(self.charge(block, t) for t in steps)]) for block in blocks)
        homes = [self.block[source] for source in self.sources]
        return sum(max(0, self.total - charges - income[home]) for home in homes)

    def earned(
        self, block: tuple[int, ...], step: int, income: dict[Any, int], best: Counter[Any]
    ) -> int:
        """Return what a block earns in a step; update its best transfers to each neighbour."""
        last = step == self.plain.steps
        values = {}
        for v in self.holders:
            if last:
                values[v] = self.amounts.get(v, 0)
            else:
                own = sum(self.amounts.get(u, 0) for u in self.block[v])
                values[v] = min(self.total, own + income[self.block[v]])
                values[v] -= self.charge(self.block[v], step)
            is_source = len(set(self.sources)) == 1 and self.block[v] in self.home
            if is_source or not self.network.predecessors[v]:
                values[v] = 0
        if self.plain.free(step) and not self.network.hop_by_hop:
            return largest([max(0, value) for value in values.values()], self.sent(block, step))
        gains: Counter[Any] = Counter()
        over_channels = 0
        for (a, b), capacity in self.network.channels.items():
            first: Counter[Any] = Counter()
            for v in values if a in block and a in self.holders else ():
                if self.block[v] != block:
                    key = v if last else self.block[v]
                    gain = max(0, values[v] - self.cost(step, (a, b), v))
                    first[key] = max(first[key], int(gain))
            over_channels += largest(first.values(), self.network.in_step(step, capacity))
            gains |= first
        together: Counter[Any] = Counter()
        for key, gain in gains.items():
            together[self.block[key] if last else key] += gain
        best |= together
        return min(over_channels, largest(gains.values(), self.sent(block, step)))


def paid_in(network: Network, prices: Prices, moves: Any) -> Counter[int]:
    """Return what every message pays in a schedule, transfer by transfer, from the rules alone.

    In ticks it pays for a channel or a port in the tick in which it begins to use it.
    """
    paid: Counter[int] = Counter()

    def at(tick: int) -> Interval:
        (then,) = (i for i in prices.intervals if i.first <= tick <= (i.last or tick))
        return then

    for t, message, path in moves:
        paid[message] += at(t).inject.get(path[0], 0)
        for hop in pairwise(path):
            paid[message] += at(t).hops[hop]
            t += network.times[hop][0] if network.times else 0
        paid[message] += at(t).accept.get(path[-1], 0)
    return paid
