"""Conflict graphs, their colouring by NetworkX, and schedules from colourings."""

import heapq
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import networkx as nx
import numpy as np
from networkx.algorithms import coloring

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.ragged import grouped
from cchybrid.toolkit.cpsat.windows import NEVER, earliest
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix

from .choice import Check

Strategy = Callable[[Any, dict[int, int]], Iterator[int]]
"""An order of colouring in the form of ``networkx.greedy_color``."""


class ConflictGraph(nx.Graph):  # type: ignore[misc]
    """A graph whose edges share one attribute dictionary, which takes a third of the memory.

    Accessing neighbours calls ``graph["check"]``, which may raise: some of NetworkX's orders are
    computed in one call, which could not be ended otherwise. Copies of the graph keep it.
    """

    _attributes: ClassVar[dict[str, Any]] = {}

    def _shared(self) -> dict[str, Any]:
        return self._attributes

    edge_attr_dict_factory = _shared

    def __getitem__(self, node: int) -> Any:
        self.graph["check"]()
        return super().__getitem__(node)


MAX_EDGES = {"independent_set": 2_000, "smallest_last": 200_000}
"""Edges up to which an order is used: on larger graphs NetworkX takes seconds."""


def strategies(seed: int, edges: int) -> Mapping[str, Strategy]:
    """Return the orders of colouring for a graph of this size, the best ones first."""
    known: dict[str, Strategy] = {
        "saturation_largest_first": saturation_largest_first,
        "smallest_last": coloring.strategy_smallest_last,
        "largest_first": coloring.strategy_largest_first,
        "independent_set": coloring.strategy_independent_set,
        "connected_sequential": coloring.strategy_connected_sequential,
        "random_sequential": partial(coloring.strategy_random_sequential, seed=seed),
    }
    return {name: order for name, order in known.items() if edges <= MAX_EDGES.get(name, edges)}


def saturation_largest_first(graph: Any, colours: dict[int, int]) -> Iterator[int]:
    """Yield the nodes in the order of DSATUR: most colours among neighbours first, then degree.

    NetworkX's own strategy visits the edges of all coloured nodes again for every node, which takes
    minutes where this takes a second.

    References
    ----------
    D. Brélaz, "New methods to color the vertices of a graph", Communications of the ACM 22, 1979.
    doi:10.1145/359094.359101
    """
    seen: dict[int, set[int]] = {node: set() for node in graph}
    queue = [(0, -degree, node) for node, degree in graph.degree]
    heapq.heapify(queue)
    for _ in range(len(graph)):
        # Skip outdated entries, and those of coloured nodes.
        while True:
            saturation, _, node = heapq.heappop(queue)
            if node not in colours and -saturation == len(seen[node]):
                break
        yield node
        for other in graph[node]:
            if other not in colours and colours[node] not in seen[other]:
                seen[other].add(colours[node])
                heapq.heappush(queue, (-len(seen[other]), -graph.degree(other), other))


class Conflicts:
    """The conflict graphs of chosen options, and the schedules of their colourings.

    The users of a resource of capacity c are distributed over c lanes; users of one lane must not
    share a step. That is sufficient, and exact for capacity 1. There is one graph per depth in the
    forest of requirements, coloured in this order, so that required deliveries come first.

    Parameters
    ----------
    option
        Shape (deliveries,): the chosen options, -1 for deliveries that are not made.
    random
        Random state for the distribution over lanes.
    check
        Called often; raises to stop.
    """

    def __init__(
        self,
        problem: Problem,
        uses: UsageMatrix,
        option: IntVector,
        random: np.random.Generator,
        check: Check,
    ) -> None:
        self.problem = problem
        self.uses = uses
        self.option = option
        self.check = check
        self.users = np.flatnonzero(option >= 0)
        self.depth = _depths(problem, option)
        self.graphs = [
            self._graph(self.users[self.depth[self.users] == level], random)
            for level in range(int(self.depth.max(initial=-1)) + 1)
        ]

    @property
    def edges(self) -> int:
        """The number of edges of the largest graph."""
        return max((graph.number_of_edges() for graph in self.graphs), default=0)

    @property
    def min_steps(self) -> int:
        """A lower bound on the steps of a schedule of these options."""
        load = self.uses.load(self.option[self.users])
        busiest = float((load / np.maximum(self.problem.capacity, 1)).max(initial=0.0))
        return max(math.ceil(busiest), int(self.depth.max(initial=-1)) + 1)

    def schedule(self, strategy: Strategy) -> Assignment:
        """Colour the graphs in order, and schedule every delivery in the first step that it fits.

        Colours would be steps, but deeper deliveries need not wait for the last colour of the depth
        above, and lanes may separate deliveries that fit together.
        """
        found = self.problem.empty()
        rank = np.zeros(self.problem.deliveries, dtype=np.int64)
        last = 0
        for graph in self.graphs:
            colours = nx.greedy_color(graph, strategy)
            for delivery, number in colours.items():
                rank[delivery] = last + number
            last += max(colours.values(), default=-1) + 1
        found.option[:] = self.option
        self._compact(found, self.users[np.argsort(rank[self.users], kind="stable")], last)
        return found

    def _compact(self, found: Assignment, order: IntVector, steps: int) -> None:
        """Schedule deliveries in this order, each in the first step that it fits."""
        problem = self.problem
        residual = np.tile(problem.capacity.astype(np.int64), (steps, 1))
        residual[:, problem.implied] = np.iinfo(np.int64).max
        for delivery in order.tolist():
            option = found.option[delivery]
            requires = int(problem.option_requires[option])
            earliest = int(found.step[requires]) + 1 if requires >= 0 else 0
            resource, times = self.uses.row(option)
            fits = (residual[earliest:, resource] >= times).all(axis=1)
            step = earliest + int(np.argmax(fits))
            residual[step, resource] -= times
            found.step[delivery] = step

    def _graph(self, users: IntVector, random: np.random.Generator) -> Any:
        problem = self.problem
        graph = ConflictGraph(check=self.check)
        graph.add_nodes_from(users.tolist())
        position, resource, times = self.uses.entries(self.option[users])
        binding = ~problem.implied[resource]
        columns = users[position[binding]], times[binding]
        for found, (who, counts) in grouped(resource[binding], *columns):
            self.check()
            capacity = int(problem.capacity[found])
            if sum(counts) <= capacity:
                continue
            if capacity > 1:
                shuffled = random.permutation(len(who)).tolist()
                who, counts = [who[i] for i in shuffled], [counts[i] for i in shuffled]
            for lane in _lanes(who, counts, capacity):
                graph.add_edges_from(combinations(sorted(lane), 2))
        return graph


def _lanes(users: list[int], times: list[int], capacity: int) -> list[list[int]]:
    """Distribute users over lanes, each to the lanes with the fewest users."""
    lanes: list[list[int]] = [[] for _ in range(capacity)]
    queue = [(0, lane) for lane in range(capacity)]
    for user, count in zip(users, times, strict=True):
        taken = [heapq.heappop(queue) for _ in range(count)]
        for size, lane in taken:
            lanes[lane].append(user)
            heapq.heappush(queue, (size + 1, lane))
    return lanes


def _depths(problem: Problem, option: IntVector) -> IntVector:
    """Return the depth of each delivery in the forest of requirements, -1 if it is not made."""
    chosen = np.zeros(problem.options, dtype=np.bool_)
    chosen[option[option >= 0]] = True
    low = earliest(problem, chosen)
    return np.where(low == NEVER, -1, low)
