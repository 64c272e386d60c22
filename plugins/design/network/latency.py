"""Cost terms: mean and maximum latency in hops.

The mean runs over all ordered pairs of nodes including each node with itself, as in the tables of
Marden's paper: it is 16 for a ring of 64 nodes. The mean over pairs of different nodes, as in the
order/degree problem, is n / (n - 1) times as large.
"""

import math

from .distances import all_distances
from .ports import Ports


def latency(ports: Ports) -> tuple[float, float]:
    """Return mean and maximum latency; infinite if the network is not connected."""
    total, diameter = all_distances(ports)
    if total < 0:
        return math.inf, math.inf
    return total / len(ports) ** 2, float(diameter)
