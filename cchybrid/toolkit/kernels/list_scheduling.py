"""Kernels of list scheduling in ticks: at every event, free paths send what suits them best."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, shuffle

Numbers = NDArray[np.float64]
NEVER = 1 << 62


class Tables(NamedTuple):
    """A Problem in ticks, for kernels.

    Parameters
    ----------
    option_start, requires, path, owner
        ``option_start``, ``option_requires``, ``option_path`` and ``option_delivery``.
    use_start, use, offset
        Of every path the resources of limited capacity that it uses, and the ticks before.
    length, duration
        ``path_length`` and ``path_duration``.
    slot_start
        Every resource has a slot for each use at a time: from ``slot_start[r]`` up to, not
        including, ``slot_start[r + 1]``.
    listed_start, listed
        The options of every path.
    message
        Shape (deliveries,): a number for each message, from 0.
    member_start, member
        The deliveries of every message.
    """

    option_start: LongArray
    requires: IntArray
    path: IntArray
    owner: IntArray
    use_start: LongArray
    use: IntArray
    offset: LongArray
    length: LongArray
    duration: LongArray
    slot_start: LongArray
    listed_start: LongArray
    listed: IntArray
    message: IntArray
    member_start: LongArray
    member: IntArray


@internal
def free_at(tables: Tables, path: int, free: LongArray) -> int:
    """Return the first tick from which a path can be used."""
    first = 0
    for use in range(tables.use_start[path], tables.use_start[path + 1]):
        resource = tables.use[use]
        earliest = NEVER
        for slot in range(tables.slot_start[resource], tables.slot_start[resource + 1]):
            earliest = min(earliest, free[slot])
        first = max(first, earliest - tables.offset[use])
    return first


@internal
def occupy(tables: Tables, path: int, tick: int, free: LongArray) -> None:
    """Use a path from a tick on."""
    for use in range(tables.use_start[path], tables.use_start[path + 1]):
        resource = tables.use[use]
        best = tables.slot_start[resource]
        for slot in range(best, tables.slot_start[resource + 1]):
            # Of the slots that are free, the one that has been free for the shortest time.
            late, chosen = free[slot] > tick + tables.offset[use], free[best]
            if not late and (chosen > tick + tables.offset[use] or free[slot] > chosen):
                best = slot
        free[best] = tick + tables.offset[use] + tables.length[path]


@compiled
def dispatch(
    tables: Tables,
    useful: BoolArray,
    urgency: Numbers,
    key: Numbers,
    weight: Numbers,
    order: IntArray,
    limit: int,
    arrival: LongArray,
    option: IntArray,
    stop: BoolArray,
) -> int:
    """Make a schedule, tick by tick; return its ticks, or ``limit`` if it would have as many.

    Whenever a path is free, it sends the message of the largest score that its first node has and
    its last one lacks. The score is ``weight[0]`` times the urgency of the delivery, minus
    ``weight[1]`` times the number of nodes that have the message, plus the key of the option. With
    ``weight[2]`` above 0 a path does not send what another one is expected to bring earlier.

    Parameters
    ----------
    useful
        Shape (deliveries,): those to be made.
    order
        The paths in the order in which they send.
    limit
        Ticks from which on a schedule is of no use.
    arrival, option
        Shape (deliveries,), overwritten: the first tick in which the receiver can send, ``NEVER``
        if none, and the option.
    stop
        Shape (1,): another thread sets this to end early.
    """
    arrival[:] = NEVER
    option[:] = -1
    free = np.zeros(tables.slot_start[-1], dtype=np.int64)
    copies = np.zeros(len(arrival) + 1, dtype=np.int64)
    listed = tables.listed.copy()
    count = np.diff(tables.listed_start)
    left = 0
    for each in useful:
        left += each
    events = [0]
    now, last = -1, 0
    while left > 0:
        if len(events) == 0 or stop[0]:
            return limit
        tick = heappop(events)
        if tick == now:
            continue
        now = tick
        if now >= limit:
            return limit
        for place in range(len(order)):
            path = order[place]
            while count[path] > 0 and free_at(tables, path, free) <= now:
                end = now + tables.duration[path]
                best, score = -1, -np.inf
                slot, first = 0, tables.listed_start[path]
                while slot < count[path]:
                    each = listed[first + slot]
                    delivery, before = tables.owner[each], tables.requires[each]
                    if arrival[delivery] < NEVER or not useful[delivery]:
                        count[path] -= 1
                        listed[first + slot] = listed[first + count[path]]
                        continue
                    slot += 1
                    if before >= 0 and arrival[before] > now:
                        continue
                    own = weight[0] * urgency[delivery] + key[each]
                    own -= weight[1] * copies[tables.message[delivery]]
                    if own > score and not (
                        weight[2] > 0 and is_earlier(tables, delivery, end, now, arrival, free)
                    ):
                        best, score = each, own
                if best < 0 or end >= limit:
                    break
                delivery = tables.owner[best]
                arrival[delivery], option[delivery] = end, best
                copies[tables.message[delivery]] += 1
                occupy(tables, path, now, free)
                left -= 1
                last = max(last, end)
                heappush(events, end)
                for use in range(tables.use_start[path], tables.use_start[path + 1]):
                    heappush(events, now + tables.offset[use] + tables.length[path])
                    if tables.offset[use] > 0:
                        heappush(events, now + tables.length[path])
    return last


@internal
def is_earlier(
    tables: Tables, delivery: int, end: int, now: int, arrival: LongArray, free: LongArray
) -> bool:
    """Return whether an option of a delivery is expected to end before a tick."""
    for each in range(tables.option_start[delivery], tables.option_start[delivery + 1]):
        path, before = tables.path[each], tables.requires[each]
        start = now if before < 0 else max(now, arrival[before])
        if start + tables.duration[path] < end:
            start = max(start, free_at(tables, path, free))
            if start + tables.duration[path] < end:
                return True
    return False


@compiled
def choose_chains(
    tables: Tables,
    order: IntArray,
    slow: Numbers,
    sweeps: int,
    required: BoolArray,
    chosen: LongArray,
    useful: BoolArray,
    height: Numbers,
    state: State,
) -> bool:
    """Choose for each required delivery a chain of options that brings it, by the loads of all.

    The chains of one message after another are chosen anew, each the cheapest one: a path costs its
    ticks, and for every resource its length times a power of the load that others leave there.

    Parameters
    ----------
    order
        The messages.
    slow
        Shape (paths,): the weight of the ticks of each path.
    chosen, useful, height
        Shape (deliveries,), overwritten: the option of each delivery, whether it is in a chain, and
        the ticks of the longest chain that begins with it, without its own.
    state
        The state of random numbers.

    Returns
    -------
    bool
        Whether every required delivery has a chain.
    """
    resources = len(tables.slot_start) - 1
    load = np.zeros(resources)
    price = np.zeros(resources)
    distance = np.empty(len(required))
    useful[:] = False
    for _ in range(sweeps):
        peak = 1e-9
        for resource in range(resources):
            peak = max(peak, load[resource] / slots_of(tables, resource))
        for resource in range(resources):
            price[resource] = price_of(tables, load, resource, peak)
        for message in order:
            first, last = tables.member_start[message], tables.member_start[message + 1]
            for place in range(first, last):
                delivery = tables.member[place]
                if useful[delivery]:
                    add_load(tables, tables.path[chosen[delivery]], -1, load, price, peak)
                distance[delivery], chosen[delivery], useful[delivery] = np.inf, -1, False
                height[delivery] = 0.0
            changed = True
            while changed:
                changed = False
                for place in range(first, last):
                    delivery = tables.member[place]
                    for each in range(
                        tables.option_start[delivery], tables.option_start[delivery + 1]
                    ):
                        before, path = tables.requires[each], tables.path[each]
                        total = 0.0 if before < 0 else distance[before]
                        if total + slow[path] >= distance[delivery]:
                            continue
                        total += slow[path]
                        for use in range(tables.use_start[path], tables.use_start[path + 1]):
                            total += tables.length[path] * price[tables.use[use]]
                        if total < distance[delivery]:
                            distance[delivery], chosen[delivery], changed = total, each, True
            for place in range(first, last):
                delivery = tables.member[place]
                if not required[delivery]:
                    continue
                if chosen[delivery] < 0:
                    return False
                ahead = 0.0
                while delivery >= 0 and not (useful[delivery] and height[delivery] >= ahead):
                    path = tables.path[chosen[delivery]]
                    if not useful[delivery]:
                        useful[delivery] = True
                        add_load(tables, path, 1, load, price, peak)
                    height[delivery] = max(height[delivery], ahead)
                    ahead = height[delivery] + tables.duration[path]
                    delivery = tables.requires[chosen[delivery]]
        # Another order in the next sweep.
        shuffle(order, state)
    return True


@internal
def slots_of(tables: Tables, resource: int) -> int:
    """Return the number of slots of a resource, at least 1."""
    return max(1, tables.slot_start[resource + 1] - tables.slot_start[resource])


@internal
def price_of(tables: Tables, load: Numbers, resource: int, peak: float) -> float:
    """Return the price of a tick of a resource, given its load and the largest one."""
    share = load[resource] / (slots_of(tables, resource) * peak)
    return share * share * share * share


@internal
def add_load(
    tables: Tables, path: int, sign: int, load: Numbers, price: Numbers, peak: float
) -> None:
    """Add the ticks of a path to the loads of its resources, or subtract them."""
    for use in range(tables.use_start[path], tables.use_start[path + 1]):
        resource = tables.use[use]
        load[resource] += sign * tables.length[path]
        price[resource] = price_of(tables, load, resource, peak)
