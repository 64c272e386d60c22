"""Prices: every message pays at least its cheapest allowed route; a step has only so much to sell.

With a price on every channel (one for both directions of a half-duplex pair) and on every port,
the messages of a scatter pay at least the sum of their cheapest allowed routes, whatever the
schedule. One step sells at most the sum of capacity times price. The quotient bounds the steps.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network

_PRICE = re.compile(r"([0-9]{1,40})(?:/([0-9]{1,40}))?")
_LARGEST = 10**40
_LARGEST_SCALE = 1 << 4096
"""Evidence may come from anywhere: the numbers in it must not grow until the checker stands."""


def price_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return how many steps follow from the prices in the evidence.

    ``channels`` lists ``[a, b, price]``, ``inject`` and ``accept`` list ``[node, price]``; prices
    are non-negative integers or fractions such as ``"3/7"``, of at most 40 digits above and below;
    what is not listed costs nothing.
    Messages with several destinations are refused: they may share their ways.
    """
    if any(len(destinations) > 1 for _, destinations in network.messages):
        raise EvidenceError("prices bound messages with one destination only")
    channel, inject, accept = _whole(
        _channel_prices(network, evidence.get("channels", [])),
        _node_prices(network, evidence.get("inject", [])),
        _node_prices(network, evidence.get("accept", [])),
    )
    sold: int = sum(price * network.channels[hop] for hop, price in channel.items())
    sold -= sum(channel.get((a, b), 0) * network.channels[a, b] for a, b in network.half_duplex)
    sold += sum(price * network.inject[node] for node, price in inject.items())
    sold += sum(price * network.accept[node] for node, price in accept.items())
    if sold == 0:
        raise EvidenceError("nothing has a price")
    way = {hop: channel.get(hop, 0) for hop in network.channels}
    paid = 0
    goals: dict[int, list[int]] = {}
    for source, (goal,) in network.messages:
        goals.setdefault(source, []).append(goal)
        if not network.hop_by_hop:
            paid += inject.get(source, 0) + accept.get(goal, 0)
    if network.hop_by_hop:
        # Every hop passes ports: their prices belong to the channels.
        way = {(a, b): price + inject.get(a, 0) + accept.get(b, 0) for (a, b), price in way.items()}
    for source, targets in goals.items():
        cheapest = cheapest_routes(network, way, source)
        for target in targets:
            if target not in cheapest:
                raise EvidenceError("a destination out of reach")
            paid += cheapest[target]
    return -(-paid // sold)


def cheapest_routes(
    network: Network, price: Mapping[tuple[int, int], int], source: int
) -> dict[int, int]:
    """Return the price of the cheapest allowed route from the source to every node in reach.

    Walks stand in for simple paths: prices are not negative, so a cheapest walk can be cut to a
    path that is no dearer and no longer.
    """
    if network.extra_hops is None:
        return _dijkstra(network, price, source)
    distance = network.hops(source)
    most = max(distance.values()) + network.extra_hops
    cheapest: dict[int, int] = {}
    layer = {source: 0}
    for hops in range(1, most + 1):
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
            if scale > _LARGEST_SCALE:
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
    # A price is what the pattern says and nothing else that Fraction would read ("1e999999").
    text = str(value) if type(value) is int and 0 <= value < _LARGEST else value
    found = _PRICE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise EvidenceError("a price is neither a non-negative integer nor a fraction of two")
    above, below = int(found[1]), int(found[2] or "1")
    if below == 0:
        raise EvidenceError("a price is divided by zero")
    return Fraction(above, below)
