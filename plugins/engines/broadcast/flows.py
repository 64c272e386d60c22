"""The CP-SAT model of a broadcast: in every step, every informed node sends an integer flow.

On a shortest path, every channel leads one hop farther from the sender. So the transfers of one
sender in one step form a flow in an acyclic network, and every integer flow there decomposes into
shortest paths. The model has a variable per sender, channel and step; a model of paths would have
one per path and step, which are far more.

The longer the paths, the more channels they take and the larger the model. In a good broadcast most
nodes are informed in the last step, by near nodes. So the *reach* (maximal hops) of every step is
limited, which leaves a small model. Without limits (and with minimal routing) the model contains
all schedules.

Schedules can be required to be invariant under a group of automorphisms. Then all images of a flow
are one variable, and the constraints of one message per orbit suffice. The paths of the schedule
need not be invariant: a flow decomposes into any shortest paths.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Transfer
from cchybrid.problem import Assignment, NetworkStructure, Problem, list_transfers
from cchybrid.problem.symmetry import Images
from cchybrid.toolkit.solver import check

Key = tuple[int, int, int, int]
"""A message, its sender, a channel (in a flow) or a receiver (where it ends), and a step."""


@dataclass(frozen=True, eq=False)
class Senders:
    """The possible senders and their channels: shared by all models of one Problem.

    Parameters
    ----------
    problem, structure
        The Problem and its network structure.
    channels
        Per sender: the channels of its shortest paths, each as its number, its two ends, and the
        hops from the sender to the second end.
    farthest
        The diameter: the maximal hops between two nodes.
    """

    problem: Problem
    structure: NetworkStructure
    channels: dict[int, list[tuple[int, int, int, int]]]
    farthest: int

    @classmethod
    def of(cls, problem: Problem, structure: NetworkStructure) -> "Senders":
        """Return the senders of a Problem with a network structure."""
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

    def size(self, reach: Sequence[int], from_source: Sequence[int] | None = None) -> int:
        """Return an upper bound on the variables of a model with this reach per step."""
        within = {
            sender: np.cumsum(
                np.bincount([hops for *_, hops in outward], minlength=self.farthest + 1)
            )
            for sender, outward in self.channels.items()
        }
        return sum(
            int(within[sender][min(far if sender == source else hops, self.farthest)])
            for source, goals in self.structure.messages
            for step, (far, hops) in enumerate(zip(from_source or reach, reach, strict=True))
            for sender in ((source, *goals) if step else (source,))
        )


class SpreadModel:
    """The decision model: is there a schedule over shortest paths within the reach of each step?

    Parameters
    ----------
    senders
        The possible senders.
    reach
        Shape (steps,): the maximal hops of a transfer in each step.
    should_stop
        Whether to stop building the model; then ``StoppedError`` is raised.
    from_source
        Shape (steps,): the maximal hops of transfers from a message's source, if they differ.
    images
        A group of automorphisms under which the schedule has to be invariant.
    """

    def __init__(
        self,
        senders: Senders,
        reach: Sequence[int],
        should_stop: Callable[[], bool],
        *,
        from_source: Sequence[int] | None = None,
        images: Images | None = None,
    ) -> None:
        # Imported here: a broadcast of too many messages is refused before.
        from ortools.sat.python import cp_model

        self.model, self._sum = cp_model.CpModel(), cp_model.LinearExpr.sum
        self.steps = len(reach)
        self._senders, self._reach, self._stop = senders, reach, should_stop
        self._from_source, self._images = from_source or reach, images
        self._structure, self._resources = senders.structure, senders.structure.resources
        self._flow: dict[Key, Any] = {}
        self._ends: dict[Key, Any] = {}
        self._has: dict[tuple[int, int, int], Any] = {}
        self._used: dict[tuple[int, int], list[Any]] = defaultdict(list)
        self._shared: dict[tuple[str, tuple[int, int, int], int], Any] = {}
        for message, (source, goals) in enumerate(senders.structure.messages):
            for node in goals:
                for step in range(1, self.steps):
                    self._has[message, node, step] = self._at_node("has", message, node, node, step)
            arrivals: dict[tuple[int, int], list[Any]] = defaultdict(list)
            for step in range(self.steps):
                for sender in self._informed(source, goals, step):
                    self._flow_constraints(message, sender, step, arrivals)
            if self._is_first(message):
                self._arrival_constraints(message, goals, arrivals)
                self._growth_constraints(message, source, goals)
        self._capacity_constraints()

    def _is_first(self, message: int) -> bool:
        """Return whether the constraints of a message do not follow from those of an image."""
        return self._images is None or self._images.is_first(message)

    def _at_node(self, name: str, message: int, sender: int, node: int, step: int) -> Any:
        """Return the variable of a message, its sender and a node; all images have the same."""
        if self._images is None:
            return self.model.new_bool_var("")
        key = name, self._images.first_node(message, sender, node), step
        if key not in self._shared:
            self._shared[key] = self.model.new_bool_var("")
        return self._shared[key]

    def _on_channel(self, message: int, sender: int, channel: int, step: int, limit: int) -> Any:
        """Return the variable of a flow on a channel; all images have the same."""
        if self._images is None:
            return self.model.new_int_var(0, limit, "")
        key = "flow", self._images.first_channel(message, sender, channel), step
        if key not in self._shared:
            self._shared[key] = self.model.new_int_var(0, limit, "")
        return self._shared[key]

    def _informed(self, source: int, goals: Iterable[int], step: int) -> Iterable[int]:
        """Return the nodes that can have the message before a step."""
        if step == 0:
            return [source]
        hops = self._structure.distance[source]
        limit = sum(map(max, self._reach[:step], self._from_source))
        return [source, *(node for node in goals if 0 <= hops[node] <= limit)]

    def _flow_constraints(
        self, message: int, sender: int, step: int, arrivals: dict[tuple[int, int], list[Any]]
    ) -> None:
        """Conserve the flow of one sender in one step; it is 0 unless the sender is informed."""
        check(self._stop)
        source, goals = self._structure.messages[message]
        capacity = self._structure.network.channels
        holds = None if sender == source else self._has[message, sender, step]
        reach = self._from_source[step] if sender == source else self._reach[step]
        is_first = self._is_first(message)
        into: dict[int, list[Any]] = defaultdict(list)
        out_of: dict[int, list[Any]] = defaultdict(list)
        for channel, a, b, hops in self._senders.channels[sender]:
            if hops > reach:
                continue
            limit = min(capacity[channel][2], len(goals))
            flow = self._on_channel(message, sender, channel, step, limit)
            self._flow[message, sender, channel, step] = flow
            into[b].append(flow)
            out_of[a].append(flow)
            self._used[int(self._resources.channel[channel]), step].append(flow)
            if holds is None or not is_first:
                continue
            if limit == 1:
                self.model.add_implication(flow, holds)
            else:
                self.model.add(flow <= limit * holds)
        self._used[int(self._resources.inject[sender]), step] += out_of[sender]
        ends = frozenset(goals)
        for node, came in into.items():
            left = out_of[node]
            if node in ends:
                ending = self._at_node("ends", message, sender, node, step)
                self._ends[message, sender, node, step] = ending
                arrivals[node, step].append(ending)
                self._used[int(self._resources.accept[node]), step].append(ending)
                left = [*left, ending]
            if is_first:
                self.model.add(self._sum(came) == self._sum(left))

    def _arrival_constraints(
        self, message: int, goals: Iterable[int], arrivals: dict[tuple[int, int], list[Any]]
    ) -> None:
        """Make a node informed after a step if it was before or if a flow ends there in it."""
        for node in goals:
            for step in range(self.steps):
                parts = list(arrivals[node, step])
                if step > 0:
                    parts.append(self._has[message, node, step])
                if step < self.steps - 1:
                    parts.append(~self._has[message, node, step + 1])
                self.model.add_exactly_one(parts)

    def _growth_constraints(self, message: int, source: int, goals: Sequence[int]) -> None:
        """Require enough informed nodes before each step that their ports suffice for the rest."""
        capacity = self._senders.problem.capacity
        powers = sorted(
            (int(capacity[self._resources.inject[node]]) for node in goals), reverse=True
        )
        sends = list(accumulate([int(capacity[self._resources.inject[source]]), *powers]))
        needed = len(sends)
        for step in range(self.steps - 1, 0, -1):
            needed = next(
                (have for have, sent in enumerate(sends, 1) if have + sent >= needed), needed
            )
            self.model.add(
                self._sum([self._has[message, node, step] for node in goals]) >= needed - 1
            )

    def _capacity_constraints(self) -> None:
        """Limit the uses of every resource per step to its capacity."""
        problem = self._senders.problem
        known: set[tuple[int, ...]] = set()
        for (resource, _), users in self._used.items():
            limit = int(problem.capacity[resource])
            if problem.implied[resource] or not users:
                continue
            if self._images is not None:
                # Images of a resource have the same variables.
                key = tuple(sorted(user.index for user in users))
                if key in known:
                    continue
                known.add(key)
            if limit == 1 and all(user.is_boolean for user in users):
                self.model.add_at_most_one(users)
            else:
                self.model.add(self._sum(users) <= limit)

    def solution(self, values: NDArray[np.int64]) -> tuple[Problem, Assignment]:
        """Return the Problem and the assignment that a solution encodes."""
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
