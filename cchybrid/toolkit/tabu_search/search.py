"""Tabu search with dynamic weights, compiled.

Every move takes one delivery that is in conflict to the place where it disturbs least, the best of
a few such deliveries. Where no move improves, all that is wrong weighs more from then on (P.
Morris, "The breakout method for escaping from local minima", AAAI 1993), now and then everything
weighs less (J. Thornton, D. Pham, S. Bain, V. Ferreira, "Additive versus multiplicative clause
weighting for SAT", AAAI 2004). A delivery may not return at once to the step that it has left
(A. Hertz, D. de Werra, "Using tabu search techniques for graph coloring", Computing 39, 1987),
unless that makes the fewest conflicts ever (aspiration).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat, has_optional
from cchybrid.toolkit.kernels.rng import State, below, shuffle
from cchybrid.toolkit.tabu_search.memory import (
    BROKEN,
    OVER,
    Memory,
    conflicts,
    decay_weights,
    increase_weights,
    index,
    needed,
    recheck,
)
from cchybrid.toolkit.tabu_search.moves import (
    NEVER,
    Scratch,
    carry_out,
    cost_before,
    followers_cost,
    price_delivery,
    put_back,
    put_in,
    take_out,
)
from cchybrid.toolkit.tabu_search.path_graphs import PathGraphs


class Tuning(NamedTuple):
    """See ``TabuOptions``."""

    width: int
    tenure: int
    decay: int


class Record(NamedTuple):
    """The best near-solution: ``option`` and ``step``, shape (deliveries,).

    ``number`` counts, shape (4,): the conflicts of the best, the moves made, the move of the last
    progress, and how often the weights have grown.
    """

    option: IntArray
    step: IntArray
    number: LongArray


BEST, MOVES, PROGRESS, INCREASES = 0, 1, 2, 3
STUCK = 10
"""Moves per delivery without progress, from then on a circle is suspected: deliveries that require
each other, which moves of the broken one alone never end."""
SELDOM = 16
"""One in so many times, what a broken delivery requires is moved then instead. To do so always
would cost large broadcasts their speed."""


@compiled
def start(
    flat: Flat,
    graphs: PathGraphs,
    memory: Memory,
    scratch: Scratch,
    record: Record,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> None:
    """Begin with an assignment: keep its places, and put in what is missing where it fits best.

    Parameters
    ----------
    option, step
        Shape (deliveries,): -1 where there is no place. The memory has to be new.
    stop
        Shape (1,): another thread sets this to end early; then the record stays as it is.
    """
    optional = has_optional(flat.required)
    order = np.empty(len(option), dtype=np.int32)
    for delivery in range(len(option)):
        order[delivery] = delivery
    shuffle(order, state)
    for place in order:
        delivery = index(place)
        if option[delivery] >= 0 and 0 <= step[delivery] < memory.steps:
            put_in(flat, memory, delivery, index(option[delivery]), index(step[delivery]))
    for place in order:
        delivery = index(place)
        # What nobody needs takes no room.
        if memory.option[delivery] >= 0 and not needed(flat, memory, delivery):
            take_out(flat, memory, scratch, delivery)
    for place in order:
        recheck(flat, memory, index(place))
    # Those first whose informer has a place, so that deliveries do not come to inform each other.
    patient = True
    while True:
        settled = False
        for place in order:
            if stop[0]:
                return
            delivery = index(place)
            if memory.option[delivery] >= 0 or not needed(flat, memory, delivery):
                continue
            if not patient or _ready(graphs, memory, delivery):
                _settle(flat, graphs, memory, scratch, delivery, optional, state)
                settled = True
        if not patient:
            break
        patient = settled
    record.number[BEST] = np.int64(1) << 40
    record.number[PROGRESS] = record.number[MOVES]
    _keep(memory, record)


@internal
def _ready(graphs: PathGraphs, memory: Memory, delivery: int) -> bool:
    """Return whether a delivery requires none, or one that has a place, in some choice."""
    for choice in range(graphs.choice_start[delivery], graphs.choice_start[delivery + 1]):
        before = graphs.requires[choice]
        if before < 0 or memory.option[before] >= 0:
            return True
    return False


@internal
def _settle(
    flat: Flat,
    graphs: PathGraphs,
    memory: Memory,
    scratch: Scratch,
    delivery: int,
    optional: bool,
    state: State,
) -> None:
    """Put a delivery without a place where it costs least."""
    followers_cost(flat, memory, scratch, delivery)
    price_delivery(flat, graphs, memory, scratch, delivery, optional, state)
    best, ties = index(-1), 0
    for step in range(memory.steps):
        if best < 0 or scratch.cost[step] < scratch.cost[best]:
            best, ties = step, 0
        if scratch.cost[step] == scratch.cost[best]:
            ties += 1
            if below(state, ties) == 0:
                best = step
    if scratch.cost[best] < NEVER:
        choice = index(scratch.choice[best])
        carry_out(flat, graphs, memory, scratch, delivery, choice, best, optional, state)


@internal
def _keep(memory: Memory, record: Record) -> None:
    """Remember the assignment if it is the best so far."""
    now = conflicts(memory)
    if now < record.number[BEST]:
        record.number[BEST] = now
        record.number[PROGRESS] = record.number[MOVES]
        for delivery in range(len(record.option)):
            record.option[delivery] = memory.option[delivery]
            record.step[delivery] = memory.step[delivery]


@internal
def _draw_violation(flat: Flat, memory: Memory, stuck: bool, state: State) -> int:
    """Return a delivery that has to do with something wrong, all wrongs equally likely."""
    over, broken = memory.lengths[OVER], memory.lengths[BROKEN]
    pick = below(state, over + broken)
    if pick >= over:
        late = index(memory.broken[pick - over])
        if stuck and memory.option[late] >= 0 and below(state, SELDOM) == 0:
            before = index(flat.requires[memory.option[late]])
            # All options of this one may require the other, which has to come earlier then.
            if before >= 0:
                return before
        return late
    wide = memory.load.shape[1]
    cell = memory.over[pick]
    node = memory.head[cell // wide, cell % wide]
    chosen, seen = index(-1), 0
    while node >= 0:
        seen += 1
        if below(state, seen) == 0:
            chosen = node // memory.longest
        node = memory.after[node]
    return chosen


@compiled
def search(
    flat: Flat,
    graphs: PathGraphs,
    memory: Memory,
    scratch: Scratch,
    record: Record,
    tuning: Tuning,
    evaluations: int,
    stop: BoolArray,
    state: State,
) -> int:
    """Make moves until nothing is wrong or the evaluations are spent; return how many were made.

    An evaluation prices all paths of one delivery in all steps.
    """
    optional = has_optional(flat.required)
    spent = 0
    while spent < evaluations and conflicts(memory) > 0 and not stop[0]:
        now = conflicts(memory)
        mover, target, over, best_change = index(-1), index(-1), index(-1), index(NEVER)
        ties = 0
        stuck = record.number[MOVES] - record.number[PROGRESS] > STUCK * len(memory.option)
        for _ in range(tuning.width):
            if stop[0] or spent >= evaluations:
                break
            delivery = _draw_violation(flat, memory, stuck, state)
            if delivery == mover:
                continue
            spent += 1
            count = take_out(flat, memory, scratch, delivery)
            if not needed(flat, memory, delivery):
                # Deliveries required each other, and nobody else needs them: they are gone now.
                for freed in range(count):
                    recheck(flat, memory, scratch.taken[freed, 0])
                if conflicts(memory) < now:
                    _keep(memory, record)
                mover, best_change = index(-1), index(-1)
                break
            followers_cost(flat, memory, scratch, delivery)
            price_delivery(flat, graphs, memory, scratch, delivery, optional, state)
            stay = cost_before(flat, memory, scratch, count)
            left = scratch.taken[0, 2]
            barred = memory.tabu[delivery, 0]
            if memory.tabu[delivery, 1] < record.number[MOVES]:
                barred = -1
            for step in range(memory.steps):
                cost = scratch.cost[step]
                if cost >= NEVER:
                    continue
                change = cost - stay
                if step == left and change >= 0:
                    continue
                if step == barred and not (cost == 0 and conflicts(memory) < record.number[BEST]):
                    continue
                if change < best_change:
                    best_change, ties = change, 0
                if change == best_change:
                    ties += 1
                    if below(state, ties) == 0:
                        mover, target, over = delivery, step, index(scratch.choice[step])
            put_back(flat, memory, scratch, count)
        record.number[MOVES] += 1
        if best_change >= 0:
            increase_weights(memory)
            record.number[INCREASES] += 1
            if tuning.decay and record.number[INCREASES] % tuning.decay == 0:
                decay_weights(memory)
        if mover < 0:
            continue
        count = take_out(flat, memory, scratch, mover)
        memory.tabu[mover, 0] = scratch.taken[0, 2]
        until = record.number[MOVES] + tuning.tenure + below(state, tuning.tenure + 1)
        memory.tabu[mover, 1] = until
        carry_out(flat, graphs, memory, scratch, mover, over, target, optional, state)
        for freed in range(1, count):
            recheck(flat, memory, scratch.taken[freed, 0])
        if conflicts(memory) < now:
            _keep(memory, record)
    return spent
