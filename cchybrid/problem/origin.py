"""The way back from a Problem to its instance: lifting, matching and pricing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps, Transfer
from cchybrid.model.schedule import reverse_steps
from cchybrid.problem.arrays import (
    Assignment,
    BoolArray,
    IntArray,
    LongArray,
    Price,
    Problem,
)
from cchybrid.problem.demand import working_ports
from cchybrid.problem.resources import Resources
from cchybrid.problem.routes import Path, Routes


@dataclass(frozen=True, eq=False)
class InstanceOrigin:
    """An instance, and which message, node and path the Problem's numbers stand for.

    Parameters
    ----------
    message, node
        Shape (deliveries,): the message, and the node that it reaches.
    path_node, path_node_start
        The nodes of listed path p are ``path_node[path_node_start[p] : path_node_start[p + 1]]``.
    resources
        The resource of each channel and of each node's ports.
    """

    instance: Instance
    routes: Routes
    message: IntArray
    node: IntArray
    path_node: IntArray
    path_node_start: LongArray
    resources: Resources

    @cached_property
    def _delivery_of(self) -> Mapping[tuple[int, int], int]:
        pairs = zip(self.message.tolist(), self.node.tolist(), strict=True)
        return {pair: delivery for delivery, pair in enumerate(pairs)}

    @cached_property
    def _ports_work(self) -> tuple[BoolArray, BoolArray]:
        return working_ports(self.instance.forward)

    @cached_property
    def path_nodes(self) -> tuple[Path, ...]:
        """The nodes of every listed path."""
        return tuple(self.path(index) for index in range(len(self.path_node_start) - 1))

    def path(self, index: int) -> Path:
        """Return the nodes of a listed path."""
        begin, end = self.path_node_start[index : index + 2]
        return tuple(self.path_node[begin:end].tolist())

    def option_of(self, problem: Problem, delivery: int, path: Sequence[int]) -> int:
        """Return the option of a delivery over a path, -1 if the pool has none."""
        if not all(0 <= node < self.routes.network.nodes for node in path):
            return -1
        first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
        listed = problem.option_path[first:last]
        begin, size = self.path_node_start[listed], len(path)
        alike = np.flatnonzero(self.path_node_start[listed + 1] - begin == size)
        nodes = self.path_node[begin[alike][:, None] + np.arange(size)]
        places = alike[(nodes == np.array(path, dtype=np.int32)).all(axis=1)]
        return int(first + places[0]) if len(places) else -1

    def informers(self, delivery: int) -> list[tuple[int, int]]:
        """Return every node that may inform a delivery, and the delivery that it requires."""
        target = int(self.node[delivery])
        index = int(self.message[delivery])
        message = self.instance.forward.collective.deliver_messages[index]
        sends, takes = self._ports_work
        if not takes[target]:
            return []
        if self.instance.model.switching == "wormhole":
            distance = self.routes.distance
            near = [v for v in (message.source, *message.destinations) if distance[v, target] > 0]
        else:
            near = self.routes.predecessors[target]
        known = self._delivery_of
        return [
            (node, -1 if node == message.source else known[index, node])
            for node in near
            if sends[node] and (node == message.source or (index, node) in known)
        ]

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule; what nothing needs is left out, and empty steps unless counted."""
        filled: dict[int, list[Transfer]] = {}
        for delivery in np.flatnonzero(needed(problem, assignment)).tolist():
            path = self.path(problem.option_path[assignment.option[delivery]])
            transfer = Transfer(int(self.message[delivery]), path)
            filled.setdefault(int(assignment.step[delivery]), []).append(transfer)
        kept = sorted(filled) if steps is None else range(steps)
        ordered = tuple(tuple(filled.get(step, ())) for step in kept)
        if self.instance.collective.kind == "combine":
            ordered = reverse_steps(ordered)
        return Schedule(self.instance, ordered)

    def match(self, problem: Problem, steps: Steps) -> Assignment:
        """Return the assignment of these transfers; those that the pool lacks are left out."""
        if self.instance.collective.kind == "combine":
            steps = reverse_steps(steps)
        found = problem.empty()
        for step, transfers in enumerate(steps):
            for message, path in transfers:
                delivery = self._delivery_of.get((message, path[-1] if path else -1), -1)
                option = -1 if delivery < 0 else self.option_of(problem, delivery, path)
                if option >= 0:
                    found.option[delivery] = option
                    found.step[delivery] = step
        return found

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option: the listed ones if they are all, else by routes."""
        if problem.complete:
            return self._price_listed(problem, delivery, cost)
        target = int(self.node[delivery])
        resources = self.resources
        informers = self.informers(delivery)
        sources = [source for source, _ in informers]
        routes = self.routes.cheapest_to(target, sources, cost[resources.channel])
        best = Price(float("inf"), -1, ())
        for source, before in informers:
            spent, path = routes[source]
            spent += float(cost[resources.inject[source]] + cost[resources.accept[target]])
            if spent < best.cost:
                best = Price(spent, before, path)
        return best

    def _price_listed(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        option, spent = cheapest_listed(problem, delivery, cost)
        path = self.path(problem.option_path[option])
        return Price(spent, int(problem.option_requires[option]), path)


def cheapest_listed(
    problem: Problem, delivery: int, cost: NDArray[np.float64]
) -> tuple[int, float]:
    """Return the cheapest of a delivery's options, of which there is one at least, and its cost."""
    first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
    paths = problem.option_path[first:last]
    begin, size = problem.path_start[paths], np.diff(problem.path_start)[paths]
    # The uses of all these paths in one row: every path has some, so no piece is empty.
    ends = np.cumsum(size)
    used = np.arange(ends[-1]) + np.repeat(begin - ends + size, size)
    spent = np.add.reduceat(cost[problem.path_resource[used]], ends - size)
    place = int(np.argmin(spent))
    return int(first) + place, float(spent[place])


def needed(problem: Problem, assignment: Assignment) -> NDArray[np.bool_]:
    """Return, shape (deliveries,), which deliveries happen and are required or lead to such."""
    happens = (assignment.option >= 0) & (assignment.step >= 0)
    wanted = problem.required & happens
    frontier = np.flatnonzero(wanted)
    while len(frontier):
        before = problem.option_requires[assignment.option[frontier]]
        before = before[before >= 0]
        frontier = np.unique(before[happens[before] & ~wanted[before]])
        wanted[frontier] = True
    return wanted
