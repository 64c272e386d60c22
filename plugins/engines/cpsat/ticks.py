"""Search in ticks: decisions by CP-SAT on parts of the best schedule, and on all of it if small.

A model says whether some deliveries can end by a tick, the others as in a schedule. It has one
boolean per option and tick in which it may start, and one per delivery and tick in which an option
that requires it may start (*informed*: the delivery has ended).

References
----------
P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems",
CP 1998 (large neighbourhoods of related parts). doi:10.1007/3-540-49481-2_30
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.problem.ragged import gather, grouped, owners, within
from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.cpsat.solve import Answer, decide, decision_solver, local_search_solver
from cchybrid.toolkit.kernels.list_scheduling import Tables
from cchybrid.toolkit.list_scheduling import ListScheduler, tables_of
from cchybrid.toolkit.solver import StoppedError, evaluations
from cchybrid.toolkit.usage_matrix import IntVector

NEVER = 1 << 40
MAX_BOOLEANS, MAX_USES = 60_000, 8_000_000
"""Booleans of the deliveries that are made anew, and uses of resources in all rows, above which no
model is built; some hundred MiB. Chosen by hand, as all numbers here."""
MIN_FREE, GROWTH = 16, 1.5
"""Deliveries that are made anew at first, and the growth of their number after a failure."""
UNITS, MAX_UNITS = 1.0, 8.0
"""Deterministic time of a decision in the first round, which every further round doubles, and its
largest value."""
RELATED, NOISE = 0.5, 0.3
"""Shares of the ticks by which deliveries of the same message count as later, and by chance."""


class TickSearch:
    """Large-neighbourhood search in ticks, exact where all deliveries fit into one decision.

    Parameters
    ----------
    problem, run
        The Problem and the run of the engine.
    log
        Whether to print CP-SAT's own log.
    """

    def __init__(self, problem: Problem, run: Run, log: bool) -> None:
        self._problem, self._run, self._log = problem, run, log
        self._random = np.random.default_rng(run.seed)
        self._tables = tables_of(problem)
        self._best = problem.empty()
        """A schedule as short as the best one."""

    def run_all(self) -> Stop:
        """Look for shorter schedules until it is known that there are none."""
        problem, run = self._problem, self._run
        if run.best() is None:
            scheduler = ListScheduler(problem, self._random)
            scheduler.restart()
            scheduler.made(NEVER, np.zeros(1, dtype=np.bool_))
            run.offer(scheduler.assignment())
        shifted = left_shifted(problem, run.best() or 0, MAX_BOOLEANS // max(1, problem.options))
        size, units = MIN_FREE if shifted is None else problem.deliveries, UNITS
        while next(run.targets(), None) is not None:
            best = run.best()
            if best is not None and best < (self._best.steps or NEVER):
                self._best = run.hint(best) or self._best
            whole = size >= (self._best.step >= 0).sum()
            free = self._free(size)
            limit = self._best.steps - 1
            exact = whole and shifted is not None
            answer = self._decide(free, shifted if exact else None, limit, units)
            if answer.assignment is not None:
                self._best = answer.assignment
                if run.wants(self._best.steps):
                    run.offer(self._best)
                size = size if whole else max(MIN_FREE, int(size / GROWTH))
            elif exact and answer.solvable is False and problem.complete:
                run.bound(limit + 1)
            else:
                units = min(2 * units, MAX_UNITS) if whole else units
                size = MIN_FREE if whole else int(GROWTH * size)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED

    def _free(self, size: int) -> BoolArray:
        """Return about ``size`` deliveries to be made anew.

        They are the last ones, or of the message of one of the last ones, or drawn at random.
        Deliveries that could be made of the same messages are added.
        """
        problem, step = self._problem, self._best.step.astype(np.float64)
        made = step >= 0
        if size >= made.sum():
            return np.ones(problem.deliveries, dtype=np.bool_)
        if self._random.random() < 0.5:
            one = int(self._random.choice(np.flatnonzero(step == step.max())))
            preferred = RELATED * (self._tables.message == self._tables.message[one])
            step += step.max() * (preferred + NOISE * self._random.random(len(step)))
            step[one] = np.inf
        free: BoolArray = made & (step >= np.partition(step[made], -size)[-size])
        return free | (~made & np.isin(self._tables.message, self._tables.message[free]))

    def _decide(self, free: BoolArray, ticks: IntVector | None, limit: int, units: float) -> Answer:
        """Decide whether the free deliveries can be made within ``limit`` ticks.

        By complete search first, then by local search. Without ``ticks`` options start where
        something starts or ends in the best schedule, not long before they do there.
        """
        problem, run, best, made = self._problem, self._run, self._best, self._best.step >= 0
        if ticks is None:
            start = problem.start_of(best.option, best.step)
            ticks = np.unique(np.concatenate((start[made], best.step[made] + 1)))
            ticks = ticks[ticks >= start[made & free].min() - problem.path_duration.max()]
        make = cache(lambda: build(problem, self._tables, best, free, ticks, limit))
        answer, known, seed = Answer(), run.best(), int(self._random.integers(1 << 31))
        for new_solver in (decision_solver, local_search_solver):
            solver = new_solver(run.budget, seed, units, log=self._log)
            solver.parameters.max_deterministic_time = units
            answer = decide(make, solver, lambda: run.best() == known, run.should_stop)
            run.spend(evaluations(answer.units))
            if answer.solvable is not None:
                break
        return answer


@dataclass(frozen=True, eq=False)
class TickModel:
    """A CP-SAT model; the first booleans are an option that ends in a tick each.

    Parameters
    ----------
    model
        The model, ready to be solved.
    problem
        The Problem.
    option, step
        Shape (option booleans,): the option and its last tick.
    """

    model: cp_model.CpModel
    problem: Problem
    option: IntVector
    step: IntVector

    def solution(self, values: IntVector) -> tuple[Problem, Assignment]:
        """Return the Problem and the assignment that a solution encodes."""
        found, chosen = self.problem.empty(), np.flatnonzero(values[: len(self.option)])
        delivery = self.problem.option_delivery[self.option[chosen]]
        found.option[delivery], found.step[delivery] = self.option[chosen], self.step[chosen]
        return self.problem, found


def build(
    problem: Problem,
    tables: Tables,
    known: Assignment,
    free: BoolArray,
    ticks: IntVector,
    limit: int,
) -> TickModel:
    """Return the model whose solutions make the free deliveries within ``limit`` ticks.

    Parameters
    ----------
    tables
        ``tables_of(problem)``.
    known
        A schedule; its deliveries that are not free have one option and tick each, as in it.
    ticks
        The ticks, ascending, in which options of free deliveries may start.

    Raises
    ------
    StoppedError
        If the model would be too large.
    """
    owner, requires = tables.owner.astype(np.int64), tables.requires.astype(np.int64)
    duration = tables.duration[tables.path]
    stays = (known.step >= 0) & ~free
    listed = np.flatnonzero(free[owner])
    # The first tick after every delivery; the last entry is for options that require none.
    ended = np.append(np.where(stays, known.step.astype(np.int64) + 1, NEVER), 0)
    while True:
        sooner = ended.copy()
        np.minimum.at(sooner, owner[listed], ended[requires[listed]] + duration[listed])
        if (sooner == ended).all():
            break
        ended = sooner
    first = np.searchsorted(ticks, ended[requires[listed]])
    last = np.searchsorted(ticks, limit - duration[listed], side="right")
    count = np.maximum(last - first, 0)
    if count.sum() > MAX_BOOLEANS:
        raise StoppedError
    option = np.concatenate((np.repeat(listed, count), known.option[stays]))
    start = ticks[within(count) + np.repeat(first, count)]
    start = np.concatenate((start, problem.start_of(known.option, known.step)[stays]))
    end, delivery = start + duration[option], owner[option]

    # In a tick in which a use of a resource begins, its uses are within the capacity.
    far = NEVER // max(problem.resources, problem.deliveries, 1)
    use, row = gather(tables.use_start, tables.path[option])
    since = tables.use[use].astype(np.int64) * far + start[row] + tables.offset[use]
    cell = np.unique(since)
    head = np.searchsorted(cell, since)
    covers = np.searchsorted(cell, since + tables.length[tables.path[option[row]]]) - head
    if covers.sum() > MAX_USES:
        raise StoppedError
    pair = (within(covers) + np.repeat(head, covers)) * len(option) + np.repeat(row, covers)
    pair, times = np.unique(pair, return_counts=True)

    forwards = np.flatnonzero(requires[option] >= 0)
    key = requires[option[forwards]] * far + start[forwards]
    informed = np.unique(key)
    rows = Rows(len(option) + len(informed))
    made_by = {each: found for each, (found,) in grouped(delivery, np.arange(len(option)))}
    for each, once in enumerate((problem.required | stays).tolist()):
        (rows.exactly_one if once else rows.at_most_one)(made_by.get(each, []))
    for place, (literals, weights) in grouped(pair // len(option), pair % len(option), times):
        rows.capacity(literals, weights, int(problem.capacity[cell[place] // far]))
    # Informed: since the tick before of the same delivery, or by an option that has ended since.
    place = np.searchsorted(informed, delivery * far + end)
    in_time = np.flatnonzero(np.append(informed, -1)[place] // far == delivery)
    ended_by = {level: found for level, (found,) in grouped(place[in_time], in_time)}
    for level, new in enumerate(np.diff(informed // far, prepend=-1).tolist()):
        literal = len(option) + level
        rows.at_least_one([*ended_by.get(level, []), *([] if new else [literal - 1]), ~literal])
    literal = len(option) + np.searchsorted(informed, key)
    same = literal * problem.deliveries + delivery[forwards]
    for _, (literals, informs) in grouped(same, forwards, literal):
        rows.at_most_one([*literals, ~informs[0]])
    return TickModel(rows.model, problem, option.astype(np.int64), end - 1)


def left_shifted(problem: Problem, limit: int, max_ticks: int) -> IntVector | None:
    """Return the ticks below a limit in which transfers start if none can start earlier.

    A transfer, or another one that it waits for, starts in the first tick. It waits for the end of
    the one that it requires, or for the end of another use of a resource.

    Returns
    -------
    array or None
        ``None`` if there are more than ``max_ticks``.
    """
    ends = problem.path_offset + problem.path_length[owners(problem.path_start)]
    waits = set(problem.path_duration.tolist())
    for resource in range(problem.resources):
        used = problem.path_resource == resource
        waits.update((np.unique(ends[used])[:, None] - np.unique(problem.path_offset[used])).flat)
    found = new = np.zeros(1, dtype=np.int64)
    while len(new):
        later = np.unique(new[:, None] + np.array(sorted(waits)))
        new = np.setdiff1d(later[(later >= 0) & (later < limit)], found)
        found = np.union1d(found, new)
        if len(found) > max_ticks:
            return None
    return found
