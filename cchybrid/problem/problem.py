"""The Problem that every engine solves: its arrays, and the origin from which they were built."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps
from cchybrid.model.errors import InputError
from cchybrid.problem.arrays import Assignment, Price, ProblemArrays
from cchybrid.problem.ragged import gather
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

    def lift(self, problem: "Problem", assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule of the assignment, or a draft of ``steps`` steps."""

    def match(self, problem: "Problem", steps: Steps) -> Assignment:
        """Return the assignment of the transfers that have an option."""

    def price(self, problem: "Problem", delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest allowed option of a delivery, listed in the Problem or not."""


class NoOrigin:
    """The origin of a Problem whose arrays were made by hand: it has no instance."""

    structure = None

    def lift(self, *given: object) -> Any:
        """Raise an ``InputError``, as ``match`` and ``instance`` do."""
        raise InputError(
            "a Problem made by hand has no instance and no schedules",
            where="problem.origin",
            hint="read the assignment itself, or use build_problem(instance)",
        )

    match = lift
    instance: Any = property(lift)

    def price(self, problem: "Problem", delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest option that is listed, without a path."""
        option, spent = cheapest_listed(problem, delivery, cost)
        return Price(spent, int(problem.option_requires[option]), ())


NO_ORIGIN = NoOrigin()


@dataclass(frozen=True, eq=False, repr=False)
class Problem(ProblemArrays):
    """A covering by compatibility classes, and its origin.

    Parameters
    ----------
    origin
        The source of the Problem; engines use ``structure`` instead. Without one, as where the
        arrays were made by hand, there are assignments, but no schedules.
    """

    origin: Origin = field(kw_only=True, default=NO_ORIGIN)

    def __post_init__(self) -> None:
        if self.origin is None:
            self.__dict__["origin"] = NO_ORIGIN

    @property
    def structure(self) -> NetworkStructure | None:
        """The network, messages and paths of the Problem, for engines that choose paths.

        ``None`` for a quotient, without an origin, and where a routing table leaves no choice.
        """
        found = self.origin.structure
        return None if found is None or self.origin.instance.model.table is not None else found

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


def cheapest_listed(
    problem: Problem, delivery: int, cost: NDArray[np.float64]
) -> tuple[int, float]:
    """Return the cheapest option of a delivery that has at least one, and its cost."""
    first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
    used, option = gather(problem.path_start, problem.option_path[first:last])
    # Every path uses a resource, so every option has an entry.
    first_use = np.flatnonzero(np.diff(option, prepend=-1))
    spent = np.add.reduceat(cost[problem.path_resource[used]], first_use)
    place = int(np.argmin(spent))
    return int(first) + place, float(spent[place])
