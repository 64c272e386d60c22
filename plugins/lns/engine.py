"""Large-neighbourhood search (Shaw, CP 1998): a part of the schedule is taken out and packed anew.

The search keeps a valid schedule of the wanted number of steps in which some deliveries have no
place. Turn by turn it takes further deliveries out, and CP-SAT places as many of all these as it
can, by places that are worth a little more or less each time, so that what is left over changes
even where it does not become less. Once nothing is left over, the schedule is offered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.cpsat.prices import Pricing
from cchybrid.toolkit.cpsat.solve import ask, small_solver
from cchybrid.toolkit.cpsat.windows import NEVER, least_steps
from cchybrid.toolkit.usage_matrix import IntVector, Uses
from cchybrid.toolkit.watched import RunOverError, watched

from .beginnings import begin
from .ground import Ground
from .neighbourhoods import Bandit, View
from .partial import Partial
from .repack import Repack, limited, places_for

EVALUATIONS_PER_UNIT = 10_000
"""Evaluations that one unit of CP-SAT's deterministic time counts as; a unit is about a second."""

FIRST_UNITS, MOST_UNITS = 0.1, 1.6
"""Deterministic time of a question: where nothing is gained for long, it grows."""

EASY = 0.3
"""The part of its time within which a question that was answered for good has been easy."""

TURNS = 20
"""Turns without fewer left over after which questions get more time, paths are priced, and it is
looked whether others have gained more."""

OVERHEAD = 0.02
"""What a turn takes beside CP-SAT's own time, in the same units."""

SECONDS_PER_UNIT = 10.0
"""Seconds after which a question ends in any case, however slow the machine."""

MAX_PLACES = 6_000
"""Places that a question may have."""

LEAST_LEFT_OVER = 30
"""Left-over deliveries that are always asked for; else no more than are taken out."""

WORTH, NOISE = 100, 20
"""What a place is worth to a delivery: so much, as much again times how scarce what it uses is
compared with others, for such are hard to place later, and a random number below so much."""

MOST_SHARE = 2.0
"""Times the average that is counted; where few resources are scarce, some would be worth all."""

PRICED = 16
"""Deliveries whose cheapest path is asked for at a time."""


