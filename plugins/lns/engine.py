"""Large-neighbourhood search (Shaw, CP 1998): a part of the schedule is taken out and packed anew.

The search keeps a valid schedule of the wanted number of steps in which some deliveries have no
place. Turn by turn it takes further deliveries out, and CP-SAT places as many of all these as it
can, by places that are worth a little more or less each time, so that what is left over changes
even where it does not become less. Once nothing is left over, the schedule is offered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.solve import Answer, ask, small_solver
from cchybrid.toolkit.cpsat.windows import NEVER, min_steps
from cchybrid.toolkit.dual_prices import Pricing
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .growable_problem import GrowableProblem
from .initial_solution import initial_solution
from .neighbourhoods import Bandit, View
from .partial_schedule import PartialSchedule
from .repack import Repack, limited, places_for

MAX_EASY = 0.3
"""Part of its time within which a question that was answered for good has been easy; by hand."""

OVERHEAD_UNITS = 0.02
"""What a turn takes beside CP-SAT's own time, in the same units; about what numpy takes in it."""

SECONDS_PER_UNIT = 10.0
"""Seconds after which a question ends in any case: a guard for slow machines."""

MIN_UNSCHEDULED = 30
"""Unscheduled deliveries that are always asked for; else no more than are taken out. By hand."""

BASE_SCORE, NOISE = 100, 20
"""Worth of a place to a delivery: a constant, as much again times how scarce what it uses is, as
scarce things are hard to place later, and random numbers below ``NOISE``, so that what is left
over changes from turn to turn. By hand."""

MAX_SHARE = 2.0
"""Scarcity, relative to the average, that counts: where few resources are scarce, some deliveries
would outweigh all others."""

PRICED = 16
"""Deliveries whose cheapest path is looked for at a time: takes about as long as a turn."""


