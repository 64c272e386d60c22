"""Cut bounds: messages that have to enter a set of nodes, over its capacity per step.

Every channel into the set has the price 1, or every port that all of them must use. Where late
entries count in part, an entry has the price of the most that it can lead to until the last step,
and the destinations inside have a worth.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, LowerBound
from cchybrid.problem.resources import resources_of
from cchybrid.proof.climbing import climb, network_of
from cchybrid.proof.cut_prices import Crossing
from cchybrid.proof.entries import Need, farther, fewest_steps, reach_of
from cchybrid.proof.growth import growth_bounds
from cchybrid.referee.distances import hop_distances

NodeSet = NDArray[np.bool_]

MAX_NEAR_SETS = 2_100_000
"""Balls around all nodes, and around switches, times the nodes of the network: about five seconds;
radii that exceed it are left out."""

MAX_CHECKED = 1_000_000
"""Nodes times channels above which only cuts that show more than growth are checked: the check of a
message to all nodes takes seconds."""
MAX_CHECKED_MESSAGES = 100_000
"""Messages of a scatter up to which cuts are checked here, too; for more, only the best is."""
MAX_FEW_MESSAGES = 64
"""For more messages, cuts show more than growth, which takes seconds itself."""


def cut_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing cut bounds of single nodes, balls around nodes and their complements."""
    yield from best_cuts(instance, near_sets(instance))


def best_cuts(instance: Instance, sets: Iterable[NodeSet]) -> Iterator[LowerBound]:
    """Yield the cut bound of each set that improves on all sets before it.

    Parameters
    ----------
    sets
        Boolean arrays of shape (nodes,); sets of all or no nodes are skipped.
    """
    large, found = is_large_scatter(instance), _promising(instance, sets)
    chosen = [*found][-1:] if large else found
    crossings = (
        Crossing(network_of(instance), set(np.flatnonzero(inside).tolist()), limit.kind, both)
        .evidence(limit.need)
        for inside, limit, both in chosen
    )  # fmt: skip
    yield from climb(instance, chain.from_iterable(crossings), exact=large)


def is_large_scatter(instance: Instance) -> bool:
    """Return whether all messages have one destination, and only the host checks them: seconds."""
    return len(instance.collective.flat[1]) > MAX_CHECKED_MESSAGES and is_scatter(instance)


def is_scatter(instance: Instance) -> bool:
    """Return whether every message has one destination."""
    return max(instance.collective.flat[1]) == 1


def _promising(
    instance: Instance, sets: Iterable[NodeSet]
) -> "Iterator[tuple[NodeSet, Limit, bool]]":
    """Yield each set that improves on all before it, as counted in numpy, with what limits it."""
    meter = CutMeter(instance)
    best = 0
    few = len(instance.collective.deliver_messages) <= MAX_FEW_MESSAGES
    if few and instance.network.nodes * len(instance.network.channels) > MAX_CHECKED:
        best = max((bound.steps for bound in growth_bounds(instance)), default=0)
    for inside in sets:
        if not inside.any() or inside.all():
            continue
        for both in (False, True) if meter.half_duplex else (False,):
            for limit in meter.limits(inside, both):
                if limit.need.steps > best:
                    best = limit.need.steps
                    yield inside, limit, both


