"""One generation, compiled: selection, mutation, restoration, evaluation, replacement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.initial import complete
from cchybrid.toolkit.evolution.min_conflicts import settle
from cchybrid.toolkit.evolution.mutation import mutate
from cchybrid.toolkit.evolution.ports import spread_ports
from cchybrid.toolkit.evolution.restoration import restore
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.conflicts import mark_needed
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat
from cchybrid.toolkit.kernels.occupancy import build
from cchybrid.toolkit.kernels.rng import State, below, uniform

__all__ = ["Population", "Scratch", "Settings", "create", "evaluate", "mature", "replace", "select"]


STOPPED = int(NO_LIMIT)
"""The fitness of an individual whose improvement was stopped: worse than all others."""


class Population(NamedTuple):
    """Individuals: ``option`` and ``step`` of shape (size, genes), ``fitness`` (size,)."""

    option: IntArray
    step: IntArray
    fitness: IntArray


class Scratch(NamedTuple):
    """Working memory of kernels.

    ``table`` and ``chain`` are described at ``restore``. ``counted``, shape (genes,), is True
    unless some deliveries are optional.
    """

    table: IntArray
    chain: IntArray
    counted: BoolArray


class Settings(NamedTuple):
    """Constant parameters of a population; ``EvolutionOptions`` describes the last three.

    Parameters
    ----------
    near
        See ``restore``.
    required
        The required deliveries.
    ordered, optional
        Whether deliveries require others, and whether some are optional.
    """

    near: IntArray
    required: IntArray
    ordered: bool
    optional: bool
    mutation: float
    moves: int
    sweeps: int


def empty_population(size: int, genes: int) -> Population:
    """Return empty individuals, worse than all others."""
    return Population(
        option=np.full((size, genes), -1, dtype=np.int32),
        step=np.full((size, genes), -1, dtype=np.int32),
        fitness=np.full(size, NO_LIMIT, dtype=np.int32),
    )


@compiled
def create(
    flat: Flat,
    settings: Settings,
    scratch: Scratch,
    greedy: bool,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Complete an individual and return its fitness; see ``complete`` for the parameters."""
    steps = len(scratch.table)
    complete(flat, settings.near, settings.required, steps, greedy, option, step, stop, state)
    return _improve(flat, settings, scratch, option, step, stop, state)


@internal
def evaluate(
    flat: Flat, settings: Settings, scratch: Scratch, option: IntArray, step: IntArray
) -> int:
    """Fill the table; return the conflicts and late deliveries (thesis eq. 6.18, section 6.5.5)."""
    steps = len(scratch.table)
    if settings.optional:
        mark_needed(flat, option, scratch.counted)
    late = 0
    for gene in range(len(step)):
        late += scratch.counted[gene] and step[gene] >= steps
    return late + build(flat, option, step, scratch.counted, scratch.table)


@internal
def _improve(
    flat: Flat,
    settings: Settings,
    scratch: Scratch,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Restore an individual, improve it by local search, return its fitness or ``STOPPED``."""
    if settings.ordered:
        table, chain = scratch.table, scratch.chain
        restore(flat, settings.near, option, step, flat.required, table, chain, stop, state)
    if stop[0]:
        return STOPPED
    fitness = evaluate(flat, settings, scratch, option, step)
    if settings.sweeps == 0:
        return fitness
    fitness = settle(
        flat, option, step, scratch.counted, scratch.table, fitness, settings.sweeps, stop, state
    )
    if settings.optional and fitness > 0:
        # Deliveries that no needed one requires any more do not count.
        fitness = evaluate(flat, settings, scratch, option, step)
    return fitness


@compiled
def select(fitness: IntArray, parents: IntArray, state: State) -> None:
    """Fill ``parents`` with the winners of binary tournaments (thesis section 7.1)."""
    for place in range(len(parents)):
        one, other = below(state, len(fitness)), below(state, len(fitness))
        parents[place] = one if fitness[one] <= fitness[other] else other


@compiled
def mature(
    flat: Flat,
    settings: Settings,
    scratch: Scratch,
    children: Population,
    stop: BoolArray,
    state: State,
) -> int:
    """Mutate, restore, improve and evaluate children; return how many (fewer if stopped)."""
    for child in range(len(children.fitness)):
        if stop[0]:
            return child
        option, step = children.option[child], children.step[child]
        if uniform(state) < settings.mutation:
            evaluate(flat, settings, scratch, option, step)
            spread_ports(flat, option, step, scratch.counted, scratch.table, stop, state)
            for _ in range(1 + below(state, settings.moves)):
                mutate(flat, settings.ordered, option, step, scratch.counted, scratch.table, state)
        fitness = _improve(flat, settings, scratch, option, step, stop, state)
        if fitness == STOPPED:
            return child
        children.fitness[child] = fitness
    return len(children.fitness)


@compiled
def replace(population: Population, children: Population, number: int) -> None:
    """Replace the worst individuals by the first ``number`` children."""
    rank = np.argsort(population.fitness, kind="mergesort")
    for child in range(number):
        loser = rank[len(rank) - 1 - child]
        # Gene by gene: numba takes seconds to compile the assignment of whole rows.
        for gene in range(population.option.shape[1]):
            population.option[loser, gene] = children.option[child, gene]
            population.step[loser, gene] = children.step[child, gene]
        population.fitness[loser] = children.fitness[child]
