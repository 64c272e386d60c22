"""An island of the tabu search: starts and restarts, and the exchange of near-solutions."""

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, ending_with_a_start
from cchybrid.toolkit.assignments import made_where
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat, min_uses, uses_of
from cchybrid.toolkit.kernels.rng import below, seed_state
from cchybrid.toolkit.kernels.surrounding import in_tree_order, spare_uses
from cchybrid.toolkit.tabu_search.limits import choice_excesses
from cchybrid.toolkit.tabu_search.memory import new_memory
from cchybrid.toolkit.tabu_search.moves import Parts, new_scratch
from cchybrid.toolkit.tabu_search.options import TabuOptions
from cchybrid.toolkit.tabu_search.path_graphs import PathGraphs, build_graphs
from cchybrid.toolkit.tabu_search.search import (
    BEST_CONFLICTS,
    LAST_IMPROVEMENT,
    MOVES,
    Record,
    Tuning,
    search,
    start,
)

MIN_PATH_EXCESS = 2
"""Uses by which a path may always exceed the shortest of its choice, even without slack."""


class SharedData:
    """Data shared by the islands of one problem and number of steps.

    Parameters
    ----------
    problem, flat
        The problem, and its arrays for kernels.
    steps
        The number of steps.
    min_limit
        See ``bottleneck``.
    seed
        Of the order in which messages are forwarded in a period.
    """

    def __init__(
        self, problem: Problem, flat: Flat, steps: int, min_limit: int, seed: int = 0
    ) -> None:
        self.problem, self.flat, self.steps = problem, flat, steps
        choice_excess = choice_excesses(problem, flat, min_limit, steps)
        if problem.periodic and problem.ordered:
            # In one order of the deliveries, which excludes cycles, nothing is required.
            own, delivery = in_tree_order(problem, seed), problem.option_delivery
            flat = self.flat = flat._replace(requires=np.where(own, -1, flat.requires))
            fewest = np.full(problem.deliveries, NO_LIMIT)
            np.minimum.at(fewest, delivery[own], uses_of(flat)[own])
            choice_excess = np.maximum(choice_excess, fewest - min_uses(problem, flat))
        path_excess = spare_uses(problem, steps) + MIN_PATH_EXCESS
        self.graphs: PathGraphs = build_graphs(problem, flat, choice_excess, path_excess)
        # Where nothing is forwarded, every delivery has one choice of paths only.
        max_excess = choice_excess if problem.ordered else path_excess
        max_uses = min_uses(problem, flat) + max_excess
        self._short = uses_of(flat) <= max_uses[problem.option_delivery]
        if problem.periodic:
            self._short &= flat.requires < 0

    def shortened(self, assignment: Assignment) -> Assignment:
        """Return an assignment without deliveries over paths too long for this number of steps.

        They would cause no conflict by themselves, and so stay, but take capacity from others.
        """
        kept = (assignment.option >= 0) & self._short[assignment.option]
        return made_where(kept, assignment.option, assignment.step)


class TabuIsland:
    """A search for a schedule of a fixed number of steps; see ``islands.Island``.

    Parameters
    ----------
    shared, options
        What all islands share.
    seed, number
        The island's own seed, and its number among the islands.
    hint
        Where to start, or ``None`` for a greedy schedule.
    """

    def __init__(
        self,
        shared: SharedData,
        options: TabuOptions,
        seed: int,
        number: int,
        hint: Assignment | None,
    ) -> None:
        self._shared, self._options = shared, options
        self._state = seed_state(seed)
        deliveries = shared.problem.deliveries
        self._record = Record(
            np.full(deliveries, -1, dtype=np.int32),
            np.full(deliveries, -1, dtype=np.int32),
            # A start that is stopped leaves this as it is: then there is no near-solution.
            np.array([1 << 40, 0, 0, 0], dtype=np.int64),
        )
        self._best = shared.problem.empty()
        self._fewest = deliveries + 1
        self._migrant: Assignment | None = hint
        self._number = number
        self._due = True
        self.starts = 0

    @property
    def conflicts(self) -> int:
        """See ``islands.Island``."""
        return self._fewest

    def best(self) -> Assignment:
        """See ``islands.Island``."""
        return self._best

    def immigrate(self, migrant: Assignment) -> None:
        """Keep the migrant for the next restart."""
        self._migrant = migrant

    def restart(self) -> None:
        """Restart at the next ``advance``, from the migrant if there is one."""
        self._due = True

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        """See ``islands.Island``; one evaluation prices all paths of a delivery in all steps."""
        record = self._record
        idle = record.counters[MOVES] - record.counters[LAST_IMPROVEMENT]
        if self._due or idle > self._options.patience:
            self._start(stop)
        made = search(self._parts, record, self._tuning, evaluations, stop, self._state)
        self._remember()
        return max(made, 1)

    def _start(self, stop: BoolArray) -> None:
        """Start from a migrant or hint, from the best near-solution, or from a greedy schedule."""
        shared, options = self._shared, self._options
        self.starts += 1
        self._due = False
        initial_solution: Assignment | None = None
        if self._migrant is not None:
            initial_solution, self._migrant = self._migrant, None
        # Two of three restarts begin at the best near-solution, the third at a new greedy schedule.
        elif self.starts > 1 and self.starts % 3:
            initial_solution = self._best
        if initial_solution is None:
            initial_solution = first_fit(shared.problem, int(below(self._state, 1 << 30)), stop)
        if initial_solution is None:
            initial_solution = shared.problem.empty()
        initial_solution = shared.shortened(initial_solution)
        memory = new_memory(shared.flat, shared.steps)
        scratch = new_scratch(shared.problem, shared.graphs, memory.load.shape[1])
        self._parts = Parts(shared.flat, shared.graphs, memory, scratch)
        # Every other start: see ``TabuOptions.decay``.
        varied = (self.starts + self._number) % 2 == 0
        self._tuning = Tuning(
            options.width,
            options.tenure * (3 if varied else 1),
            -(-options.decay // 10) if varied else options.decay,
        )
        places = initial_solution.option, initial_solution.step
        start(self._parts, self._record, *places, stop, self._state)
        self._remember()

    def _remember(self) -> None:
        fewest = int(self._record.counters[BEST_CONFLICTS])
        if fewest < self._fewest:
            self._fewest = fewest
            record = self._record
            made, step = record.step < self._shared.steps, record.step
            if self._shared.problem.periodic:
                step = ending_with_a_start(np.where(made, step, -1), self._shared.steps)
            self._best = made_where(made, record.option, step)
