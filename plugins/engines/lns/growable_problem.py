"""A Problem that grows by priced paths which the run's own Problem does not list."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem, extend
from cchybrid.toolkit.assignments import made_where
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector, UsageMatrix, families

MAX_GROWN = 100_000
"""Options that are added at most: a guard, as the usage matrix is recomputed each time."""


class GrowableProblem:
    """A Problem to which options can be added, with its usage matrix.

    Parameters
    ----------
    base
        The run's own Problem.

    Attributes
    ----------
    problem
        The base, grown.
    family
        Shape (deliveries,): see ``usage_matrix.families``; without order, each delivery its own.
    """

    def __init__(self, base: Problem) -> None:
        self.base = self.problem = base
        self._all = UsageMatrix.of(base)
        self._usable = self._all.usable
        self._new_index: IntVector = np.arange(base.options, dtype=np.int64)
        self.family: IntVector = (
            families(base) if base.ordered else np.arange(base.deliveries, dtype=np.int64)
        )

    @property
    def uses(self) -> UsageMatrix:
        """The usage matrix; excluded options are not usable."""
        return replace(self._all, usable=self._usable)

    @property
    def can_grow(self) -> bool:
        """Whether there may be paths that are not listed, and more may be added."""
        return (
            self.base.structure is not None
            and not self.base.complete
            and self.problem.options < self.base.options + MAX_GROWN
        )

    def keep_only(self, usable: BoolVector) -> None:
        """Restrict the base's options to usable ones, shape (options of the base,)."""
        self._usable = self._all.usable.copy()
        self._usable[self._new_index] &= usable

    def grow(self, deliveries: IntVector, cost: NDArray[np.float64]) -> IntVector | None:
        """Add the cheapest path of each given delivery.

        Parameters
        ----------
        cost
            Shape (resources,): cost per use, not negative.

        Returns
        -------
        new_index
            Shape (options before,): the new index of each option; ``None`` if nothing is new.
        """
        priced = [
            (delivery, self.problem.price(delivery, cost)) for delivery in deliveries.tolist()
        ]
        paths = [(delivery, price.path) for delivery, price in priced if price.path]
        grown, new_index = extend(self.problem, paths)
        if grown is self.problem:
            return None
        usable = self._usable
        self.problem, self._all = grown, UsageMatrix.of(grown)
        self._usable = self._all.usable.copy()
        self._usable[new_index] &= usable
        places = new_index.astype(np.int64)
        self._new_index = places[self._new_index]
        return places

    def to_grown(self, assignment: Assignment) -> Assignment:
        """Return an assignment of the base as one of the grown Problem."""
        found = self._new_index[np.maximum(assignment.option, 0)]
        option = np.where(assignment.option >= 0, found, -1)
        return Assignment(option.astype(np.int32), assignment.step)

    def to_base(self, assignment: Assignment) -> Assignment:
        """Return an assignment of the grown Problem as one of the base, without added options."""
        back = np.full(self.problem.options, -1, dtype=np.int32)
        back[self._new_index] = np.arange(self.base.options)
        option = np.where(assignment.option >= 0, back[np.maximum(assignment.option, 0)], -1)
        return made_where(option >= 0, option, assignment.step)
