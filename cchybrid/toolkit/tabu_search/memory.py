"""The state of a search: places, loads, weights, and lists of all violations, updated per move.

A *cell* is a resource in a step; it is overloaded when it is used beyond its capacity. Every cell
has a linked list of the deliveries that use it, and all overloaded cells and broken deliveries are
in lists with constant-time insertion and removal, so a violation is drawn in constant time, and a
delivery in it by one pass over the list of its cell.
"""

from typing import Any, NamedTuple

import numpy as np

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.kernels import inlined, internal
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat, step_of_use
from cchybrid.toolkit.kernels.indexed_list import IndexedList, drop, empty_list, insert

LANES = 8
"""Steps are padded to a multiple of this, so that vectorized loops have no remainder."""
LATE = np.int32(1 << 20)
"""The step of unscheduled deliveries: later than any step."""


class Memory(NamedTuple):
    """The state of one search for a schedule of ``steps`` steps.

    In shapes, ``wide`` is ``steps``, rounded up to ``LANES``.

    Parameters
    ----------
    steps
        The number of steps.
    option, step
        Shape (deliveries,): the place of every delivery; -1 and ``LATE`` if it is unscheduled.
        Optional deliveries that are not needed are unscheduled.
    followers
        Shape (deliveries,): the number of scheduled deliveries that require this one.
    load
        Shape (resources, wide): uses, of resources with a limit.
    penalty
        Shape (resources, wide): the cost of one more use: the weight of a full cell, else 0.
    weight
        Shape (resources, wide): the weight of each cell, at least 1.
    first_use, next_use, previous_use
        The uses of each cell as doubly linked lists: the first, shape (resources, wide); the next
        and the previous one, shape (deliveries * longest,); -1 at the ends. The k-th use of
        delivery d has the number ``d * longest + k``.
    longest
        The maximal number of uses of an option.
    over, broken
        The overloaded cells (resource * wide + step) and the broken deliveries (missing, or not
        later than what they require).
    weighted_cells
        Cells with a weight above 1.
    break_weight
        Shape (deliveries,): the weight of each delivery when it is broken, at least 1.
    weighted_deliveries
        Deliveries with a weight above 1.
    overload
        Shape (1,): the total overload of all cells.
    tabu
        Shape (deliveries, 2): the step that the delivery left last, and the number of the move
        until which it may not return there.
    """

    steps: int
    option: IntArray
    step: IntArray
    followers: IntArray
    load: IntArray
    penalty: IntArray
    weight: IntArray
    first_use: IntArray
    next_use: IntArray
    previous_use: IntArray
    longest: int
    over: IndexedList
    broken: IndexedList
    weighted_cells: IndexedList
    break_weight: IntArray
    weighted_deliveries: IndexedList
    overload: IntArray
    tabu: LongArray


