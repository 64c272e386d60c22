"""The Problem that every engine solves, and the Assignment that solves it.

Deliveries have options; an option uses resources during one step and may require that another
delivery has happened in an earlier step. An assignment gives deliveries an option and a step so
that no resource is used beyond its capacity in any step (a compatibility class per step: thesis
section 4.2.1). Nothing in here says which collective, switching or port model it came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps
from cchybrid.problem.violations import AssignmentViolation, find_violations

if TYPE_CHECKING:
    from cchybrid.problem.structure import NetworkStructure

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

CHANNEL, LINK, INJECT, ACCEPT = 0, 1, 2, 3
"""Kinds of resources: a channel, a half-duplex pair, a node's injection and acceptance ports."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """What an engine offers: an option and a step for every delivery.

    Parameters
    ----------
    option
        Shape (deliveries,): the index of the option taken, -1 where the delivery does not happen.
    step
        Shape (deliveries,): the step from 0, -1 where the delivery does not happen.
    """

    option: IntArray
    step: IntArray

    @property
    def steps(self) -> int:
        """The number of steps: one more than the last one used."""
        return int(self.step.max(initial=-1)) + 1


class Price(NamedTuple):
    """The cheapest way to make one delivery: its cost, whom it requires, the nodes it passes."""

    cost: float
    requires: int
    path: tuple[int, ...]


class Origin(Protocol):
    """What a Problem was made from: it turns assignments into schedules and back, and prices."""

    @property
    def instance(self) -> Instance:
        """The instance that the lifted schedules answer."""

    @property
    def structure(self) -> NetworkStructure | None:
        """What the Problem's numbers stand for; see ``Problem.structure``."""

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule that the assignment stands for, or a draft of so many steps."""

    def match(self, problem: Problem, steps: Steps) -> Assignment:
        """Return the assignment that stands for (some of) the transfers."""

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option of a delivery, listed in the Problem or not."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A compatibility-class covering in flat arrays; see the module for what it means.

    Parameters
    ----------
    capacity
        Shape (resources,): uses that a resource allows per step.
    kind
        Shape (resources,), int8: ``CHANNEL``, ``LINK``, ``INJECT`` or ``ACCEPT``.
    implied
        Shape (resources,): True where the capacity follows from other resources, so that an
        engine may ignore it (all-port nodes: what their channels carry); heuristics use it.
    required
        Shape (deliveries,): True where the delivery has to happen; the others only help.
    option_start
        Shape (deliveries + 1,): options of delivery d are ``option_start[d]`` up to, not
        including, ``option_start[d + 1]``.
    option_requires
        Shape (options,): the delivery that has to happen in an earlier step, -1 for none.
    option_path
        Shape (options,): the path of the option.
    path_start
        Shape (paths + 1,): like ``option_start``, for ``path_resource``.
    path_resource
        The resources that each path uses; one named twice is used twice.
    complete
        Whether every option that the instance allows is in: only then does "no assignment in S
        steps" mean "no schedule in S steps".
    origin
        Where the problem came from; engines use ``structure`` instead.
    """

    capacity: IntArray
    kind: NDArray[np.int8]
    implied: BoolArray
    required: BoolArray
    option_start: LongArray
    option_requires: IntArray
    option_path: IntArray
    path_start: LongArray
    path_resource: IntArray
    complete: bool
    origin: Origin

    @property
    def deliveries(self) -> int:
        """The number of deliveries."""
        return len(self.required)

    @property
    def options(self) -> int:
        """The number of options of all deliveries together."""
        return len(self.option_path)

    @property
    def paths(self) -> int:
        """The number of distinct paths; options of different messages share them."""
        return len(self.path_start) - 1

    @property
    def resources(self) -> int:
        """The number of resources."""
        return len(self.capacity)

    @property
    def structure(self) -> NetworkStructure | None:
        """The network, messages and paths behind the numbers; ``None`` for a quotient."""
        return self.origin.structure

    @cached_property
    def option_delivery(self) -> IntArray:
        """Shape (options,): the delivery that the option belongs to."""
        count = np.diff(self.option_start)
        return np.repeat(np.arange(self.deliveries, dtype=np.int32), count)

    @cached_property
    def ordered(self) -> bool:
        """Whether some option requires another delivery; if not, steps are interchangeable."""
        return bool((self.option_requires >= 0).any())

    def resources_of(self, option: int) -> IntArray:
        """Return the resources that an option uses (a view)."""
        path = self.option_path[option]
        return self.path_resource[self.path_start[path] : self.path_start[path + 1]]

    def violations(self, assignment: Assignment) -> list[AssignmentViolation]:
        """Return what is wrong with an assignment; empty if it is a solution.

        Deliveries that no required one needs are left out of the schedule, so they break no rule
        but those of an assignment: their option and step are both -1 or both are not, and the
        option is their own.
        """
        return find_violations(self, assignment)

    def lift(self, assignment: Assignment, steps: int | None = None) -> Schedule:
        """Return the schedule that an assignment stands for; whether it is valid, verify says.

        Parameters
        ----------
        steps
            For a near-solution: keep exactly so many steps, the empty ones too, so that
            ``match`` finds every needed delivery in the step where it was.
        """
        return self.origin.lift(self, assignment, steps)

    def match(self, steps: Steps) -> Assignment:
        """Return the assignment of these transfers; -1 where the pool lacks an option for one."""
        return self.origin.match(self, steps)

    def price(self, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option of a delivery, whether listed or not.

        Parameters
        ----------
        cost
            Shape (resources,): a non-negative cost per use of each resource.
        """
        return self.origin.price(self, delivery, cost)

    def empty(self) -> Assignment:
        """Return the assignment in which nothing happens, to be filled in."""
        nothing = np.full(self.deliveries, -1, dtype=np.int32)
        return Assignment(nothing, nothing.copy())
