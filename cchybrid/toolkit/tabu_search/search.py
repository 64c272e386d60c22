"""Tabu search with constraint weighting for a schedule of a fixed number of steps, compiled.

The search space: every needed delivery has an option (a path and the delivery that it requires) and
a step, and constraints may be violated. There are two kinds of violations: an *overloaded cell* (a
resource in a step, used beyond its capacity), and a *broken delivery* (missing, or not later than
the delivery that it requires). Every cell and every delivery has a weight, at first 1, and the cost
of an assignment is the sum of the overloads and broken deliveries times their weights. The search
looks for cost 0.

1. Start: take over the places of an initial assignment, drop deliveries that are not needed, and
   insert the missing ones one by one where they cost least (``start``).
2. Candidates: draw a violation uniformly at random, and a delivery that takes part in it; repeat
   ``width`` times (``_draw_violation``).
3. Price: remove the candidate, with the optional deliveries that only it needs, and compute for
   every step the least cost over all its paths (``moves.price_delivery``). That is an evaluation.
4. Tabu rule: a delivery may not return to the step that it left in its last move for a random
   number of moves from ``tenure`` + 1 to 2 * ``tenure`` + 1, unless it costs nothing there and
   fewer violations than ever since the start are listed (those of the candidate's own order still
   count; aspiration; Hertz and de Werra 1987).
5. Move: carry out the best move over all candidates and steps, ties at random, even if it does not
   improve. A move within its step counts only if it improves.
6. Weights: if the best move does not improve the cost, add 1 to the weight of every current
   violation (breakout; Morris 1993). After every ``decay`` such increases, subtract 1 from all
   weights above 1 (Thornton et al. 2004).
7. Keep the assignment with the fewest violations, counted without weights, in ``Record``.

Steps 2 to 7 repeat until nothing is violated or the evaluations are spent; ``island.py`` restarts
the search when it stagnates.

References
----------
F. Glover, "Tabu search, part I", ORSA Journal on Computing 1, 1989. doi:10.1287/ijoc.1.3.190

A. Hertz, D. de Werra, "Using tabu search techniques for graph coloring", Computing 39, 1987.
doi:10.1007/BF02239976

P. Morris, "The breakout method for escaping from local minima", AAAI 1993.

J. Thornton, D. N. Pham, S. Bain, V. Ferreira, "Additive versus multiplicative clause weighting for
SAT", AAAI 2004.
"""

from typing import NamedTuple

import numpy as np

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import State, below, shuffle
from cchybrid.toolkit.tabu_search.memory import (
    Memory,
    conflicts,
    decay_weights,
    increase_weights,
    int64,
    needed,
    recheck,
)
from cchybrid.toolkit.tabu_search.moves import (
    NEVER,
    Parts,
    carry_out,
    present_cost,
    price_delivery,
    price_followers,
    put_back,
    put_in,
    take_out,
)
from cchybrid.toolkit.tabu_search.path_graphs import PathGraphs


class Tuning(NamedTuple):
    """Parameters of the search; see ``TabuOptions``."""

    width: int
    tenure: int
    decay: int


class Record(NamedTuple):
    """The best near-solution since the last start: ``option`` and ``step``, shape (deliveries,).

    ``counters``, shape (4,), holds its conflicts, the moves made, the move of its last improvement,
    and the number of weight increases.
    """

    option: IntArray
    step: IntArray
    counters: LongArray


BEST_CONFLICTS, MOVES, LAST_IMPROVEMENT, INCREASES = 0, 1, 2, 3
"""Places in ``Record.counters``."""
STUCK = 10
"""Moves per delivery without progress after which a cycle of requirements is suspected: deliveries
that require each other, which moving the broken one alone cannot resolve."""
SELDOM = 16
"""When stuck, one in this many draws of a broken delivery moves the one that it requires instead;
always doing so would slow down large broadcasts."""


@compiled
def start(
    parts: Parts, record: Record, option: IntArray, step: IntArray, stop: BoolArray, state: State
) -> None:
    """Start from an assignment: keep its places, insert missing deliveries where they cost least.

    Parameters
    ----------
    option, step
        Shape (deliveries,): -1 for unscheduled deliveries. The memory has to be new.
    stop
        Shape (1,): another thread sets this to end early; then the record is unchanged.
    """
    flat, graphs, memory, scratch = parts
    order = np.empty(len(option), dtype=np.int32)
    for delivery in range(len(option)):
        order[delivery] = delivery
    shuffle(order, state)
    for place in order:
        delivery = int64(place)
        if option[delivery] >= 0 and 0 <= step[delivery] < memory.steps:
            put_in(flat, memory, delivery, int64(option[delivery]), int64(step[delivery]))
    for place in order:
        delivery = int64(place)
        # Deliveries that are not needed take no capacity.
        if memory.option[delivery] >= 0 and not needed(flat, memory, delivery):
            take_out(flat, memory, scratch, delivery)
    for place in order:
        recheck(flat, memory, int64(place))
    # First insert only deliveries whose required delivery is scheduled, as long as there are any,
    # so that no cycles arise; then all others.
    only_ready = True
    while True:
        inserted = False
        for place in order:
            if stop[0]:
                return
            delivery = int64(place)
            if memory.option[delivery] >= 0 or not needed(flat, memory, delivery):
                continue
            if not only_ready or _ready(graphs, memory, delivery):
                _insert_delivery(parts, delivery, state)
                inserted = True
        if not only_ready:
            break
        only_ready = inserted
    record.counters[BEST_CONFLICTS] = np.int64(1) << 40
    record.counters[LAST_IMPROVEMENT] = record.counters[MOVES]
    _keep(memory, record)


