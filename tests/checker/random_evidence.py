"""Random prices, worth and sets of linear evidence, and nested sets."""

from __future__ import annotations

import random
from typing import Any

from cchybrid.checker import Network
from cchybrid.checker.prices import Prices
from cchybrid.model import Instance
from tests.checker.by_hand import network as by_hand


def any_prices(network: Network, steps: int, rng: random.Random) -> dict[str, Any]:
    """Return prices of some channels and ports, for all steps or for some.

    In ticks, those of ports are for all; in time slots all are.
    """

    def row(*place: int) -> list[int]:
        in_all = network.periodic or (len(place) == 1 and network.times)
        if rng.random() < 0.3 or in_all:
            return [*place, rng.randint(0, 3)]
        first = rng.randint(1, steps)
        return [*place, first, rng.randint(first, steps), rng.randint(1, 4)]

    share = [rng.choice((0, 0.3, 1)) for _ in range(3)]
    return {
        "channels": [row(*hop) for hop in network.channels if rng.random() < share[0]],
        "inject": [row(node) for node in range(network.nodes) if rng.random() < share[1]],
        "accept": [row(node) for node in range(network.nodes) if rng.random() < share[2]],
    }


def any_group(
    network: Network, steps: int, rng: random.Random, messages: list[int]
) -> dict[str, Any]:
    """Return the worth of destinations, perhaps with charges and blocks."""
    nodes = range(network.nodes)
    group: dict[str, Any] = {
        "messages": messages,
        "worth": [[node, rng.randint(0, 4)] for node in nodes if rng.random() < 0.9],
    }
    if steps > 1 and rng.random() < 0.4:
        firsts = [(node, rng.randint(1, steps - 1)) for node in nodes if rng.random() < 0.5]
        group["once"] = [
            [node, first, rng.randint(first, steps - 1), rng.randint(1, 3)]
            for node, first in firsts
        ]
    if rng.random() < 0.4:
        mixed = rng.sample(nodes, network.nodes)
        cuts = sorted(rng.sample(range(1, network.nodes + 1), min(2, network.nodes)))
        group["blocks"] = [mixed[: cuts[0]], mixed[cuts[0] : cuts[-1]]][: len(set(cuts))]
    return group


def any_sets(network: Network, prices: Prices, rng: random.Random) -> list[list[int]]:
    """Return sets with weights that no channel's lowest price is below."""
    left = {hop: min(each.hops[hop] for each in prices.intervals) for hop in network.channels}
    rows = []
    for _ in range(6):
        inside = [node for node in range(network.nodes) if rng.random() < 0.5]
        into = [(a, b) for a, b in network.channels if a not in inside and b in inside]
        weight = min((left[hop] for hop in into), default=0)
        if weight:
            rows.append([weight, *inside])
            left.update({hop: left[hop] - weight for hop in into})
    return rows


def any_nested_sets(instance: Instance, message: int, rng: random.Random) -> list[list[int]]:
    """Return nested sets without the source, a destination in each: unions of random parts."""
    source, destinations = instance.collective.deliver_messages[message]
    nodes = [node for node in range(instance.network.nodes) if node != source]
    rng.shuffle(nodes)
    parts: list[Any] = nodes
    while len(parts) > 1 and rng.random() < 0.8:
        size = rng.randint(1, min(3, len(parts)))
        parts = [parts[:size], *parts[size:]]
        rng.shuffle(parts)
    rows: list[list[int]] = []

    def add(part: Any, outer: int) -> None:
        if isinstance(part, int):
            if outer:
                rows[outer - 1].append(part)
            return
        number = outer
        if not destinations_in(part).isdisjoint(destinations):
            rows.append([outer])
            number = len(rows)
        for inner in part:
            add(inner, number)

    def destinations_in(part: Any) -> set[int]:
        return {part} if isinstance(part, int) else set().union(*map(destinations_in, part))

    for part in parts:
        add(part, 0)
    return rows or [[0, *nodes]]


def any_network(rng: random.Random) -> Network:
    """Return a ring with some channels more and up to three messages, in any model."""
    nodes = rng.randrange(2, 7)
    arcs = [(a, (a + 1) % nodes) for a in range(nodes)]
    arcs += [tuple(rng.sample(range(nodes), 2)) for _ in range(rng.randrange(2 * nodes))]
    if rng.random() < 0.5:
        arcs += [(b, a) for a, b in arcs]
    if rng.random() < 0.2:
        arcs = [(a, b) for a, b in arcs if b]  # no channel leads to node 0
    size = {arc: rng.choice((1, 1, 2)) for arc in sorted(set(arcs))}
    both = [(a, b) for a, b in size if a < b and size.get((b, a)) == size[a, b]]
    sources = rng.sample(range(nodes), min(2, nodes))
    messages = []
    for _ in range(rng.randrange(1, 4)):
        source = rng.choice(sources)
        others = [node for node in range(nodes) if node != source]
        goals = rng.sample(others, rng.choice((1, len(others), rng.randint(1, len(others)))))
        messages.append((source, goals))
    return by_hand(
        [(*arc, size[arc]) for arc in size], *messages, nodes=nodes,
        half_duplex=[link for link in both if rng.random() < 0.5],
        endpoints=rng.choice(([], sorted(rng.sample(range(nodes), rng.randrange(nodes))))),
        switching=rng.choice(("wormhole", "store-and-forward")),
        routing=rng.choice(("minimal", "any", 1, 2)),
        ports={
            "inject": rng.choice(("all", 1, [rng.randrange(4) for _ in range(nodes)])),
            "accept": rng.choice(("all", 1)),
        },
        rounds=rng.choice(([], [2], [1, 2], [3, 1, 2])),
    )  # fmt: skip
