"""One generation, compiled: selection, mutation, restoration, evaluation, replacement."""

from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.toolkit.evolution.initial import build_in_order, complete
from cchybrid.toolkit.evolution.min_conflicts import settle
from cchybrid.toolkit.evolution.mutation import mutate
from cchybrid.toolkit.evolution.ports import spread_ports
from cchybrid.toolkit.evolution.restoration import restore
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.conflicts import mark_needed
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat
from cchybrid.toolkit.kernels.occupancy import Loaded, build
from cchybrid.toolkit.kernels.rng import State, below, shuffle, uniform

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
    """Constant parameters of a population; ``EvolutionOptions`` describes the last four.

    Parameters
    ----------
    flat
        The problem.
    near
        See ``restore``.
    required
        The required deliveries.
    ordered, optional
        Whether deliveries require others, and whether some are optional.
    undefined
        Whether initial individuals have no steps until they are restored (``build_in_order``).
    """

    flat: Flat
    near: IntArray
    required: IntArray
    ordered: bool
    optional: bool
    undefined: bool
    senders: int
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
    settings: Settings,
    scratch: Scratch,
    greedy: bool,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Complete an individual and return its fitness; see ``complete`` for the parameters."""
    flat, near, table = settings.flat, settings.near, scratch.table
    if settings.undefined:
        build_in_order(flat, scratch.chain[: len(option)], option, step, table, state)
    else:
        complete(flat, near, settings.required, len(table), greedy, option, step, stop, state)
    return _improve(settings, scratch, option, step, stop, state)


@internal
def evaluate(settings: Settings, loaded: Loaded) -> int:
    """Fill the table; return the conflicts and late deliveries (thesis eq. 6.18, section 6.5.5)."""
    option, step, counted, table = loaded
    if settings.optional:
        mark_needed(settings.flat, option, counted)
    late = 0
    for gene in range(len(step)):
        late += counted[gene] and step[gene] >= len(table)
    return late + build(settings.flat, loaded)


@internal
def _improve(
    settings: Settings,
    scratch: Scratch,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Restore an individual, improve it by local search, return its fitness or ``STOPPED``."""
    flat = settings.flat
    if settings.ordered:
        required = Loaded(option, step, flat.required, scratch.table)
        restore(flat, settings.near, settings.senders, required, scratch.chain, stop, state)
    if stop[0]:
        return STOPPED
    loaded = Loaded(option, step, scratch.counted, scratch.table)
    fitness = evaluate(settings, loaded)
    if settings.sweeps == 0:
        return fitness
    fitness = settle(flat, loaded, fitness, settings.sweeps, stop, state)
    if settings.optional and fitness > 0:
        # Deliveries that no needed one requires any more do not count.
        fitness = evaluate(settings, loaded)
    return fitness


@compiled
def select(fitness: IntArray, parents: IntArray, state: State) -> None:
    """Fill ``parents`` with the winners of binary tournaments (thesis section 7.1)."""
    for place in range(len(parents)):
        one, other = below(state, len(fitness)), below(state, len(fitness))
        parents[place] = one if fitness[one] <= fitness[other] else other


@compiled
def mature(
    settings: Settings, scratch: Scratch, children: Population, stop: BoolArray, state: State
) -> int:
    """Mutate, restore, improve and evaluate children; return how many (fewer if stopped)."""
    for child in range(len(children.fitness)):
        if stop[0]:
            return child
        option, step = children.option[child], children.step[child]
        if uniform(state) < settings.mutation:
            loaded = Loaded(option, step, scratch.counted, scratch.table)
            evaluate(settings, loaded)
            spread_ports(settings.flat, loaded, stop, state)
            for _ in range(1 + below(state, settings.moves)):
                mutate(settings.flat, settings.ordered, loaded, state)
        fitness = _improve(settings, scratch, option, step, stop, state)
        if fitness == STOPPED:
            return child
        children.fitness[child] = fitness
    return len(children.fitness)


@compiled
def replace(
    population: Population, children: Population, number: int, drift: bool, state: State
) -> None:
    """Replace the worst individuals by the first ``number`` children.

    Parameters
    ----------
    drift
        Whether ties are broken at random; else the first individuals stay.
    """
    order = np.arange(len(population.fitness), dtype=np.int32)
    if drift:
        shuffle(order, state)
    rank = order[np.argsort(population.fitness[order], kind="mergesort")]
    for child in range(number):
        loser = rank[len(rank) - 1 - child]
        # Gene by gene: numba takes seconds to compile the assignment of whole rows.
        for gene in range(population.option.shape[1]):
            population.option[loser, gene] = children.option[child, gene]
            population.step[loser, gene] = children.step[child, gene]
        population.fitness[loser] = children.fitness[child]
