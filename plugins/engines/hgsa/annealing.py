"""The annealing processes of HGSA, compiled (HGSA paper, section 3.2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, below

from .genetics import Memory, Settings, accepts, draw, energy, exchange
from .kernels import CONFLICTS, Processes, Solution, closes_cycle, move, process
from .shortening import shorten, shorten_longest

__all__ = ["Heat", "Record", "anneal", "metropolis", "remember"]

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


@compiled
def anneal(
    flat: Flat,
    settings: Settings,
    processes: Processes,
    memory: Memory,
    heat: Heat,
    record: Record,
    evaluations: int,
    stop: BoolArray,
    state: State,
) -> int:
    """Anneal until a solution has no conflicts; return the evaluations made.

    Parameters
    ----------
    evaluations
        Evaluations to make, at most; the next call continues the iteration.
    stop
        Shape (1,): another thread sets this to end early.
    """
    made = 0
    while made < evaluations and not stop[0]:
        temperature = heat.temperature[0]
        while heat.next_process[0] < len(processes.counts):
            if made >= evaluations:
                return made
            solution = process(processes, heat.next_process[0])
            heat.next_process[0] += 1
            limit = min(settings.moves, evaluations - made)
            made += metropolis(flat, settings, solution, temperature, limit, stop, state)
            if remember(flat, settings, solution, record, stop, state):
                return made
        heat.next_process[0] = 0
        heat.iteration[0] += 1
        if heat.iteration[0] % settings.exchange == 0:
            made += exchange(flat, settings, processes, memory, temperature, stop, state)
        heat.temperature[0] *= heat.rate[0]
        if heat.temperature[0] < settings.floor:
            heat.temperature[0] = settings.temperature
            # The next cooling takes twice as long.
            heat.rate[0] = min(math.sqrt(heat.rate[0]), settings.slowest)
    return made


@internal
def metropolis(
    flat: Flat,
    settings: Settings,
    solution: Solution,
    temperature: float,
    limit: int,
    stop: BoolArray,
    state: State,
) -> int:
    """Run (a part of) an iteration of the Metropolis algorithm; return the proposals made."""
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
    flat: Flat,
    settings: Settings,
    solution: Solution,
    record: Record,
    stop: BoolArray,
    state: State,
) -> bool:
    """Keep a solution that is better than the record; return whether it is a schedule.

    Routes of a schedule are shortened first, unless ``stop``, shape (1,), is set.
    """
    solved = bool(solution.counts[CONFLICTS] == 0)
    if solved:
        for _ in range(SHORTENINGS):
            if stop[0]:
                break
            shorten(flat, settings.depth, solution, state)
            shorten_longest(flat, settings.longest, solution, state)
    if solution.counts[CONFLICTS] < record.conflicts[0]:
        record.conflicts[0] = solution.counts[CONFLICTS]
        for delivery in range(len(record.option)):
            needed = solution.users[delivery] > 0
            record.option[delivery] = solution.option[delivery] if needed else -1
            record.step[delivery] = solution.step[delivery] if needed else -1
    return solved
