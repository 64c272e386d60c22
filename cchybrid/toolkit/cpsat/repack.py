"""The CP-SAT model of a subproblem: schedule as many of the free deliveries as possible, or all.

All other deliveries are fixed, so the model has booleans only for the places (an option and a step
that it fits into) of free deliveries. A free delivery that a fixed one requires must be made before
it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.ragged import grouped
from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.cpsat.solve import Answer, decide
from cchybrid.toolkit.cpsat.windows import NEVER
from cchybrid.toolkit.partial_schedule import PartialSchedule
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector


@dataclass(frozen=True, eq=False)
class Places:
    """The possible places of the free deliveries.

    Parameters
    ----------
    free
        The unscheduled deliveries of the subproblem.
    option, step
        Shape (places,): an option, and a step that it fits into.
    delivery
        Shape (places,): the delivery of the option.
    must_be_made
        Shape (free,): True where a fixed delivery requires it.
    """

    free: IntVector
    option: IntVector
    step: IntVector
    delivery: IntVector
    must_be_made: BoolVector


def with_helpers(partial: PartialSchedule, free: IntVector, family: IntVector) -> IntVector:
    """Return free deliveries and the unscheduled optional ones of the same messages.

    Parameters
    ----------
    family
        Shape (deliveries,): see ``usage_matrix.families``.
    """
    optional = np.flatnonzero(~partial.problem.required & (partial.option < 0))
    mine = optional[np.isin(family[optional], family[free])]
    return np.concatenate([free, np.setdiff1d(mine, free)])


def places_for(partial: PartialSchedule, free: IntVector) -> Places:
    """Return the places into which each free (unscheduled) delivery fits by itself."""
    problem = partial.problem
    mine = np.zeros(problem.deliveries, dtype=np.bool_)
    mine[free] = True
    options = np.flatnonzero(partial.uses.usable & mine[problem.option_delivery])
    fits = partial.fits(options)
    must_be_made = np.zeros(problem.deliveries, dtype=np.bool_)
    if problem.ordered:
        before = problem.option_requires[options]
        # Where the required delivery is free, too, the model has the precedence constraint.
        low = np.where((before < 0) | mine[before], -1, partial.step[before])
        low[(before >= 0) & ~mine[before] & (partial.step[before] < 0)] = partial.steps
        high = np.full(problem.deliveries, partial.steps)
        placed = np.flatnonzero(partial.option >= 0)
        needed = problem.option_requires[partial.option[placed]]
        np.minimum.at(high, needed[needed >= 0], partial.step[placed][needed >= 0])
        must_be_made = high < partial.steps
        step = np.arange(partial.steps)
        fits &= (step > low[:, None]) & (step < high[problem.option_delivery[options]][:, None])
    row, step = np.nonzero(fits)
    option = options[row]
    delivery = problem.option_delivery[option].astype(np.int64)
    kept = _possible(problem, delivery, option, step, mine)
    return Places(free, option[kept], step[kept], delivery[kept], must_be_made[free])


def _possible(
    problem: Problem, delivery: IntVector, option: IntVector, step: IntVector, free: BoolVector
) -> IntVector:
    """Return the places later than some place of the free delivery that they require, if any."""
    kept = np.arange(len(delivery))
    before = problem.option_requires[option].astype(np.int64)
    while True:
        first = np.full(problem.deliveries, NEVER)
        np.minimum.at(first, delivery[kept], step[kept])
        needed = before[kept]
        late = (needed >= 0) & free[needed] & (step[kept] <= first[needed])
        if not late.any():
            return kept
        kept = kept[~late]


def limited(
    places: Places, former: Assignment, cost: NDArray[np.float64], max_places: int
) -> Places:
    """Return at most ``max_places`` places, the former ones first.

    The others are those whose cost exceeds the delivery's cheapest place least.

    Parameters
    ----------
    cost
        Shape (options,): the cost of each option.
    """
    if len(places.option) <= max_places:
        return places
    own = cost[places.option]
    cheapest = np.full(len(former.option), np.inf)
    np.minimum.at(cheapest, places.delivery, own)
    surplus = own - cheapest[places.delivery]
    same = _is_former(places, former)
    surplus[same] = -1.0
    kept = np.sort(np.argsort(surplus, kind="stable")[: max(max_places, int(same.sum()))])
    return replace(
        places, option=places.option[kept], step=places.step[kept], delivery=places.delivery[kept]
    )


def _is_former(places: Places, former: Assignment) -> BoolVector:
    option, step = former.option[places.delivery], former.step[places.delivery]
    return np.asarray((option == places.option) & (step == places.step))


class Repack:
    """The CP-SAT model of a subproblem.

    Parameters
    ----------
    partial
        The schedule, without the free deliveries.
    places
        The possible places of the free deliveries.
    former
        Their former places, the hint.
    weight
        Shape (deliveries,): integers, the score of scheduling each delivery. Without it, the model
        has a solution only if all required free deliveries can be scheduled.
    """

    def __init__(
        self,
        partial: PartialSchedule,
        places: Places,
        former: Assignment,
        should_stop: Callable[[], bool],
        weight: IntVector | None = None,
    ) -> None:
        self._partial, self._places = partial, places
        problem = partial.problem
        required = np.zeros(problem.deliveries, dtype=np.bool_)
        required[places.free[places.must_be_made]] = True
        if weight is None:
            required[places.free] |= problem.required[places.free]
        self._required = required
        self._before = problem.option_requires[places.option].astype(np.int64)
        is_free = np.zeros(problem.deliveries + 1, dtype=np.bool_)
        is_free[places.free] = True
        self._before[~is_free[self._before]] = -1
        """Shape (places,): the free delivery that each place requires, -1 for none."""
        needed = np.isin(places.delivery, self._before)
        self._key = places.delivery * partial.steps + places.step
        self._cells = np.unique(self._key[needed])
        """The cells, delivery times steps plus step, of the places of required deliveries, each
        with a boolean "made in this step or earlier" after those of the places."""
        self._rows = Rows(len(places.option) + len(self._cells), should_stop)
        self.model = self._rows.model
        self._assignment_constraints()
        self._ladder_constraints()
        self._capacity_constraints()
        self._precedence_constraints()
        if weight is not None:
            score = weight[places.delivery]
            weighed = np.flatnonzero(score)
            self._rows.minimize(weighed.tolist(), (-score[weighed]).tolist())
        self._hint(former)

    def solution(self, values: IntVector) -> tuple[Problem, Assignment]:
        """Return the Problem, and the assignment of the free deliveries alone."""
        chosen = np.flatnonzero(values[: len(self._places.option)])
        found = self._partial.problem.empty()
        delivery = self._places.delivery[chosen]
        found.option[delivery] = self._places.option[chosen]
        found.step[delivery] = self._places.step[chosen]
        return self._partial.problem, found

    def _assignment_constraints(self) -> None:
        """Make the free deliveries that are required happen exactly once, others at most once."""
        places, required = self._places, self._required
        if len(np.setdiff1d(np.flatnonzero(required), places.delivery)):
            self._rows.at_least_one([])
        for delivery, (literals,) in grouped(places.delivery, np.arange(len(places.option))):
            if required[delivery]:
                self._rows.exactly_one(literals)
            else:
                self._rows.at_most_one(literals)

    def _ladder_constraints(self) -> None:
        """Define "made by step t" as "made in step t" or "made by the place's step before"."""
        first, steps = len(self._places.option), self._partial.steps
        at = np.flatnonzero(np.isin(self._key, self._cells))
        for number, (cell, (literals,)) in enumerate(grouped(self._key[at], at)):
            literals.append(~(first + number))
            if number and self._cells[number - 1] // steps == cell // steps:
                literals.append(first + number - 1)
            self._rows.exactly_one(literals)

    def _capacity_constraints(self) -> None:
        """Limit the uses of every resource per step to the residual capacity."""
        partial, places = self._partial, self._places
        boolean, resource, times = partial.uses.entries(places.option)
        kept = ~partial.problem.implied[resource]
        boolean, resource, times = boolean[kept], resource[kept], times[kept]
        key = resource * partial.steps + places.step[boolean]
        for found, (literals, weights) in grouped(key, boolean, times):
            residual = int(partial.residual[divmod(found, partial.steps)])
            self._rows.capacity(literals, weights, residual)

    def _precedence_constraints(self) -> None:
        """Make deliveries happen in later steps than the free deliveries that they require."""
        places, steps, cells = self._places, self._partial.steps, self._cells
        forwards = np.flatnonzero(self._before >= 0)
        before = self._before[forwards]
        # The last cell of the required delivery before the step of the place.
        last = np.searchsorted(cells, before * steps + places.step[forwards]) - 1
        owner = np.append(cells // steps, -1)
        early = owner[last] != before
        for literal in forwards[early].tolist():
            self._rows.at_least_one([~literal])
        later = ~early & ~(self._required[before] & (owner[last + 1] != before))
        key = last * self._partial.problem.deliveries + places.delivery[forwards]
        for found, (literals,) in grouped(key[later], forwards[later]):
            cell = len(places.option) + found // self._partial.problem.deliveries
            self._rows.at_most_one([*literals, ~cell])

    def _hint(self, former: Assignment) -> None:
        delivery, step = np.divmod(self._cells, self._partial.steps)
        made = former.step[delivery]
        values = [_is_former(self._places, former), (made >= 0) & (made <= step)]
        self._rows.hint(np.concatenate(values).astype(np.int64).tolist())


class Subproblem:
    """A neighbourhood: deliveries taken out of a schedule, and unscheduled ones, for CP-SAT.

    Parameters
    ----------
    partial
        The schedule.
    taken, chosen
        Scheduled deliveries that are taken out, and unscheduled ones.
    family
        Shape (deliveries,): see ``usage_matrix.families``; optional deliveries of the same messages
        are free as well.

    Attributes
    ----------
    rest, former, places
        The schedule without the free deliveries, their former places, and their possible ones.
    """

    def __init__(
        self, partial: PartialSchedule, taken: IntVector, chosen: IntVector, family: IntVector
    ) -> None:
        self.rest, self.former = partial.without(taken)
        free = with_helpers(self.rest, np.concatenate([taken, chosen]), family)
        self.places = places_for(self.rest, free)

    def decide(
        self,
        solver: cp_model.CpSolver,
        useful: Callable[[], bool],
        should_stop: Callable[[], bool],
        seconds: float | None,
        weight: IntVector | None = None,
    ) -> Answer:
        """Schedule the free deliveries; see ``Repack`` for ``weight``, ``solve.decide`` for others.

        Raises
        ------
        StoppedError
            If the run is over.
        """

        def make() -> Repack:
            return Repack(self.rest, self.places, self.former, lambda: not useful(), weight)

        return decide(make, solver, useful, should_stop, seconds)