class Lns:
    """Repacks parts of a schedule with CP-SAT."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        paths
            Look for paths beyond those that the Problem lists.
        """

        paths: bool = True

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self) -> None:
        """Have the kernel compiled that makes first schedules."""
        from cchybrid.toolkit.kernels.first_fit import first_fit
        from cchybrid.toolkit.warmup_problem import rehearsal

        first_fit(rehearsal(), 0)

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse what has no schedule over the listed paths."""
        if least_steps(problem, Uses.of(problem)) >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search for one step less than the best, again and again."""
        try:
            return _Search(problem, run, self.options).run_all()
        except RunOverError:
            return Stop.LIMIT


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: Lns.Options) -> None:
        self.run, self.options = run, options
        self.ground = Ground(problem)
        self.random = np.random.default_rng(run.seed)
        self.bandit = Bandit(problem.ordered)

    def run_all(self) -> Stop:
        run, base = self.run, self.ground.base
        target = next(run.targets(), None)
        if target is not None and run.best() is None:
            self._offer_first(target)
        pricing: Pricing | None = None
        while (target := next(run.targets(), None)) is not None:
            if pricing is None:
                pricing = watched(lambda: Pricing(base, Uses.of(base)), _wait, run.should_stop)
            if self._searchable(pricing, target):
                self._search(target)
            else:
                return Stop.STALLED
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED

    def _offer_first(self, target: int) -> None:
        from cchybrid.toolkit.islands import watched as stopping
        from cchybrid.toolkit.kernels.first_fit import first_fit

        with stopping(self.run, target) as stop:
            found = first_fit(self.ground.base, self.run.seed, stop)
        if found is not None:
            self.run.offer(found)
            self.run.spend(1)

    def _searchable(self, pricing: Pricing, steps: int) -> bool:
        """Rule out options that no schedule of so many steps takes; ``False`` if there is none."""
        if not self._growing:
            tight = watched(lambda: pricing.tight(steps), _wait, self.run.should_stop)
            if pricing.least_steps > steps:
                return False
            self.ground.rule_out(tight.uses.usable)
        return True

    @property
    def _growing(self) -> bool:
        return self.options.paths and self.ground.grows

    def _begin(self, steps: int) -> Partial:
        run, ground = self.run, self.ground
        near = run.hint(steps)
        # No near-solution has as many steps: this is the best schedule.
        whole = run.hint(ground.base.deliveries + 1)
        return begin(
            ground,
            steps,
            None if near is None else ground.taken_up(near),
            None if whole is None else ground.taken_up(whole),
            self.random,
            lambda: not run.wants(steps),
        )

    def _search(self, steps: int) -> None:
        run, ground = self.run, self.ground
        partial = self._begin(steps)
        units, idle = FIRST_UNITS, 0
        while run.wants(steps):
            left_over = partial.left_over
            if not len(left_over):
                self._offer(partial.assignment())
                return
            view = View(partial, left_over, scarcity(partial), ground.family, self.random)
            arm = self.bandit.choose(self.random)
            size = int(arm.size + self.random.random())
            turn = self._repack(partial, view, arm.kind(view, size), units)
            if turn is None:
                return
            partial = turn.partial
            gain = len(left_over) - len(partial.left_over)
            easy = turn.solved and turn.units < EASY * units
            arm.learn(max(gain, 0), turn.units + OVERHEAD, easy=easy)
            run.progress(steps, len(partial.left_over))
            run.note(places=turn.places)
            if gain > 0:
                units, idle = FIRST_UNITS, 0
                run.suggest(ground.handed_back(partial.assignment()))
            run.spend(max(1, math.ceil(turn.units * EVALUATIONS_PER_UNIT)))
            idle += 1
            if idle % TURNS == 0:
                units = min(2.0 * units, MOST_UNITS)
                partial = self._look_around(partial)

    def _offer(self, assignment: Assignment) -> None:
        ground = self.ground
        back = ground.handed_back(assignment)
        if (back.option >= 0).sum() == (assignment.option >= 0).sum():
            self.run.offer(back)
        else:
            self.run.offer(assignment, ground.problem)

    def _look_around(self, partial: Partial) -> Partial:
        """Add paths, and take up what others have found if it leaves fewer over."""
        run, ground = self.run, self.ground
        near = run.hint(partial.steps)
        if near is not None:
            found = ground.taken_up(near)
            other = begin(ground, partial.steps, found, None, self.random, run.should_stop)
            if len(other.left_over) < len(partial.left_over):
                partial = other
        if self._growing:
            anyone = np.flatnonzero(ground.base.required)
            some = self.random.permutation(partial.left_over)[: PRICED // 2]
            some = np.union1d(some, self.random.choice(anyone, PRICED // 2))
            noise = 0.5 + self.random.random(ground.base.resources)
            moved = ground.grow(some, (scarcity(partial) + 0.05) * noise)
            if moved is not None:
                partial = partial.moved_to(ground.problem, ground.uses, moved)
        return partial

    def _repack(self, partial: Partial, view: View, taken: IntVector, units: float) -> _Turn | None:
        """Take deliveries out and ask for places; ``None`` if the run is over."""
        run = self.run
        rest = partial.copy()
        rest.take_out(taken)
        known = Assignment(
            np.where(rest.option < 0, partial.option, -1),
            np.where(rest.option < 0, partial.step, -1),
        )
        most = max(LEAST_LEFT_OVER, len(taken))
        asked = self.random.permutation(view.left_over)[:most]
        free = np.concatenate([taken, asked, self._helpers(rest, view, taken, asked)])
        cost = option_costs(partial, view.price)
        places = limited(places_for(rest, free), known, cost, MAX_PLACES)
        weight = self._weights(partial, cost)
        solver = self._solver(units)
        answer = ask(
            lambda: Repack(rest, places, weight, known, run.should_stop),
            solver,
            lambda: run.wants(partial.steps),
            run.should_stop,
        )
        if answer is None:
            return None
        found = known if answer.assignment is None else answer.assignment
        placed = np.flatnonzero(found.option >= 0)
        rest.place(
            placed, found.option[placed].astype(np.int64), found.step[placed].astype(np.int64)
        )
        rest.take_out(np.flatnonzero((rest.option >= 0) & (rest.assignment().option < 0)))
        solved = answer.solvable is True and solver.response_proto.status == cp_model.OPTIMAL
        return _Turn(rest, answer.units, solved, len(places.option))

    def _weights(self, partial: Partial, cost: NDArray[np.float64]) -> IntVector:
        """Return, shape (deliveries,), what it is worth now that each has a place."""
        problem, usable = partial.problem, partial.uses.usable
        least = np.full(problem.deliveries, np.inf)
        np.minimum.at(least, problem.option_delivery[usable], cost[usable])
        least[~problem.required] = 0.0
        share = least / max(float(least[problem.required].mean()), 1e-9)
        worth = WORTH * (1.0 + np.minimum(share, MOST_SHARE)) + self.random.integers(
            NOISE, size=problem.deliveries
        )
        return np.where(problem.required, worth, 0.0).astype(np.int64)

    def _helpers(self, rest: Partial, view: View, taken: IntVector, asked: IntVector) -> IntVector:
        """Return the optional deliveries that could help these: those of the same messages."""
        if rest.problem.required.all():
            return np.zeros(0, dtype=np.int64)
        optional = np.flatnonzero(~rest.problem.required & (rest.option < 0))
        optional = np.setdiff1d(optional, taken)
        mine = np.unique(view.family[np.concatenate([taken, asked])])
        return optional[np.isin(view.family[optional], mine)]

    def _solver(self, units: float) -> cp_model.CpSolver:
        solver = small_solver(self.run.budget, int(self.random.integers(2**31)), units)
        if self.run.budget.evaluations is None:
            solver.parameters.max_time_in_seconds = SECONDS_PER_UNIT * units
        return solver


@dataclass(frozen=True, eq=False)
class _Turn:
    """What came of a turn.

    Parameters
    ----------
    partial
        The schedule after it.
    units
        The deterministic time that it took.
    solved
        Whether CP-SAT showed that nothing better exists.
    places
        The size of the question.
    """

    partial: Partial
    units: float
    solved: bool
    places: int


def scarcity(partial: Partial) -> NDArray[np.float64]:
    """Return, shape (resources,), a price between 0 and 1: high where hardly any room is left."""
    problem = partial.problem
    offered = np.maximum(problem.capacity * float(partial.steps), 1.0)
    left = np.where(problem.implied, offered, partial.room.sum(axis=1))
    return np.asarray((1.0 - left / offered) ** 4, dtype=np.float64)


def option_costs(partial: Partial, price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, shape (options,), what each option costs at these prices, and a little per use."""
    problem, uses = partial.problem, partial.uses
    path = np.repeat(np.arange(problem.paths), np.diff(uses.start))
    weights = uses.times * (price[uses.resource] + 0.05)
    cost = np.bincount(path, weights=weights, minlength=problem.paths)
    return np.asarray(cost[problem.option_path], dtype=np.float64)


def _wait() -> None:
    """A linear program ends by itself."""
