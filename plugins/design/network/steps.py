"""Lower bounds of the steps of a collective: of one network, and of all networks of a task.

The bounds count: what the ports and channels of every node, and of all nodes, carry in a step,
against what they have to carry. The counts depend on the numbers of links per node and of nodes
within k hops, and decrease in both. They hold for every routing, and so also for networks to which
links are added. The bound of all networks counts likewise (``cchybrid.design_checker.steps``).

- Growth: in wormhole switching, a node that holds a message informs at most as many nodes per step
  as it has links and ports. In store-and-forward it informs each of its neighbours once, except
  the one that informed it.
- Ports: a node with e links injects and accepts at most e messages per step, and at most as many as
  it has ports.
- Distances: a message of a scatter uses at least as many channels as its distance; in
  store-and-forward also as many ports, and what is k hops away arrives after k steps.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cchybrid.design_checker import steps_bound
from cchybrid.library.collectives import collective as build_collective
from cchybrid.model import CommunicationModel, Instance, LowerBound
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds

from .ports import Links, Ports, network_of
from .task import DesignTask

Rows = Sequence[Sequence[int]]

REVERSED = {"AOR": "OAB", "AAR": "AAB", "AOG": "OAS"}
"""Collectives that are others read backwards, with injection and acceptance exchanged."""
ROOTED = ("OAB", "OAS", "AOG", "AOR")
"""Collectives with a root, which is node 0."""


class Reach(NamedTuple):
    """Numbers of a network from which the bounds are computed; node 0 is the root.

    Parameters
    ----------
    links
        The number of links of every node.
    within
        Per node, the number of nodes within 0, 1, 2, ... hops, up to all nodes.
    """

    links: Sequence[int]
    within: Rows


class Limits(NamedTuple):
    """Messages that each node injects and accepts per step, at most; infinite without ports."""

    inject: float
    accept: float


def steps_of_network(task: DesignTask, ports: Ports) -> float:
    """Return a lower bound of the steps of the task's collective on a network, by counting.

    Infinite if the network is not connected.
    """
    reach = network_reach(ports)
    return math.inf if reach is None else float(count_steps(task, reach))


def steps_of_all_networks(task: DesignTask) -> int:
    """Return a lower bound of the steps of the task's collective on every network of the task.

    It is that of the independent checker.
    """
    hops = None if task.max_wire is None else task.wire_hops.tolist()
    return steps_bound(task.nodes, task.degree, hops, task.collective, task.model.to_json())


def network_reach(ports: Ports) -> Reach | None:
    """Return links and nodes within k hops of a network; ``None`` if it is not connected."""
    nodes, degree = ports.shape
    known = np.eye(nodes, dtype=np.bool_)
    levels = [known.sum(axis=1)]
    while (levels[-1] < nodes).any():
        before, known = known, known.copy()
        for port in range(degree):
            known |= before[ports[:, port]]
        levels.append(known.sum(axis=1))
        if (levels[-1] == levels[-2]).all():
            return None
    links = (ports != np.arange(nodes, dtype=ports.dtype)[:, None]).sum(axis=1)
    # The row of a node ends with the first entry of all nodes.
    within = [row[: row.index(nodes) + 1] for row in np.array(levels).T.tolist()]
    return Reach(links.tolist(), within)


def count_steps(task: DesignTask, reach: Reach) -> int:
    """Return the largest count for the task's collective and communication model."""
    assert task.collective is not None
    hop_by_hop = task.model.hop_by_hop
    limits = _limits(task.model, task.collective in REVERSED)
    name = REVERSED.get(task.collective, task.collective)
    if name == "OAB":
        return _growth(reach, limits, hop_by_hop)
    if name == "OAS":
        return _sequence(reach, 0, limits.inject, hop_by_hop)
    nodes, everyone = len(reach.links), range(len(reach.links))
    sent = sum(min(links, limits.inject) for links in reach.links)
    received = sum(min(links, limits.accept) for links in reach.links)
    best = max(_sequence(reach, node, limits.accept, hop_by_hop) for node in everyone)
    if name == "AAB":
        transfers = nodes * (nodes - 1)
        return max(
            best, _quotient(transfers, min(sent, received)), _growth(reach, limits, hop_by_hop)
        )
    best = max(best, *(_sequence(reach, node, limits.inject, hop_by_hop) for node in everyone))
    distances = sum(nodes - count for row in reach.within for count in row)
    carried = min(sent, received) if hop_by_hop else sum(reach.links)
    return max(best, _quotient(distances, carried))


def _limits(model: CommunicationModel, exchanged: bool) -> Limits:
    inject, accept = (
        math.inf if limit is None else float(limit)
        for limit in (model.inject_limit(0), model.accept_limit(0))
    )
    return Limits(accept, inject) if exchanged else Limits(inject, accept)


def _sequence(reach: Reach, node: int, limit: float, hop_by_hop: bool) -> int:
    """Return the steps to exchange a message with every other node.

    In store-and-forward, what is more than k hops away takes k steps more than its first, or last,
    hop.
    """
    row = reach.within[node]
    rate = min(reach.links[node], limit)
    return max(
        hops + _quotient(row[-1] - count, rate)
        for hops, count in enumerate(row if hop_by_hop else row[:1])
    )


def _growth(reach: Reach, limits: Limits, hop_by_hop: bool) -> int:
    """Return the steps of a message from node 0 to all nodes."""
    nodes = len(reach.links)
    if not hop_by_hop:
        power = sorted((min(links, limits.inject) for links in reach.links[1:]), reverse=True)
        informed, steps = 1, 0
        while informed < nodes:
            rest = sum(power[: informed - 1])
            informed += int(min(reach.links[0], limits.inject) + rest)
            steps += 1
        return steps
    largest = max(reach.links)
    new, steps = [1], 0
    while sum(new) < nodes:
        steps += 1
        sent = _sent(reach.links[0], limits.inject, steps)
        sent += sum(
            count * _sent(largest - 1, limits.inject, steps - when)
            for when, count in enumerate(new[1:], 1)
        )
        new.append(sent)
    return max(steps, len(reach.within[0]) - 1)


def _sent(links: int, limit: float, step: int) -> int:
    """Return how many neighbours a node informs in a step, counted from 1, if it never waits."""
    before = min(links, limit * (step - 1)) if step > 1 else 0
    return int(min(links, limit * step) - before)


def _quotient(amount: int, rate: float) -> int:
    return -(-amount // int(rate))


def instance_of(task: DesignTask, links: Links) -> Instance:
    """Return the instance of the task's collective on the network with these links."""
    assert task.collective is not None
    network = network_of(task, links)
    return Instance(network, build_collective(task.collective, network), task.model)


def proven_steps(task: DesignTask, links: Links, steps: int) -> LowerBound | None:
    """Return the first bound found, over any routing, of at least this many steps.

    Growth, cuts, and prices of the flow program, each checked by ``cchybrid.checker``; ``None`` if
    none of them suffices.
    """
    anyhow = replace(instance_of(task, links), model=replace(task.model, routing="any")).forward
    for provider in (growth_bounds, cut_bounds, price_bounds):
        for bound in provider(anyhow):
            if bound.steps >= steps:
                return bound
    return None