def near_sets(instance: Instance) -> Iterator[NodeSet]:
    """Yield balls around nodes and their complements, small radii first; larger around switches.

    These are the sets behind a switch, such as a box of a cluster.
    """
    network = instance.network
    nodes = range(network.nodes)
    distance = hop_distances(replace(network, endpoints=()), nodes)
    switches = sorted({*nodes} - {*network.terminals})
    radii = [MAX_NEAR_SETS // max(1, len(nodes) * len(some)) for some in (nodes, switches)]
    for radius in range(int(distance.max(initial=0))):
        centres = nodes if radius < max(1, radii[0]) else switches if radius < radii[1] else ()
        for node in centres:
            ball = (distance[node] >= 0) & (distance[node] <= radius)
            yield ball
            yield ~ball


class Limit(NamedTuple):
    """A limit of the entries per step (``channels``, ``inject``, ``accept``), and their need."""

    kind: str
    need: Need


class CutMeter:
    """Fast computation of cut bounds in numpy, to select sets for the checker."""

    def __init__(self, instance: Instance) -> None:
        network, model = instance.network, instance.model
        nodes = network.nodes
        self.hop_by_hop, self.periodic = model.hop_by_hop, model.periodic
        resources = resources_of(instance)
        self.channels = resources.channels
        self.inject, self.accept = (
            resources.capacity[ports].astype(np.int64)
            for ports in (resources.inject, resources.accept)
        )
        capacity = {(a, b): size for a, b, size in self.channels.tolist()}
        pairs = [(a, b, capacity[a, b]) for a, b in network.half_duplex]
        self.half_duplex = bool(pairs)
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 3)
        # Messages with one destination are counted in a matrix; each other has its own row.
        # Sums of float32 are exact up to 2^24, more than there are messages.
        self.single = np.zeros((nodes, nodes), dtype=np.float32)
        spread = []
        for message in instance.collective.deliver_messages:
            if len(message.destinations) == 1:
                self.single[message.source, message.destinations[0]] += 1
            else:
                spread.append(message)
        self.spread_source = np.array([message.source for message in spread], dtype=np.int64)
        self.spread = np.zeros((len(spread), nodes), dtype=np.float32)
        for row, message in enumerate(spread):
            self.spread[row, list(message.destinations)] = 1

    def limits(self, inside: NodeSet, both: bool) -> list[Limit]:
        """Return what limits the entries of a set; ``both``: messages in both directions."""
        entering, senders, receivers = self._entering(inside)
        into = ~inside[self.channels[:, 0]] & inside[self.channels[:, 1]]
        carried = int(self.channels[into, 2].sum())
        within = self._reach(inside, receivers)
        if both:
            leaving, _, others = self._entering(~inside)
            out = inside[self.channels[:, 0]] & ~inside[self.channels[:, 1]]
            across = inside[self.pairs[:, 0]] != inside[self.pairs[:, 1]]
            total = carried + int(self.channels[out, 2].sum()) - int(self.pairs[across, 2].sum())
            beyond = self._reach(~inside, others)
            need = fewest_steps(entering + leaving, total, farther(within, beyond))
            return [Limit("channels", need)]
        if self.hop_by_hop:
            # Only the ends of the channels into the set count, each with its channels or port.
            first, last, size = self.channels[into].T
            nodes = len(inside)
            sent = np.minimum(self.inject, np.bincount(first, size, minlength=nodes))
            received = np.minimum(self.accept, np.bincount(last, size, minlength=nodes))
            rates = {"channels": carried, "inject": int(sent.sum()), "accept": int(received.sum())}
            return [
                Limit(kind, fewest_steps(entering, *it))
                for kind, it in ((kind, (rate, within)) for kind, rate in rates.items())
            ]
        anyhow = reach_of(self.inject[receivers].tolist())
        found = [
            Limit("channels", fewest_steps(entering, carried, within)),
            Limit("inject", fewest_steps(entering, int(self.inject[senders].sum()), anyhow)),
        ]
        if inside.sum() == 1:  # the receivers of a larger set need no more than one of them
            accepted = int(self.accept[receivers].sum())
            found.append(Limit("accept", fewest_steps(entering, accepted, within)))
        return found

    def _entering(self, inside: NodeSet) -> tuple[Counter[int], NodeSet, NodeSet]:
        """Return what enters, its possible senders and its receivers.

        What enters is the number of messages by their number of destinations inside.
        """
        # By einsum, which starts no threads: those of a matrix product wait long on a busy machine.
        chosen = inside.astype(np.float32)
        into = np.where(inside, 0, np.einsum("ij,j->i", self.single, chosen))
        widths = Counter({1: count} if (count := int(into.sum(dtype=np.int64))) else {})
        goals = np.where(inside[self.spread_source], 0, np.einsum("ij,j->i", self.spread, chosen))
        rows = goals > 0
        # In slots nothing enters late, so every message counts once.
        within = np.ones_like(goals) if self.periodic else goals
        widths.update(within[rows].astype(np.int64).tolist())
        if self.hop_by_hop:
            return widths, ~inside, inside
        holders = np.einsum("i,ij->j", rows.astype(np.float32), self.spread) > 0
        senders = (into > 0) | holders & ~inside
        senders[self.spread_source[rows]] = True
        crossing = np.einsum("i,ij->j", 1 - chosen, self.single) > 0
        receivers = inside & (holders | crossing)
        return widths, senders, receivers

    def _reach(self, inside: NodeSet, receivers: NodeSet) -> list[int]:
        """Return the reach of an entry over channels between nodes inside."""
        first, last, size = self.channels.T
        inner = inside[first] & inside[last]
        links = np.bincount(
            first[inner], None if self.hop_by_hop else size[inner], minlength=len(inside)
        )
        return reach_of(np.minimum(self.inject, links)[receivers].astype(np.int64).tolist())
