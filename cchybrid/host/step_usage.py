"""The steps in which the channels and ports of a network are full."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from cchybrid.model import Instance, Network
from cchybrid.referee.distances import hop_distances


class StepUsage:
    """Resources of a ``deliver`` instance (channels, injection, acceptance) and their use.

    Attributes
    ----------
    channel
        The resource of each channel ``(a, b)``; the two of a half-duplex pair are one resource.
    inject, accept
        The resource of each node's ports, ``None`` without a limit.
    capacity
        Per resource the number of transfers in one step.
    full
        Per resource a bit set of the steps in which it is full.
    """

    def __init__(self, forward: Instance) -> None:
        self.network, self.model = forward.network, forward.model
        network = self.network
        self.full: list[int] = []
        self.capacity: list[int] = []
        self._used: list[dict[int, int]] = []
        """Per resource the transfers of each step, given by its bit, if the capacity is above 1."""
        self.channel: dict[tuple[int, int], int] = {}
        together: dict[tuple[int, int], int] = {}
        for a, b, capacity in network.channels:
            first = network.shared.get((a, b), (a, b))
            if first not in together:
                together[first] = self._resource(capacity)
            self.channel[a, b] = together[first]
        nodes = range(network.nodes)
        self.inject = [self._ports(self.model.inject_limit(node)) for node in nodes]
        self.accept = [self._ports(self.model.accept_limit(node)) for node in nodes]

    def _resource(self, capacity: int) -> int:
        self.full.append(0)
        self._used.append({})
        self.capacity.append(capacity)
        return len(self.full) - 1

    def _ports(self, limit: int | None) -> int | None:
        return None if limit is None else self._resource(limit)

    def can_inject(self, node: int) -> bool:
        """Return whether a node has an injection port."""
        return self.model.inject_limit(node) != 0

    def can_accept(self, node: int) -> bool:
        """Return whether a node has an acceptance port."""
        return self.model.accept_limit(node) != 0

    def resources(self, path: Sequence[int]) -> list[int]:
        """Return the resources that a path uses: channels and ports."""
        ports = (self.inject[path[0]], self.accept[path[-1]])
        used = [self.channel[hop] for hop in pairwise(path)]
        return used + [resource for resource in ports if resource is not None]

    def first_free(self, resources: Iterable[int], earliest: int) -> int:
        """Return the first step from ``earliest`` on in which no resource is full."""
        full = 0
        for resource in resources:
            full |= self.full[resource]
        full >>= earliest
        # The lowest bit of ``full`` that is 0.
        return earliest + (~full & (full + 1)).bit_length() - 1

    def use(self, resources: Iterable[int], bit: int) -> None:
        """Count a transfer over these resources, in the step whose bit is set."""
        for resource in resources:
            capacity = self.capacity[resource]
            if capacity > 1:
                used = self._used[resource]
                used[bit] = used.get(bit, 0) + 1
                if used[bit] < capacity:
                    continue
            self.full[resource] |= bit

    @cached_property
    def open_network(self) -> Network:
        """The network in store-and-forward switching: channels whose ends can send and receive.

        Each transfer is one hop, so endpoints forward, too.
        """
        channels = tuple(
            channel
            for channel in self.network.channels
            if self.can_inject(channel.source) and self.can_accept(channel.target)
        )
        return replace(
            self.network, channels=channels, times=(), half_duplex=(), groups=(), endpoints=()
        )

    def hops_from(self, sources: Sequence[int]) -> tuple[dict[int, list[int]], list[list[int]]]:
        """Return hop distances in ``open_network``, and the predecessors of each node.

        Returns
        -------
        dict[int, list[int]]
            Per source the hops to every node.
        list[list[int]]
            Per node the nodes from which a channel leads to it.
        """
        rows = hop_distances(self.open_network, sources).tolist()
        predecessors: list[list[int]] = [[] for _ in range(self.network.nodes)]
        for source, target, _ in self.open_network.channels:
            predecessors[target].append(source)
        return dict(zip(sources, rows, strict=True)), predecessors
