"""Kernel that matches senders to receivers: a maximum-weight matching with capacities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.kernels import compiled

__all__ = ["match_ports"]

MIN_GAIN = 1e-9
"""Gains below this are rounding errors."""


@compiled
def match_ports(
    sender: IntArray,
    receiver: IntArray,
    value: NDArray[np.float64],
    edges: int,
    capacity: IntArray,
    chosen: BoolArray,
    load: IntArray,
    gain: NDArray[np.float64],
    via: IntArray,
) -> None:
    """Choose edges of maximum total value, as many at every port as its capacity allows.

    Successive augmenting paths of maximum gain (Bellman and Ford), until none gains anything.

    Parameters
    ----------
    sender, receiver, value
        Shape (at least ``edges``,): the ports and the positive value of each edge. Senders and
        receivers have different numbers.
    capacity
        Shape (ports,).
    chosen
        Shape (at least ``edges``,): overwritten.
    load
        Shape (ports,): overwritten with the number of chosen edges.
    gain, via
        Shape (ports,): the gain of the best path to each port, and its last edge.
    """
    chosen[:edges] = False
    load[:] = 0
    while True:
        gain[:] = -np.inf
        for edge in range(edges):
            if load[sender[edge]] < capacity[sender[edge]]:
                gain[sender[edge]] = 0.0
                via[sender[edge]] = -1
        changed = True
        while changed:
            changed = False
            for edge in range(edges):
                first, last = sender[edge], receiver[edge]
                if not chosen[edge]:
                    if gain[first] + value[edge] > gain[last] + MIN_GAIN:
                        gain[last] = gain[first] + value[edge]
                        via[last] = edge
                        changed = True
                elif gain[last] - value[edge] > gain[first] + MIN_GAIN:
                    gain[first] = gain[last] - value[edge]
                    via[first] = edge
                    changed = True
        end, best = -1, MIN_GAIN
        for edge in range(edges):
            port = receiver[edge]
            if load[port] < capacity[port] and gain[port] > best:
                end, best = port, gain[port]
        if end < 0:
            return
        load[end] += 1
        while via[end] >= 0:
            edge = via[end]
            chosen[edge] = not chosen[edge]
            end = sender[edge] if chosen[edge] else receiver[edge]
        load[end] += 1
