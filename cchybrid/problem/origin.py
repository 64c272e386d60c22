"""The way back from a Problem to its instance: lifting, matching and pricing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps, Transfer
from cchybrid.model.schedule import reverse_steps
from cchybrid.problem.arrays import Assignment, IntArray, LongArray, Price, Problem
from cchybrid.routes import Path, Routes


@dataclass(frozen=True, eq=False)
class InstanceOrigin:
    """An instance, and which message, node and path the Problem's numbers stand for.

    Parameters
    ----------
    message, node
        Shape (deliveries,): the message, and the node that it reaches.
    informer_start, informer_requires, informer_node
        Per delivery (grouped like the Problem's options) the nodes that may inform it and the
        delivery that each of them requires, -1 for the source.
    path_nodes, path_index
        The nodes of every listed path, and back.
    channel_resource, inject_resource, accept_resource
        The resource of each channel (two nodes) and of each node's ports.
    """

    instance: Instance
    routes: Routes
    message: IntArray
    node: IntArray
    informer_start: LongArray
    informer_requires: IntArray
    informer_node: IntArray
    path_nodes: tuple[Path, ...]
    path_index: Mapping[Path, int]
    channel_resource: Mapping[tuple[int, int], int]
    inject_resource: Mapping[int, int]
    accept_resource: Mapping[int, int]

    @cached_property
    def _delivery_of(self) -> Mapping[tuple[int, int], int]:
        pairs = zip(self.message.tolist(), self.node.tolist(), strict=True)
        return {pair: delivery for delivery, pair in enumerate(pairs)}

    @cached_property
    def _resource_of_channel(self) -> IntArray:
        hops = self.routes.network.channel_index
        return np.array([self.channel_resource[hop] for hop in hops], dtype=np.int32)

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule; what nothing needs is left out, and empty steps unless counted."""
        filled: dict[int, list[Transfer]] = {}
        for delivery in np.flatnonzero(needed(problem, assignment)).tolist():
            path = self.path_nodes[problem.option_path[assignment.option[delivery]]]
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
                known = self.path_index.get(path)
                delivery = -1 if known is None else self._delivery_of.get((message, path[-1]), -1)
                if delivery < 0:
                    continue
                first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
                places = np.flatnonzero(problem.option_path[first:last] == known)
                if len(places):
                    found.option[delivery] = first + places[0]
                    found.step[delivery] = step
        return found

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option: the listed ones if they are all, else by routes."""
        if problem.complete:
            return self._price_listed(problem, delivery, cost)
        target = int(self.node[delivery])
        places = slice(self.informer_start[delivery], self.informer_start[delivery + 1])
        informers = self.informer_node[places].tolist()
        requires = self.informer_requires[places].tolist()
        routes = self.routes.cheapest_to(target, informers, cost[self._resource_of_channel])
        best = Price(float("inf"), -1, ())
        for source, before in zip(informers, requires, strict=True):
            spent, path = routes[source]
            spent += float(cost[self.inject_resource[source]] + cost[self.accept_resource[target]])
            if spent < best.cost:
                best = Price(spent, before, path)
        return best

    def _price_listed(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
        paths = problem.option_path[first:last]
        begin, size = problem.path_start[paths], np.diff(problem.path_start)[paths]
        # The uses of all these paths in one row: every path has some, so no piece is empty.
        ends = np.cumsum(size)
        used = np.arange(ends[-1]) + np.repeat(begin - ends + size, size)
        spent = np.add.reduceat(cost[problem.path_resource[used]], ends - size)
        place = int(np.argmin(spent))
        return Price(
            float(spent[place]),
            int(problem.option_requires[first + place]),
            self.path_nodes[paths[place]],
        )


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
