"""Repair of a near-solution by CP-SAT: a few unscheduled deliveries at a time are scheduled.

1. Remove deliveries from the near-solution until it violates nothing.
2. Choose a few unscheduled deliveries, and free some of the scheduled ones: those of the same
   messages and those that use a channel that the chosen ones could use, or those of a window of
   steps.
3. CP-SAT decides whether the chosen and the free deliveries can all be made, all others being
   fixed. If they can, keep that schedule and choose more next time; if not, choose fewer, or free
   more; if that is not decided in ``UNITS``, choose and free fewer.

The neighbourhoods are those of large-neighbourhood search (P. Shaw 1998). In contrast to the engine
``lns``, nothing is optimised: decisions about a few deliveries take hundredths of a second.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from cchybrid.plugin.engine import Budget, Run, best_assignment, cut_to
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.ragged import gather
from cchybrid.toolkit.cpsat.repack import Subproblem
from cchybrid.toolkit.cpsat.solve import Answer, cpu_limit, small_solver
from cchybrid.toolkit.partial_schedule import repaired
from cchybrid.toolkit.solver import evaluations
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix, families

from .targets import Targets

FIRST_FREE, MIN_FREE = 100, 10
"""Scheduled deliveries that are free at first, and at least. Chosen by hand."""

GROWTH, SHRINKAGE, UNDECIDED = 1.2, 0.8, 0.7
"""Factors on their number after a neighbourhood without a schedule; after one with a schedule, down
to ``FIRST_FREE``; and after an undecided one. With a growth of 1.4 far fewer were repaired."""

FIRST_CHOSEN = 3
"""Unscheduled deliveries that are chosen at first. With all of them at once, schedules without
their last step were hardly ever repaired."""

WINDOWS = 0.25
"""Probability of a window of steps. Chosen by hand."""

UNITS = 0.5
"""Deterministic time for a neighbourhood, about seconds."""

PATIENCE = 1.0
"""Deterministic time without gain after which another start is tried; doubled whenever the repair
goes on later. Chosen by hand."""

BASE_UNITS, UNITS_PER_BOOLEAN = 5e-3, 1e-5
"""Deterministic time beside CP-SAT's own: about what making a model takes."""


def cost_of(answer: Answer) -> float:
    """Return the deterministic time of a neighbourhood, about seconds."""
    return answer.units + BASE_UNITS + UNITS_PER_BOOLEAN * answer.booleans


