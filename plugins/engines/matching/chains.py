"""Kernels that make a delivery in a step by chains of changes of options (augmenting paths)."""

from typing import NamedTuple

from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.kernels import inlined, internal
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat
from cchybrid.toolkit.kernels.occupancy import add, fits, remove


class Chains(NamedTuple):
    """The arrays of a search for a chain of changes of options.

    Parameters
    ----------
    option, taker, place, bottleneck, parent
        Shape (resources,): the queue. An option that does not fit, its delivery, the place in
        ``placed`` of the delivery that leaves its option for it (the same delivery or another one
        of this receiver; -1 for none), a full resource, and the entry of the queue for which this
        makes room.
    seen_resource, seen_delivery
        Shape (resources,) and (deliveries,): the number of the last search that saw each.
    closed
        Shape (resources,): the last step in which a search from each failed.
    """

    option: IntArray
    taker: IntArray
    place: IntArray
    bottleneck: IntArray
    parent: IntArray
    seen_resource: IntArray
    seen_delivery: IntArray
    closed: IntArray


@inlined
def is_possible(flat: Flat, option: int, now: int, step: IntArray) -> bool:
    """Return whether the sender of an option has the message since an earlier step."""
    before = flat.requires[option]
    return bool(before < 0 or 0 <= step[before] < now)


class Filling(NamedTuple):
    """A step that is being filled.

    Parameters
    ----------
    now
        The step.
    option, step
        Shape (deliveries,): the schedule so far.
    row
        Shape (resources,): the loads of the step.
    chains
        Working memory.
    """

    now: int
    option: IntArray
    step: IntArray
    row: IntArray
    chains: Chains


class Candidates(NamedTuple):
    """The deliveries that can be made, and those that are made in a step.

    Parameters
    ----------
    receiver
        As in ``Tables``.
    first, following
        The candidates of a receiver: ``first[receiver]``, and the one that follows each, -1 at the
        end.
    placed
        Shape (deliveries,): the deliveries made in this step; some may be replaced.
    """

    receiver: IntArray
    first: IntArray
    following: IntArray
    placed: IntArray


@internal
def insert(
    flat: Flat, filling: Filling, candidates: Candidates, delivery: int, number: int, search: int
) -> bool:
    """Make a delivery in a step, if other deliveries of the step can change options to make room.

    Breadth-first search for an augmenting path: an option that does not fit is queued with its
    bottleneck; each user of the bottleneck may take another option. Where acceptance ports are
    limited, another delivery of the same receiver may take its place, so that as many receivers as
    possible are served. A chain whose changes do not fit one after another is given up.

    Parameters
    ----------
    filling
        ``option`` is changed for the delivery and for those that make room, ``row`` with it.
    number
        The deliveries made in this step are ``placed[:number]``.
    search
        A number above those of earlier searches.
    """
    option, row, chains = filling.option, filling.row, filling.chains
    placed = candidates.placed
    tail = _try_options(flat, filling, delivery, -1, -1, 0, search)
    if tail < 0:
        return True
    head = 0
    while head < tail:
        bottleneck = chains.bottleneck[head]
        for place in range(number):
            user = placed[place]
            path = flat.path[option[user]]
            if chains.seen_delivery[user] == search or not _uses(flat, path, bottleneck):
                continue
            chains.seen_delivery[user] = search
            remove(flat, row, path)
            taker = user
            tail = _try_options(flat, filling, taker, place, head, tail, search)
            receiver = candidates.receiver[user]
            if tail >= 0 and flat.limit[receiver] != NO_LIMIT:
                other = candidates.first[receiver]
                while other >= 0 and tail >= 0:
                    if option[other] < 0 and other != delivery:
                        taker = other
                        tail = _try_options(flat, filling, taker, place, head, tail, search)
                    other = candidates.following[other]
            if tail < 0:
                if taker != user:
                    option[user] = -1
                    placed[place] = taker
                return _change_options(flat, filling, placed, head)
            add(flat, row, path)
        head += 1
    # What a failed search has seen leads nowhere in this step.
    for entry in range(tail):
        chains.closed[chains.bottleneck[entry]] = filling.now
    return False


@internal
def _try_options(
    flat: Flat, filling: Filling, taker: int, place: int, parent: int, tail: int, search: int
) -> int:
    """Take an option that fits, and return -1; else queue all, and return the end of the queue."""
    now, option, row, chains = filling.now, filling.option, filling.row, filling.chains
    for candidate in range(flat.option_start[taker], flat.option_start[taker + 1]):
        if candidate == option[taker] or not is_possible(flat, candidate, now, filling.step):
            continue
        path = flat.path[candidate]
        if parent >= 0 and _uses(flat, path, chains.bottleneck[parent]):
            continue  # makes no room
        if fits(flat, row, path):
            option[taker] = candidate
            return -1
        bottleneck = _bottleneck(flat, row, path)
        if (
            bottleneck >= 0
            and chains.seen_resource[bottleneck] != search
            and chains.closed[bottleneck] != now
        ):
            chains.seen_resource[bottleneck] = search
            chains.option[tail] = candidate
            chains.taker[tail] = taker
            chains.place[tail] = place
            chains.bottleneck[tail] = bottleneck
            chains.parent[tail] = parent
            tail += 1
    return tail


@internal
def _change_options(flat: Flat, filling: Filling, placed: IntArray, entry: int) -> bool:
    """Change options from an entry of the queue to its start; return whether all fit."""
    option, row, chains = filling.option, filling.row, filling.chains
    while entry >= 0:
        taker, place = chains.taker[entry], chains.place[entry]
        leaver = placed[place] if place >= 0 else -1
        if taker != leaver and option[taker] >= 0:
            return False  # made already, at another place of this chain
        if leaver >= 0:
            remove(flat, row, flat.path[option[leaver]])
        if not fits(flat, row, flat.path[chains.option[entry]]):
            if leaver >= 0:
                add(flat, row, flat.path[option[leaver]])
            return False
        if leaver >= 0:
            option[leaver] = -1
            placed[place] = taker
        option[taker] = chains.option[entry]
        entry = chains.parent[entry]
    return True


@internal
def _bottleneck(flat: Flat, row: IntArray, path: int) -> int:
    """Return the last full resource of a path, -1 if its receiver accepts no more in this step.

    The channel comes after the injection port: its users make room at both.
    """
    found = -1
    accept = flat.accept[path]
    for place in range(flat.limited_start[path], flat.limited_start[path + 1]):
        resource = flat.limited[place]
        if row[resource] >= flat.limit[resource]:
            if resource == accept:
                return -1
            found = resource
    return found


@internal
def _uses(flat: Flat, path: int, resource: int) -> bool:
    """Return whether a path uses a limited resource."""
    for place in range(flat.limited_start[path], flat.limited_start[path + 1]):
        if flat.limited[place] == resource:
            return True
    return False