class Lns:
    """Repacks parts of a schedule with CP-SAT."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        paths
            Look for paths beyond those that the Problem lists.
        units, max_units
            Deterministic time of a question, about seconds: at first, and where nothing is gained
            for long.
        patience
            Turns without gain after which questions get more time, paths are priced, and the
            solutions of others are looked at.
        max_places
            Places, pairs of an option and a step, that a question may have.
        max_size
            The largest size of a neighbourhood: about the steps or messages that are taken out.
        """

        paths: bool = True
        units: float = 0.1
        max_units: float = 1.6
        patience: int = 20
        max_places: int = 6_000
        max_size: int = 12

        def __post_init__(self) -> None:
            require(self, units=0.001, max_units=self.units, patience=1, max_places=1, max_size=1)

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self) -> None:
        """Have the kernels of greedy schedules compiled."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse what has no schedule over the listed paths."""
        if min_steps(problem, UsageMatrix.of(problem)) >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search for one step less than the best, again and again."""
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
                # Options that no schedule of so many steps takes are ruled out.
                tight = pricing.tight(target)
                if pricing.min_steps > target:
                    return Stop.STALLED
                self.growable.rule_out(tight.uses.usable)
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
        return self.options.paths and self.growable.grows

    def _initial_solution(self, steps: int) -> PartialSchedule:
        run, growable = self.run, self.growable
        near = run.hint(steps)
        # No near-solution has as many steps: this is the best schedule.
        whole = run.hint(growable.base.deliveries + 1)
        return initial_solution(
            growable,
            steps,
            None if near is None else growable.taken_up(near),
            None if whole is None else growable.taken_up(whole),
            self.random,
            lambda: not run.wants(steps),
        )

    def _search(self, steps: int) -> None:
        run, growable = self.run, self.growable
        partial = self._initial_solution(steps)
        units, idle = self.options.units, 0
        while run.wants(steps):
            unscheduled = partial.unscheduled
            if not len(unscheduled):
                self._offer(partial.assignment())
                return
            view = View(partial, unscheduled, scarcity(partial), growable.family, self.random)
            arm = self.bandit.choose(self.random)
            size = int(arm.size + self.random.random())
            partial, answer = self._repack(partial, view, arm.kind(view, size), units)
            gain = len(unscheduled) - len(partial.unscheduled)
            easy = answer.solution.optimal and answer.units < MAX_EASY * units
            arm.learn(max(gain, 0), answer.units + OVERHEAD_UNITS, easy=easy)
            run.progress(steps, len(partial.unscheduled))
            if gain > 0:
                units, idle = self.options.units, 0
                run.suggest(growable.handed_back(partial.assignment()))
            run.spend(evaluations(answer.units))
            idle += 1
            if idle % self.options.patience == 0:
                units = min(2.0 * units, self.options.max_units)
                partial = self._look_around(partial)

    def _offer(self, assignment: Assignment) -> None:
        growable = self.growable
        back = growable.handed_back(assignment)
        if (back.option >= 0).sum() == (assignment.option >= 0).sum():
            self.run.offer(back)
        else:
            self.run.offer(assignment, growable.problem)

    def _look_around(self, partial: PartialSchedule) -> PartialSchedule:
        """Add paths, and take up what others have found if it leaves fewer over."""
        run, growable = self.run, self.growable
        near = run.hint(partial.steps)
        if near is not None:
            found = growable.taken_up(near)
            other = initial_solution(
                growable, partial.steps, found, None, self.random, run.should_stop
            )
            if len(other.unscheduled) < len(partial.unscheduled):
                partial = other
        if self._growing:
            anyone = np.flatnonzero(growable.base.required)
            some = self.random.permutation(partial.unscheduled)[: PRICED // 2]
            some = np.union1d(some, self.random.choice(anyone, PRICED // 2))
            noise = 0.5 + self.random.random(growable.base.resources)
            moved = growable.grow(some, (scarcity(partial) + 0.05) * noise)
            if moved is not None:
                partial = partial.moved_to(growable.problem, growable.uses, moved)
        return partial

    def _repack(
        self, partial: PartialSchedule, view: View, taken: IntVector, units: float
    ) -> tuple[PartialSchedule, Answer]:
        """Take deliveries out and ask for places."""
        run = self.run
        rest = partial.copy()
        rest.take_out(taken)
        known = Assignment(
            np.where(rest.option < 0, partial.option, -1),
            np.where(rest.option < 0, partial.step, -1),
        )
        max_chosen = max(MIN_UNSCHEDULED, len(taken))
        chosen = self.random.permutation(view.unscheduled)[:max_chosen]
        free = np.concatenate([taken, chosen, self._helpers(rest, view, taken, chosen)])
        # A little per use beside the price.
        cost = partial.uses.costs(view.price + 0.05)
        places = limited(places_for(rest, free), known, cost, self.options.max_places)
        weight = self._weights(partial, cost)
        solver = small_solver(run.budget, int(self.random.integers(2**31)), units)
        if run.budget.evaluations is None:
            solver.parameters.max_time_in_seconds = SECONDS_PER_UNIT * units
        answer = ask(
            lambda: Repack(rest, places, weight, known, run.should_stop),
            solver,
            lambda: run.wants(partial.steps),
            run.should_stop,
        )
        found = known if answer.assignment is None else answer.assignment
        placed = np.flatnonzero(found.option >= 0)
        rest.place(
            placed, found.option[placed].astype(np.int64), found.step[placed].astype(np.int64)
        )
        rest.take_out(np.flatnonzero((rest.option >= 0) & (rest.assignment().option < 0)))
        run.note(places=len(places.option))
        return rest, answer

    def _weights(self, partial: PartialSchedule, cost: NDArray[np.float64]) -> IntVector:
        """Return, shape (deliveries,), what it is worth now that each has a place."""
        problem, usable = partial.problem, partial.uses.usable
        cheapest = np.full(problem.deliveries, np.inf)
        np.minimum.at(cheapest, problem.option_delivery[usable], cost[usable])
        cheapest[~problem.required] = 0.0
        share = cheapest / max(float(cheapest[problem.required].mean()), 1e-9)
        score = BASE_SCORE * (1.0 + np.minimum(share, MAX_SHARE)) + self.random.integers(
            NOISE, size=problem.deliveries
        )
        return np.where(problem.required, score, 0.0).astype(np.int64)

    def _helpers(
        self, rest: PartialSchedule, view: View, taken: IntVector, chosen: IntVector
    ) -> IntVector:
        """Return the optional deliveries that could help these: those of the same messages."""
        optional = np.flatnonzero(~rest.problem.required & (rest.option < 0))
        optional = np.setdiff1d(optional, taken)
        mine = np.unique(view.family[np.concatenate([taken, chosen])])
        return optional[np.isin(view.family[optional], mine)]


def scarcity(partial: PartialSchedule) -> NDArray[np.float64]:
    """Return, shape (resources,), a price between 0 and 1: high where hardly any room is left."""
    problem = partial.problem
    offered = np.maximum(problem.capacity * float(partial.steps), 1.0)
    left = np.where(problem.implied, offered, partial.room.sum(axis=1))
    return np.asarray((1.0 - left / offered) ** 4, dtype=np.float64)
