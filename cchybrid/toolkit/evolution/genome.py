"""The genome: one gene per delivery, with an option and a step (thesis sections 6.2, 6.3)."""

from dataclasses import dataclass

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.assignments import made_where
from cchybrid.toolkit.evolution.options import EvolutionOptions
from cchybrid.toolkit.kernels.flat import Flat, flatten, uses_of
from cchybrid.toolkit.kernels.surrounding import near_uses, published_radius, restrict


@dataclass(frozen=True, eq=False)
class Genome:
    """The encoding of a Problem.

    Parameters
    ----------
    problem
        The Problem, restricted to the options that individuals may have.
    flat
        Its arrays.
    required
        Its required deliveries.
    allowed
        Shape (options,): the option of the whole Problem that each option is.
    number
        Shape (options of the whole Problem,): the inverse, -1 for excluded options.
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
    def of(cls, problem: Problem, options: EvolutionOptions) -> "Genome":
        """Return the genome of a Problem, without the options beyond the radius."""
        allowed = np.arange(problem.options, dtype=np.int32)
        number = allowed.copy()
        radius = options.radius
        if options.papers and not radius:
            radius = published_radius(problem)
        if radius:
            problem, allowed = restrict(problem, radius)
            number[:] = -1
            number[allowed] = np.arange(len(allowed), dtype=np.int32)
        return cls(
            problem=problem,
            flat=flatten(problem, excess=options.conflicts == "excess"),
            required=np.flatnonzero(problem.required).astype(np.int32),
            allowed=allowed,
            number=number,
            radius=radius,
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
        """Return, shape (genes,), the uses up to which an option is no detour; see ``restore``."""
        if self.radius:
            max_uses = int(uses_of(self.flat).max(initial=0))
            return np.full(self.genes, max_uses, dtype=np.int32)
        return near_uses(self.problem, self.flat, steps)

    def encode(self, assignment: Assignment, steps: int) -> Assignment:
        """Return the genes of an assignment of the whole Problem; -1 for unscheduled deliveries."""
        option = np.where(assignment.option >= 0, self.number[assignment.option], -1)
        kept = (option >= 0) & (assignment.step >= 0) & (assignment.step < steps)
        return made_where(kept, option, assignment.step)

    def decode(self, option: IntArray, step: IntArray, steps: int) -> Assignment:
        """Return the assignment that genes encode, without late deliveries."""
        return made_where((step >= 0) & (step < steps), self.allowed[option], step)
