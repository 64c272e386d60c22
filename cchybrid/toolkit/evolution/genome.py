"""The genome: one gene per delivery, its values an option and a step (thesis sections 6.2, 6.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.kernels.flat import Flat, flatten, uses_of
from cchybrid.toolkit.kernels.surrounding import near_uses, restrict


@dataclass(frozen=True, eq=False)
class Genome:
    """A Problem as individuals encode it.

    Parameters
    ----------
    problem
        With the options that individuals may have.
    flat
        Its arrays.
    required
        Its required deliveries.
    allowed
        Shape (options,): the option of the whole problem that each option is.
    number
        Shape (options of the whole problem,): the reverse, -1 for those left out.
    radius
        Hops to which options are restricted, 0 for no restriction.
    """

    problem: Problem
    flat: Flat
    required: IntArray
    allowed: IntArray
    number: IntArray
    radius: int

    @classmethod
    def of(cls, problem: Problem, options: EvolutionOptions) -> Genome:
        """Return the genome of a problem, without the options that the radius forbids."""
        allowed = np.arange(problem.options, dtype=np.int32)
        number = allowed.copy()
        if options.radius:
            problem, allowed = restrict(problem, options.radius)
            number[:] = -1
            number[allowed] = np.arange(len(allowed), dtype=np.int32)
        return cls(
            problem=problem,
            flat=flatten(problem, excess=options.conflicts == "excess"),
            required=np.flatnonzero(problem.required).astype(np.int32),
            allowed=allowed,
            number=number,
            radius=options.radius,
        )

    @property
    def genes(self) -> int:
        """The number of genes."""
        return self.problem.deliveries

    @property
    def ordered(self) -> bool:
        """Whether steps depend on options, so that genes are handled whole (section 6.3.2)."""
        return self.problem.ordered

    def near(self, steps: int) -> IntArray:
        """Return, shape (genes,), up to how many uses an option is no detour; see ``restore``."""
        if self.radius:
            max_uses = int(uses_of(self.flat).max(initial=0))
            return np.full(self.genes, max_uses, dtype=np.int32)
        return near_uses(self.problem, self.flat, steps)

    def encode(self, assignment: Assignment, steps: int) -> Assignment:
        """Return the genes of an assignment of the whole problem; -1 where it has none to use."""
        option = np.where(assignment.option >= 0, self.number[assignment.option], -1)
        kept = (option >= 0) & (assignment.step >= 0) & (assignment.step < steps)
        return Assignment(
            np.where(kept, option, -1).astype(np.int32),
            np.where(kept, assignment.step, -1).astype(np.int32),
        )

    def decode(self, option: IntArray, step: IntArray, steps: int) -> Assignment:
        """Return the assignment that genes stand for, without what is late."""
        late = (step < 0) | (step >= steps)
        return Assignment(
            np.where(late, -1, self.allowed[option]).astype(np.int32),
            np.where(late, -1, step).astype(np.int32),
        )
