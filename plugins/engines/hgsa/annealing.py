"""The annealing processes of HGSA, compiled (HGSA paper, section 3.2)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, below
from cchybrid.toolkit.kernels.surrounding import near_uses

from .genetics import Memory, Settings, accepts, draw, energy, exchange, start
from .kernels import CONFLICTS, Solution, closes_cycle, move, process
from .options import HgsaOptions
from .shortening import shorten, shorten_longest, shortest_chains

STRIDE = 256
"""Proposals between two checks whether to stop."""
SHORTENINGS = 20
"""Attempts to shorten the routes of a schedule before it is offered."""


class Heat(NamedTuple):
    """The state of the cooling; every field has shape (1,).

    Parameters
    ----------
    temperature
        The temperature, in conflicts.
    rate
        The cooling factor, applied after each iteration.
    iteration
        The number of iterations made.
    next_process
        The process that is annealed next in this iteration.
    """

    temperature: NDArray[np.float64]
    rate: NDArray[np.float64]
    iteration: LongArray
    next_process: LongArray


class Record(NamedTuple):
    """The best solution of all processes so far.

    ``option`` and ``step`` have shape (deliveries,), -1 where no delivery is needed;
    ``conflicts`` has shape (1,).
    """

    option: IntArray
    step: IntArray
    conflicts: LongArray


class Annealing(NamedTuple):
    """A search: its parameters, the solutions of its processes, and the rest of its state."""

    settings: Settings
    processes: Solution
    memory: Memory
    heat: Heat
    record: Record


@compiled
def anneal(annealing: Annealing, evaluations: int, stop: BoolArray, state: State) -> int:
    """Anneal until a solution has no conflicts; return the evaluations made.

    Parameters
    ----------
    evaluations
        Evaluations to make, at most; the next call continues the iteration.
    stop
        Shape (1,): another thread sets this to end early.
    """
    settings, processes, memory, heat, record = annealing
    made = 0
    while made < evaluations and not stop[0]:
        temperature = heat.temperature[0]
        while heat.next_process[0] < len(processes.counts):
            if made >= evaluations:
                return made
            solution = process(processes, heat.next_process[0])
            heat.next_process[0] += 1
            limit = min(settings.moves, evaluations - made)
            made += metropolis(settings, solution, temperature, limit, stop, state)
            if remember(settings, solution, record, stop, state):
                return made
        heat.next_process[0] = 0
        heat.iteration[0] += 1
        if heat.iteration[0] % settings.exchange == 0:
            made += exchange(settings, processes, memory, temperature, stop, state)
        heat.temperature[0] *= heat.rate[0]
        if heat.temperature[0] < settings.floor:
            heat.temperature[0] = settings.temperature
            # The next cooling takes twice as long.
            heat.rate[0] = min(math.sqrt(heat.rate[0]), settings.slowest)
    return made


@internal
def metropolis(
    settings: Settings,
    solution: Solution,
    temperature: float,
    limit: int,
    stop: BoolArray,
    state: State,
) -> int:
    """Run (a part of) an iteration of the Metropolis algorithm; return the proposals made."""
    flat = settings.flat
    for made in range(limit):
        if solution.counts[CONFLICTS] == 0 or (made % STRIDE == 0 and stop[0]):
            return made
        delivery = below(state, len(solution.option))
        old, then = solution.option[delivery], solution.step[delivery]
        option, now = draw(flat, solution, delivery, state)
        if closes_cycle(flat, solution, delivery, option):
            continue
        before = energy(settings, solution.counts)
        move(flat, solution, delivery, option, now)
        if not accepts(energy(settings, solution.counts) - before, temperature, state):
            move(flat, solution, delivery, old, then)
    return limit


@compiled
def remember(
    settings: Settings, solution: Solution, record: Record, stop: BoolArray, state: State
) -> bool:
    """Keep a solution that is better than the record; return whether it is a schedule.

    Routes of a schedule are shortened first, unless ``stop``, shape (1,), is set.
    """
    solved = bool(solution.counts[CONFLICTS] == 0)
    if solved:
        for _ in range(SHORTENINGS):
            if stop[0]:
                break
            shorten(settings.flat, settings.depth, solution, state)
            shorten_longest(settings.flat, settings.longest, solution, state)
    if solution.counts[CONFLICTS] < record.conflicts[0]:
        record.conflicts[0] = solution.counts[CONFLICTS]
        for delivery in range(len(record.option)):
            needed = solution.users[delivery] > 0
            record.option[delivery] = solution.option[delivery] if needed else -1
            record.step[delivery] = solution.step[delivery] if needed else -1
    return solved


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
        self.state = state
        number, deliveries = options.processes, problem.deliveries
        memory = Memory(
            option=np.zeros((number, deliveries), dtype=np.int32),
            step=np.zeros((number, deliveries), dtype=np.int32),
            counts=np.zeros((number, 2), dtype=np.int64),
            chain=np.zeros(deliveries + steps + 1, dtype=np.int32),
            one=process(_empty(problem, steps, 1), 0),
            other=process(_empty(problem, steps, 1), 0),
        )
        heat = Heat(
            np.array([options.temperature]),
            np.array([options.cooling]),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )
        nothing = problem.empty()
        record = Record(nothing.option, nothing.step, np.array([2**62]))
        settings = _settings(problem, flat, options, steps)
        processes = _empty(problem, steps, number)
        self.annealing = Annealing(settings, processes, memory, heat, record)
        self._waiting = [(index, hint if index == 0 else None) for index in range(number)]

    @property
    def iteration(self) -> int:
        """The evaluations of one iteration."""
        return len(self.annealing.processes.counts) * self.annealing.settings.moves

    @property
    def conflicts(self) -> int:
        """See ``Island.conflicts``."""
        return int(self.annealing.record.conflicts[0])

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        """See ``Island.advance``."""
        made = 0
        while self._waiting and not stop[0]:
            self._start(*self._waiting.pop(0), stop)
            made += 1
        return made + anneal(self.annealing, evaluations, stop, self.state)

    def best(self) -> Assignment:
        """See ``Island.best``."""
        record = self.annealing.record
        return Assignment(record.option.copy(), record.step.copy())

    def immigrate(self, migrant: Assignment) -> None:
        """See ``Island.immigrate``: restart the worst process from the migrant."""
        self._waiting.append((int(self.annealing.processes.counts[:, CONFLICTS].argmax()), migrant))

    def _start(self, index: int, hint: Assignment | None, stop: BoolArray) -> None:
        settings, processes, memory, _, record = self.annealing
        solution = process(processes, index)
        solution.option[:] = -1
        solution.step[:] = -1
        if hint is not None:
            kept = (hint.option >= 0) & (hint.step >= 0) & (hint.step < len(solution.table))
            solution.option[kept] = hint.option[kept]
            solution.step[kept] = hint.step[kept]
        start(settings, solution, memory.chain, stop, self.state)
        if not stop[0]:
            remember(settings, solution, record, stop, self.state)


def _settings(problem: Problem, flat: Flat, options: HgsaOptions, steps: int) -> Settings:
    depth = np.empty(problem.deliveries, dtype=np.int32)
    tree = np.empty(problem.deliveries, dtype=np.int32)
    shortest_chains(flat, depth, tree)
    return Settings(
        flat=flat,
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


def _empty(problem: Problem, steps: int, number: int) -> Solution:
    """Return the solutions of processes, without any places yet."""
    deliveries = problem.deliveries
    return Solution(
        option=np.zeros((number, deliveries), dtype=np.int32),
        step=np.zeros((number, deliveries), dtype=np.int32),
        users=np.zeros((number, deliveries), dtype=np.int32),
        table=np.zeros((number, steps, problem.resources), dtype=np.int32),
        counts=np.zeros((number, 2), dtype=np.int64),
    )
