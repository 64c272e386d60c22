"""The fewest steps of a small instance by z3, written from docs/valid-schedule.md alone.

It uses no code of cchybrid but the classes that hold an instance. Every receipt has a step, a whole
number, and a path. Reductions are not reversed: a node sends the sum of what it has once, after
all receipts.
"""

from itertools import pairwise
from typing import Any

import networkx as nx
import z3

from cchybrid.model import Instance

NEVER = 0


def fewest_steps(instance: Instance, limit: int) -> int:
    """Return the fewest steps, at most ``limit``, by asking for 1, 2, ... steps."""
    for steps in range(1, limit):
        if has_schedule(instance, steps):
            return steps
    return limit


def has_schedule(instance: Instance, steps: int) -> bool:
    solver = z3.Solver()
    solver.set("random_seed", 0)
    model = _Model(instance, steps, solver)
    for number, message in enumerate(instance.collective.messages):
        (model.combine if model.backwards else model.deliver)(number, message)
    model.limit()
    answer = solver.check()
    assert answer in (z3.sat, z3.unsat)
    return answer == z3.sat


class _Model:
    def __init__(self, instance: Instance, steps: int, solver: z3.Solver) -> None:
        self.network, self.model = instance.network, instance.model
        self.steps, self.solver = steps, solver
        self.graph = nx.DiGraph([(a, b) for a, b, _ in self.network.channels])
        self.graph.add_nodes_from(range(self.network.nodes))
        self.hops = self.model.switching == "store-and-forward"
        self.backwards = instance.collective.kind == "combine"
        # Path, whether it is taken, and the step.
        self.transfers: list[tuple[tuple[int, ...], Any, Any]] = []

    def paths(self, first: int, last: int) -> list[tuple[int, ...]]:
        """Rule 1: simple paths of channels that pass no endpoint, as long as routing allows."""
        if self.hops:
            return [(first, last)] if self.graph.has_edge(first, last) else []
        passed = set(self.network.endpoints) - {first, last}
        graph = self.graph.subgraph(set(self.graph) - passed)
        if not nx.has_path(graph, first, last):
            return []
        shortest = nx.shortest_path_length(graph, first, last)
        extra = self.model.routing
        longest = {"any": self.network.nodes, "minimal": shortest}.get(extra)
        cutoff = shortest + extra if longest is None else longest
        return [tuple(path) for path in nx.all_simple_paths(graph, first, last, cutoff=cutoff)]

    def moment(self, name: str) -> Any:
        """Return a step from 1, or ``NEVER``."""
        step = z3.Int(name)
        self.solver.add(step >= NEVER, step <= self.steps)
        return step

    def transfer(self, name: str, path: tuple[int, ...], step: Any) -> Any:
        taken = z3.Bool(name)
        self.transfers.append((path, taken, step))
        return taken

    def deliver(self, number: int, message: Any) -> None:
        """Rules 3 and 4: send only what has been received; receive once, and all destinations."""
        nodes = set(range(self.network.nodes)) if self.hops else set(message.destinations)
        nodes -= {message.source}
        receipt = {node: self.moment(f"r{number}.{node}") for node in nodes}
        for node in nodes:
            taken = []
            for sender in {message.source, *nodes} - {node}:
                for path in self.paths(sender, node):
                    one = self.transfer(f"t{number}.{path}", path, receipt[node])
                    taken.append(one)
                    if sender != message.source:
                        earlier = z3.And(receipt[sender] >= 1, receipt[sender] < receipt[node])
                        self.solver.add(z3.Implies(one, earlier))
            self._one_of(taken, receipt[node])
            if node in message.destinations:
                self.solver.add(receipt[node] >= 1)

    def combine(self, number: int, reduction: Any) -> None:
        """Rule 5: a node sends its part once, after the parts that it receives."""
        nodes = set(range(self.network.nodes)) if self.hops else set(reduction.sources)
        nodes -= {reduction.destination}
        leaving = {node: self.moment(f"l{number}.{node}") for node in nodes}
        for node in nodes:
            taken = []
            for goal in {reduction.destination, *nodes} - {node}:
                # As allowed as the reversed path on the reversed network: as long.
                for path in self.paths(node, goal):
                    one = self.transfer(f"t{number}.{path}", path, leaving[node])
                    taken.append(one)
                    if goal != reduction.destination:
                        self.solver.add(z3.Implies(one, leaving[goal] > leaving[node]))
            self._one_of(taken, leaving[node])
            if node in reduction.sources:
                self.solver.add(leaving[node] >= 1)

    def _one_of(self, taken: list[Any], step: Any) -> None:
        if not taken:
            self.solver.add(step == NEVER)
            return
        self.solver.add((step >= 1) == z3.Or(taken))
        self.solver.add(z3.PbLe([(each, 1) for each in taken], 1))

    def limit(self) -> None:
        """Rule 2: channels, half-duplex pairs and ports have limits, times the step's rounds."""
        capacity = {(a, b): size for a, b, size in self.network.channels}
        pair = {(b, a): (a, b) for a, b in self.network.half_duplex}
        for step in range(1, self.steps + 1):
            users: dict[Any, list[Any]] = {}
            for path, taken, moment in self.transfers:
                now = z3.And(taken, moment == step)
                for hop in pairwise(path):
                    users.setdefault(("channel", pair.get(hop, hop)), []).append(now)
                users.setdefault(("inject", path[0]), []).append(now)
                users.setdefault(("accept", path[-1]), []).append(now)
            rounds = self.rounds(step)
            for (kind, place), those in users.items():
                limits = {
                    "channel": capacity.get,
                    "inject": self.model.inject_limit,
                    "accept": self.model.accept_limit,
                }
                size = limits[kind](place)
                if size is not None:
                    self.solver.add(z3.PbLe([(each, 1) for each in those], rounds * size))

    def rounds(self, step: int) -> int:
        listed = self.model.rounds or (1,)
        if self.backwards:  # counted from the last step
            step = self.steps + 1 - step
        return listed[min(step, len(listed)) - 1]
