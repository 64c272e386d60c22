"""First fit for scatters: every delivery goes from the source to the destination on one path.

1. Sort the deliveries by hops, the longest first, those of the same length in random order.
2. Draw several random shortest paths for each, a block of deliveries at a time, in numpy. The
   first ones avoid channels that are used much so far, later ones less so.
3. Place each delivery, one by one, on the path that is free in the earliest step. The steps in
   which a resource is full are a bit set; those of a path are the union of the bit sets of its
   channels and ports (``earliest_steps``). In store-and-forward switching every hop takes the
   earliest step after the one before it.

On random regular graphs and tori of 96 to 512 nodes the steps were within 2 % of those over all
shortest paths, in a fifth of the time. Further rounds that place the deliveries of the last steps
first saved no step.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cchybrid.host.step_usage import StepUsage
from cchybrid.model import Instance, Steps
from cchybrid.problem.transfers import Transfers
from cchybrid.referee.distances import hop_distances

MIN_PATHS, MAX_PATHS = 2, 16
"""Paths that are drawn for a delivery."""
MAX_DRAWN_CELLS = 16_000_000
"""Channels that are looked at while paths are drawn, if ``MIN_PATHS`` allow: half a second."""
MAX_RANDOM = 64
"""Random numbers per node on a path; switches of clusters have a thousand incoming channels."""
BLOCK = 1024
"""Deliveries of a block: some ten milliseconds."""
MIN_COMPILED_DELIVERIES = 20_000
"""Deliveries from which on a kernel places them: to load it takes as long as to place this many."""

SPREAD = 0.4
"""Random part of a channel's weight for the first path, as a share of the mean load; four times as
much for every further path."""

Ints = NDArray[np.int64]


class ScatterGreedy:
    """Greedy schedule of messages of one destination, or in which only sources send.

    Attributes
    ----------
    feasible
        Whether every source has a path to its destinations; otherwise others have to forward.
    """

    def __init__(self, forward: Instance) -> None:
        self._usage = StepUsage(forward)
        self._by_hop = forward.model.hop_by_hop
        network = self._usage.open_network if self._by_hop else forward.network
        each, counts, self._target = map(np.array, forward.collective.flat)
        self._message = np.repeat(np.arange(len(counts)), counts)
        self._source = each[self._message]
        sources, self._row = np.unique(self._source, return_inverse=True)
        self._hops = hop_distances(network, sources.tolist())
        if network.nodes < 1 << 15:
            self._hops = self._hops.astype(np.int16)  # half the memory to look distances up in
        self._length = self._hops[self._row, self._target]
        self.feasible = bool((self._length > 0).all())
        self._passable = np.ones(network.nodes, dtype=bool)
        self._passable[list(network.endpoints)] = False
        ends = [channel[:2] for channel in network.channels]
        self._tail, self._in_channels = _incoming(network.nodes, ends)
        self._degree = (self._in_channels >= 0).sum(axis=1)
        self._resource = np.array([self._usage.channel[each] for each in ends], dtype=np.int64)
        # Either all nodes have limited ports or none.
        ports = (self._usage.inject, self._usage.accept)
        self._ports = [np.array(each, dtype=np.int64) for each in ports if each[0] is not None]
        cells = max(1, int((1 + self._in_channels.shape[1] * (self._length - 1)).sum()))
        self._paths = min(MAX_PATHS, max(MIN_PATHS, MAX_DRAWN_CELLS // cells))
        self._load = np.zeros(len(network.channels))
        self._random = np.random.default_rng(0)
        self._placed: list[Transfers] = []
        self._large: _Compiled | None = None
        if self._by_hop or len(self._length) >= MIN_COMPILED_DELIVERIES:
            self._large = _Compiled(self._usage)

    def place_all(self) -> Iterator[None]:
        """Place all deliveries; yield after each block."""
        order = self._random.permutation(len(self._length))
        order = order[np.argsort(-self._length[order], kind="stable")]
        ends = np.flatnonzero(np.diff(self._length[order])) + 1  # of deliveries of equal length
        for group in np.split(order, ends):
            for low in range(0, len(group), BLOCK):
                yield
                self._place_block(group[low : low + BLOCK])

    def steps(self) -> Steps:
        """Return the steps of the deliveries that are placed."""
        return Transfers.joined(self._placed).in_steps(None)

    def _place_block(self, deliveries: Ints) -> None:
        """Place a block of deliveries of equal length."""
        nodes, channels, resources = self._draw(deliveries)
        place = self._place_one_by_one if self._large is None else self._large.place
        pick, step = place(resources)
        each = np.arange(len(deliveries))
        nodes, channels = nodes[each, pick], channels[each, pick]
        self._load += np.bincount(channels.ravel(), minlength=len(self._load))
        hops = step.shape[1]
        if hops > 1:  # a transfer per hop
            nodes = np.stack((nodes[:, :-1], nodes[:, 1:]), axis=2)
        size = nodes.shape[-1]
        self._placed.append(
            Transfers(
                np.repeat(self._message[deliveries], hops).astype(np.int32),
                step.ravel().astype(np.int32),
                nodes.ravel().astype(np.int32),
                size * np.arange(hops * len(deliveries) + 1),
            )
        )

    def _place_one_by_one(self, resources: Ints) -> tuple[Ints, Ints]:
        """Return the path of each delivery, and its step, shape (deliveries, 1)."""
        full, use = self._usage.full, self._usage.use
        steps, picks = [], []
        for (options,) in resources.transpose(0, 2, 1, 3).tolist():
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
            steps.append([best.bit_length() - 1])
            picks.append(pick)
        return np.array(picks), np.array(steps)

    def _draw(self, deliveries: Ints) -> tuple[Ints, Ints, Ints]:
        """Return random shortest paths for deliveries of equal length, from the target backwards.

        Returns
        -------
        tuple[Ints, Ints, Ints]
            The nodes, shape ``(deliveries, paths, hops + 1)``, the channels, shape
            ``(deliveries, paths, hops)``, and the resources, shape ``(deliveries, paths, transfers,
            resources)``: one per channel, and two more for the ports if they are limited.
        """
        count, hops = len(deliveries) * self._paths, int(self._length[deliveries[0]])
        row = np.repeat(self._row[deliveries], self._paths)
        source = np.repeat(self._source[deliveries], self._paths)
        nodes = np.empty((count, hops + 1), dtype=np.int64)
        nodes[:, 0], nodes[:, hops] = source, np.repeat(self._target[deliveries], self._paths)
        channels = np.empty((count, hops), dtype=np.int64)
        mean = 1 + self._load.mean()
        spread = mean * np.tile(SPREAD * 4.0 ** np.arange(self._paths), len(deliveries))
        noise = self._random.random((hops, count, min(MAX_RANDOM, self._tail.shape[1])))
        draw = draw_in_arrays if self._large is None else self._large.draw
        tables = self._hops, self._tail, self._in_channels, self._degree, self._passable
        draw(nodes, channels, row, *tables, self._load, spread, noise)
        columns = [self._resource[channels][:, :, None]]
        starts, ends = nodes[:, :-1, None], nodes[:, 1:, None]
        if not self._by_hop:  # one transfer over all channels
            columns = [columns[0].transpose(0, 2, 1)]
            starts, ends = starts[:, :1], ends[:, -1:]
        if self._ports:
            inject, accept = self._ports
            columns += [inject[starts], accept[ends]]
        resources = np.concatenate(columns, axis=2)
        shape = (len(deliveries), self._paths)
        return (
            nodes.reshape(*shape, -1),
            channels.reshape(*shape, -1),
            resources.reshape(*shape, *resources.shape[1:]),
        )


def draw_in_arrays(
    nodes: Ints,
    channels: Ints,
    row: Ints,
    hops: NDArray[np.int32],
    tail: Ints,
    into: Ints,
    degree: Ints,
    passable: NDArray[np.bool_],
    load: NDArray[np.float64],
    spread: NDArray[np.float64],
    noise: NDArray[np.float64],
) -> None:
    """Fill in paths as ``earliest_steps.draw_paths`` does; all paths at once, hop by hop."""
    each, column = np.arange(len(channels)), np.arange(into.shape[1]) % noise.shape[2]
    for place in range(channels.shape[1], 0, -1):
        after = nodes[:, place]
        tails, channel = tail[after], into[after]
        if place == 1:
            fits = tails == nodes[:, :1]
        else:
            fits = (hops[row[:, None], tails] == place - 1) & passable[tails]
        weight = load[channel] + spread[:, None] * noise[channels.shape[1] - place][:, column]
        slot = np.where(fits & (channel >= 0), weight, np.inf).argmin(axis=1)
        nodes[:, place - 1], channels[:, place - 1] = tails[each, slot], channel[each, slot]


class _Compiled:
    """Drawing and placing by kernels."""

    def __init__(self, usage: StepUsage) -> None:
        self._capacity = np.array(usage.capacity, dtype=np.int64)
        rows = len(self._capacity)
        self._full = np.zeros((rows, 1), dtype=np.uint64)
        self._used = np.zeros((rows if (self._capacity > 1).any() else 0, 64), dtype=np.int32)

        # Numba takes half a second to load.
        from cchybrid.host import earliest_steps

        self.draw = earliest_steps.draw_paths
        self._place_earliest = earliest_steps.place_earliest

    def place(self, resources: Ints) -> tuple[Ints, Ints]:
        """Return the path of each delivery, and its steps, shape (deliveries, transfers)."""
        count, _, hops, _ = resources.shape
        pick, step = np.empty(count, dtype=np.int64), np.empty((count, hops), dtype=np.int64)
        trial, done = np.empty(hops, dtype=np.int64), 0
        while done < count:
            done = self._place_earliest(
                done, resources, self._capacity, self._full, self._used, pick, step, trial
            )
            if done < count:
                self._widen()
        return pick, step

    def _widen(self) -> None:
        """Double the number of steps."""
        self._full = np.concatenate((self._full, np.zeros_like(self._full)), axis=1)
        self._used = np.concatenate((self._used, np.zeros_like(self._used)), axis=1)


def _incoming(nodes: int, channels: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return per node the tails and the numbers of its incoming channels, filled up with -1."""
    lists: list[list[int]] = [[] for _ in range(nodes)]
    for index, (_, target) in enumerate(channels):
        lists[target].append(index)
    width = max(map(len, lists))
    rows = chain.from_iterable(each + [-1] * (width - len(each)) for each in lists)
    into = np.fromiter(rows, np.int64, width * nodes).reshape(nodes, width)
    tails = np.array([source for source, _ in channels], dtype=np.int64)
    return np.where(into >= 0, tails[into], -1), into
