"""A lower bound on the steps of a collective, found by counting uses of ports and channels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cchybrid.problem import LINK, NetworkStructure, Problem


def min_steps(problem: Problem, structure: NetworkStructure) -> int:
    """Return a lower bound on the steps of a schedule.

    Every message leaves its source and enters all its destinations through ports. With one
    destination it uses as many channels as the distance, otherwise at least one per destination.
    A node informs at most as many others in a step as its injection ports.
    """
    required = problem.required
    message, target = structure.delivery_message[required], structure.delivery_node[required]
    if not len(message):
        return 0
    source, resources = structure.message_source, structure.resources
    goals = np.bincount(message, minlength=len(source))
    away = structure.distance[source[message], target]
    hops = np.where(goals[message] == 1, away, 1)
    channel_capacity = problem.capacity[problem.kind <= LINK].sum(dtype=np.int64)
    nodes = structure.network.nodes
    inject, accept = problem.capacity[resources.inject], problem.capacity[resources.accept]
    growth, informed = 0, 1
    while informed <= goals.max():
        growth, informed = growth + 1, informed * (1 + max(1, int(inject.max())))
    return max(
        growth,
        _rounds(hops.sum(), channel_capacity),
        _rounds(np.bincount(source[goals > 0], minlength=nodes), inject),
        _rounds(np.bincount(target, minlength=nodes), accept),
        int(away.max()) if structure.hop_by_hop else 1,
    )


def _rounds(uses: ArrayLike, capacity: ArrayLike) -> int:
    """Return the largest of uses / capacity, rounded up."""
    return int(np.max(-(-np.asarray(uses) // np.maximum(1, capacity))))
