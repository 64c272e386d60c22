"""Generations of UMDA, compiled: selection, model sampling, mutation, restoration, evaluation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cchybrid.kernels import compiled
from cchybrid.kernels.conflicts import mark_needed
from cchybrid.kernels.first_fit import fill
from cchybrid.kernels.flat import Flat
from cchybrid.kernels.min_conflicts import settle
from cchybrid.kernels.occupancy import build
from cchybrid.kernels.ports import spread_ports
from cchybrid.kernels.restoration import restore
from cchybrid.kernels.rng import State, below, shuffle, uniform
from cchybrid.problem.arrays import BoolArray, IntArray

from cchybrid.kernels.mutation import mutate

__all__ = ["Population", "Settings", "Work", "create", "evaluate", "evolve"]


class Population(NamedTuple):
    """Individuals: ``option`` and ``step`` of shape (size, deliveries), ``fitness`` (size,)."""

    option: IntArray
    step: IntArray
    fitness: IntArray


class Work(NamedTuple):
    """Memory that kernels write over.

    ``table`` and ``chain`` are described at ``restore``. ``counted``, shape (deliveries,), is
    True unless some deliveries are optional. ``stop``, shape (1,), is set to end early.
    """

    table: IntArray
    chain: IntArray
    counted: BoolArray
    stop: BoolArray


class Settings(NamedTuple):
    """What stays the same over the generations; see ``Umda.Options`` for the second half.

    Parameters
    ----------
    near
        See ``restore``.
    required
        The required deliveries.
    ordered, optional
        Whether deliveries may require others, and whether some are optional.
    parents
        The number of parents.
    """

    near: IntArray
    required: IntArray
    ordered: bool
    optional: bool
    parents: int
    sampled: float
    mutation: float
    moves: int
    sweeps: int


@compiled
def create(
    flat: Flat,
    settings: Settings,
    work: Work,
    greedy: bool,
    option: IntArray,
    step: IntArray,
    state: State,
) -> int:
    """Complete an individual and return its fitness (thesis section 6.5.4).

    Parameters
    ----------
    greedy
        Whether to place what fits before the rest is drawn uniformly: no building block is better
        than a part of a schedule without conflicts. The individual has to be empty.
    option, step
        Shape (deliveries,): -1 for what has to be filled in.
    """
    steps = len(work.table)
    if greedy:
        order = settings.required.copy()
        shuffle(order, state)
        fill(flat, settings.near, steps, order, option, step, state)
    for delivery in range(len(option)):
        if step[delivery] >= 0:
            continue
        first = flat.option_start[delivery]
        size = flat.option_start[delivery + 1] - first
        step[delivery] = below(state, steps)
        option[delivery] = first + below(state, size)
        for _ in range(4):
            path = flat.path[option[delivery]]
            if flat.use_start[path + 1] - flat.use_start[path] <= settings.near[delivery]:
                break
            option[delivery] = first + below(state, size)
    return _improve(flat, settings, work, option, step, state)


@compiled
def evaluate(flat: Flat, settings: Settings, work: Work, option: IntArray, step: IntArray) -> int:
    """Fill the table; return the conflicts and late deliveries (thesis eq. 6.18, section 6.5.5)."""
    steps = len(work.table)
    if settings.optional:
        mark_needed(flat, option, work.counted)
    late = 0
    for delivery in range(len(step)):
        late += work.counted[delivery] and step[delivery] >= steps
    return late + build(flat, option, step, work.counted, work.table)


@compiled
def _improve(
    flat: Flat, settings: Settings, work: Work, option: IntArray, step: IntArray, state: State
) -> int:
    """Restore an individual, let it settle, and return its fitness."""
    if settings.ordered:
        restore(flat, settings.near, option, step, flat.required, work.table, work.chain, state)
    fitness = evaluate(flat, settings, work, option, step)
    fitness = settle(
        flat,
        option,
        step,
        work.counted,
        work.table,
        fitness,
        settings.sweeps,
        work.stop,
        state,
    )
    if settings.optional and fitness > 0:
        # Deliveries that have lost their last follower count no more.
        fitness = evaluate(flat, settings, work, option, step)
    return fitness


@compiled
def _breed(
    flat: Flat,
    settings: Settings,
    work: Work,
    parents: IntArray,
    population: Population,
    option: IntArray,
    step: IntArray,
    state: State,
) -> int:
    """Write a child of the parents to ``option`` and ``step``; return its fitness.

    The value of a gene in a random parent is a draw from the gene's marginal distribution among
    the parents. Where steps depend on options, a gene is drawn whole (thesis section 6.3.2).
    """
    base = parents[below(state, len(parents))]
    for gene in range(len(option)):
        parent = base
        if uniform(state) < settings.sampled:
            parent = parents[below(state, len(parents))]
        option[gene] = population.option[parent, gene]
        if parent != base and not settings.ordered:
            parent = parents[below(state, len(parents))]
        step[gene] = population.step[parent, gene]
    if uniform(state) < settings.mutation:
        evaluate(flat, settings, work, option, step)
        spread_ports(flat, option, step, work.counted, work.table, state)
        for _ in range(1 + below(state, settings.moves)):
            mutate(flat, settings.ordered, option, step, work.counted, work.table, state)
    return _improve(flat, settings, work, option, step, state)


@compiled
def _rank(fitness: IntArray, rank: IntArray) -> None:
    """Sort individuals by fitness, best first; most are in order already, so by insertion."""
    for place in range(1, len(rank)):
        moved = rank[place]
        while place > 0 and fitness[rank[place - 1]] > fitness[moved]:
            rank[place] = rank[place - 1]
            place -= 1
        rank[place] = moved


@compiled
def evolve(
    flat: Flat,
    settings: Settings,
    work: Work,
    population: Population,
    children: Population,
    generations: int,
    state: State,
) -> int:
    """Run generations until one has an individual without conflicts; return how many were run.

    Parents win binary tournaments; the children replace the worst individuals.
    """
    size, offspring = len(population.fitness), len(children.fitness)
    parents = np.empty(settings.parents, dtype=np.int32)
    rank = np.arange(size).astype(np.int32)
    solved = False
    for generation in range(generations):
        _rank(population.fitness, rank)
        for place in range(len(parents)):
            one, other = below(state, size), below(state, size)
            better = population.fitness[one] <= population.fitness[other]
            parents[place] = one if better else other
        for child in range(offspring):
            if work.stop[0]:
                return generation
            children.fitness[child] = _breed(
                flat,
                settings,
                work,
                parents,
                population,
                children.option[child],
                children.step[child],
                state,
            )
        for child in range(offspring):
            loser = rank[size - offspring + child]
            # Gene by gene: numba takes seconds to compile the assignment of whole rows.
            for gene in range(population.option.shape[1]):
                population.option[loser, gene] = children.option[child, gene]
                population.step[loser, gene] = children.step[child, gene]
            population.fitness[loser] = children.fitness[child]
            solved |= children.fitness[child] == 0
        if solved:
            return generation + 1
    return generations
