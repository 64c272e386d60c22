"""Integer maximum flows and minimum cuts, by OR-Tools."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from ortools.graph.python import max_flow

from cchybrid.model.errors import InputError

MAX_CAPACITY = 1 << 61
"""Sum of capacities up to which 64-bit integers hold every flow."""


class Flow(NamedTuple):
    """The value of a maximum flow, and the smallest set around the sink that limits it."""

    value: int
    sink_side: frozenset[int]


def refuse_large(capacity: Mapping[tuple[int, int], int]) -> None:
    """Raise an ``InputError`` if the capacities of arcs are too large for exact flows."""
    if sum(capacity.values()) >= MAX_CAPACITY:
        raise InputError(
            "the capacities are too large for exact flows",
            where="network.channels",
            hint="divide them by a common factor",
        )


class FlowNetwork:
    """A network of integer capacities for several flows.

    Parameters
    ----------
    capacity
        ``(tail, head) -> capacity`` of every arc.

    Raises
    ------
    InputError
        If the capacities are too large.
    """

    def __init__(self, capacity: Mapping[tuple[int, int], int]) -> None:
        refuse_large(capacity)
        ends = np.array(list(capacity), dtype=np.int32).reshape(-1, 2)
        sizes = np.fromiter(capacity.values(), dtype=np.int64, count=len(capacity))
        self._nodes = int(ends.max(initial=-1)) + 1
        self._flow = max_flow.SimpleMaxFlow()
        self._flow.add_arcs_with_capacity(ends[:, 0].copy(), ends[:, 1].copy(), sizes)

    def flow(self, source: int, sink: int) -> Flow:
        """Return a maximum flow from ``source`` to ``sink``."""
        if sink >= self._nodes:  # a node without arcs
            return Flow(0, frozenset({sink}))
        if source >= self._nodes:
            return Flow(0, frozenset(range(self._nodes)))
        status = self._flow.solve(source, sink)
        if status != self._flow.OPTIMAL:
            raise InputError(
                f"the maximum flow ended with {status.name}",
                where="network.channels",
                hint="report this defect",
            )
        return Flow(
            self._flow.optimal_flow(), frozenset(self._flow.get_sink_side_min_cut()) | {sink}
        )

    def value(self, source: int, sink: int) -> int:
        """Return the value of a maximum flow alone, which is faster."""
        if max(source, sink) >= self._nodes:
            return 0
        if self._flow.solve(source, sink) != self._flow.OPTIMAL:
            return self.flow(source, sink).value
        return int(self._flow.optimal_flow())
