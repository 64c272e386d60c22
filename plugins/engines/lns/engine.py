"""The engine ``lns``: large-neighbourhood search with CP-SAT for a fixed number of steps.

The search keeps a *partial schedule* of the target number of steps: no constraint is violated, but
some required deliveries are unscheduled. It minimizes their number.

1. Target: one step less than the best schedule. With all paths listed, dual prices exclude options
   that no schedule of this number of steps uses (``toolkit.dual_prices``).
2. Initial solution: repair another engine's near-solution, or remove the cheapest step of the best
   schedule; insert unscheduled deliveries greedily (``initial_solution.py``).
3. Destroy: choose a kind of neighbourhood by a bandit, and remove its deliveries from the schedule
   (``neighbourhoods.py``).
4. Repair: CP-SAT schedules as many as possible of the removed and of some unscheduled deliveries,
   all others being fixed (``toolkit.cpsat.repack``). Every delivery has a score: a constant, plus
   the scarcity of the resources that it uses, plus noise, so that the set of unscheduled deliveries
   changes even if its size does not.
5. Always accept the result: its total score is at least that of the former places, which are the
   hint; the number of scheduled deliveries may fall. Adapt the bandit and the size of the
   neighbourhood to the gain and the time of CP-SAT.
6. Without gain for ``patience`` iterations: increase CP-SAT's time, restart from another engine's
   near-solution if it leaves fewer unscheduled, and add paths that the Problem does not list, found
   by pricing (``growable_problem.py``).

Steps 3 to 6 repeat until nothing is unscheduled; then the schedule is offered, and the search
continues with the next target.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import EngineBase, Run, Stop, best_assignment
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.repack import Subproblem, limited
from cchybrid.toolkit.cpsat.solve import Answer, cpu_limit, small_solver
from cchybrid.toolkit.cpsat.windows import NEVER, min_steps
from cchybrid.toolkit.dual_prices import Pricing
from cchybrid.toolkit.options import require
from cchybrid.toolkit.partial_schedule import PartialSchedule
from cchybrid.toolkit.solver import evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .growable_problem import GrowableProblem
from .initial_solution import initial_solution
from .neighbourhoods import Bandit, Situation

MAX_EASY = 0.3
"""Share of the time limit within which a subproblem solved to optimality is easy; chosen by
hand."""

OVERHEAD_UNITS = 0.02
"""Deterministic time of an iteration beside CP-SAT's own: about what numpy takes."""

SECONDS_PER_UNIT = 10.0
"""Seconds per unit of deterministic time after which CP-SAT is ended: a guard for slow machines."""

MAX_UNSCHEDULED = 30
"""Unscheduled deliveries of a subproblem, at most, unless more deliveries are removed. Chosen by
hand."""

BASE_SCORE, NOISE = 100, 20
"""Score of scheduling a delivery: ``BASE_SCORE`` times (1 + the scarcity of its resources), because
these are hard to schedule later, plus a random number below ``NOISE``. Chosen by hand."""

MAX_SHARE = 2.0
"""Upper limit on the scarcity relative to the average: else a few deliveries would dominate."""

PRICED_DELIVERIES = 16
"""Deliveries whose cheapest path is priced at a time: takes about as long as an iteration."""


