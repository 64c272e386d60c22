"""Prices: the total price of cheapest routes, divided by the priced capacity of one step.

Every channel has a price (one for both directions of a half-duplex pair), and every port.

1. A destination gets its message by a route from a node that may hold it, and the routes of
   different deliveries use capacity of their own. So each delivery costs at least the cheapest
   allowed route from any such node.
2. Such a node is the source or another destination; in store-and-forward it is any node, but a
   message with one destination takes all hops from its source there.
3. One step offers at most the sum of capacity times price. The quotient is a lower bound on the
   steps.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network

_PRICE = re.compile(r"([0-9]{1,40})(?:/([0-9]{1,40}))?")
_MAX_PRICE = 10**40
_MAX_SCALE = 1 << 4096
"""Limits of the numbers, so that evidence from any source is checked in reasonable time."""


ChannelPrices = dict[tuple[int, int], int]
NodePrices = dict[int, int]


def priced(
    network: Network, evidence: Mapping[str, Any]
) -> tuple[ChannelPrices, NodePrices, NodePrices, int]:
    """Return the prices of channels, injection and acceptance ports, and of one step's capacity.

    ``channels`` lists ``[a, b, price]``, ``inject`` and ``accept`` list ``[node, price]``; prices
    are non-negative integers or fractions such as ``"3/7"``, of at most 40 digits above and below;
    the price of what is not listed is 0. All are multiplied by one factor that makes them integers.
    """
    channel, inject, accept = _whole(
        _channel_prices(network, evidence.get("channels", [])),
        _node_prices(network, evidence.get("inject", [])),
        _node_prices(network, evidence.get("accept", [])),
    )
    offered: int = sum(price * network.channels[hop] for hop, price in channel.items())
    offered -= sum(channel.get((a, b), 0) * network.channels[a, b] for a, b in network.half_duplex)
    offered += sum(price * network.inject[node] for node, price in inject.items())
    offered += sum(price * network.accept[node] for node, price in accept.items())
    if offered == 0:
        raise EvidenceError("nothing has a price")
    return channel, inject, accept, offered


def price_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that follows from the prices in the evidence (see ``priced``)."""
    paid, offered = price_totals(network, evidence)
    return -(-paid // offered)


def price_totals(network: Network, evidence: Mapping[str, Any]) -> tuple[int, int]:
    """Return what all deliveries pay at least, and what one step offers."""
    channel, inject, accept, offered = priced(network, evidence)
    link_price = {hop: channel.get(hop, 0) for hop in network.channels}
    if network.hop_by_hop:
        # Every hop uses two ports, so their prices are added to the channel's.
        link_price = {
            (a, b): price + inject.get(a, 0) + accept.get(b, 0)
            for (a, b), price in link_price.items()
        }
        inject = accept = {}
    alone: dict[int, Counter[int]] = {node: Counter() for node in range(network.nodes)}
    goals: dict[frozenset[int], Counter[int]] = {}
    for source, destinations in network.messages:
        if len(destinations) == 1:
            alone[source][destinations[0]] += 1
            continue
        holders = frozenset((source, *destinations))
        if network.hop_by_hop:
            holders = frozenset(range(network.nodes))
        goals.setdefault(holders, Counter()).update(destinations)
    for source, deliveries in alone.items():
        if deliveries:
            goals.setdefault(frozenset((source,)), Counter()).update(deliveries)
    routes: dict[int, dict[int, int]] = {}
    paid = 0
    for holders, deliveries in goals.items():
        cheapest: dict[int, int] = {}
        for holder in holders:
            if holder not in routes:
                routes[holder] = cheapest_routes(network, link_price, holder)
            for goal in deliveries.keys() & routes[holder].keys() - {holder}:
                price = inject.get(holder, 0) + routes[holder][goal]
                cheapest[goal] = min(price, cheapest.get(goal, price))
        for goal, times in deliveries.items():
            if goal not in cheapest:
                raise EvidenceError("a destination out of reach")
            paid += times * (cheapest[goal] + accept.get(goal, 0))
    return paid, offered


def cheapest_routes(
    network: Network, price: Mapping[tuple[int, int], int], source: int
) -> dict[int, int]:
    """Return the price of the cheapest allowed route from the source to every node in reach.

    Walks are searched instead of simple paths: prices are nonnegative, so a cheapest walk can be
    shortened to a path that is not more expensive and not longer.
    """
    if network.extra_hops is None:
        return _dijkstra(network, price, source)
    distance = network.hops(source)
    max_hops = max(distance.values()) + network.extra_hops
    cheapest: dict[int, int] = {}
    layer = {source: 0}
    for hops in range(1, max_hops + 1):
        following: dict[int, int] = {}
        for node, spent in layer.items():
            if node != source and node in network.endpoints:
                continue
            for other in network.successors[node]:
                if hops > distance[other] + network.extra_hops:
                    continue
                reached = spent + price[node, other]
                if other not in following or reached < following[other]:
                    following[other] = reached
        for node, spent in following.items():
            if node not in cheapest or spent < cheapest[node]:
                cheapest[node] = spent
        layer = following
    return cheapest


def _dijkstra(
    network: Network, price: Mapping[tuple[int, int], int], source: int
) -> dict[int, int]:
    cheapest: dict[int, int] = {}
    queue = [(0, source)]
    while queue:
        spent, node = heapq.heappop(queue)
        if node in cheapest:
            continue
        cheapest[node] = spent
        if node != source and node in network.endpoints:
            continue
        for other in network.successors[node]:
            if other not in cheapest:
                heapq.heappush(queue, (spent + price[node, other], other))
    return cheapest


def _channel_prices(network: Network, rows: Any) -> dict[tuple[int, int], Fraction]:
    prices: dict[tuple[int, int], Fraction] = {}
    for row in _rows(rows, 3):
        hop = (row[0], row[1])
        if hop not in network.channels or hop in prices:
            raise EvidenceError("a price for a channel that is not there, or two prices")
        prices[hop] = _price(row[2])
    for a, b in network.half_duplex:
        if prices.get((a, b), 0) != prices.get((b, a), 0):
            raise EvidenceError("two prices for the one capacity of a half-duplex pair")
    return prices


def _node_prices(network: Network, rows: Any) -> dict[int, Fraction]:
    prices: dict[int, Fraction] = {}
    for node, price in _rows(rows, 2):
        if type(node) is not int or not 0 <= node < network.nodes or node in prices:
            raise EvidenceError("a price for a node that is not there, or two prices")
        prices[node] = _price(price)
    return prices


def _whole(*tables: Mapping[Any, Fraction]) -> list[dict[Any, int]]:
    """Return the price tables times one common factor that makes every price an integer."""
    scale = 1
    for table in tables:
        for price in table.values():
            scale = lcm(scale, price.denominator)
            if scale > _MAX_SCALE:
                raise EvidenceError("the prices have no common denominator of a sensible size")
    return [{key: int(price * scale) for key, price in table.items()} for table in tables]


def _rows(rows: Any, width: int) -> list[list[Any]]:
    if not isinstance(rows, list):
        raise EvidenceError("prices are not a list")
    for row in rows:
        if not isinstance(row, list) or len(row) != width:
            raise EvidenceError("a price has the wrong form")
        if not all(type(node) is int for node in row[:-1]):
            raise EvidenceError("a price has the wrong form")
    return rows


def _price(value: Any) -> Fraction:
    # The pattern excludes other texts that Fraction accepts, such as "1e999999".
    text = str(value) if type(value) is int and 0 <= value < _MAX_PRICE else value
    found = _PRICE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise EvidenceError("a price is neither a non-negative integer nor a fraction of two")
    above, below = int(found[1]), int(found[2] or "1")
    if below == 0:
        raise EvidenceError("a price is divided by zero")
    return Fraction(above, below)
