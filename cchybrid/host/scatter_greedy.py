"""First fit for scatters: every delivery goes from the source to the destination on one path.

1. Sort the deliveries by hops, the longest first, those of the same length in random order.
2. Draw several random shortest paths for each, a block of deliveries at a time, in numpy. The
   first ones avoid channels that are used much so far, later ones less so.
3. Place each delivery, one by one, on the path that is free in the earliest step. The steps in
   which a path is full are the union of the bit sets of its channels and ports (``StepUsage``).

On random regular graphs and tori of 96 to 512 nodes the steps were within 2 % of those over all
shortest paths, in a fifth of the time. Further rounds that place the deliveries of the last steps
first saved no step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cchybrid.host.step_usage import StepUsage
from cchybrid.model import Instance, Transfer
from cchybrid.referee.distances import hop_distances

MIN_PATHS, MAX_PATHS = 2, 16
"""Paths that are drawn for a delivery."""
MAX_DRAWN_CELLS = 16_000_000
"""Channels that are looked at while paths are drawn, if ``MIN_PATHS`` allow: half a second."""
BLOCK = 1024
"""Deliveries of a block: some ten milliseconds."""

SPREAD = 0.4
"""Random part of a channel's weight for the first path, as a share of the mean load; four times as
much for every further path."""

Ints = NDArray[np.int64]


class ScatterGreedy:
    """Greedy schedule in wormhole switching in which only sources send.

    Attributes
    ----------
    steps
        The steps so far.
    feasible
        Whether every source has a path to its destinations; otherwise others have to forward.
    """

    def __init__(self, forward: Instance) -> None:
        self._usage = StepUsage(forward)
        self.steps: list[list[Transfer]] = []
        network, messages = forward.network, forward.collective.deliver_messages
        counts = [len(message.destinations) for message in messages]
        self._message = np.repeat(np.arange(len(messages)), counts)
        self._source = np.array([message.source for message in messages], dtype=np.int64)
        self._source = self._source[self._message]
        targets = chain.from_iterable(message.destinations for message in messages)
        self._target = np.fromiter(targets, np.int64, sum(counts))
        sources, self._row = np.unique(self._source, return_inverse=True)
        self._hops = hop_distances(network, sources.tolist())
        self._length = self._hops[self._row, self._target]
        self.feasible = bool((self._length > 0).all())
        self._passable = np.ones(network.nodes, dtype=bool)
        self._passable[list(network.endpoints)] = False
        self._tail, self._in_channels = _incoming(forward)
        self._resource = np.array(list(self._usage.channel.values()), dtype=np.int64)
        # Either all nodes have limited ports or none.
        ports = (self._usage.inject, self._usage.accept)
        self._ports = [np.array(each, dtype=np.int64) for each in ports if each[0] is not None]
        cells = max(1, int((1 + self._in_channels.shape[1] * (self._length - 1)).sum()))
        self._paths = min(MAX_PATHS, max(MIN_PATHS, MAX_DRAWN_CELLS // cells))
        self._load = np.zeros(len(network.channels))
        self._random = np.random.default_rng(0)

    def place_all(self) -> Iterator[None]:
        """Place all deliveries; yield after each block."""
        order = self._random.permutation(len(self._length))
        order = order[np.argsort(-self._length[order], kind="stable")]
        ends = np.flatnonzero(np.diff(self._length[order])) + 1  # of deliveries of equal length
        for group in np.split(order, ends):
            for low in range(0, len(group), BLOCK):
                yield
                self._place(group[low : low + BLOCK])

    def _place(self, deliveries: Ints) -> None:
        """Place a block of deliveries of equal length."""
        nodes, channels, resources = self._draw(deliveries)
        full, use = self._usage.full, self._usage.use
        bits, picks = [], []
        for options in resources.tolist():
            best, pick, path = 0, 0, None
            for index, option in enumerate(options):
                if option == path:  # often there is only one shortest path
                    continue
                path, taken = option, 0
                for resource in option:
                    taken |= full[resource]
                free = ~taken & (taken + 1)  # the lowest bit that is 0
                if free < best or not best:
                    best, pick = free, index
            use(options[pick], best)
            bits.append(best)
            picks.append(pick)
        while len(self.steps) < max(bits).bit_length():
            self.steps.append([])
        picked = np.arange(len(deliveries)), picks
        chosen = nodes[picked].tolist()
        self._load += np.bincount(channels[picked].ravel(), minlength=len(self._load))
        for message, path, bit in zip(
            self._message[deliveries].tolist(), chosen, bits, strict=True
        ):
            self.steps[bit.bit_length() - 1].append(Transfer(message, tuple(path)))

    def _draw(self, deliveries: Ints) -> tuple[Ints, Ints, Ints]:
        """Return random shortest paths for deliveries of equal length, from the target backwards.

        Returns
        -------
        tuple[Ints, Ints, Ints]
            The nodes, shape ``(deliveries, paths, hops + 1)``, the channels, shape
            ``(deliveries, paths, hops)``, and the resources: one per channel, and two more for the
            ports if they are limited.
        """
        count, hops = len(deliveries) * self._paths, int(self._length[deliveries[0]])
        row = np.repeat(self._row[deliveries], self._paths)
        source = np.repeat(self._source[deliveries], self._paths)
        nodes = np.empty((count, hops + 1), dtype=np.int64)
        nodes[:, 0], nodes[:, hops] = source, np.repeat(self._target[deliveries], self._paths)
        channels = np.empty((count, hops), dtype=np.int64)
        mean = 1 + self._load.mean()
        spread = mean * np.tile(SPREAD * 4.0 ** np.arange(self._paths), len(deliveries))[:, None]
        for place in range(hops, 0, -1):
            after = nodes[:, place]
            tails, into = self._tail[after], self._in_channels[after]
            if place == 1:
                fits = tails == source[:, None]
            else:
                fits = (self._hops[row[:, None], tails] == place - 1) & self._passable[tails]
            fits &= into >= 0
            weight = self._load[into] + spread * self._random.random(fits.shape)
            slot = np.where(fits, weight, np.inf).argmin(axis=1)
            each = np.arange(count)
            nodes[:, place - 1], channels[:, place - 1] = tails[each, slot], into[each, slot]
        columns = [self._resource[channels]]
        if self._ports:
            inject, accept = self._ports
            columns += [inject[source][:, None], accept[nodes[:, hops]][:, None]]
        resources = np.concatenate(columns, axis=1)
        shape = (len(deliveries), self._paths, -1)
        return nodes.reshape(shape), channels.reshape(shape), resources.reshape(shape)


def _incoming(forward: Instance) -> tuple[Ints, Ints]:
    """Return per node the tails and the numbers of its incoming channels, filled up with -1."""
    network = forward.network
    lists: list[list[int]] = [[] for _ in range(network.nodes)]
    for index, channel in enumerate(network.channels):
        lists[channel.target].append(index)
    width = max(map(len, lists))
    rows = chain.from_iterable(each + [-1] * (width - len(each)) for each in lists)
    into = np.fromiter(rows, np.int64, width * network.nodes).reshape(network.nodes, width)
    tails = np.array([channel.source for channel in network.channels], dtype=np.int64)
    return np.where(into >= 0, tails[into], -1), into
