"""All-to-all scatter on hypercubes, complete graphs and HyperX: a coset of offsets per step.

In a step every node sends over some offsets, by dimension order. A message then uses one channel of
every dimension in which its offset is not zero, and all nodes use the same one, so offsets share a
step if they differ in every digit. The offsets (t, c + t, d + t, ...) do, for all t below the
shortest side: a step for each choice of c, d, ..., which is optimal, as this is the number of
messages that have to pass a channel of the shortest side.
"""

import math

import numpy as np

from cchybrid.problem.ragged import offsets, within
from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError
from .hamming import hamming_labels


def offset_exchange(context: Context) -> Transfers:
    """Return the schedule of n / s steps on n nodes whose shortest side is s.

    On hypercubes this is the XOR exchange: a label and its complement per step, with e-cube
    routing (Sullivan and Bashkow 1977). With k < s ports a step is divided into s / k, rounded up.
    """
    ends = context.ends
    found = hamming_labels(context.network)
    if found is None:
        raise DoesNotApplyError("not a hypercube, complete graph or HyperX")
    context.require_wormhole(full_duplex=True)
    sides, label = found
    ports = min(context.ports())
    weight = np.array([math.prod(sides[axis + 1 :]) for axis in range(len(sides))])
    moved = label[ends[1]] - label[ends[0]]
    offset = moved % sides
    coset = ((offset - offset[:, :1]) % sides) @ weight
    kind = coset * sides[0] + (sides[0] - 1 - offset[:, 0]) // ports
    # Messages with the same source and destination take separate rounds.
    pair = ends[0] * context.nodes + ends[1]
    order = np.argsort(pair, kind="stable")
    repeat = np.empty_like(pair)
    repeat[order] = within(np.unique(pair, return_counts=True)[1])
    step = np.unique(repeat * context.nodes + kind, return_inverse=True)[1]
    # The number of the node after each dimension; on the path if that digit changes.
    start = np.ones((len(pair), 1), dtype=np.int64)
    visited = np.column_stack((start, moved)) != 0
    place = np.column_stack((label[ends[0]] @ weight, moved * weight)).cumsum(axis=1)
    return Transfers(
        np.arange(len(pair)),
        step,
        np.argsort(label @ weight)[place[visited]],
        offsets(visited.sum(axis=1)),
    )