class Repair:
    """The repair of one near-solution.

    Parameters
    ----------
    uses
        Its usable options are those of free deliveries, beside those of the near-solution.
    near
        The near-solution.
    steps
        The number of steps of the schedule.
    given
        What other engines have found, of which ``near`` was made; by default ``near``.
    """

    def __init__(
        self,
        problem: Problem,
        uses: UsageMatrix,
        near: Assignment,
        steps: int,
        seed: int,
        given: Assignment | None = None,
    ) -> None:
        self._problem, self.steps = problem, steps
        self.given = given or near
        self._random = np.random.default_rng(seed)
        every = replace(uses, usable=np.ones_like(uses.usable))
        self._partial = repaired(problem, every, steps, near, self._random)
        # A free delivery may keep its place.
        usable = uses.usable.copy()
        usable[self._partial.option[self._partial.option >= 0]] = True
        self._partial.uses = replace(uses, usable=usable)
        self._family = families(problem)
        self._free_count = float(FIRST_FREE)
        self._chosen_count = FIRST_CHOSEN
        self._idle, self._patience = 0.0, PATIENCE
        self.is_refuted = False
        """Whether there is no schedule of these options even if all deliveries are free."""

    @property
    def unscheduled(self) -> int:
        """The number of unscheduled deliveries."""
        return len(self._partial.unscheduled)

    @property
    def is_over(self) -> bool:
        """Whether nothing is unscheduled, or nothing was gained for long."""
        return not self.unscheduled or self.is_refuted or self._idle > self._patience

    def go_on(self) -> None:
        """Be no longer over, for twice the time without gain."""
        self._idle, self._patience = 0.0, 2.0 * self._patience

    def assignment(self) -> Assignment:
        """Return the schedule so far."""
        return self._partial.assignment()

    def try_neighbourhood(
        self,
        budget: Budget,
        left: float,
        useful: Callable[[], bool],
        should_stop: Callable[[], bool],
    ) -> Answer:
        """Free the deliveries of a random neighbourhood, decide, and adapt its size.

        Parameters
        ----------
        left
            Limit of CPU seconds, or of deterministic time under an evaluation budget.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        random, before = self._random, self._partial
        scheduled = np.flatnonzero(before.option >= 0)
        everything = self._free_count >= len(scheduled)
        chosen = before.unscheduled if everything else self._choose()
        taken = scheduled if everything else self._draw(scheduled, chosen)
        subproblem = Subproblem(before, taken, chosen, self._family)
        seed, timed = int(random.integers(2**31)), budget.evaluations is None
        # More threads make such small models slower.
        solver = small_solver(
            replace(budget, threads=1), seed, UNITS if timed else min(UNITS, left)
        )
        # Presolve and linear relaxations take longer than the search.
        solver.parameters.cp_model_presolve = False
        solver.parameters.linearization_level = 0
        answer = subproblem.decide(solver, useful, should_stop, cpu_limit(budget, left))
        if answer.assignment is not None:
            self._partial = subproblem.rest
            self._partial.add(answer.assignment)
            self._idle = 0.0
            if self._free_count > FIRST_FREE:
                self._free_count = max(FIRST_FREE, SHRINKAGE * self._free_count)
            self._chosen_count += 1
            return answer
        self._idle += cost_of(answer)
        self.is_refuted = answer.solvable is False and everything
        if answer.solvable is None:
            size = min(self._free_count, len(scheduled))
            self._free_count = max(MIN_FREE, UNDECIDED * size)
        elif self._chosen_count == 1:
            self._free_count *= GROWTH
        self._chosen_count = max(1, self._chosen_count // 2)
        return answer

    def _choose(self) -> IntVector:
        """Return a few unscheduled deliveries, such as do not wait for others if possible."""
        problem, partial = self._problem, self._partial
        unscheduled = self._random.permutation(partial.unscheduled)
        requires = problem.option_requires
        ready = partial.uses.usable & (
            (requires < 0) | (partial.option[requires] >= 0) | ~problem.required[requires]
        )
        waits = np.ones(problem.deliveries, dtype=np.bool_)
        waits[problem.option_delivery[ready]] = False
        order = np.argsort(waits[unscheduled], kind="stable")
        return np.asarray(unscheduled[order[: self._chosen_count]])

    def _draw(self, scheduled: IntVector, chosen: IntVector) -> IntVector:
        """Return the scheduled deliveries that are free.

        Those of steps around a random one, or first those of the same messages as the chosen ones
        and those that use, in any step, what the chosen ones could use.
        """
        partial, random = self._partial, self._random
        if random.random() < WINDOWS:
            rank = np.abs(partial.step[scheduled] - random.integers(partial.steps)).astype(float)
        else:
            options, _ = gather(self._problem.option_start, chosen)
            resources = partial.resources_of(options[partial.uses.usable[options]])
            near = np.isin(scheduled, partial.using(resources))
            near |= np.isin(self._family[scheduled], self._family[chosen])
            rank = np.where(near, 0.0, 1.0)
        order = np.argsort(rank + random.random(len(scheduled)))
        return scheduled[order[: int(self._free_count)]]


TIME = 0.7
"""Share of the remaining time for the repairs for one number of steps. Chosen by hand."""

MAX_STARTS = 4
"""Repairs without success for one number of steps before a whole model is tried: there may be no
such schedule, and only a whole model shows that. One takes a second or two."""

MAX_KEPT = 8
"""Repairs that are kept to go on later: those of large Problems take some tens of MiB each."""

MAX_UNSCHEDULED, ALWAYS_FEW = 0.05, 3
"""Share of the required deliveries that a near-solution may leave unscheduled; with more of them,
the best schedule without its last step is repaired faster. ``ALWAYS_FEW`` are allowed anyway."""


class Repairs:
    """The repairs of one run.

    Parameters
    ----------
    uses
        The usage matrix of the Problem.
    fits
        Whether a model of these options and this number of steps is small enough.
    offer
        Offers a schedule.
    """

    def __init__(
        self,
        problem: Problem,
        uses: UsageMatrix,
        run: Run,
        targets: Targets,
        fits: Callable[[UsageMatrix, int], bool],
        offer: Callable[[Assignment], None],
    ) -> None:
        self._problem, self._run, self._targets = problem, run, targets
        self._uses, self._fits, self._offer = uses, fits, offer
        self._seeds = count(run.seed)
        self._refuted: set[int] = set()
        self._near: dict[int, list[Assignment]] = {}
        """New near-solutions of other engines, per number of steps."""
        self._target = -1
        """The number of steps of the last repairs."""
        self._waiting: list[Repair] = []
        """Repairs that are not over."""
        self._stalled: list[Repair] = []
        """Repairs without gain for long."""
        self._cut: int | None = None
        """The steps of the schedule of which the last steps were left out."""
        self._required = int(problem.required.sum())
        self.are_useful = problem.ordered and self._required > FIRST_FREE
        """Whether to repair: where all deliveries would be free, a repair is no easier than a whole
        model, and of scatters hardly any near-solution was repaired."""
        self._max_unscheduled = max(ALWAYS_FEW, MAX_UNSCHEDULED * self._required)

    def has_news(self, steps: int) -> bool:
        """Return whether there is a new near-solution of another engine, and keep it."""
        near = self._run.migrant(steps)
        if near is not None:
            self._near.setdefault(steps, []).append(near)
        return near is not None

    def run_all(self) -> None:
        """Repair until there is no success, and no better schedule of another engine either."""
        while not self._run.should_stop():
            low, target = self._targets.open()
            if target is None or target < low or target in self._refuted:
                return
            if not self._succeeds(target) and self._targets.open() == (low, target):
                return

    def _succeeds(self, target: int) -> bool:
        short = self._uses.shortened(self._problem, target)
        if not self._fits(short, target):
            return False
        end = self._targets.now() + TIME * self._targets.left()
        for number, start in enumerate(self._starts(short, target)):
            repair = self._run_one(start, short, end)
            if not repair.unscheduled:
                self._run.started_from(repair.given)
                self._offer(repair.assignment())
                return True
            self._run.suggest(repair.assignment())
            if repair.is_refuted:
                self._refuted.add(target)
                return False
            _keep(self._stalled if repair.is_over else self._waiting, repair)
            over = number + 1 == MAX_STARTS or self._targets.now() >= end
            if over or not self._run.wants(target):
                return False
        return False

    def _starts(self, short: UsageMatrix, target: int) -> Iterator[Repair]:
        """Yield repairs without end; none if there is neither near-solution nor schedule.

        They start from other engines' near-solutions; if these leave too many deliveries
        unscheduled, from the best schedule without its last steps. Then repairs without gain for
        long go on.
        """
        if target != self._target:
            self._target, self._waiting, self._stalled, self._cut = target, [], [], None
            if not self.has_news(target):
                near = self._run.hint(target, complete=True)
                self._near[target] = [] if near is None else [near]
        while True:
            self._read_news(short, target)
            if self._waiting:
                yield _pop_best(self._waiting)
                continue
            whole = best_assignment(self._run, self._problem)
            if whole is not None and whole.steps != self._cut:
                self._cut = whole.steps
                yield self._from(cut_to(whole, target), short, target, whole)
            elif self._stalled:
                repair = _pop_best(self._stalled)
                repair.go_on()
                yield repair
            else:
                return

    def _read_news(self, short: UsageMatrix, target: int) -> None:
        """Make repairs of the new near-solutions that leave few deliveries unscheduled."""
        while self.has_news(target):
            pass
        limit = self._max_unscheduled if self._run.best() is not None else self._required
        for near in self._near.pop(target, []):
            repair = self._from(near, short, target)
            if repair.unscheduled <= limit:
                _keep(self._waiting, repair)

    def _from(
        self, near: Assignment, short: UsageMatrix, target: int, given: Assignment | None = None
    ) -> Repair:
        return Repair(self._problem, short, near, target, next(self._seeds), given)

    def _run_one(self, repair: Repair, short: UsageMatrix, end: float) -> Repair:
        """Return the repair that is over: this one, or that of a better start that came.

        An interrupted repair goes on later.
        """
        run, targets = self._run, self._targets

        def useful() -> bool:
            return run.wants(repair.steps)

        while not repair.is_over and useful() and (left := end - targets.now()) > 0:
            answer = repair.try_neighbourhood(run.budget, left, useful, run.should_stop)
            run.note(target=repair.steps, booleans=answer.booleans, unscheduled=repair.unscheduled)
            targets.spend(evaluations(cost_of(answer)))
            self._read_news(short, repair.steps)
            if any(other.unscheduled < repair.unscheduled for other in self._waiting):
                _keep(self._waiting, repair)
                repair = _pop_best(self._waiting)
        return repair


def _keep(repairs: list[Repair], repair: Repair) -> None:
    """Add a repair; of too many, drop that with the most unscheduled deliveries."""
    repairs.append(repair)
    if len(repairs) > MAX_KEPT:
        repairs.remove(max(repairs, key=lambda each: each.unscheduled))


def _pop_best(repairs: list[Repair]) -> Repair:
    """Remove and return the one with the fewest unscheduled deliveries."""
    best = min(repairs, key=lambda each: each.unscheduled)
    repairs.remove(best)
    return best
