"""Prices per step: a number of steps in which messages cannot pay for their routes.

For store-and-forward switching, where a message takes one hop per step and may wait at nodes.
Channels and ports have a price in every step; the channels of a half-duplex pair have one price.

1. The transfers of a message contain, for each of its destinations, a route from its source whose
   hops happen in increasing steps. So the message pays at least the cheapest such route to the most
   expensive one of its destinations.
2. All steps together offer at most the sum of capacity times price.
3. If all messages pay more than that, there are too few steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError

_MAX_WORK = 30_000_000
"""Largest number of prices that are looked at; a check at the limit takes several seconds."""
_MAX_PRICE = 10**40

StepPrices = list[dict[tuple[int, int], int]]
"""Per step the price of every hop."""


def step_price_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the field ``steps``, if the prices show that one step less is not enough."""
    paid, offered = step_price_totals(network, evidence)
    if paid <= offered:
        raise EvidenceError("the prices do not rule out fewer steps")
    shown: int = evidence["steps"]
    return shown


def step_price_totals(network: Network, evidence: Mapping[str, Any]) -> tuple[int, int]:
    """Return what all messages pay at least, and what all steps but the last one offer.

    ``channels`` lists ``[a, b, first, last, price]``, ``inject`` and ``accept`` list
    ``[node, first, last, price]``: a non-negative integer for the steps from first to last, counted
    from 1. Prices for the same channel or port and step are added.
    """
    if not network.hop_by_hop:
        raise EvidenceError("prices per step are for store-and-forward switching")
    shown = evidence.get("steps")
    if type(shown) is not int or shown < 2:
        raise EvidenceError("the number of steps is missing")
    prices, offered = prices_and_offers(network, evidence, shown - 1)
    return paid_for_routes(network, prices), sum(offered)


def paid_for_routes(network: Network, prices: StepPrices) -> int:
    """Return what all messages pay at least for routes within the steps."""
    goals: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for source, destinations in network.messages:
        goals[source].append(destinations)
    if len(goals) * len(network.channels) * len(prices) > _MAX_WORK:
        raise TooLargeError("too many steps for a check of prices per step")
    paid = 0
    for source, messages in goals.items():
        cheapest = _cheapest(prices, source)
        for destinations in messages:
            if not all(goal in cheapest for goal in destinations):
                raise EvidenceError("a destination out of reach")
            paid += max(cheapest[goal] for goal in destinations)
    return paid


def prices_and_offers(
    network: Network, evidence: Mapping[str, Any], steps: int
) -> tuple[StepPrices, list[int]]:
    """Return the price of every hop in every step, ports included, and what each step offers."""
    tables = [_rows(evidence.get(key, []), steps) for key in ("channels", "inject", "accept")]
    if (len(network.channels) + sum(map(len, tables))) * steps > _MAX_WORK:
        raise TooLargeError("too many prices")
    link: list[dict[Any, int]] = [defaultdict(int) for _ in range(steps)]
    inject: list[dict[Any, int]] = [defaultdict(int) for _ in range(steps)]
    accept: list[dict[Any, int]] = [defaultdict(int) for _ in range(steps)]
    offered = [0] * steps
    for (*ends, first, last, price), owner, size in _priced(network, tables):
        table = (link, inject, accept)[owner]
        key = network.link(*ends) if owner == 0 else ends[0]
        for step in range(first - 1, last):
            table[step][key] += price
            offered[step] += price * network.in_step(step + 1, size)
    prices = [
        {
            (a, b): link[step][network.link(a, b)] + inject[step][a] + accept[step][b]
            for a, b in network.channels
        }
        for step in range(steps)
    ]
    return prices, offered


def _priced(network: Network, tables: list[list[list[int]]]) -> Any:
    """Yield every row with the number of its table, and the capacity that it prices."""
    channels, inject, accept = tables
    for row in channels:
        if len(row) != 5 or (row[0], row[1]) not in network.channels:
            raise EvidenceError("a price for a channel that is not there")
        yield row, 0, network.channels[row[0], row[1]]
    for owner, rows, ports in ((1, inject, network.inject), (2, accept, network.accept)):
        for row in rows:
            if len(row) != 4 or row[0] >= network.nodes:
                raise EvidenceError("a price for a node that is not there")
            yield row, owner, ports[row[0]]


def _rows(rows: Any, steps: int) -> list[list[int]]:
    if not isinstance(rows, list):
        raise EvidenceError("prices are not a list")
    for row in rows:
        if not isinstance(row, list) or not 4 <= len(row) <= 5:
            raise EvidenceError("a price has the wrong form")
        if not all(type(number) is int and 0 <= number < _MAX_PRICE for number in row):
            raise EvidenceError("a price has the wrong form")
        if not 1 <= row[-3] <= row[-2] <= steps:
            raise EvidenceError("a price for a step that is not there")
    return rows


def _cheapest(prices: StepPrices, source: int) -> dict[int, int]:
    """Return the price of the cheapest route to every node that is reached within the steps."""
    cheapest = {source: 0}
    for step in prices:
        # A message leaves a node only where it was before the step.
        before = dict(cheapest)
        for (a, b), price in step.items():
            if a in before:
                reached = before[a] + price
                if b not in cheapest or reached < cheapest[b]:
                    cheapest[b] = reached
    return cheapest
