"""The master step of HGSA, compiled: partners, crossover, mutation (HGSA paper, section 3.2)."""

import math
from typing import NamedTuple

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.evolution.initial import complete
from cchybrid.toolkit.evolution.restoration import CANDIDATES, restore
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import Loaded
from cchybrid.toolkit.kernels.rng import State, below, uniform

from .kernels import CONFLICTS, LENGTH, Solution, closes_cycle, copy_solution, count, move, process
from .shortening import shorten, shorten_longest


class Settings(NamedTuple):
    """Constant parameters of a search; ``HgsaOptions`` describes the others.

    Parameters
    ----------
    flat
        The problem.
    near
        Shape (deliveries,): see ``restore``.
    required
        The required deliveries.
    depth, tree
        Shape (deliveries,): see ``shortest_chains``.
    ordered
        Whether deliveries may require others.
    length
        Cost of one unit of ``Solution.counts[LENGTH]``, in conflicts.
    moves
        Proposals of one iteration.
    slowest
        The largest (slowest) cooling factor.
    """

    flat: Flat
    near: IntArray
    required: IntArray
    depth: IntArray
    tree: IntArray
    ordered: bool
    length: float
    moves: int
    exchange: int
    mutation: float
    genes: int
    temperature: float
    floor: float
    slowest: float
    end: int
    longest: int


class Memory(NamedTuple):
    """Working memory of the master.

    Parameters
    ----------
    option, step, counts
        Copies of the solutions of all processes.
    chain
        Shape (deliveries + steps + 1,): see ``restore``.
    one, other
        Two children.
    """

    option: IntArray
    step: IntArray
    counts: LongArray
    chain: IntArray
    one: Solution
    other: Solution


@internal
def energy(settings: Settings, counts: LongArray) -> float:
    """Return the energy of a solution in conflicts; less is better."""
    return float(counts[CONFLICTS] + settings.length * counts[LENGTH])


@internal
def accepts(rise: float, temperature: float, state: State) -> bool:
    """Return whether the Metropolis criterion accepts a solution worse by ``rise``."""
    return rise <= 0 or uniform(state) < math.exp(-rise / temperature)


@internal
def draw(flat: Flat, solution: Solution, delivery: int, state: State) -> tuple[int, int]:
    """Draw another option, another step or both for a delivery (the paper's mutation)."""
    option, step = int(solution.option[delivery]), int(solution.step[delivery])
    first = flat.option_start[delivery]
    size = flat.option_start[delivery + 1] - first
    part = below(state, 3) if size > 1 else 0
    if part != 0:
        option = int(first + below(state, size))
    if part != 1:
        step = below(state, len(solution.table))
    return option, step


@compiled
def start(
    settings: Settings, solution: Solution, chain: IntArray, stop: BoolArray, state: State
) -> None:
    """Complete a solution at random, restore its order and shorten its routes.

    ``option`` and ``step`` are -1 for unscheduled deliveries. If stopped, the solution is not
    usable.
    """
    flat, near, steps = settings.flat, settings.near, len(solution.table)
    option, step = solution.option, solution.step
    complete(flat, near, settings.required, steps, False, option, step, stop, state)
    _restore_order(settings, solution, chain, stop, state)
    shorten(flat, settings.depth, solution, state)


@internal
def cross(
    settings: Settings,
    memory: Memory,
    outer: int,
    inner: int,
    first: int,
    last: int,
    child: Solution,
    stop: BoolArray,
    state: State,
) -> None:
    """Make the child of two processes by two-point crossover, and restore its order.

    Parameters
    ----------
    outer, inner
        The parents. Genes from ``first`` up to, not including, ``last`` come from ``inner``.
    stop
        Shape (1,): another thread sets this to end early; then the child is not usable.
    """
    for gene in range(len(child.option)):
        parent = inner if first <= gene < last else outer
        child.option[gene] = memory.option[parent, gene]
        child.step[gene] = memory.step[parent, gene]
    _restore_order(settings, child, memory.chain, stop, state)


@internal
def exchange(
    settings: Settings,
    processes: Solution,
    memory: Memory,
    temperature: float,
    stop: BoolArray,
    state: State,
) -> int:
    """Carry out a master step: offer every process a child; return the evaluations."""
    flat = settings.flat
    number, genes = len(processes.option), processes.option.shape[1]
    for index in range(number):
        for gene in range(genes):
            memory.option[index, gene] = processes.option[index, gene]
            memory.step[index, gene] = processes.step[index, gene]
        memory.counts[index, CONFLICTS] = processes.counts[index, CONFLICTS]
        memory.counts[index, LENGTH] = processes.counts[index, LENGTH]
    for index in range(number):
        if stop[0]:
            return 3 * index
        solution = process(processes, index)
        partner = _partner(settings, memory, state)
        first, last = below(state, genes + 1), below(state, genes + 1)
        first, last = min(first, last), max(first, last)
        cross(settings, memory, index, partner, first, last, memory.one, stop, state)
        cross(settings, memory, partner, index, first, last, memory.other, stop, state)
        if stop[0]:
            return 3 * index
        better = energy(settings, memory.one.counts) <= energy(settings, memory.other.counts)
        child = memory.one if better else memory.other
        parent = index
        if energy(settings, memory.counts[partner]) < energy(settings, memory.counts[index]):
            parent = partner
        if energy(settings, memory.counts[parent]) < energy(settings, child.counts):
            for gene in range(genes):
                child.option[gene] = memory.option[parent, gene]
                child.step[gene] = memory.step[parent, gene]
            count(flat, child)
            _mutate(settings, child, state)
        elif uniform(state) < settings.mutation:
            _mutate(settings, child, state)
        rise = energy(settings, child.counts) - energy(settings, solution.counts)
        if accepts(rise, temperature, state):
            copy_solution(child, solution)
        shorten(flat, settings.depth, solution, state)
        if solution.counts[CONFLICTS] <= settings.end:
            shorten_longest(flat, settings.longest, solution, state)
    return 3 * number


@internal
def _restore_order(
    settings: Settings, solution: Solution, chain: IntArray, stop: BoolArray, state: State
) -> None:
    """Restore the order of deliveries, and recount.

    Late deliveries take the last option of the shortest chain and a random step: their order may be
    violated, but their requirements form no cycle.
    """
    flat = settings.flat
    if settings.ordered:
        steps = len(solution.table)
        loaded = Loaded(solution.option, solution.step, flat.required, solution.table)
        restore(flat, settings.near, CANDIDATES, loaded, chain, stop, state)
        for delivery in range(len(solution.option)):
            if solution.step[delivery] >= steps:
                solution.option[delivery] = settings.tree[delivery]
                solution.step[delivery] = below(state, steps)
    count(flat, solution)


@internal
def _partner(settings: Settings, memory: Memory, state: State) -> int:
    """Select a partner by roulette wheel, with probabilities in proportion to 1 / (1 + energy)."""
    total = 0.0
    for index in range(len(memory.counts)):
        total += 1.0 / (1.0 + energy(settings, memory.counts[index]))
    left = total * uniform(state)
    last = len(memory.counts) - 1
    for index in range(last):
        left -= 1.0 / (1.0 + energy(settings, memory.counts[index]))
        if left < 0:
            return index
    return last


@internal
def _mutate(settings: Settings, solution: Solution, state: State) -> None:
    """Change options and steps of random genes."""
    flat = settings.flat
    for _ in range(1 + below(state, settings.genes)):
        delivery = below(state, len(solution.option))
        option, step = draw(flat, solution, delivery, state)
        if not closes_cycle(flat, solution, delivery, option):
            move(flat, solution, delivery, option, step)
