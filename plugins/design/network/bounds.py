"""Lower bounds of latencies: Moore's bound, and its version for nodes at positions.

A node with d links has at most d neighbours, and each of these at most d - 1 more. So at most
1 + d + d (d - 1) + ... + d (d - 1)^(k - 1) nodes are within k hops of a node, and, with limited
wires, only nodes that k wires can reach. The smaller of both numbers, for every node and every k,
bounds the number of hops from below.

References
----------
V. G. Cerf, D. D. Cowan, R. C. Mullin, R. G. Stanton, "A lower bound on the average shortest path
length in regular graphs", Networks 4 (1974) 335-342, doi:10.1002/net.3230040405 (mean distance).
"""

from dataclasses import dataclass

import numpy as np

from .steps import steps_of_all_networks
from .task import DesignTask
from .terms import LATENCY_TERMS


@dataclass(frozen=True)
class LatencyBound:
    """Lower bounds of the distances of all ordered pairs of nodes.

    Parameters
    ----------
    nodes
        The number of nodes.
    total, diameter
        Bounds of the sum and of the maximum of the distances.
    """

    nodes: int
    total: int
    diameter: int

    def cost(self, task: DesignTask) -> float | None:
        """Return a lower bound of the cost; ``None`` if it has terms besides latency and steps."""
        if not {name for name, _ in task.weights} <= {*LATENCY_TERMS, "steps"}:
            return None
        mean = self.total / self.nodes**2
        cost = task.weight("latency") * mean + task.weight("max-latency") * self.diameter
        steps = task.weight("steps")
        return cost + steps * steps_of_all_networks(task) if steps else cost


def moore_counts(nodes: int, degree: int) -> list[int]:
    """Return the largest numbers of nodes within 0, 1, 2, ... hops, up to all nodes.

    With degree 1 at most two nodes are reached, and the list ends there.
    """
    counts, ring = [1], degree
    while counts[-1] < nodes and ring > 0:
        counts.append(min(nodes, counts[-1] + ring))
        ring *= degree - 1
    return counts


def latency_bound(task: DesignTask) -> LatencyBound:
    """Return lower bounds of sum and maximum of the distances in every network of a task."""
    nodes = task.nodes
    moore = moore_counts(nodes, task.degree)
    if task.max_wire is None:
        total = sum(nodes - count for count in moore)
        return LatencyBound(nodes, nodes * total, len(moore) - 1)
    total = diameter = 0
    while True:
        limit = moore[min(diameter, len(moore) - 1)]
        missing = nodes - np.minimum((task.wire_hops <= diameter).sum(axis=1), limit)
        if not missing.any():
            return LatencyBound(nodes, total, diameter)
        total += int(missing.sum())
        diameter += 1
