"""Conversion between a Problem and its instance: lift, match and price."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps
from cchybrid.model.steps import reverse_steps
from cchybrid.problem.arrays import Assignment, Price, ending_with_a_start
from cchybrid.problem.problem import Problem, cheapest_listed
from cchybrid.problem.ragged import entries_of
from cchybrid.problem.structure import NetworkStructure
from cchybrid.problem.transfers import Transfers
from cchybrid.problem.violations import needed


@dataclass(frozen=True, eq=False)
class InstanceOrigin:
    """The instance from which a Problem was built, and its structure."""

    instance: Instance
    structure: NetworkStructure

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule without unneeded deliveries, and, without ``steps``, empty steps."""
        structure = self.structure
        made = np.flatnonzero(needed(problem, assignment))
        path = problem.option_path[assignment.option[made]]
        node, start = entries_of(structure.path_node, structure.path_node_start, path)
        option, step = assignment.option[made], assignment.step[made]
        if problem.horizon == "ticks":
            steps = int(step.max(initial=-1)) + 1 if steps is None else steps
            step = problem.start_of(option, step).astype(np.int32)
        transfers = Transfers(structure.delivery_message[made], step, node, start)
        return schedule_of(self.instance, transfers, steps)

    def match(self, problem: Problem, steps: Steps) -> Assignment:
        """Return the assignment of the transfers over listed paths."""
        if self.instance.collective.kind == "combine":
            steps = reverse_steps(steps)
        moves = Transfers.of(steps)
        delivery = self.structure.delivery_of(moves.message, moves.last)
        option = self.structure.options_of(problem, delivery, moves.node, moves.start)
        found = problem.empty()
        listed = option >= 0
        found.option[delivery[listed]] = option[listed]
        found.step[delivery[listed]] = moves.step[listed]
        if problem.horizon == "ticks":
            path = problem.option_path[option[listed]]
            found.step[delivery[listed]] += problem.path_duration[path] - 1
        if problem.periodic:
            found.step[:] = ending_with_a_start(found.step, len(steps))
        return found

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option: a listed one if all are listed, else by routes."""
        structure, resources = self.structure, self.structure.resources
        if problem.complete:
            option, spent = cheapest_listed(problem, delivery, cost)
            path = structure.path(problem.option_path[option])
            return Price(spent, int(problem.option_requires[option]), path)
        target = int(structure.delivery_node[delivery])
        senders = structure.senders(delivery)
        sources = [source for source, _ in senders]
        routes = structure.routes.cheapest_to(target, sources, cost[resources.channel])
        best = Price(float("inf"), -1, ())
        for source, before in senders:
            spent, path = routes[source]
            spent += float(cost[resources.inject[source]] + cost[resources.accept[target]])
            if spent < best.cost:
                best = Price(spent, before, path)
        return best


def schedule_of(instance: Instance, transfers: Transfers, steps: int | None) -> Schedule:
    """Return the schedule of these forward transfers.

    Empty steps are kept if a number of ``steps`` is given, or where none can be moved: time slots,
    and steps of different numbers of rounds.
    """
    if steps is None and (len(instance.model.rounds) > 1 or instance.model.periodic):
        steps = int(transfers.step.max(initial=-1)) + 1
    ordered = transfers.in_steps(steps)
    return Schedule(
        instance, reverse_steps(ordered) if instance.collective.kind == "combine" else ordered
    )
