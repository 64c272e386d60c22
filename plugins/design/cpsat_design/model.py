"""The CP-SAT model of the networks of a task whose diameter is limited.

A variable per allowed link, and per pair of nodes and number of hops: whether they are at most so
many hops apart. The latter may be 1 only if a link and a shorter distance support it. The sum of
all distances is the number of pairs more than k hops apart, summed over k.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from ..network.bounds import LatencyBound, moore_counts
from ..network.ports import Links
from ..network.task import DesignTask

Pair = tuple[int, int]


class NetworkModel:
    """The model of a task.

    Parameters
    ----------
    diameter
        The largest diameter.
    bound
        Lower bounds of the latencies.
    coefficients
        Of the sum of distances of ordered pairs, and of the diameter, in the objective.
    best
        Only networks with a smaller objective are searched; ``None`` for all.
    """

    def __init__(
        self,
        task: DesignTask,
        diameter: int,
        bound: LatencyBound,
        coefficients: tuple[int, int],
        best: int | None,
    ) -> None:
        self.task, self.diameter, self.model = task, diameter, cp_model.CpModel()
        self._pairs = list(itertools.combinations(range(task.nodes), 2))
        self._links = {
            (a, b): self.model.new_bool_var(f"link {a} {b}")
            for a, b in self._pairs
            if task.allowed[a, b]
        }
        for node in range(task.nodes):
            own = [link for pair, link in self._links.items() if node in pair]
            self.model.add(sum(own) <= task.degree)
        within = [self._links]
        for _ in range(diameter - 1):
            within.append(self._next(within[-1]))
        for pair in self._pairs:
            if pair in within[-1]:
                self.model.add(within[-1][pair] == 1)
            else:
                self.model.add_bool_or([])
        self._limit_reach(within)
        self._break_symmetry()
        self._minimise(within, bound, coefficients, best)

    def links(self, values: NDArray[np.int64]) -> Links:
        """Return the links of a solution."""
        return tuple(pair for pair, link in self._links.items() if values[link.index])

    def cost(self, values: NDArray[np.int64]) -> int:
        """Return the objective of a solution."""
        return int(values[self._cost.index])

    def hint(self, values: NDArray[np.int64]) -> None:
        """Start the next search from a solution."""
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for index, value in enumerate(values.tolist()):
            self.model.add_hint(self.model.get_int_var_from_proto_index(index), value)

    def _next(self, within: dict[Pair, cp_model.IntVar]) -> dict[Pair, cp_model.IntVar]:
        """Return variables of the pairs that are at most one hop further apart."""
        after = {}
        for a, b in self._pairs:
            supports = [within[a, b]] if (a, b) in within else []
            for node in range(self.task.nodes):
                near, link = _pair(a, node), self._links.get(_pair(node, b))
                if node in (a, b) or near not in within or link is None:
                    continue
                both = self.model.new_bool_var("")
                self.model.add_implication(both, within[near])
                self.model.add_implication(both, link)
                supports.append(both)
            if supports:
                after[a, b] = self.model.new_bool_var("")
                self.model.add_bool_or([*supports, after[a, b].negated()])
        return after

    def _limit_reach(self, within: Sequence[dict[Pair, cp_model.IntVar]]) -> None:
        """Add Moore's bound for every node and number of hops; it follows, but helps the search."""
        counts = moore_counts(self.task.nodes, self.task.degree)
        for hops, reached in enumerate(within, 1):
            count = counts[min(hops, len(counts) - 1)]
            for node in range(self.task.nodes):
                others = [variable for pair, variable in reached.items() if node in pair]
                self.model.add(sum(others) <= count - 1)

    def _break_symmetry(self) -> None:
        """Number the nodes so that few isomorphic networks are left; not with limited wires.

        Links can be added to a best network until some node has all its links, as two nodes with
        empty ports would be linked. That node is 0, its neighbours are 1 to d in descending order
        of their numbers of other links, and the rest is sorted by links to them.
        """
        nodes, degree = self.task.nodes, min(self.task.degree, self.task.nodes - 1)
        if self.task.max_wire is not None:
            return
        first, rest = range(1, degree + 1), range(degree + 1, nodes)
        for node in first:
            self.model.add(self._links[0, node] == 1)
        outward = [sum(self._links[a, b] for b in rest) for a in first]
        codes = [sum(2 ** (degree - a) * self._links[a, b] for a in first if a <= 50) for b in rest]
        for ordered in (outward, codes):
            for one, after in itertools.pairwise(ordered):
                self.model.add(one >= after)

    def _minimise(
        self,
        within: Sequence[dict[Pair, cp_model.IntVar]],
        bound: LatencyBound,
        coefficients: tuple[int, int],
        best: int | None,
    ) -> None:
        missing = [
            sum(reached[pair].negated() if pair in reached else 1 for pair in self._pairs)
            for reached in within[:-1]
        ]
        total = 2 * (len(self._pairs) + sum(missing))
        self.model.add(total >= bound.total)
        # Whether some pair is more than k hops apart, for every k.
        farther = [self.model.new_bool_var("") for _ in within[:-1]]
        for variable, reached in zip(farther, within[:-1], strict=True):
            for pair in self._pairs:
                self.model.add_bool_or(variable, *([reached[pair]] if pair in reached else []))
        diameter = 1 + sum(farther)
        per_distance, per_diameter = coefficients
        nodes = self.task.nodes
        largest = per_distance * nodes**3 + per_diameter * nodes
        self._cost = self.model.new_int_var(
            0, largest if best is None else max(0, best - 1), "cost"
        )
        self.model.add(self._cost == per_distance * total + per_diameter * diameter)
        self.model.minimize(self._cost)


def _pair(a: int, b: int) -> Pair:
    return (min(a, b), max(a, b))
