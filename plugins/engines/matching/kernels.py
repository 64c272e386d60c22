"""Kernels: one schedule by matching messages to links in every step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat, has_optional
from cchybrid.toolkit.kernels.rng import State, uniform

from .chains import Candidates, Chains, Filling, insert, is_possible


class Tables(NamedTuple):
    """The options of one hop of a Problem, with its deliveries in groups.

    Parameters
    ----------
    flat
        The Problem with options of one hop only.
    group_start, member
        The deliveries of group g are ``member[group_start[g] : group_start[g + 1]]``. Deliveries
        of different groups share no limited resource. Where only channels have limits, a group is
        a receiver.
    message
        Shape (deliveries,): the same number for deliveries that are connected by requirements:
        usually those of one message.
    receiver
        Shape (deliveries,): the acceptance ports of the receiver, 0 where there is no option.
    """

    flat: Flat
    group_start: LongArray
    member: IntArray
    message: IntArray
    receiver: IntArray


@compiled
def match(
    tables: Tables,
    weight: NDArray[np.float64],
    steps: int,
    option: IntArray,
    step: IntArray,
    stop: BoolArray,
    state: State,
) -> int:
    """Make a schedule of at most ``steps`` steps; return the required deliveries left unmade.

    In every step and group, deliveries whose message is at a neighbour are made in descending order
    of weight, each if a chain of changes of options makes room for it.

    Parameters
    ----------
    weight
        Shape (4,): factors of the deliveries that depend on a delivery, of the copies of its
        message in the network (subtracted), of the required deliveries that its receiver lacks,
        and of a random number below 1.
    option, step
        Shape (deliveries,): overwritten; -1 for deliveries that are not made.
    """
    flat, group_start, member, message, receiver = tables
    deliveries = len(option)
    option[:] = -1
    step[:] = -1
    row = np.empty(len(flat.limit), dtype=np.int32)
    copies = np.zeros(deliveries, dtype=np.int32)
    pending = member.copy()
    pending_stop = group_start[1:].copy()
    value = np.empty(deliveries)
    resources = len(flat.limit)
    chains = Chains(
        np.empty(resources, dtype=np.int32),
        np.empty(resources, dtype=np.int32),
        np.empty(resources, dtype=np.int32),
        np.empty(resources, dtype=np.int32),
        np.empty(resources, dtype=np.int32),
        np.zeros(resources, dtype=np.int32),
        np.zeros(deliveries, dtype=np.int32),
        np.full(resources, -1, dtype=np.int32),
    )
    seen = np.zeros(deliveries, dtype=np.int64)
    heap = np.empty(deliveries, dtype=np.int32)
    placed = np.empty(deliveries, dtype=np.int32)
    first = np.empty(resources, dtype=np.int32)
    following = np.empty(deliveries, dtype=np.int32)
    candidates = Candidates(receiver, first, following, placed)
    behind = np.zeros(deliveries, dtype=np.int32)
    hops = has_optional(flat.required)
    lacking = np.zeros(resources, dtype=np.int32)
    missing = 0
    for delivery in range(deliveries):
        missing += flat.required[delivery]
        lacking[receiver[delivery]] += flat.required[delivery]
    search = 0
    for now in range(steps):
        if missing == 0:
            return 0
        row[:] = 0
        filling = Filling(now, option, step, row, chains)
        if hops:
            _count_behind(flat, now, step, behind, seen, heap, stop)
        made = 0
        for group in range(len(pending_stop)):
            size, kept = 0, group_start[group]
            for place in range(group_start[group], pending_stop[group]):
                delivery = pending[place]
                if step[delivery] >= 0:
                    continue
                pending[kept] = delivery
                kept += 1
                if not _is_ready(flat, delivery, now, step):
                    continue
                if not hops:
                    behind[delivery] = _lacking(flat, delivery, step)
                elif behind[delivery] == 0:
                    continue
                value[delivery] = (
                    weight[0] * behind[delivery]
                    - weight[1] * copies[message[delivery]]
                    + weight[2] * lacking[receiver[delivery]]
                    + weight[3] * uniform(state)
                )
                heap[size] = delivery
                size += 1
            pending_stop[group] = kept
            sort(heap, size, value)
            # The candidates of every receiver, the largest value first.
            for place in range(size):
                first[receiver[heap[place]]] = -1
            for place in range(size):
                delivery = heap[place]
                following[delivery] = first[receiver[delivery]]
                first[receiver[delivery]] = delivery
            number = 0
            for place in range(size - 1, -1, -1):
                if stop[0]:
                    return missing
                search += 1
                delivery = heap[place]
                accept = receiver[delivery]
                if row[accept] >= flat.capacity[accept]:
                    continue
                if option[delivery] < 0 and insert(
                    flat, filling, candidates, delivery, number, search
                ):
                    placed[number] = delivery
                    number += 1
            for place in range(number):
                delivery = placed[place]
                step[delivery] = now
                copies[message[delivery]] += 1
                missing -= flat.required[delivery]
                lacking[receiver[delivery]] -= flat.required[delivery]
            made += number
        if made == 0:
            return missing
    return missing


@internal
def _is_ready(flat: Flat, delivery: int, now: int, step: IntArray) -> bool:
    """Return whether some option of a delivery is possible in a step."""
    for option in range(flat.option_start[delivery], flat.option_start[delivery + 1]):
        if is_possible(flat, option, now, step):
            return True
    return False


@internal
def _lacking(flat: Flat, delivery: int, step: IntArray) -> int:
    """Count the deliveries not yet made that a delivery enables."""
    count = 0
    for place in range(flat.follower_start[delivery], flat.follower_start[delivery + 1]):
        count += step[flat.follower[place]] < 0
    return count


@internal
def _count_behind(
    flat: Flat,
    now: int,
    step: IntArray,
    behind: IntArray,
    seen: LongArray,
    queue: IntArray,
    stop: BoolArray,
) -> None:
    """Count, per ready delivery, the required ones whose shortest chains begin with it.

    Breadth-first search from every unmade required delivery, backwards over requirements, up to the
    nearest ready deliveries.

    Parameters
    ----------
    behind
        Shape (deliveries,): overwritten.
    """
    deliveries = len(step)
    behind[:] = 0
    for goal in range(deliveries):
        if stop[0]:
            return
        if not flat.required[goal] or step[goal] >= 0:
            continue
        search = now * deliveries + goal + 1
        queue[0] = goal
        seen[goal] = search
        head, tail, level_stop, found = 0, 1, 1, False
        while head < tail:
            delivery = queue[head]
            head += 1
            if _is_ready(flat, delivery, now, step):
                behind[delivery] += 1
                found = True
            first = flat.option_start[delivery]
            # A ready delivery ends the search; it may have options that require none (-1).
            last = first if found else flat.option_start[delivery + 1]
            for option in range(first, last):
                before = flat.requires[option]
                if seen[before] != search:
                    seen[before] = search
                    queue[tail] = before
                    tail += 1
            if head == level_stop:
                if found:
                    break
                level_stop = tail


@internal
def sort(heap: IntArray, size: int, value: NDArray[np.float64]) -> None:
    """Sort the first entries by ascending value (heapsort; Williams 1964)."""
    for top in range(size // 2 - 1, -1, -1):
        _sift(heap, size, top, value)
    for last in range(size - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        _sift(heap, last, 0, value)


@internal
def _sift(heap: IntArray, size: int, top: int, value: NDArray[np.float64]) -> None:
    """Move an entry of a heap down to its place; the largest value comes first."""
    while 2 * top + 1 < size:
        child = 2 * top + 1
        if child + 1 < size and value[heap[child + 1]] > value[heap[child]]:
            child += 1
        if value[heap[top]] >= value[heap[child]]:
            return
        heap[top], heap[child] = heap[child], heap[top]
        top = child
