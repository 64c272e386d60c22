"""Exact colouring: the fewest steps when every delivery keeps its option, by CP-SAT.

For scatter over channels of capacity 1 this is the chromatic number of the conflict graph, whose
cliques are the users of each channel. The step model of a Problem with one option per delivery is
that colouring problem, with the largest such clique coloured in advance; it also covers larger
capacities and precedence.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cchybrid.plugin.engine import Budget
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import Answer, cpu_limit, decide, decision_solver
from cchybrid.toolkit.cpsat.windows import Windows, min_steps
from cchybrid.toolkit.dual_prices import Pricing
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix


@dataclass(frozen=True, eq=False)
class Fewest:
    """The best schedule of a choice.

    Parameters
    ----------
    assignment
        The schedule.
    proven
        Whether CP-SAT refuted fewer steps for this choice.
    units
        Deterministic time spent, about seconds.
    """

    assignment: Assignment
    proven: bool
    units: float


class FixedChoice:
    """A Problem restricted to one option per delivery.

    Parameters
    ----------
    option
        Shape (deliveries,): the option of each, -1 for deliveries that are not made.
    """

    def __init__(self, problem: Problem, uses: UsageMatrix, option: IntVector) -> None:
        self.problem = problem
        usable = np.zeros(problem.options, dtype=np.bool_)
        usable[option[option >= 0]] = True
        self.uses = replace(uses, usable=uses.usable & usable)
        self.pricing = Pricing(problem, self.uses)
        self.min_steps = max(min_steps(problem, self.uses), self.pricing.min_steps)

    def fewest(
        self,
        known: Assignment,
        budget: Budget,
        seed: int,
        limit: float,
        useful: Callable[[int], bool] = lambda steps: True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Fewest:
        """Return the schedule with the fewest steps that is found within the limits.

        Parameters
        ----------
        known
            A schedule of this choice.
        limit
            Limit of every decision: CPU seconds of a thread, or deterministic time under an
            evaluation budget.
        useful
            Whether a schedule of a number of steps is of use.
        should_stop
            Whether to stop at once.
        """

        def decide_steps(steps: int) -> Answer:
            tight = self.pricing.tight(steps)
            full = bool(tight.full.any())

            def make() -> StepModel:
                windows = Windows.of(self.problem, tight.uses, steps, symmetry=True, certain=full)
                return build(
                    self.problem, tight.uses, windows, lambda: not useful(steps), tight.full
                )

            solver = decision_solver(budget, seed, limit, tight=full)
            seconds = cpu_limit(budget, limit)
            return decide(make, solver, lambda: useful(steps), should_stop, seconds)

        units = 0.0
        while self.min_steps < known.steps and useful(known.steps - 1):
            answer = decide_steps(known.steps - 1)
            units += answer.units
            if answer.assignment is None:
                return Fewest(known, answer.solvable is False, units)
            known = answer.assignment
        return Fewest(known, self.min_steps >= known.steps, units)
