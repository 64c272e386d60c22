"""The flow model: one flow per source over channels, where every message has one destination.

In every step the messages that leave one source form a flow. Every flow over the allowed channels
decomposes into paths that the routing rule allows: with minimal routing the channels are those of
the source's shortest-path DAG, with routing "any" all channels. So messages of one source need not
be distinguished, and no paths are listed. Under store-and-forward switching, the flow runs through
the time-expanded network, in which messages wait at nodes. A refutation holds for the instance,
whatever paths the Problem's pool lists.

References
----------
L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations
Research 6, 1958 (time-expanded networks). doi:10.1287/opre.6.3.419
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.model import Transfer
from cchybrid.problem import LINK, Assignment, NetworkStructure, Problem, list_transfers
from cchybrid.toolkit.solver import check

from .routes_of_flows import Hop, direct_routes, waiting_routes


@dataclass(frozen=True, eq=False)
class Demands:
    """The demands that the flows of an instance have to satisfy.

    Parameters
    ----------
    problem
        The Problem; each message has one destination.
    structure
        Its network, distances and resources.
    messages
        The messages from a source (first key) to a destination (second key).
    """

    problem: Problem
    structure: NetworkStructure
    messages: dict[int, dict[int, list[int]]]

    @classmethod
    def of(cls, problem: Problem) -> "Demands | None":
        """Return the demands of a Problem, ``None`` where the flow model does not apply."""
        structure = problem.structure
        if structure is None:
            return None
        if not structure.hop_by_hop and structure.extra_hops not in (0, None):
            return None
        if structure.hop_by_hop and structure.network.endpoints:
            return None
        messages: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for index, message in enumerate(structure.messages):
            if len(message.destinations) != 1:
                return None
            messages[message.source][message.destinations[0]].append(index)
        return cls(problem, structure, {s: dict(goals) for s, goals in messages.items()})

    @property
    def hop_by_hop(self) -> bool:
        """Whether messages wait at the nodes that they pass."""
        return self.structure.hop_by_hop

    @cached_property
    def _hops(self) -> tuple[int, int]:
        """The fewest hops of all messages together, and the hops that one step offers."""
        distance = self.structure.distance
        fewest = sum(
            len(messages) * int(distance[source, goal])
            for source, goals in self.messages.items()
            for goal, messages in goals.items()
        )
        capacity, kind = self.problem.capacity, self.problem.kind
        return fewest, int(capacity[kind <= LINK].sum())

    @property
    def min_steps(self) -> int:
        """A lower bound on the steps of a schedule, by counting hops."""
        fewest, offered = self._hops
        return -(-fewest // max(1, offered))

    def spare(self, steps: int) -> int:
        """Return the hops beyond the fewest that all messages together may take."""
        fewest, offered = self._hops
        return steps * offered - fewest

    def channels(self, source: int, spare: int) -> list[int]:
        """Return the channels that messages of this source may take.

        Parameters
        ----------
        spare
            Hops beyond the fewest that a message may take.
        """
        network, near = self.structure.network, self.structure.distance[source]
        free = self.hop_by_hop
        minimal = not free and self.structure.extra_hops == 0
        ends = frozenset(network.endpoints)
        # Hops from every node to the nearest goal, less those from the source to that goal.
        goals = np.array(list(self.messages[source]))
        ahead = self.structure.distance[:, goals].astype(np.int64)
        ahead[ahead < 0] = 1 << 30
        nearer = (ahead - near[goals]).min(axis=1)
        return [
            index
            for index, (a, b, _) in enumerate(network.channels)
            if b != source
            and near[a] >= 0
            and (a == source or a not in ends)
            and near[a] + 1 + nearer[b] <= spare
            and (not minimal or near[b] == near[a] + 1)
        ]

    @cached_property
    def columns(self) -> int:
        """The number of variables per step: the channels of all sources together."""
        limit = self.structure.network.nodes
        return sum(len(self.channels(source, limit)) for source in self.messages)

    def assignment(self, hops: Sequence[Hop]) -> tuple[Problem, Assignment]:
        """Return transfers as an assignment, of a Problem that lists all their paths."""
        steps: list[list[Transfer]] = [[] for _ in range(1 + max(hop.step for hop in hops))]
        for hop in hops:
            steps[hop.step].append(Transfer(hop.message, hop.path))
        return list_transfers(self.problem, steps)


class FlowModel:
    """The CP-SAT flow model whose solutions are the schedules of a number of steps.

    Parameters
    ----------
    demands, steps
        The demands and the number of steps that it models.
    should_stop
        Whether to stop building the model; then ``StoppedError`` is raised.
    symmetry
        Break the symmetry of interchangeable steps (wormhole).
    """

    def __init__(
        self,
        demands: Demands,
        steps: int,
        should_stop: Callable[[], bool] = lambda: False,
        *,
        symmetry: bool = True,
    ) -> None:
        self.demands, self.steps, self.should_stop = demands, steps, should_stop
        self.resources = demands.structure.resources
        self.spare = demands.spare(steps)
        # With no hop to spare, channels are full in every step.
        full = (demands.problem.kind <= LINK) & (self.spare == 0)
        self.model = cp_model.CpModel()
        self.used: dict[tuple[int, int], list[Any]] = defaultdict(list)
        """Per resource and step: the variables that use it."""
        self.into: dict[tuple[int, int, int], list[Any]] = defaultdict(list)
        self.out_of: dict[tuple[int, int, int], list[Any]] = defaultdict(list)
        """Per source, node and step: the flow into and out of the node."""
        if self.spare < 0:
            self.model.add_bool_or([])
        self.flow = self._flows()
        """Source, channel and step of each of the first variables, in this order."""
        self.arrive = {} if demands.hop_by_hop else self._arrival_constraints()
        """Messages of a source that reach a destination in a step (wormhole)."""
        if demands.hop_by_hop:
            self._conservation_constraints()
        elif symmetry:
            self._number_steps()
        capacity, implied = self.resources.capacity, self.resources.implied
        for (resource, step), literals in self.used.items():
            limit = int(capacity[resource])
            if full[resource]:
                self.model.add(_sum(literals) == limit)
            elif not implied[resource]:
                self.model.add(_sum(literals) <= limit)
            self._check_stop(step)
        for resource in np.flatnonzero(full).tolist():
            if any((resource, step) not in self.used for step in range(self.steps)):
                self.model.add_bool_or([])

    def solution(self, values: NDArray[np.int64]) -> tuple[Problem, Assignment]:
        """Return the Problem and the assignment that a solution encodes."""
        return self.demands.assignment(self.hops(values))

    def hops(self, values: NDArray[np.int64]) -> list[Hop]:
        """Return the transfers that a solution encodes."""
        demands, found = self.demands, []
        ends = demands.structure.network.channels
        for source, goals in demands.messages.items():
            amount: Counter[tuple[int, int, int]] = Counter()
            for index in np.flatnonzero(values[: len(self.flow)]).tolist():
                owner, channel, step = self.flow[index]
                if owner == source:
                    a, b, _ = ends[channel]
                    amount[a, b, step] = int(values[index])
            if demands.hop_by_hop:
                found += waiting_routes(amount, source, goals, self.steps)
                continue
            when = {
                (goal, step): int(values[self.arrive[source, goal, step].index])
                for goal in goals
                for step in range(self.steps)
            }
            found += direct_routes(amount, source, goals, when)
        return found

    def _check_stop(self, step: int) -> None:
        if step == 0:
            check(self.should_stop)

    def _flows(self) -> list[tuple[int, int, int]]:
        demands, steps = self.demands, self.steps
        network, distance = demands.structure.network, demands.structure.distance
        found = []
        for source, goals in demands.messages.items():
            total = sum(map(len, goals.values()))
            for channel in demands.channels(source, self.spare):
                a, b, capacity = network.channels[channel]
                resource = int(self.resources.channel[channel])
                first, last = 0, steps - 1
                if demands.hop_by_hop:
                    ahead = [int(distance[b, goal]) for goal in goals if distance[b, goal] >= 0]
                    first = int(distance[source, a])
                    last -= min(ahead, default=steps)
                for step in range(first if first >= 0 else steps, last + 1):
                    variable = self.model.new_int_var(0, min(capacity, total), "")
                    found.append((source, channel, step))
                    self.into[source, b, step].append(variable)
                    self.out_of[source, a, step].append(variable)
                    self.used[resource, step].append(variable)
                    if demands.hop_by_hop:
                        self.used[int(self.resources.inject[a]), step].append(variable)
                        self.used[int(self.resources.accept[b]), step].append(variable)
                    self._check_stop(step)
        return found

    def _arrival_constraints(self) -> dict[tuple[int, int, int], Any]:
        """Wormhole: make the flow into a node leave it in the same step, or arrive there."""
        demands = self.demands
        found: dict[tuple[int, int, int], Any] = {}
        for source, goals in demands.messages.items():
            for node in range(demands.structure.network.nodes):
                count = len(goals.get(node, ()))
                for step in range(self.steps if node != source else 0):
                    balance = _sum(self.into[source, node, step]) - _sum(
                        self.out_of[source, node, step]
                    )
                    self._check_stop(step)
                    if not count:
                        self.model.add(balance == 0)
                        continue
                    variable = self.model.new_int_var(0, count, "")
                    found[source, node, step] = variable
                    self.model.add(balance == variable)
                    self.used[int(self.resources.inject[source]), step].append(variable)
                    self.used[int(self.resources.accept[node]), step].append(variable)
                if count:
                    times = [found[source, node, step] for step in range(self.steps)]
                    if count == 1:
                        self.model.add_exactly_one(times)
                    else:
                        self.model.add(_sum(times) == count)
        return found

    def _conservation_constraints(self) -> None:
        """Store-and-forward: conserve flow over steps; a node keeps what is destined for it."""
        demands = self.demands
        for source, goals in demands.messages.items():
            for node in range(demands.structure.network.nodes):
                if node == source:
                    continue
                held: Any = 0
                limit = sum(map(len, goals.values()))
                for step in range(self.steps):
                    came = self.into[source, node, step]
                    left = self.out_of[source, node, step]
                    if left:
                        # Only messages held before the step can leave during it.
                        self.model.add(_sum(left) <= held)
                    self._check_stop(step)
                    if came or left:
                        after = self.model.new_int_var(0, limit, "")
                        self.model.add(after == held + _sum(came) - _sum(left))
                        held = after
                self.model.add(held == len(goals.get(node, ())))

    def _number_steps(self) -> None:
        """Number steps by the first of some deliveries that happens in them.

        The i-th of these then happens in step i at the latest.
        """
        alone = [
            (source, goal)
            for source, goals in self.demands.messages.items()
            for goal, messages in goals.items()
            if len(messages) == 1
        ]
        for place, (source, goal) in enumerate(alone[: self.steps]):
            for step in range(place + 1, self.steps):
                self.model.add(self.arrive[source, goal, step] == 0)


def _sum(variables: list[Any]) -> Any:
    return cp_model.LinearExpr.sum(variables) if variables else 0
