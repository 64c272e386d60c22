"""An island of HGSA: the annealing processes and the master."""

from __future__ import annotations

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State
from cchybrid.toolkit.kernels.surrounding import near_uses

from .annealing import Heat, Record, anneal, remember
from .genetics import Memory, Settings, start
from .kernels import CONFLICTS, Processes, Solution, process
from .options import HgsaOptions
from .shortening import shortest_chains

REHEATINGS = 6
"""Restarts of the cooling after which it does not become slower any more."""


class AnnealingProcesses:
    """The annealing processes that search for a schedule of a number of steps; an ``Island``.

    Parameters
    ----------
    hint
        The start of the first process; the others start at random.
    """

    def __init__(
        self,
        problem: Problem,
        flat: Flat,
        options: HgsaOptions,
        steps: int,
        hint: Assignment | None,
        state: State,
    ) -> None:
        self.flat, self.state = flat, state
        number, deliveries = options.processes, problem.deliveries
        self.settings = _settings(problem, flat, options, steps)
        self.processes = Processes(*_empty(problem, steps, number))
        self.memory = Memory(
            option=np.zeros((number, deliveries), dtype=np.int32),
            step=np.zeros((number, deliveries), dtype=np.int32),
            counts=np.zeros((number, 2), dtype=np.int64),
            chain=np.zeros(deliveries + steps + 1, dtype=np.int32),
            one=Solution(*(field[0] for field in _empty(problem, steps, 1))),
            other=Solution(*(field[0] for field in _empty(problem, steps, 1))),
        )
        self.heat = Heat(
            np.array([options.temperature]),
            np.array([options.cooling]),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )
        nothing = problem.empty()
        self.record = Record(nothing.option, nothing.step, np.array([2**62]))
        self._waiting = [(index, hint if index == 0 else None) for index in range(number)]

    @property
    def iteration(self) -> int:
        """The evaluations of one iteration."""
        return len(self.processes.counts) * self.settings.moves

    @property
    def conflicts(self) -> int:
        """See ``Island.conflicts``."""
        return int(self.record.conflicts[0])

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        """See ``Island.advance``."""
        made = 0
        while self._waiting and not stop[0]:
            self._start(*self._waiting.pop(0), stop)
            made += 1
        return made + anneal(
            self.flat,
            self.settings,
            self.processes,
            self.memory,
            self.heat,
            self.record,
            evaluations,
            stop,
            self.state,
        )

    def best(self) -> Assignment:
        """See ``Island.best``."""
        return Assignment(self.record.option.copy(), self.record.step.copy())

    def immigrate(self, migrant: Assignment) -> None:
        """See ``Island.immigrate``: restart the worst process from the migrant."""
        self._waiting.append((int(self.processes.counts[:, CONFLICTS].argmax()), migrant))

    def _start(self, index: int, hint: Assignment | None, stop: BoolArray) -> None:
        solution = process(self.processes, index)
        solution.option[:] = -1
        solution.step[:] = -1
        if hint is not None:
            kept = (hint.option >= 0) & (hint.step >= 0) & (hint.step < len(solution.table))
            solution.option[kept] = hint.option[kept]
            solution.step[kept] = hint.step[kept]
        start(self.flat, self.settings, solution, self.memory.chain, stop, self.state)
        if not stop[0]:
            remember(self.flat, self.settings, solution, self.record, stop, self.state)


def _settings(problem: Problem, flat: Flat, options: HgsaOptions, steps: int) -> Settings:
    depth = np.empty(problem.deliveries, dtype=np.int32)
    tree = np.empty(problem.deliveries, dtype=np.int32)
    shortest_chains(flat, depth, tree)
    return Settings(
        near=near_uses(problem, flat, steps),
        required=np.flatnonzero(problem.required).astype(np.int32),
        depth=depth,
        tree=tree,
        ordered=problem.ordered,
        length=1 / options.weight if options.fitness == "steps" else 0.0,
        moves=options.moves or max(problem.deliveries, 1),
        exchange=options.exchange,
        mutation=float(options.mutation),
        genes=options.genes,
        temperature=float(options.temperature),
        floor=float(options.floor),
        slowest=options.cooling ** (1 / 2**REHEATINGS),
        end=options.end,
        longest=options.longest,
    )


def _empty(problem: Problem, steps: int, number: int) -> Processes:
    deliveries = problem.deliveries
    return Processes(
        option=np.zeros((number, deliveries), dtype=np.int32),
        step=np.zeros((number, deliveries), dtype=np.int32),
        users=np.zeros((number, deliveries), dtype=np.int32),
        table=np.zeros((number, steps, problem.resources), dtype=np.int32),
        counts=np.zeros((number, 2), dtype=np.int64),
    )
