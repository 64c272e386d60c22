"""The model of a broadcast: in every step, every node that has the message sends a flow of its own.

A path of minimal length is one that the hops from its sender order: each channel leads one hop
farther away. So what a sender sends in a step is a flow in a network without cycles, and every
flow of whole numbers falls into such paths. A model of flows has a variable per sender, channel
and step where a model of paths has one per path and step, of which there are very many more.

The farther a message goes, the more channels it takes, and the more there is to decide. In a good
broadcast the last step goes to near nodes: most of them. So the *reach* of every step is limited,
and what is left is small. Without any limit (and with minimal routing) the model has all schedules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.model import Transfer
from cchybrid.problem import Assignment, NetworkStructure, Problem, list_transfers
from cchybrid.toolkit.solver import check

Key = tuple[int, int, int, int]
"""A message, its sender, a channel (in a flow) or a receiver (where it ends), and a step."""


@dataclass(frozen=True, eq=False)
class Senders:
    """Who may send which messages where: what the models of one Problem have in common.

    Parameters
    ----------
    problem, structure
        Where it comes from.
    channels
        Per node that sends: the channels of its shortest paths, each as its number, its two ends
        and the hops from the sender to the second.
    farthest
        The most hops between any two nodes.
    """

    problem: Problem
    structure: NetworkStructure
    channels: dict[int, list[tuple[int, int, int, int]]]
    farthest: int

    @classmethod
    def of(cls, problem: Problem, structure: NetworkStructure) -> Senders:
        """Lay a Problem out that was built from an instance."""
        distance, network = structure.distance, structure.network
        endpoints = frozenset(network.endpoints)
        outward: dict[int, list[tuple[int, int, int, int]]] = {}
        for sender in {node for source, goals in structure.messages for node in (source, *goals)}:
            hops = distance[sender].tolist()
            outward[sender] = [
                (channel, a, b, hops[b])
                for channel, (a, b, _) in enumerate(network.channels)
                if hops[a] >= 0 and hops[b] == hops[a] + 1 and (a == sender or a not in endpoints)
            ]
        return cls(problem, structure, outward, int(distance.max(initial=1)))

    def size(self, reach: Sequence[int]) -> int:
        """Return how many variables a model has at most whose steps reach so many hops."""
        within = {
            sender: np.cumsum(
                np.bincount([hops for *_, hops in outward], minlength=self.farthest + 1)
            )
            for sender, outward in self.channels.items()
        }
        return sum(
            int(within[sender][min(hops, self.farthest)])
            for source, goals in self.structure.messages
            for step, hops in enumerate(reach)
            for sender in ((source, *goals) if step else (source,))
        )


class SpreadModel:
    """Does a Problem have a schedule of so many steps, over shortest paths within their reach?

    Parameters
    ----------
    senders
        What there is to send.
    reach
        Shape (steps,): the most hops of a transfer in each step.
    should_stop
        Whether the answer is wanted no more; then ``StoppedError`` is raised.
    """

    def __init__(
        self, senders: Senders, reach: Sequence[int], should_stop: Callable[[], bool]
    ) -> None:
        self.model = cp_model.CpModel()
        self.steps = len(reach)
        self._senders, self._reach, self._stop = senders, reach, should_stop
        self._structure, self._resources = senders.structure, senders.structure.resources
        self._flow: dict[Key, Any] = {}
        self._ends: dict[Key, Any] = {}
        self._has: dict[tuple[int, int, int], Any] = {}
        self._used: dict[tuple[int, int], list[Any]] = defaultdict(list)
        for message, (source, goals) in enumerate(senders.structure.messages):
            for node in goals:
                for step in range(1, self.steps):
                    self._has[message, node, step] = self.model.new_bool_var("")
            arrivals: dict[tuple[int, int], list[Any]] = defaultdict(list)
            for step in range(self.steps):
                for sender in self._informed(source, goals, step):
                    self._flow_constraints(message, sender, step, arrivals)
            self._arrival_constraints(message, goals, arrivals)
            self._growth_constraints(message, source, goals)
        self._capacity_constraints()

    @property
    def booleans(self) -> int:
        """The number of variables."""
        return len(self.model.proto.variables)

    def _informed(self, source: int, goals: Iterable[int], step: int) -> Iterable[int]:
        """Return who can have the message before a step."""
        if step == 0:
            return [source]
        hops = self._structure.distance[source]
        limit = sum(self._reach[:step])
        return [source, *(node for node in goals if 0 <= hops[node] <= limit)]

    def _flow_constraints(
        self, message: int, sender: int, step: int, arrivals: dict[tuple[int, int], list[Any]]
    ) -> None:
        """What comes to a node from a sender goes on or ends there; the sender has the message."""
        check(self._stop)
        source, goals = self._structure.messages[message]
        capacity = self._structure.network.channels
        holds = None if sender == source else self._has[message, sender, step]
        into: dict[int, list[Any]] = defaultdict(list)
        out_of: dict[int, list[Any]] = defaultdict(list)
        for channel, a, b, hops in self._senders.channels[sender]:
            if hops > self._reach[step]:
                continue
            limit = min(capacity[channel][2], len(goals))
            flow = self.model.new_int_var(0, limit, "")
            self._flow[message, sender, channel, step] = flow
            into[b].append(flow)
            out_of[a].append(flow)
            self._used[int(self._resources.channel[channel]), step].append(flow)
            if holds is not None and limit == 1:
                self.model.add_implication(flow, holds)
            elif holds is not None:
                self.model.add(flow <= limit * holds)
        self._used[int(self._resources.inject[sender]), step] += out_of[sender]
        ends = frozenset(goals)
        for node, came in into.items():
            left = out_of[node]
            if node in ends:
                ending = self.model.new_bool_var("")
                self._ends[message, sender, node, step] = ending
                arrivals[node, step].append(ending)
                self._used[int(self._resources.accept[node]), step].append(ending)
                left = [*left, ending]
            self.model.add(_sum(came) == _sum(left))

    def _arrival_constraints(
        self, message: int, goals: Iterable[int], arrivals: dict[tuple[int, int], list[Any]]
    ) -> None:
        """Who has the message after a step had it before, or has received it from somebody."""
        for node in goals:
            for step in range(self.steps):
                parts = list(arrivals[node, step])
                if step > 0:
                    parts.append(self._has[message, node, step])
                if step < self.steps - 1:
                    parts.append(~self._has[message, node, step + 1])
                self.model.add_exactly_one(parts)

    def _growth_constraints(self, message: int, source: int, goals: Sequence[int]) -> None:
        """So many must have the message before each step that their ports suffice for the rest."""
        capacity = self._senders.problem.capacity
        powers = sorted(
            (int(capacity[self._resources.inject[node]]) for node in goals), reverse=True
        )
        sends = list(accumulate([int(capacity[self._resources.inject[source]]), *powers]))
        needed = len(sends)
        for step in range(self.steps - 1, 0, -1):
            needed = next(
                (have for have, limit in enumerate(sends, 1) if have + limit >= needed), needed
            )
            self.model.add(_sum([self._has[message, node, step] for node in goals]) >= needed - 1)

    def _capacity_constraints(self) -> None:
        """No resource is used beyond its capacity in any step."""
        problem = self._senders.problem
        for (resource, _), users in self._used.items():
            limit = int(problem.capacity[resource])
            if problem.implied[resource] or not users:
                continue
            if limit == 1 and all(user.is_boolean for user in users):
                self.model.add_at_most_one(users)
            else:
                self.model.add(_sum(users) <= limit)

    def solution(self, values: NDArray[np.int64]) -> tuple[Problem, Assignment]:
        """Return what a solution stands for, and the Problem that it is an assignment of."""
        steps: list[list[Transfer]] = [[] for _ in range(self.steps)]
        channels = self._structure.network.channels
        into: dict[tuple[int, int, int], dict[int, list[int]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for (message, sender, channel, step), flow in self._flow.items():
            a, b, _ = channels[channel]
            into[message, sender, step][b] += [a] * int(values[flow.index])
        for (message, sender, node, step), ending in self._ends.items():
            if not values[ending.index]:
                continue
            path = [node]
            while path[-1] != sender:
                path.append(into[message, sender, step][path[-1]].pop())
            steps[step].append(Transfer(message, tuple(reversed(path))))
        return list_transfers(self._senders.problem, steps)


def _sum(variables: Sequence[Any]) -> Any:
    return cp_model.LinearExpr.sum(variables)