class Lns(EngineBase["Lns.Options"]):
    """Large-neighbourhood search: remove deliveries, reschedule them by CP-SAT, repeat.

    References
    ----------
    P. Shaw, "Using constraint programming and local search methods to solve vehicle routing
    problems", CP 1998. doi:10.1007/3-540-49481-2_30

    S. Ropke, D. Pisinger, "An adaptive large neighborhood search heuristic for the pickup and
    delivery problem with time windows", Transportation Science 40, 2006.
    doi:10.1287/trsc.1050.0135
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        paths
            Price paths beyond those that the Problem lists.
        units, max_units
            Deterministic time of a subproblem, about seconds: at first, and after long without
            gain.
        patience
            Iterations without gain after which subproblems get more time, paths are priced, and
            other engines' near-solutions are considered.
        max_places
            Places, pairs of an option and a step, that a subproblem may have.
        max_size
            The largest size of a neighbourhood: steps (``window``, ``wasteful_steps``, and half of
            those of ``block``), messages, or resources (``users``).
        """

        paths: bool = True
        units: float = 0.1
        max_units: float = 1.6
        patience: int = 20
        max_places: int = 6_000
        max_size: int = 12

        def __post_init__(self) -> None:
            require(self, units=0.001, max_units=self.units, patience=1, max_places=1, max_size=1)

    def prepare(self) -> None:
        """Compile the kernels of greedy schedules."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse Problems without a schedule over the listed paths."""
        if min_steps(problem, UsageMatrix.of(problem)) >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search repeatedly for one step less than the best."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: Lns.Options) -> None:
        self.run, self.options = run, options
        self.growable = GrowableProblem(problem)
        self.random = np.random.default_rng(run.seed)
        self.bandit = Bandit(problem.ordered, options.max_size)

    def run_all(self) -> Stop:
        run, base = self.run, self.growable.base
        target = next(run.targets(), None)
        if target is not None and run.best() is None:
            self._offer_first(target)
        pricing: Pricing | None = None
        while (target := next(run.targets(), None)) is not None:
            if pricing is None:
                pricing = Pricing(base, UsageMatrix.of(base), run.should_stop)
            if not self._growing:
                # Exclude options that no schedule of this number of steps takes.
                tight = pricing.tight(target)
                # Dual prices show that the listed paths admit no such schedule.
                if pricing.min_steps > target:
                    return Stop.STALLED
                self.growable.keep_only(tight.uses.usable)
            self._search(target)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED

    def _offer_first(self, target: int) -> None:
        from cchybrid.toolkit.kernels.first_fit import first_fit
        from cchybrid.toolkit.search_run import watched as stopping

        with stopping(self.run, target) as stop:
            found = first_fit(self.growable.base, self.run.seed, stop)
        if found is not None:
            self.run.offer(found)
            self.run.spend(1)

    @property
    def _growing(self) -> bool:
        return self.options.paths and self.growable.can_grow

    def _initial_solution(self, steps: int) -> PartialSchedule:
        run, growable = self.run, self.growable
        whole = best_assignment(run, growable.base)
        # The last hint counts as the seed; a near-solution is usually the better start.
        near = run.hint(steps)
        return initial_solution(
            growable,
            steps,
            None if near is None else growable.to_grown(near),
            None if whole is None else growable.to_grown(whole),
            self.random,
            lambda: not run.wants(steps),
        )

    def _search(self, steps: int) -> None:
        run, growable, random = self.run, self.growable, self.random
        partial = self._initial_solution(steps)
        units, idle = self.options.units, 0
        while run.wants(steps):
            unscheduled = partial.unscheduled
            if not len(unscheduled):
                self._offer(partial.assignment())
                return
            situation = Situation(partial, unscheduled, scarcity(partial), growable.family, random)
            arm = self.bandit.choose(random)
            size = int(arm.size + random.random())
            partial, answer = self._repack(partial, situation, arm.kind(situation, size), units)
            gain = len(unscheduled) - len(partial.unscheduled)
            easy = answer.solution.optimal and answer.units < MAX_EASY * units
            arm.learn(max(gain, 0), answer.units + OVERHEAD_UNITS, easy=easy)
            run.progress(steps, len(partial.unscheduled))
            if gain > 0:
                units, idle = self.options.units, 0
                run.suggest(growable.to_base(partial.assignment()))
            run.spend(evaluations(answer.units))
            idle += 1
            if idle % self.options.patience == 0:
                units = min(2.0 * units, self.options.max_units)
                partial = self._diversify(partial)

    def _offer(self, assignment: Assignment) -> None:
        growable = self.growable
        back = growable.to_base(assignment)
        if (back.option >= 0).sum() == (assignment.option >= 0).sum():
            self.run.offer(back)
        else:
            self.run.offer(assignment, growable.problem)

    def _diversify(self, partial: PartialSchedule) -> PartialSchedule:
        """Consider the best shared near-solution, and add priced paths."""
        run, growable = self.run, self.growable
        near = run.hint(partial.steps)
        if near is not None:
            found = growable.to_grown(near)
            other = initial_solution(
                growable, partial.steps, found, None, self.random, run.should_stop
            )
            if len(other.unscheduled) < len(partial.unscheduled):
                partial = other
        if self._growing:
            required = np.flatnonzero(growable.base.required)
            some = self.random.permutation(partial.unscheduled)[: PRICED_DELIVERIES // 2]
            some = np.union1d(some, self.random.choice(required, PRICED_DELIVERIES // 2))
            noise = 0.5 + self.random.random(growable.base.resources)
            new_index = growable.grow(some, (scarcity(partial) + 0.05) * noise)
            if new_index is not None:
                partial = partial.moved_to(growable.problem, growable.uses, new_index)
        return partial

    def _repack(
        self, partial: PartialSchedule, situation: Situation, taken: IntVector, units: float
    ) -> tuple[PartialSchedule, Answer]:
        """Remove deliveries and reschedule them by CP-SAT; return the schedule and the answer."""
        run = self.run
        max_chosen = max(MAX_UNSCHEDULED, len(taken))
        chosen = self.random.permutation(situation.unscheduled)[:max_chosen]
        subproblem = Subproblem(partial, taken, chosen, situation.family)
        # A small cost per use beside the price.
        cost = partial.uses.costs(situation.price + 0.05)
        places = limited(subproblem.places, subproblem.former, cost, self.options.max_places)
        subproblem.places = places
        weight = self._weights(partial, cost)
        solver = small_solver(run.budget, int(self.random.integers(2**31)), units)
        answer = subproblem.decide(
            solver,
            lambda: run.wants(partial.steps),
            run.should_stop,
            cpu_limit(run.budget, SECONDS_PER_UNIT * units),
            weight,
        )
        repacked = subproblem.rest
        repacked.add(subproblem.former if answer.assignment is None else answer.assignment)
        run.note(places=len(places.option))
        return repacked, answer

    def _weights(self, partial: PartialSchedule, cost: NDArray[np.float64]) -> IntVector:
        """Return, shape (deliveries,), the score of scheduling each delivery."""
        problem, usable = partial.problem, partial.uses.usable
        cheapest = np.full(problem.deliveries, np.inf)
        np.minimum.at(cheapest, problem.option_delivery[usable], cost[usable])
        cheapest[~problem.required] = 0.0
        share = cheapest / max(float(cheapest[problem.required].mean()), 1e-9)
        score = BASE_SCORE * (1.0 + np.minimum(share, MAX_SHARE)) + self.random.integers(
            NOISE, size=problem.deliveries
        )
        return np.where(problem.required, score, 0.0).astype(np.int64)


def scarcity(partial: PartialSchedule) -> NDArray[np.float64]:
    """Return, shape (resources,), a price from 0 to 1: high where little capacity is left."""
    problem = partial.problem
    offered = np.maximum(problem.capacity * float(partial.steps), 1.0)
    left = np.where(problem.implied, offered, partial.residual.sum(axis=1))
    return np.asarray((1.0 - left / offered) ** 4, dtype=np.float64)