def new_memory(flat: Flat, steps: int) -> Memory:
    """Return the state of a search in which nothing is scheduled."""
    deliveries, resources = len(flat.required), len(flat.limit)
    wide = -(-steps // LANES) * LANES
    longest = int(np.diff(flat.use_start).max(initial=1))
    cells = (resources, wide)
    penalty = np.zeros(cells, dtype=np.int32)
    penalty[flat.limit == 0] = 1  # full from the start
    return Memory(
        steps=steps,
        option=np.full(deliveries, -1, dtype=np.int32),
        step=np.full(deliveries, LATE, dtype=np.int32),
        followers=np.zeros(deliveries, dtype=np.int32),
        load=np.zeros(cells, dtype=np.int32),
        penalty=penalty,
        weight=np.ones(cells, dtype=np.int32),
        first_use=np.full(cells, -1, dtype=np.int32),
        next_use=np.full(deliveries * longest, -1, dtype=np.int32),
        previous_use=np.full(deliveries * longest, -1, dtype=np.int32),
        longest=longest,
        over=empty_list(resources * wide),
        broken=empty_list(deliveries),
        weighted_cells=empty_list(resources * wide),
        break_weight=np.ones(deliveries, dtype=np.int32),
        weighted_deliveries=empty_list(deliveries),
        overload=np.zeros(1, dtype=np.int32),
        tabu=np.full((deliveries, 2), -1, dtype=np.int64),
    )


@inlined
def int64(number: Any) -> int:
    """Return a number as a 64-bit integer.

    A kernel is compiled, in seconds, for every combination of argument types; 64-bit integers
    everywhere make it one. A plain -1 would have another type.
    """
    wide: Any = np.int64(number)
    return wide


@inlined
def needed(flat: Flat, memory: Memory, delivery: int) -> bool:
    """Return whether a delivery is required, or required by a scheduled one."""
    return flat.required[delivery] or memory.followers[delivery] > 0


@internal
def place(flat: Flat, memory: Memory, delivery: int, option: int, step: int) -> None:
    """Schedule an unscheduled delivery; the caller updates the other deliveries."""
    memory.option[delivery], memory.step[delivery] = option, step
    wide = memory.load.shape[1]
    path = flat.path[option]
    for use in range(flat.use_start[path], flat.use_start[path + 1]):
        resource = flat.use[use]
        limit = flat.limit[resource]
        if limit == NO_LIMIT:
            continue
        at = step_of_use(flat, use, step, memory.steps)
        node = delivery * memory.longest + use - flat.use_start[path]
        first = memory.first_use[resource, at]
        memory.next_use[node], memory.previous_use[node] = first, -1
        if first >= 0:
            memory.previous_use[first] = node
        memory.first_use[resource, at] = node
        load = memory.load[resource, at] + 1
        memory.load[resource, at] = load
        if load == limit:
            memory.penalty[resource, at] = memory.weight[resource, at]
        elif load > limit:
            memory.overload[0] += 1
            if load == limit + 1:
                insert(memory.over, resource * wide + at)


@internal
def displace(flat: Flat, memory: Memory, delivery: int) -> None:
    """Unschedule a delivery; the caller updates the other deliveries."""
    option, step = memory.option[delivery], memory.step[delivery]
    memory.option[delivery], memory.step[delivery] = -1, LATE
    wide = memory.load.shape[1]
    path = flat.path[option]
    for use in range(flat.use_start[path], flat.use_start[path + 1]):
        resource = flat.use[use]
        limit = flat.limit[resource]
        if limit == NO_LIMIT:
            continue
        at = step_of_use(flat, use, step, memory.steps)
        node = delivery * memory.longest + use - flat.use_start[path]
        following, former = memory.next_use[node], memory.previous_use[node]
        if former >= 0:
            memory.next_use[former] = following
        else:
            memory.first_use[resource, at] = following
        if following >= 0:
            memory.previous_use[following] = former
        load = memory.load[resource, at] - 1
        memory.load[resource, at] = load
        if load == limit - 1:
            memory.penalty[resource, at] = 0
        elif load >= limit:
            memory.overload[0] -= 1
            if load == limit:
                drop(memory.over, resource * wide + at)


@internal
def recheck(flat: Flat, memory: Memory, delivery: int) -> None:
    """Update the delivery's membership in the list of broken deliveries."""
    wrong = False
    if memory.option[delivery] < 0:
        wrong = needed(flat, memory, delivery)
    else:
        before = flat.requires[memory.option[delivery]]
        wrong = before >= 0 and memory.step[before] >= memory.step[delivery]
    listed = memory.broken.place[delivery] >= 0
    if wrong and not listed:
        insert(memory.broken, delivery)
    elif listed and not wrong:
        drop(memory.broken, delivery)


@internal
def recheck_followers(flat: Flat, memory: Memory, delivery: int) -> None:
    """Update the membership of all deliveries that require this one."""
    if memory.followers[delivery] == 0:
        return
    for place_ in range(flat.follower_start[delivery], flat.follower_start[delivery + 1]):
        other = int64(flat.follower[place_])
        if memory.option[other] >= 0 and flat.requires[memory.option[other]] == delivery:
            recheck(flat, memory, other)


@internal
def conflicts(memory: Memory) -> int:
    """Return the total overload of all cells plus the number of broken deliveries."""
    return memory.overload[0] + memory.broken.length[0]


@internal
def increase_weights(memory: Memory) -> None:
    """Add 1 to the weights of all overloaded cells and broken deliveries."""
    cells, deliveries = memory.weighted_cells, memory.weighted_deliveries
    wide = memory.load.shape[1]
    for which in range(memory.over.length[0]):
        cell = memory.over.items[which]
        resource, step = cell // wide, cell % wide
        memory.weight[resource, step] += 1
        memory.penalty[resource, step] += 1
        if cells.place[cell] < 0:
            insert(cells, cell)
    for which in range(memory.broken.length[0]):
        delivery = memory.broken.items[which]
        memory.break_weight[delivery] += 1
        if deliveries.place[delivery] < 0:
            insert(deliveries, delivery)


@internal
def decay_weights(memory: Memory) -> None:
    """Subtract 1 from all weights above 1."""
    cells, deliveries = memory.weighted_cells, memory.weighted_deliveries
    wide = memory.load.shape[1]
    which = 0
    while which < cells.length[0]:
        cell = cells.items[which]
        resource, step = cell // wide, cell % wide
        memory.weight[resource, step] -= 1
        if memory.penalty[resource, step] > 0:
            memory.penalty[resource, step] -= 1
        if memory.weight[resource, step] == 1:
            drop(cells, cell)
        else:
            which += 1
    which = 0
    while which < deliveries.length[0]:
        delivery = deliveries.items[which]
        memory.break_weight[delivery] -= 1
        if memory.break_weight[delivery] == 1:
            drop(deliveries, delivery)
        else:
            which += 1
