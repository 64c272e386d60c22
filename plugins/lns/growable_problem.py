"""The Problem that is searched: the run's own, and paths that its pool did not list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem, extend
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix, families

MAX_GROWN = 100_000
"""Options that are added: a guard, as the usage matrix is counted anew each time."""


class GrowableProblem:
    """A Problem that may grow, and what is counted for it.

    Parameters
    ----------
    base
        The run's own Problem.

    Attributes
    ----------
    problem
        The base, grown.
    family
        Shape (deliveries,): see ``uses.families``; where nothing is ordered, each its own.
    """

    def __init__(self, base: Problem) -> None:
        self.base = self.problem = base
        self._all = UsageMatrix.of(base)
        self._usable = self._all.usable
        self._moved: IntVector = np.arange(base.options, dtype=np.int64)
        self.family: IntVector = (
            families(base) if base.ordered else np.arange(base.deliveries, dtype=np.int64)
        )

    @property
    def uses(self) -> UsageMatrix:
        """What the options use; those that are ruled out are not usable."""
        return replace(self._all, usable=self._usable)

    @property
    def grows(self) -> bool:
        """Whether there may be paths that are not listed."""
        return (
            self.base.structure is not None
            and not self.base.complete
            and self.problem.options < self.base.options + MAX_GROWN
        )

    def rule_out(self, usable: BoolVector) -> None:
        """Let, of the base's options, only these be usable; shape (its options,)."""
        self._usable = self._all.usable.copy()
        self._usable[self._moved] &= usable

    def grow(self, deliveries: IntVector, cost: NDArray[np.float64]) -> IntVector | None:
        """Add the cheapest path of each of these deliveries.

        Parameters
        ----------
        cost
            Shape (resources,): not negative.

        Returns
        -------
        moved
            Shape (options before,): where each option stands now; ``None`` if nothing is new.
        """
        priced = [
            (delivery, self.problem.price(delivery, cost)) for delivery in deliveries.tolist()
        ]
        paths = [(delivery, price.path) for delivery, price in priced if price.path]
        grown, moved = extend(self.problem, paths)
        if grown is self.problem:
            return None
        usable = self._usable
        self.problem, self._all = grown, UsageMatrix.of(grown)
        self._usable = self._all.usable.copy()
        self._usable[moved] &= usable
        places = moved.astype(np.int64)
        self._moved = places[self._moved]
        return places

    def taken_up(self, assignment: Assignment) -> Assignment:
        """Return an assignment of the base as one of the grown Problem."""
        known = self._moved[np.maximum(assignment.option, 0)]
        option = np.where(assignment.option >= 0, known, -1)
        return Assignment(option.astype(np.int32), assignment.step)

    def handed_back(self, assignment: Assignment) -> Assignment:
        """Return an assignment as one of the base, without what only the grown Problem has."""
        back = np.full(self.problem.options, -1, dtype=np.int32)
        back[self._moved] = np.arange(self.base.options)
        option = np.where(assignment.option >= 0, back[np.maximum(assignment.option, 0)], -1)
        step = np.where(option >= 0, assignment.step, -1)
        return Assignment(option.astype(np.int32), step.astype(np.int32))
