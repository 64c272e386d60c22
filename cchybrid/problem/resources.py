"""The resources of a Problem: channels, half-duplex pairs and ports, with capacities per step."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Network
from cchybrid.problem.arrays import ACCEPT, CHANNEL, INJECT, LINK, BoolArray, IntArray, LongArray
from cchybrid.problem.ragged import Integers, PairLookup, blocks, owners

_MAX_CAPACITY = 1 << 30
"""Largest capacity that is stored, so that 32 bits suffice; no schedule has as many transfers."""


@dataclass(frozen=True, eq=False)
class Resources:
    """The resources of an instance, and the resource of each channel and each node's ports.

    Attributes
    ----------
    capacity, kind, implied
        As in ``Problem``.
    channel
        Shape (channels,): the resource of each channel, in the network's order.
    inject, accept
        Shape (nodes,): the resource of each node's ports.
    periodic
        As in ``Problem``.
    """

    network: Network
    capacity: IntArray
    kind: NDArray[np.int8]
    implied: BoolArray
    channel: IntArray
    inject: IntArray
    accept: IntArray
    periodic: bool

    @cached_property
    def channels(self) -> LongArray:
        """Shape (channels, 3): from, to and capacity of each channel, in the network's order.

        Capacities are at most 2^30, as in ``capacity``.
        """
        rows = [(a, b, min(size, _MAX_CAPACITY)) for a, b, size in self.network.channels]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def working(self) -> tuple[BoolArray, BoolArray]:
        """Shape (nodes,) each: True where a node has injection ports, and acceptance ports."""
        return self.capacity[self.inject] > 0, self.capacity[self.accept] > 0

    @cached_property
    def _lookup(self) -> PairLookup:
        """Index of channels by their end nodes."""
        return PairLookup(self.channels[:, 0], self.channels[:, 1])

    def channel_of(self, first: Integers, last: Integers) -> LongArray:
        """Return, shape (pairs,), the channel from the first to the last node, -1 for none."""
        return self._lookup.find(first, last)

    def of_paths(self, node: Integers, start: LongArray) -> IntArray:
        """Return the resources of paths: injection port, channels, acceptance port.

        Parameters
        ----------
        node, start
            The nodes of path p are ``node[start[p] : start[p + 1]]``; every hop is a channel.

        Returns
        -------
        IntArray
            The resources of all paths, one after another; path p has
            ``start[p + 1] - start[p] + 1`` of them.
        """
        used = np.empty(len(node) + len(start) - 1, dtype=np.int32)
        for row, stop in blocks(start):
            nodes, starts = node[start[row] : start[stop]], start[row : stop + 1] - start[row]
            used[start[row] + row : start[stop] + stop] = self._of_some(nodes, starts)
        return used

    def _of_some(self, node: Integers, start: LongArray) -> IntArray:
        paths = len(start) - 1
        used = np.empty(len(node) + paths, dtype=np.int32)
        shift = np.arange(paths)
        first, last = start[:-1], start[1:] - 1
        used[first + shift] = self.inject[node[first]]
        used[last + shift + 1] = self.accept[node[last]]
        begins = np.ones(len(node), dtype=np.bool_)
        begins[last] = False
        places = np.flatnonzero(begins)
        used[places + owners(start)[places] + 1] = self.channel[
            self.channel_of(node[places], node[places + 1])
        ]
        return used

    def uses_of(self, node: Integers, start: LongArray) -> dict[str, Any]:
        """Return the fields of a Problem about what paths use, by name; see ``of_paths``."""
        return {
            "path_start": start + np.arange(len(start)),
            "path_resource": self.of_paths(node, start),
            **self.times_of(node, start),
        }

    def times_of(self, node: Integers, start: LongArray) -> dict[str, IntArray]:
        """Return the fields of a Problem about when paths use resources; see ``of_paths``.

        In time slots the k-th channel of a path is used k - 1 steps after the start, and the
        acceptance port with the last channel. In ticks a channel is used when the head of the
        message reaches it, and so is the acceptance port.
        """
        ticks = bool(self.network.times)
        if not (ticks or self.periodic):
            return {}
        latency, length = np.ones((2, len(node)), dtype=np.int64)
        if ticks:
            times = np.array([*self.network.times, (0, 0)])
            hop = self.channel_of(node[:-1], node[1:])
            latency[1:], length[1:] = times[hop].T
        latency[start[:-1]] = length[start[:-1]] = 0
        size = np.diff(start)
        # The ticks before each node of a path.
        late = np.cumsum(latency)
        late -= np.repeat(late[start[:-1]], size)
        total = late[start[1:] - 1]
        if not ticks:
            late[start[1:] - 1] -= 1
        fields = {"path_offset": np.insert(late, start[:-1], 0)}
        if ticks:
            fields["path_length"] = np.maximum.reduceat(length, start[:-1])
            fields["path_duration"] = total + fields["path_length"]
        return {name: values.astype(np.int32) for name, values in fields.items()}


def resources_of(forward: Instance) -> Resources:
    """Return the resources of a ``deliver`` instance."""
    network, model = forward.network, forward.model
    rows: list[tuple[int, int, bool]] = []
    channel: dict[tuple[int, int], int] = {}
    of_first: dict[tuple[int, int], int] = {}
    flow_out = [0] * network.nodes
    flow_in = [0] * network.nodes
    for source, target, capacity in network.channels:
        flow_out[source] += capacity
        flow_in[target] += capacity
        first = network.shared.get((source, target), (source, target))
        if first not in of_first:
            of_first[first] = len(rows)
            shares = (source, target) in network.shared
            rows.append((capacity, LINK if shares else CHANNEL, False))
        channel[source, target] = of_first[first]

    inject, accept = len(rows) + np.arange(2 * network.nodes, dtype=np.int32).reshape(2, -1)
    limits_of = (INJECT, model.inject_limit, flow_out), (ACCEPT, model.accept_limit, flow_in)
    for kind, limit_of, flows in limits_of:
        for node, flow in enumerate(flows):
            limit = limit_of(node)
            implied = limit is None or limit >= flow
            rows.append((flow if limit is None else min(limit, flow), kind, implied))
    channels = (channel[source, target] for source, target, _ in network.channels)
    return Resources(
        network=network,
        capacity=np.array([min(row[0], _MAX_CAPACITY) for row in rows], dtype=np.int32),
        kind=np.array([row[1] for row in rows], dtype=np.int8),
        implied=np.array([row[2] for row in rows], dtype=np.bool_),
        channel=np.fromiter(channels, dtype=np.int32),
        inject=inject,
        accept=accept,
        periodic=model.periodic,
    )
