"""Scatter-like Problems as packing problems: rows, columns, compatibility classes.

Where no delivery requires another, steps are interchangeable, and a schedule is a cover of the
deliveries by *compatibility classes*: sets of options that fit into one step together (thesis
section 4.2.1).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.ragged import lookup, offsets_of, owners
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix


@dataclass(frozen=True, eq=False)
class Packing:
    """The required deliveries (rows), their usable options (columns), and the resources used.

    Parameters
    ----------
    problem
        The Problem.
    delivery
        Shape (rows,): the delivery of each row.
    option, row
        Shape (columns,): the option of each column, and its row; sorted by row.
    uses
        The usage matrix of the columns, over the contended resources (those that all rows together
        could use beyond their capacity), renumbered.
    capacity
        Shape (resources,): the capacity of each contended resource.
    """

    problem: Problem
    delivery: IntVector
    option: IntVector
    row: IntVector
    uses: UsageMatrix
    capacity: IntVector

    @classmethod
    def of(cls, problem: Problem) -> "Packing":
        """Return the packing problem of a Problem."""
        uses = UsageMatrix.of(problem)
        delivery = np.flatnonzero(problem.required)
        option = np.flatnonzero(uses.usable & problem.required[problem.option_delivery])
        row = lookup(delivery, problem.option_delivery[option])
        column, resource, times = uses.entries(option)
        kept = _contended(problem, row[column], resource, times)
        known, resource = np.unique(resource[kept], return_inverse=True)
        contended = UsageMatrix(
            path=np.arange(len(option)),
            start=offsets_of(column[kept], len(option)),
            resource=resource.astype(np.int64),
            times=times[kept],
            resources=len(known),
            offset=np.zeros(len(resource), dtype=np.int64),  # steps do not matter
            usable=np.ones(len(option), dtype=np.bool_),
        )
        capacity = problem.capacity[known].astype(np.int64)
        return cls(problem, delivery, option, row, contended, capacity)

    @property
    def rows(self) -> int:
        """The number of required deliveries."""
        return len(self.delivery)

    @property
    def columns(self) -> int:
        """The number of usable options."""
        return len(self.option)

    @cached_property
    def column(self) -> IntVector:
        """Shape (entries of ``uses``,): the column of each entry."""
        return owners(self.uses.start)

    def assignment(self, steps: Iterable[IntVector]) -> Assignment:
        """Return the assignment in which every class is a step.

        A row of several classes is made in the first of them; classes without any other row
        become no step.
        """
        found = self.problem.empty()
        number = 0
        for columns in steps:
            delivery = self.delivery[self.row[columns]]
            fresh = found.step[delivery] < 0
            if not fresh.any():
                continue
            found.option[delivery[fresh]] = self.option[columns[fresh]]
            found.step[delivery[fresh]] = number
            number += 1
        return found

    def classes(self, assignment: Assignment) -> list[IntVector]:
        """Return the columns of each step of an assignment, without options that are no column."""
        taken = np.flatnonzero(assignment.option[self.delivery] >= 0)
        option = assignment.option[self.delivery[taken]]
        step = assignment.step[self.delivery[taken]]
        column = lookup(self.option, option)
        column, step = column[column >= 0], step[column >= 0]
        return [np.sort(column[step == number]) for number in np.unique(step)]


def refusal(problem: Problem) -> str | None:
    """Return why a Problem has no cover by compatibility classes, ``None`` if it has one."""
    if problem.ordered:
        return "some deliveries wait for others; compatibility classes are for scatter and gather"
    packing = Packing.of(problem)
    if len(np.unique(packing.row)) < packing.rows:
        return "some required delivery has no option that keeps to the capacities"
    return None


def _contended(
    problem: Problem, row: IntVector, resource: IntVector, times: IntVector
) -> BoolVector:
    """Return which uses are of resources that all rows together could overload."""
    pair, which = np.unique(row * problem.resources + resource, return_inverse=True)
    max_times = np.zeros(len(pair), dtype=np.int64)
    np.maximum.at(max_times, which, times)
    demand = np.bincount(pair % problem.resources, weights=max_times, minlength=problem.resources)
    decides = ~problem.implied & (demand > problem.capacity)
    return np.asarray(decides[resource])
