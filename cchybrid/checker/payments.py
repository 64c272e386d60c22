"""Least payments of the transfers of one message, given the prices of channels and ports.

Three theorems, for every valid schedule within the steps of the prices.

Routes. The transfers of a message contain, for each destination, a route from the source: a path
of one step (that of a routing table) or, where the message is forwarded, a chain of transfers in
increasing steps, in time slots in any. So it pays at least the cheapest such route to the most
expensive one of its destinations. In ticks every transfer begins when the one before it has ended,
and ends within the last tick.

Sets. Let sets of nodes have weights such that, for each channel, the weights of the sets that it
leads into add up to no more than its price in any step. The transfers of a message lead into every
set that has a destination and not the source, so it pays at least the weights of these sets.

Worth. Let every destination d have a worth w(d), and let W be their sum; a transfer to d earns w(d)
and pays its prices. Each node receives the message at most once, and only from a node that had it
before; so the transfers are a tree, and what the message earns minus what it pays is the income of
the source. The income of a node from step t on is the sum, over the transfers that it sends from
then on, of the worth of the receiver, plus the income of the receiver from the next step on, minus
the price. It is at most

- W, as every destination earns its worth only once;
- the sum over the steps of the k best transfers, where k limits what the node sends in a step;
- the sum over the steps and its channels of the best transfers that begin with each channel, as
  many as it carries;
- hop by hop, or if steps have any number of rounds, the sum over the receivers of the best transfer
  to each, in any step, as each receives the message once.

In steps of any number of rounds neither k nor what a channel carries is a limit.
With these limits, incomes are computed from the last step backwards. The message pays W minus the
income of the source. A receiver may in addition be charged ``once``: each transfer to it in a step
pays that, and all of them together pay the largest of its charges at most, which is subtracted.

With blocks, disjoint sets of nodes, a block takes the place of its nodes. Before the last step only
the first transfer to a block without the source counts, with the worth of all its destinations; in
the last step, to a block that has nothing yet, one transfer to each destination counts. What is
sent from a block is limited by what all its nodes can send; destinations in the block of the source
have no worth.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, pairwise
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.prices import Interval, Prices
from cchybrid.checker.reading import whole_rows
from cchybrid.checker.routes import cheapest_walks, cheapest_walks_in_ticks, table_path

Amount = int | float
"""An exact integer, or infinity."""
NEVER = float("inf")


def paid_for_routes(network: Network, prices: Prices, messages: list[int]) -> Amount:
    """Return what these messages pay at least for a route to each destination.

    Infinity if a destination cannot be reached within the steps.
    """
    if not prices.intervals:
        return NEVER if messages else 0
    pairs: defaultdict[tuple[int, frozenset[int]], list[tuple[int, ...]]] = defaultdict(list)
    for message in messages:
        source, goals = network.messages[message]
        alone = network.hop_by_hop or len(goals) == 1
        pairs[source, frozenset() if alone else frozenset(goals)].append(goals)
    paid: Amount = 0
    lowest = _lowest(prices)
    in_order = network.hop_by_hop or network.times
    intervals = [each[:3] for each in prices.intervals] if in_order else [lowest[:3]]
    prices.count(len(pairs) * len(network.channels) * len(intervals))
    for (source, stops), listed in pairs.items():
        allowed = network
        if stops:
            # A chain of paths is any walk that passes no endpoint without having stopped there.
            allowed = network.with_any_routing()
            allowed.endpoints = network.endpoints - stops
        if allowed.table:
            paths = {goal: table_path(network, source, goal) for goal in chain(*listed)}
            cost = {g: sum(lowest.hops[hop] for hop in pairwise(p)) for g, p in paths.items() if p}
            prices.count(sum(map(len, paths.values())))
        elif network.times:
            inner = network.endpoints
            cost = cheapest_walks_in_ticks(allowed, inner, intervals, source, prices.count)
        else:
            cost = cheapest_walks(allowed, intervals, source)
        for goals in listed:
            ends = [cost.get(goal, NEVER) + lowest.accept.get(goal, 0) for goal in goals]
            paid += lowest.inject.get(source, 0) + max(ends)
    return paid


def _lowest(prices: Prices) -> Interval:
    """Return the lowest price of every channel and port in any step."""
    columns = zip(*((i.hops, i.inject, i.accept) for i in prices.intervals), strict=True)
    hops, inject, accept = (
        {key: min(table.get(key, 0) for table in column) for key in column[0]} for column in columns
    )
    return Interval(1, None, hops, inject, accept)


class Spread:
    """Least payments of messages, given the worth of their destinations.

    Parameters
    ----------
    group
        ``worth`` lists ``[node, worth]``; ``once`` lists ``[node, first, last, charge]``, for steps
        before the last one; ``blocks`` lists nodes, every other node is a block by itself.
    any_rounds
        Whether steps may have any number of rounds, so that ports do not limit a step.
    """

    def __init__(
        self, network: Network, prices: Prices, group: Mapping[str, Any], any_rounds: bool
    ) -> None:
        if prices.steps is None or network.periodic:
            raise EvidenceError("the worth of destinations is for a number of steps in order")
        self.network, self.prices, self.steps = network, prices, prices.steps
        self.any_rounds = any_rounds
        self.values: dict[int, int] = {}
        for row in whole_rows(group.get("worth"), 2, 2):
            if row[0] >= network.nodes or row[0] in self.values:
                raise EvidenceError("a worth of something that is not there, or two of them")
            self.values[row[0]] = row[1]
        self.block_of = [*range(network.nodes)]
        for nodes in whole_rows(group.get("blocks", []), 1, network.nodes):
            for node in network.node_set([*nodes]):
                if self.block_of[node] != node:
                    raise EvidenceError("a node is in two blocks")
                self.block_of[node] = network.nodes + nodes[0]
        self.once: list[tuple[int, int, int, int]] = []
        for row in whole_rows(group.get("once", []), 4, 4):
            if row[0] >= network.nodes or not 1 <= row[1] <= row[2] < self.steps:
                raise EvidenceError("a charge of something that is not there")
            self.once.append((self.block_of[row[0]], *row[1:]))
        charged = {step for _, first, last, _ in self.once for step in (first, last + 1)}
        self.starts = sorted({each.first for each in prices.intervals} | charged)
        self._hops, self._walks = cache(network.hops), cache(self._cheapest_walks)

    def paid(self, messages: list[int]) -> int:
        """Return what these messages pay at least."""
        tables: defaultdict[Any, list[int]] = defaultdict(list)
        for message in messages:
            source, goals = self.network.messages[message]
            outside = [n for n in sorted(goals) if self.block_of[n] != self.block_of[source]]
            values = tuple((node, self.values.get(node, 0)) for node in outside)
            holders = None if self.network.hop_by_hop else frozenset((source, *goals))
            tables[holders, values].append(source)
        paid = 0
        for (holders, values), sources in tables.items():
            incomes = _Incomes(self, holders, dict(values), set(sources))
            income, charges = incomes.at_start()
            for source in sources:
                paid += max(0, incomes.total - charges - income[self.block_of[source]])
        return paid

    def gains(
        self, interval: int, hop: tuple[int, int], goals: Mapping[int, int]
    ) -> Iterator[tuple[int, int]]:
        """Yield nodes to which a transfer may go that begins with this channel, and its gain.

        ``goals`` has what a receipt is worth at every node, without the price of its port.
        """
        (a, b), network = hop, self.network
        prices = self.prices.intervals[interval]
        start = prices.inject.get(a, 0) + prices.hops[hop]
        if network.hop_by_hop or b in network.endpoints:
            if b in goals:
                yield b, goals[b] - start
            return
        cost, near, beyond = self._walks(interval, b), self._hops(a), self._hops(b)
        self.prices.count(len(goals))
        for goal in cost.keys() & goals.keys():
            if network.extra_hops is None or beyond[goal] < near[goal] + network.extra_hops:
                yield goal, goals[goal] - start - cost[goal]

    def _cheapest_walks(self, interval: int, source: int) -> dict[int, int]:
        self.prices.count(len(self.network.channels))
        price = self.prices.intervals[interval].hops
        return cheapest_walks(self.network, [(1, None, price)], source)


class _Incomes:
    """The incomes of all blocks for messages of the same holders and worth, from step to step."""

    def __init__(
        self,
        spread: Spread,
        holders: frozenset[int] | None,
        values: dict[int, int],
        sources: set[int],
    ) -> None:
        self.spread, self.network, self.values = spread, spread.network, values
        self.members: defaultdict[int, list[int]] = defaultdict(list)
        for node in range(self.network.nodes) if holders is None else holders:
            self.members[spread.block_of[node]].append(node)
        self.total = sum(values.values())
        self.own = dict.fromkeys(self.members, 0)
        for node, amount in values.items():
            self.own[spread.block_of[node]] += amount
        # Messages of several sources share a table, in which each source may receive, too.
        self.start = spread.block_of[next(iter(sources))] if len(sources) == 1 else None
        self.after = {block: self._after(nodes, sources) for block, nodes in self.members.items()}
        self.income = dict.fromkeys(self.members, 0)
        self.sums = dict.fromkeys(self.members, 0)
        self.best: defaultdict[int, dict[int, int]] = defaultdict(dict)

    def _after(self, nodes: list[int], sources: set[int]) -> int | None:
        """Return to how many neighbours a block sends a message at most, hop by hop."""
        if not self.network.hop_by_hop:
            return None
        number = sum(len(self.network.successors[node]) for node in nodes)
        before, beyond = self.network.predecessors[nodes[0]], self.network.successors[nodes[0]]
        # A node has no use for sending to the neighbour that informed it.
        alone = len(nodes) == 1 and nodes[0] not in sources
        return number - (alone and set(before) <= set(beyond))

    def at_start(self) -> tuple[dict[int, int], int]:
        """Return the income of every block before the first step, and all charges."""
        end = self.spread.steps
        highest: dict[int, int] = {}
        for first in reversed(self.spread.starts):
            self.spread.prices.count(len(self.spread.once))
            charge: defaultdict[int, int] = defaultdict(int)
            for block, since, until, amount in self.spread.once:
                if since <= first <= until and block in self.members:
                    charge[block] += amount
            for block, amount in charge.items():
                highest[block] = max(highest.get(block, 0), amount)
            for step in range(end, first - 1, -1):
                before = dict(self.income)
                earned = self._earned(step, charge)
                self._add(earned, 1)
                if self.income == before and step < self.spread.steps:
                    # The same prices and incomes give the same earnings in the steps before.
                    self._add(earned, step - first)
                    break
            end = first - 1
        return self.income, sum(highest.values())

    def _add(self, earned: Mapping[int, int], times: int) -> None:
        for block, amount in earned.items():
            self.sums[block] += times * amount
            limits = [self.total, self.sums[block]]
            if self.network.hop_by_hop or self.spread.any_rounds:
                limits.append(_largest(self.best[block], self.after[block]))
            self.income[block] = min(limits)

    def _earned(self, step: int, charge: Mapping[int, int]) -> dict[int, int]:
        """Return what every block earns in a step at most."""
        spread, network, last = self.spread, self.network, step == self.spread.steps
        index = max(i for i, each in enumerate(spread.prices.intervals) if each.first <= step)
        prices = spread.prices.intervals[index]
        goals = self._goals(prices, charge, last)
        if not goals:
            return {}
        free = prices.free and not network.hop_by_hop and not spread.any_rounds
        spread.prices.count(len(self.members if free else network.channels))
        key_of = [*range(network.nodes)] if last else spread.block_of
        amounts = sorted(goals.values(), reverse=True)
        earned: dict[int, int] = {}
        for block, nodes in self.members.items():
            sent = sum(network.in_step(step, network.inject[node]) for node in nodes)
            limit = None if spread.any_rounds else sent
            if free:
                earned[block] = sum(amounts[:limit])
                continue
            gains: dict[int, int] = {}
            over = 0
            for hop in ((a, b) for a in nodes for b in network.successors[a]):
                first: dict[int, int] = {}
                for goal, gain in spread.gains(index, hop, goals):
                    if gain > 0 and spread.block_of[goal] != block:
                        first[key_of[goal]] = max(gain, first.get(key_of[goal], 0))
                carried = network.in_step(step, network.channels[hop])
                over += _largest(first, None if spread.any_rounds else carried)
                gains.update((key, max(gain, gains.get(key, 0))) for key, gain in first.items())
            earned[block] = min(over, _largest(gains, limit))
            together: defaultdict[int, int] = defaultdict(int)
            for key, gain in gains.items():
                together[spread.block_of[key] if last else key] += gain
            for key, gain in together.items():
                self.best[block][key] = max(gain, self.best[block].get(key, 0))
        return earned

    def _goals(self, prices: Interval, charge: Mapping[int, int], last: bool) -> dict[int, int]:
        """Return what a receipt is worth at every node, minus its port, where the last hop pays."""
        goals: dict[int, int] = {}
        for block, nodes in self.members.items():
            value = min(self.total, self.own[block] + self.income[block]) - charge.get(block, 0)
            for node in nodes if block != self.start else ():
                amount = self.values.get(node, 0) if last else value
                amount -= prices.accept.get(node, 0)
                before = self.network.predecessors[node]
                if any(amount > prices.hops[a, node] for a in before):
                    goals[node] = amount
        return goals


def _largest(gains: Mapping[int, int], number: int | None) -> int:
    return sum(sorted(gains.values(), reverse=True)[:number])


def paid_for_sets(network: Network, prices: Prices, rows: Any, messages: list[int]) -> int:
    """Return what these messages pay at least for the sets that they enter.

    ``rows`` lists the weight of each set, and then its nodes.
    """
    sets = [
        (row[0], network.node_set([*row[1:]])) for row in whole_rows(rows, 2, network.nodes + 1)
    ]
    lowest = _lowest(prices).hops if prices.intervals else {}
    ends = sum(len(network.messages[message][1]) for message in messages)
    prices.count(len(sets) * (len(network.channels) + ends))
    for (a, b), price in lowest.items():
        if sum(weight for weight, inside in sets if b in inside and a not in inside) > price:
            raise EvidenceError("the sets weigh more than a channel into them costs")
    return sum(
        weight
        for message in messages
        for source, goals in [network.messages[message]]
        for weight, inside in sets
        if source not in inside and not inside.isdisjoint(goals)
    )
