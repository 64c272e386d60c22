"""Search in ticks: decisions by CP-SAT on parts of the best schedule, and on all of it if small.

References
----------
P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems",
CP 1998 (large neighbourhoods of related parts). doi:10.1007/3-540-49481-2_30
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem, needed
from cchybrid.problem.arrays import BoolArray
from cchybrid.problem.ragged import gather, owners
from cchybrid.toolkit.cpsat.solve import Answer, decide, decision_solver, local_search_solver
from cchybrid.toolkit.kernels.list_scheduling import NEVER
from cchybrid.toolkit.list_scheduling import ListScheduler, tables_of
from cchybrid.toolkit.solver import evaluations
from cchybrid.toolkit.usage_matrix import IntVector

from .tick_model import build, left_shifted

MIN_FREE, GROWTH = 16, 1.5
"""Deliveries that are made anew at first, and the growth of their number after a failure; chosen by
hand, as all numbers here."""
UNITS = 1.0
"""Deterministic time of a decision in the first round; every further round doubles it."""
MAX_BOOLEANS, MAX_WHOLE = 30_000, 100_000
"""Booleans of a decision on parts of a schedule, and on all of it."""
RELATED, NOISE = 0.5, 0.3
"""Shares of the ticks by which related deliveries count as later, and by which chance does."""


class TickSearch:
    """Large-neighbourhood search in ticks, exact where all deliveries fit into one decision.

    Parameters
    ----------
    problem, run
        The Problem and the run of the engine.
    options
        ``CpSat.Options``, of which ``max_booleans`` and ``log`` are read.
    """

    def __init__(self, problem: Problem, run: Run, options: Any) -> None:
        self._problem, self._run, self._log = problem, run, bool(options.log)
        self._max_booleans = int(options.max_booleans)
        self._random = np.random.default_rng(run.seed)
        self._message = tables_of(problem).message
        self._best = problem.empty()
        """A schedule as short as the best one, without deliveries that none needs."""

    def run_all(self) -> Stop:
        """Look for shorter schedules until it is known that there are none."""
        problem, run = self._problem, self._run
        if run.best() is None:
            scheduler = ListScheduler(problem, self._random)
            scheduler.restart()
            scheduler.made(NEVER, np.zeros(1, dtype=np.bool_))
            run.offer(scheduler.assignment())
        max_whole = min(MAX_WHOLE, self._max_booleans)
        shifted = left_shifted(problem, run.best() or 0, max_whole // max(1, problem.options))
        size, stride, units = MIN_FREE if shifted is None else problem.deliveries, 1, UNITS
        while next(run.targets(), None) is not None:
            self._read_best()
            whole = size >= (self._best.step >= 0).sum()
            free, late = self._free(size)
            limit = max(self._best.steps - (stride if late else 1), run.lower())
            exact = whole and shifted is not None
            answer = self._decide(free, shifted if exact else None, limit, units)
            if answer.assignment is not None:
                self._best = _without_idle(problem, answer.assignment)
                if run.wants(self._best.steps):
                    run.offer(self._best)
                size = size if whole else max(MIN_FREE, int(size / GROWTH))
                stride *= 1 + late
            elif exact and answer.solvable is False:
                if problem.complete:
                    run.bound(limit + 1)
                elif limit == self._best.steps - 1:
                    return Stop.STALLED
                stride = 1
            elif stride > 1:
                stride = 1
            elif whole:
                size, units = MIN_FREE, 2 * units
            else:
                size = int(GROWTH * size)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED

    def _read_best(self) -> None:
        """Take the best schedule of any engine, if it is shorter than the own one."""
        best = self._run.best()
        if best is not None and (best < self._best.steps or not self._best.steps):
            found = self._run.hint(best)
            if found is not None:
                self._best = _without_idle(self._problem, found)

    def _free(self, size: int) -> tuple[BoolArray, bool]:
        """Return about ``size`` deliveries to be made anew, and whether they are the last ones.

        Half of the time they are related to one that ends last. Deliveries that could be made of
        the same messages are added.
        """
        problem, step = self._problem, self._best.step.astype(np.float64)
        made = step >= 0
        if size >= made.sum():
            return np.ones(problem.deliveries, dtype=np.bool_), True
        late = bool(self._random.random() < 0.5)
        if not late:
            last = np.flatnonzero(problem.required & (step == step.max()))
            one = int(self._random.choice(last))
            start, path = problem.path_start, problem.option_path
            of_one = path[problem.option_start[one] : problem.option_start[one + 1]]
            near = np.isin(problem.path_resource, problem.path_resource[gather(start, of_one)[0]])
            related = np.bincount(owners(start), near, minlength=problem.paths)[
                path[self._best.option]
            ]
            related = (related > 0) | (self._message == self._message[one])
            noise = self._random.random(problem.deliveries)
            step += step.max() * (RELATED * related + NOISE * noise)
            step[one] = np.inf
        free = made & (step >= np.partition(step[made], -size)[-size])
        return free | (~made & np.isin(self._message, self._message[free])), late

    def _decide(self, free: BoolArray, ticks: IntVector | None, limit: int, units: float) -> Answer:
        """Decide whether the free deliveries can be made within ``limit`` ticks.

        By complete search first, then by local search. Without ``ticks`` options start where
        something starts or ends in the best schedule.
        """
        problem, run, best = self._problem, self._run, self._best
        most = MAX_WHOLE
        if ticks is None:
            made = best.step >= 0
            start = problem.start_of(best.option, best.step)[made]
            ticks, most = np.unique(np.concatenate((start, best.step[made] + 1, [0]))), MAX_BOOLEANS
        model = build(
            problem, best, free, ticks, limit, min(most, self._max_booleans), run.should_stop
        )
        answer, known = Answer(), run.best()
        run.spend(1)
        if model is None:
            return answer
        seed = int(self._random.integers(1 << 31))
        for new_solver in (decision_solver, local_search_solver):
            solver = new_solver(run.budget, seed, units, log=self._log)
            solver.parameters.max_deterministic_time = units
            answer = decide(
                lambda: model, solver, lambda: run.best() == known, run.should_stop, None
            )
            run.spend(evaluations(answer.units))
            run.note(target=limit, booleans=model.booleans, free=float(free.sum()))
            if answer.solvable is not None:
                break
        return answer


def _without_idle(problem: Problem, assignment: Assignment) -> Assignment:
    """Return the assignment without deliveries that none needs."""
    kept = needed(problem, assignment)
    return Assignment(
        np.where(kept, assignment.option, -1).astype(np.int32),
        np.where(kept, assignment.step, -1).astype(np.int32),
    )
