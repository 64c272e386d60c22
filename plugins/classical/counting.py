"""Steps below which ports and channels cannot carry a collective, found by counting."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cchybrid.problem import Problem
from cchybrid.problem.arrays import CHANNEL, LINK
from cchybrid.problem.origin import InstanceOrigin


def least_steps(problem: Problem, origin: InstanceOrigin) -> int:
    """Return a number of steps that no schedule can beat.

    Every message leaves its source and enters all its destinations, through ports; it takes up as
    many channels as its destination is hops away if it has one, else at least one per
    destination; and nobody informs more nodes in a step than its ports let it.
    """
    forward = origin.instance.forward
    messages = forward.collective.deliver_messages
    index, target = origin.message[problem.required], origin.node[problem.required]
    if not len(index):
        return 0
    start = np.fromiter((message.source for message in messages), dtype=np.int64)
    goals = np.bincount(index, minlength=len(messages))
    away = origin.routes.distance[start[index], target]
    hops = np.where(goals[index] == 1, away, 1)
    resources = origin.resources
    lines = np.isin(problem.kind, (CHANNEL, LINK))
    room = problem.capacity[lines].sum(dtype=np.int64)
    nodes = forward.network.nodes
    inject, accept = problem.capacity[resources.inject], problem.capacity[resources.accept]
    least = [
        _rounds(hops.sum(), room),
        _rounds(np.bincount(start[goals > 0], minlength=nodes), inject),
        _rounds(np.bincount(target, minlength=nodes), accept),
        1 if forward.model.switching == "wormhole" else int(away.max()),
    ]
    growth, informed = 0, 1
    while informed <= goals.max():
        growth, informed = growth + 1, informed * (1 + max(1, int(inject.max())))
    return max(growth, *least)


def _rounds(uses: ArrayLike, capacity: ArrayLike) -> int:
    """Return the largest of uses / capacity, rounded up."""
    return int(np.max(-(-np.asarray(uses) // np.maximum(1, capacity))))
