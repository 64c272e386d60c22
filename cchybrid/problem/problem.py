"""The Problem that every engine solves: its arrays, and the origin from which they were built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps
from cchybrid.problem.arrays import Assignment, Price, ProblemArrays
from cchybrid.problem.structure import NetworkStructure
from cchybrid.problem.violations import AssignmentViolation, find_violations


class Origin(Protocol):
    """The source of a Problem: converts assignments and schedules, and prices options."""

    @property
    def instance(self) -> Instance:
        """The instance of the lifted schedules."""

    @property
    def structure(self) -> NetworkStructure | None:
        """The network, messages and paths; see ``Problem.structure``."""

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule of the assignment, or a draft of ``steps`` steps."""

    def match(self, problem: Problem, steps: Steps) -> Assignment:
        """Return the assignment of the transfers that have an option."""

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option of a delivery, listed in the Problem or not."""


@dataclass(frozen=True, eq=False, repr=False)
class Problem(ProblemArrays):
    """A covering by compatibility classes, and its origin.

    Parameters
    ----------
    origin
        The source of the Problem; engines use ``structure`` instead.
    """

    origin: Origin = field(kw_only=True)

    @property
    def structure(self) -> NetworkStructure | None:
        """The network, messages and paths of the Problem, for engines that choose paths.

        ``None`` for a quotient, and where a routing table leaves no choice.
        """
        return None if self.origin.instance.model.table is not None else self.origin.structure

    def violations(self, assignment: Assignment) -> list[AssignmentViolation]:
        """Return the violations of an assignment; empty if it is a solution.

        Deliveries that no required one needs are left out of the schedule, so only two rules
        apply to them: option and step are both -1 or neither is, and the option is their own.
        """
        return find_violations(self, assignment)

    def lift(self, assignment: Assignment, steps: int | None = None) -> Schedule:
        """Return the schedule of an assignment; it may be invalid (see the referee).

        Parameters
        ----------
        steps
            For a near-solution: the number of steps, empty ones included, so that ``match``
            returns every needed delivery with its step.
        """
        return self.origin.lift(self, assignment, steps)

    def match(self, steps: Steps) -> Assignment:
        """Return the assignment of these transfers; -1 where the Problem lists no option."""
        return self.origin.match(self, steps)

    def price(self, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option of a delivery, listed or not.

        Parameters
        ----------
        cost
            Shape (resources,): a non-negative cost per use of each resource.
        """
        return self.origin.price(self, delivery, cost)
