"""Growth bounds: ports and channels limit how many more nodes a message reaches per step.

A count of informed nodes tells how many steps to expect. The evidence is the worth of the message's
destinations: what a node earns from a step on is how many more it can inform. Where nodes differ in
ports, each of them is charged for what it earns more than the weakest one that the count informs in
the same step.

Source: thesis section 3.3.1, equation 3.3, with the ports of each node.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from cchybrid.checker import Network
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import climb, network_of
from cchybrid.proof.linear_evidence import linear, rows_over_time

MAX_TRIED = 8
"""Messages that are tried for one number of steps."""


def growth_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing growth bounds."""
    messages = instance.collective.deliver_messages
    if not instance.model.hop_by_hop and all(
        len(message.destinations) == 1 for message in messages
    ):
        yield LowerBound(1, linear(1))  # at once, as a scatter may have a million messages
        return
    yield from climb(instance, _evidence(network_of(instance)))


def _evidence(network: Network) -> Iterator[dict[str, Any]]:
    """Yield evidence for the messages that grow slowest, and then for one step less, and so on."""
    counts: dict[tuple[Any, ...], tuple[int, int]] = {}
    hops: dict[int, dict[int, int]] = {}
    for message, (source, goals) in enumerate(network.messages):
        if len(goals) == 1 and not network.hop_by_hop:
            continue
        if source not in hops:
            hops[source] = network.hops(source)
        far = max((hops[source].get(goal, 0) for goal in goals), default=0)
        key = (source, len(goals), far) if network.hop_by_hop else (source, goals)
        if key not in counts:
            # One destination needs as many steps as hops.
            one = len(goals) == 1
            steps = 1 if one else len(growth_counts(network, message, hops[source])) - 1
            counts[key] = (max(steps, far if network.hop_by_hop else 0), message)
    by_steps: dict[int, list[int]] = {}
    for steps, message in counts.values():
        by_steps.setdefault(steps, []).append(message)
    for steps in range(max(by_steps, default=1), 1, -1):
        for message in by_steps.get(steps, [])[:MAX_TRIED]:
            source = network.messages[message][0]
            yield from _evidence_of(network, message, steps, hops[source])
        by_steps[steps - 1] = by_steps.get(steps, []) + by_steps.get(steps - 1, [])
    # Last, as a run whose target is met ends with the first bound.
    yield linear(1)


def _evidence_of(
    network: Network, message: int, steps: int, hops: dict[int, int]
) -> Iterator[dict[str, Any]]:
    """Yield evidence that one message needs these steps, the simplest first."""
    _, goals = network.messages[message]
    if network.hop_by_hop:
        far = [goal for goal in goals if hops.get(goal, network.nodes) >= steps]
        if far:
            yield _growth(message, steps, far[:1])
            return
    yield _growth(message, steps, goals)
    if not network.hop_by_hop:
        yield _growth(message, steps, goals, _port_charges(network, message, steps - 1))


def _growth(
    message: int, steps: int, goals: Sequence[int], charges: dict[int, list[int]] | None = None
) -> dict[str, Any]:
    group: dict[str, Any] = {"messages": [message], "worth": [[node, 1] for node in goals]}
    once = rows_over_time(((node,), row) for node, row in (charges or {}).items())
    if once:
        group["once"] = once
    return linear(steps, groups=[group])


def growth_counts(network: Network, message: int, hops: dict[int, int]) -> list[int]:
    """Return how many nodes can hold the message at most, after 0, 1, 2, ... steps, until all do.

    At best the nodes with the most ports are informed first. In store-and-forward switching the
    informed set after t steps is also within t hops, and a node has nothing new to send to the
    neighbour that informed it. It ends early if the set stops growing.
    """
    source, goals = network.messages[message]
    within = sorted(hops.values()) if network.hop_by_hop else []
    holders = [node for node in hops if node != source] if network.hop_by_hop else goals
    power = sorted((sending_power(network, node, source) for node in holders), reverse=True)
    first = sending_power(network, source, source)
    gained = [0, *accumulate(power)]
    counts = [1]
    while counts[-1] < 1 + len(goals):
        grown = counts[-1] + first + gained[min(counts[-1], len(power) + 1) - 1]
        if network.hop_by_hop:
            grown = min(grown, sum(1 for far in within if far <= len(counts)))
        grown = min(grown, 1 + len(power))
        if grown == counts[-1]:
            break
        counts.append(grown)
    return counts


def sending_power(network: Network, node: int, source: int) -> int:
    """Return how many nodes a node that holds a message can inform in one step at most.

    In store-and-forward switching the neighbour that informed it is left out.
    """
    if not network.hop_by_hop:
        return network.inject[node]
    after, before = network.successors[node], network.predecessors[node]
    spared = node != source and set(before) <= set(after)
    return min(network.inject[node], len(after) - spared)


def _port_charges(network: Network, message: int, steps: int) -> dict[int, list[int]]:
    """Return per destination and step before the last one what it earns beyond the weakest one.

    The weakest of those that the count informs in that step; in wormhole switching.
    """
    source, goals = network.messages[message]
    order = sorted(goals, key=lambda node: -network.inject[node])
    informed = [0]
    gained = [0, *accumulate(network.inject[node] for node in order)]
    while len(informed) <= steps:
        more = network.inject[source] + gained[informed[-1]]
        informed.append(min(len(order), informed[-1] + more))
    charges: dict[int, list[int]] = {node: [0] * (steps - 1) for node in goals}
    later = 1  # what one transfer in each of the later steps earns, in sum
    for step in range(steps - 1, 0, -1):
        weakest = network.inject[order[max(informed[step] - 1, 0)]]
        for node in goals:
            charges[node][step - 1] = max(0, network.inject[node] - weakest) * later
        later += 1 + weakest * later
    return charges