@internal
def _ready(graphs: PathGraphs, memory: Memory, delivery: int) -> bool:
    """Return whether some choice of a delivery requires none, or a scheduled one."""
    for choice in range(graphs.choice_start[delivery], graphs.choice_start[delivery + 1]):
        before = graphs.requires[choice]
        if before < 0 or memory.option[before] >= 0:
            return True
    return False


@internal
def _insert_delivery(parts: Parts, delivery: int, state: State) -> None:
    """Schedule an unscheduled delivery where it costs least."""
    flat, _, memory, scratch = parts
    price_followers(flat, memory, scratch, delivery)
    price_delivery(parts, delivery, state)
    best, ties = int64(-1), 0
    for step in range(memory.steps):
        if best < 0 or scratch.cost[step] < scratch.cost[best]:
            best, ties = step, 0
        if scratch.cost[step] == scratch.cost[best]:
            ties += 1
            if below(state, ties) == 0:
                best = step
    if scratch.cost[best] < NEVER:
        carry_out(parts, delivery, int64(scratch.choice[best]), best, state)


@internal
def _keep(memory: Memory, record: Record) -> None:
    """Record the assignment if it has the fewest conflicts so far."""
    now = conflicts(memory)
    if now < record.counters[BEST_CONFLICTS]:
        record.counters[BEST_CONFLICTS] = now
        record.counters[LAST_IMPROVEMENT] = record.counters[MOVES]
        for delivery in range(len(record.option)):
            record.option[delivery] = memory.option[delivery]
            record.step[delivery] = memory.step[delivery]


@internal
def _draw_violation(flat: Flat, memory: Memory, stuck: bool, state: State) -> int:
    """Draw a violation uniformly; return a delivery that takes part in it."""
    overloaded = memory.over.length[0]
    pick = below(state, overloaded + memory.broken.length[0])
    if pick >= overloaded:
        broken = int64(memory.broken.items[pick - overloaded])
        if stuck and memory.option[broken] >= 0 and below(state, SELDOM) == 0:
            before = int64(flat.requires[memory.option[broken]])
            # All options of this delivery may require the other, which then has to be earlier.
            if before >= 0:
                return before
        return broken
    wide = memory.load.shape[1]
    cell = memory.over.items[pick]
    node = memory.first_use[cell // wide, cell % wide]
    chosen, seen = int64(-1), 0
    while node >= 0:
        seen += 1
        if below(state, seen) == 0:
            chosen = node // memory.longest
        node = memory.next_use[node]
    return chosen


@compiled
def search(
    parts: Parts, record: Record, tuning: Tuning, evaluations: int, stop: BoolArray, state: State
) -> int:
    """Make moves until nothing is violated or the evaluations are spent; return the evaluations.

    An evaluation prices all paths of one delivery in all steps.
    """
    flat, _, memory, scratch = parts
    spent = 0
    while spent < evaluations and conflicts(memory) > 0 and not stop[0]:
        now = conflicts(memory)
        moved, target, choice, best_change = int64(-1), int64(-1), int64(-1), int64(NEVER)
        ties = 0
        idle = record.counters[MOVES] - record.counters[LAST_IMPROVEMENT]
        stuck = idle > STUCK * len(memory.option)
        for _ in range(tuning.width):
            if stop[0] or spent >= evaluations:
                break
            delivery = _draw_violation(flat, memory, stuck, state)
            # Drawn again while it holds the best move: its price is known.
            if delivery == moved:
                continue
            spent += 1
            count = take_out(flat, memory, scratch, delivery)
            if not needed(flat, memory, delivery):
                # Only its own chain required it: optional deliveries in a cycle, which may as well
                # be absent.
                for freed in range(count):
                    recheck(flat, memory, scratch.taken[freed, 0])
                if conflicts(memory) < now:
                    _keep(memory, record)
                # An improvement without a move: no weight is increased.
                moved, best_change = int64(-1), int64(-1)
                break
            price_followers(flat, memory, scratch, delivery)
            price_delivery(parts, delivery, state)
            old_cost = present_cost(flat, memory, scratch, count)
            old_step = scratch.taken[0, 2]
            tabu_step = memory.tabu[delivery, 0]
            if memory.tabu[delivery, 1] < record.counters[MOVES]:
                tabu_step = -1
            for step in range(memory.steps):
                cost = scratch.cost[step]
                if cost >= NEVER:
                    continue
                change = cost - old_cost
                if step == old_step and change >= 0:
                    continue
                if step == tabu_step and not (
                    cost == 0 and conflicts(memory) < record.counters[BEST_CONFLICTS]
                ):
                    continue
                if change < best_change:
                    best_change, ties = change, 0
                if change == best_change:
                    ties += 1
                    if below(state, ties) == 0:
                        moved, target, choice = delivery, step, int64(scratch.choice[step])
            put_back(flat, memory, scratch, count)
        record.counters[MOVES] += 1
        if best_change >= 0:
            increase_weights(memory)
            record.counters[INCREASES] += 1
            if tuning.decay and record.counters[INCREASES] % tuning.decay == 0:
                decay_weights(memory)
        if moved < 0:
            continue
        count = take_out(flat, memory, scratch, moved)
        memory.tabu[moved, 0] = scratch.taken[0, 2]
        until = record.counters[MOVES] + tuning.tenure + below(state, tuning.tenure + 1)
        memory.tabu[moved, 1] = until
        carry_out(parts, moved, choice, target, state)
        for freed in range(1, count):
            recheck(flat, memory, scratch.taken[freed, 0])
        if conflicts(memory) < now:
            _keep(memory, record)
    return spent
