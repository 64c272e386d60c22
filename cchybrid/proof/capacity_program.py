"""Rows of the capacities of links and ports, and the program of the largest load of any of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Network
from cchybrid.proof.linear_program import LinearProgram


@dataclass(frozen=True)
class FlowPrices:
    """The dual of the arc-flow program.

    Attributes
    ----------
    load
        The optimum: a lower bound on the steps of a scatter, up to rounding.
    channel, inject, accept
        Non-negative prices per channel (in the network's order) and per node.
    """

    load: float
    channel: NDArray[np.number]
    inject: NDArray[np.number]
    accept: NDArray[np.number]


class CapacityProgram(LinearProgram):
    """A program that minimizes the largest load of a link or port, relative to its capacity.

    Attributes
    ----------
    links
        The row of each channel.
    inject, accept
        The rows of the ports by node.
    """

    def __init__(self, instance: Instance, method: str = "GLOP") -> None:
        super().__init__(method=method)
        self._network = instance.network
        load = self.variable(objective=1.0)

        def limit(capacity: int) -> Any:
            return self.row(-math.inf, 0.0, [(load, -float(capacity))])

        self.links = link_rows(instance.network, limit)
        self.inject, self.accept = port_rows(instance, limit)

    def rows_of(self, a: int, b: int) -> list[Any]:
        """Return the rows of a channel and of the ports at its ends."""
        ports = self.inject.get(a), self.accept.get(b)
        return [self.links[a, b], *(row for row in ports if row is not None)]

    def flow(self, a: int, b: int) -> Any:
        """Return a new variable: the flow over a channel."""
        found = self.variable()
        for row in self.rows_of(a, b):
            row.SetCoefficient(found, 1.0)
        return found

    def solved(self) -> FlowPrices | None:
        """Solve; return the optimum and the dual values, ``None`` if it is not solved."""
        return self.prices() if self.solve() else None

    def prices(self) -> FlowPrices:
        """Return the last optimum and its dual values."""
        channels = (self.links[a, b] for a, b, _ in self._network.channels)
        ports = self._port_prices(self.inject), self._port_prices(self.accept)
        return FlowPrices(self.value, self.duals(channels, sign=-1.0), *ports)

    def _port_prices(self, rows: Mapping[int, Any]) -> NDArray[np.float64]:
        prices = np.zeros(self._network.nodes)
        prices[list(rows)] = self.duals(rows.values(), sign=-1.0)
        return prices


def port_rows(
    instance: Instance, limit: Callable[[int], Any]
) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return the rows of the nodes' ports for sending and for receiving.

    In store-and-forward switching a message uses the ports of every node of its route. In wormhole
    switching it uses ports once, whatever its route, which cut bounds count.
    """
    model, nodes = instance.model, range(instance.network.nodes)
    if not model.hop_by_hop:
        return {}, {}
    return (
        {v: limit(k) for v in nodes if (k := model.inject_limit(v)) is not None},
        {v: limit(k) for v in nodes if (k := model.accept_limit(v)) is not None},
    )


def link_rows(network: Network, limit: Callable[[int], Any]) -> dict[tuple[int, int], Any]:
    """Return the row of each channel; the channels of a half-duplex pair have one row."""
    rows: dict[tuple[int, int], Any] = {}
    for a, b in network.half_duplex:
        size = network.channels[network.channel_index[a, b]].capacity
        rows[a, b] = rows[b, a] = limit(size)
    for a, b, size in network.channels:
        if (a, b) not in rows:
            rows[a, b] = limit(size)
    return rows
