"""What options use up: channels, half-duplex pairs and ports, with their capacity per step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance
from cchybrid.problem.arrays import ACCEPT, CHANNEL, INJECT, LINK, BoolArray, IntArray
from cchybrid.routes import Path

_PLENTY = 1 << 30
"""Larger capacities count as this one: no schedule has so many transfers, and 32 bits hold it."""


@dataclass(frozen=True)
class Resources:
    """The resources of an instance, and which one stands for a channel or a node's ports."""

    capacity: IntArray
    kind: NDArray[np.int8]
    implied: BoolArray
    channel: dict[tuple[int, int], int]
    inject: dict[int, int]
    accept: dict[int, int]

    def of_path(self, path: Path) -> list[int]:
        """Return what a path uses: the injection port, the channels, the acceptance port."""
        used = [self.channel[hop] for hop in pairwise(path)]
        return [self.inject[path[0]], *used, self.accept[path[-1]]]


def resources_of(forward: Instance) -> Resources:
    """Return the resources of a ``deliver`` instance."""
    network, model = forward.network, forward.model
    rows: list[tuple[int, int, bool]] = []
    channel: dict[tuple[int, int], int] = {}
    pair_of = {pair: pair for pair in network.half_duplex}
    pair_of |= {(b, a): (a, b) for a, b in network.half_duplex}
    flow_out = [0] * network.nodes
    flow_in = [0] * network.nodes
    for source, target, capacity in network.channels:
        flow_out[source] += capacity
        flow_in[target] += capacity
        pair = pair_of.get((source, target))
        if pair is None:
            channel[source, target] = len(rows)
            rows.append((capacity, CHANNEL, False))
        elif pair not in channel:
            channel[pair] = channel[pair[1], pair[0]] = len(rows)
            rows.append((capacity, LINK, False))

    def ports(kind: int) -> dict[int, int]:
        found = {}
        for node in range(network.nodes):
            flow = (flow_out if kind == INJECT else flow_in)[node]
            limit = model.inject_limit(node) if kind == INJECT else model.accept_limit(node)
            implied = limit is None or limit >= flow
            found[node] = len(rows)
            rows.append((flow if limit is None else min(limit, flow), kind, implied))
        return found

    inject, accept = ports(INJECT), ports(ACCEPT)
    return Resources(
        capacity=np.array([min(row[0], _PLENTY) for row in rows], dtype=np.int32),
        kind=np.array([row[1] for row in rows], dtype=np.int8),
        implied=np.array([row[2] for row in rows], dtype=np.bool_),
        channel=channel,
        inject=inject,
        accept=accept,
    )
