"""Moves: price all paths and steps of one delivery, and carry out or undo a move.

1. Take a delivery out, with the optional deliveries that only it needs (``take_out``).
2. Price: the cheapest path of a choice, in every step at once, is one pass over the acyclic graph
   of the choice's paths (``price``). If the required delivery is optional and unscheduled, its cost
   is added: the cheapest chain of optional deliveries up to each step, by dynamic programming over
   the steps (``price_family``). The deliveries of a chain are in different steps, so their costs do
   not interact. The weights of the deliveries that would be broken are added as
   well (``price_followers``, ``price_delivery``).
3. Put the delivery back (``put_back``), or into another place with the chain of optional deliveries
   that it needs there, so that a whole multi-hop route is placed in one move (``carry_out``).
"""

from typing import NamedTuple

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.kernels import inlined, internal
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat, in_period, step_of_use
from cchybrid.toolkit.kernels.rng import State, below
from cchybrid.toolkit.tabu_search.memory import (
    Memory,
    displace,
    int64,
    needed,
    place,
    recheck,
    recheck_followers,
)
from cchybrid.toolkit.tabu_search.path_graphs import PathGraphs
from cchybrid.toolkit.usage_matrix import families

NEVER = np.int32(1 << 28)
"""The cost of an impossible place."""


class Scratch(NamedTuple):
    """Working memory of moves; ``wide`` is the number of steps, rounded up to ``LANES``.

    Parameters
    ----------
    value
        Shape (states of the largest graph, wide): the least cost from a state to the end.
    cost, choice
        Shape (wide,): the least cost of the delivery in every step, and its choice.
    follower_cost
        Shape (wide,): the weight of the followers that would be broken if the delivery were in this
        step.
    taken
        Shape (1 + deliveries of a family, 3): removed deliveries: delivery, option and step.
    family, family_start, member
        The family of every delivery, shape (deliveries,), and the members of every family: the
        deliveries that may require each other; ``member`` is empty and the others are zeros unless
        some deliveries are optional.
    local
        Shape (deliveries,): the index of a delivery in its family.
    hold
        Shape (members, wide + 1): the least cost at which the member, with all that it requires, is
        made in an earlier step than this; 0 if it is already.
    member_cost
        Shape (members, wide): the least cost of making a member in a step.
    member_choice
        Shape (members, wide): the choice of that least cost.
    """

    value: IntArray
    cost: IntArray
    choice: IntArray
    follower_cost: IntArray
    taken: LongArray
    family: IntArray
    family_start: LongArray
    member: IntArray
    local: IntArray
    hold: IntArray
    member_cost: IntArray
    member_choice: IntArray


class Parts(NamedTuple):
    """The input of moves: the problem, the graphs of paths, the search, and working memory."""

    flat: Flat
    graphs: PathGraphs
    memory: Memory
    scratch: Scratch


def new_scratch(problem: Problem, graphs: PathGraphs, wide: int) -> Scratch:
    """Return working memory; ``wide`` is the number of steps, rounded up to ``LANES``."""
    deliveries = problem.deliveries
    family = np.zeros(deliveries, dtype=np.int32)
    member = np.zeros(0, dtype=np.int32)
    start = np.zeros(1, dtype=np.int64)
    local = np.zeros(deliveries, dtype=np.int32)
    if not problem.required.all():
        family = np.unique(families(problem), return_inverse=True)[1].astype(np.int32)
        member = np.argsort(family, kind="stable").astype(np.int32)
        start = np.searchsorted(family[member], np.arange(int(family.max()) + 2)).astype(np.int64)
        local[member] = np.arange(deliveries) - start[family[member]]
    largest = int(np.diff(start).max(initial=0))
    states = int(np.diff(graphs.state_start).max(initial=1))
    return Scratch(
        value=np.zeros((states, wide), dtype=np.int32),
        cost=np.zeros(wide, dtype=np.int32),
        choice=np.zeros(wide, dtype=np.int32),
        follower_cost=np.zeros(wide, dtype=np.int32),
        taken=np.zeros((largest + 1, 3), dtype=np.int64),
        family=family,
        family_start=start,
        member=member,
        local=local,
        hold=np.zeros((largest, wide + 1), dtype=np.int32),
        member_cost=np.zeros((largest, wide), dtype=np.int32),
        member_choice=np.zeros((largest, wide), dtype=np.int32),
    )


@inlined
def price(graphs: PathGraphs, memory: Memory, graph: int, value: IntArray) -> int:
    """Fill ``value`` with the least costs to the end of the paths; return the start's row."""
    first, stop = graphs.state_start[graph], graphs.state_start[graph + 1]
    wide = value.shape[1]
    for step in range(wide):
        value[0, step] = 0
    for state in range(first + 1, stop):
        row = state - first
        first_edge = graphs.edge_start[state]
        resource, target = graphs.resource[first_edge], graphs.target[first_edge] - first
        for step in range(wide):
            value[row, step] = memory.penalty[resource, step] + value[target, step]
        for edge in range(first_edge + 1, graphs.edge_start[state + 1]):
            resource, target = graphs.resource[edge], graphs.target[edge] - first
            for step in range(wide):
                cost = memory.penalty[resource, step] + value[target, step]
                value[row, step] = min(value[row, step], cost)
    return stop - 1 - first


@internal
def _price_slots(graphs: PathGraphs, memory: Memory, graph: int, value: IntArray) -> int:
    """Do what ``price`` does, where resources are used some slots after the start."""
    first, stop = graphs.state_start[graph], graphs.state_start[graph + 1]
    steps = memory.steps
    value[0, :] = 0
    for state in range(first + 1, stop):
        row = state - first
        value[row, :] = NEVER
        for edge in range(graphs.edge_start[state], graphs.edge_start[state + 1]):
            resource, target = graphs.resource[edge], graphs.target[edge] - first
            late = graphs.offset[edge] % steps
            for step in range(steps - late):
                cost = memory.penalty[resource, step + late] + value[target, step]
                value[row, step] = min(value[row, step], cost)
            for step in range(steps - late, steps):
                cost = memory.penalty[resource, step + late - steps] + value[target, step]
                value[row, step] = min(value[row, step], cost)
    return stop - 1 - first


@inlined
def _cheapest(graphs: PathGraphs, memory: Memory, value: IntArray, graph: int, step: int) -> int:
    """Return the least cost of a path in one step; the first column of ``value`` is filled."""
    first, stop = graphs.state_start[graph], graphs.state_start[graph + 1]
    late = len(graphs.offset) > 0
    value[0, 0] = 0
    for node in range(first + 1, stop):
        best = int64(NEVER)
        for edge in range(graphs.edge_start[node], graphs.edge_start[node + 1]):
            at = in_period(step + graphs.offset[edge], memory.steps) if late else step
            cost = memory.penalty[graphs.resource[edge], at]
            best = min(best, cost + value[graphs.target[edge] - first, 0])
        value[node - first, 0] = best
    return value[stop - 1 - first, 0]


@internal
def path_at(parts: Parts, choice: int, step: int, state: State) -> int:
    """Return a cheapest option of a choice in a step; ties are broken at random."""
    graphs, memory, scratch = parts.graphs, parts.memory, parts.scratch
    graph = graphs.graph[choice]
    first, stop = graphs.state_start[graph], graphs.state_start[graph + 1]
    value, late = scratch.value, len(graphs.offset) > 0
    _cheapest(graphs, memory, value, graph, step)
    node, number = stop - 1, 0
    while node != first:
        ties, chosen = 0, int64(-1)
        for edge in range(graphs.edge_start[node], graphs.edge_start[node + 1]):
            at = in_period(step + graphs.offset[edge], memory.steps) if late else step
            cost = memory.penalty[graphs.resource[edge], at]
            if cost + value[graphs.target[edge] - first, 0] == value[node - first, 0]:
                ties += 1
                if below(state, ties) == 0:
                    chosen = edge
        number += graphs.before[chosen]
        node = graphs.target[chosen]
    return int64(graphs.first[choice] + graphs.place[graphs.path_start[graph] + number])


@internal
def take_out(flat: Flat, memory: Memory, scratch: Scratch, delivery: int) -> int:
    """Take out a delivery and the optional ones that only it needs; return their number.

    ``scratch.taken`` records them. The list of broken deliveries is not updated.
    """
    count = 0
    while True:
        option, step = int64(memory.option[delivery]), memory.step[delivery]
        scratch.taken[count, 0] = delivery
        scratch.taken[count, 1], scratch.taken[count, 2] = option, step
        count += 1
        if option < 0:
            return count
        displace(flat, memory, delivery)
        before = int64(flat.requires[option])
        if before < 0:
            return count
        memory.followers[before] -= 1
        if needed(flat, memory, before):
            return count
        delivery = before


@internal
def put_in(flat: Flat, memory: Memory, delivery: int, option: int, step: int) -> None:
    """Schedule a delivery and count it as a follower of the one that it requires."""
    place(flat, memory, delivery, option, step)
    if flat.requires[option] >= 0:
        memory.followers[flat.requires[option]] += 1


@internal
def put_back(flat: Flat, memory: Memory, scratch: Scratch, count: int) -> None:
    """Undo ``take_out``."""
    for which in range(count - 1, -1, -1):
        delivery, option = scratch.taken[which, 0], scratch.taken[which, 1]
        if option >= 0:
            put_in(flat, memory, delivery, option, scratch.taken[which, 2])


@internal
def present_cost(flat: Flat, memory: Memory, scratch: Scratch, count: int) -> int:
    """Return the cost of the places that ``take_out`` emptied.

    ``scratch.follower_cost`` has to be filled.
    """
    cost = 0
    delivery, step = scratch.taken[0, 0], scratch.taken[0, 2]
    for which in range(count):
        option, at = scratch.taken[which, 1], scratch.taken[which, 2]
        if option < 0:
            cost += memory.break_weight[scratch.taken[which, 0]]
            continue
        path = flat.path[option]
        for use in range(flat.use_start[path], flat.use_start[path + 1]):
            if flat.limit[flat.use[use]] != NO_LIMIT:
                cost += memory.penalty[flat.use[use], step_of_use(flat, use, at, memory.steps)]
        before = int64(flat.requires[option])
        if before >= 0:
            early = int64(memory.step[before])
            if which + 1 < count:
                early = scratch.taken[which + 1, 2]
            elif before == delivery:
                early = step
            if early >= at:
                cost += memory.break_weight[scratch.taken[which, 0]]
    # An unscheduled delivery is too late for all that require it.
    return cost + scratch.follower_cost[min(step, len(scratch.follower_cost) - 1)]


@internal
def price_followers(flat: Flat, memory: Memory, scratch: Scratch, delivery: int) -> None:
    """Fill ``scratch.follower_cost``: per step, the weight of the followers broken then."""
    follower_cost = scratch.follower_cost
    wide = len(follower_cost)
    follower_cost[:] = 0
    if memory.followers[delivery] == 0:
        return
    for place_ in range(flat.follower_start[delivery], flat.follower_start[delivery + 1]):
        other = flat.follower[place_]
        if memory.option[other] >= 0 and flat.requires[memory.option[other]] == delivery:
            # The step of the follower and later ones are too late.
            follower_cost[memory.step[other]] += memory.break_weight[other]
    for step in range(1, wide):
        follower_cost[step] += follower_cost[step - 1]


@internal
def price_family(parts: Parts, delivery: int) -> None:
    """Fill ``scratch.hold`` for the family of a removed delivery, by dynamic programming."""
    flat, graphs, memory, scratch = parts
    family = scratch.family[delivery]
    first, stop = scratch.family_start[family], scratch.family_start[family + 1]
    wide = scratch.value.shape[1]
    for place_ in range(first, stop):
        other = int64(scratch.member[place_])
        row = place_ - first
        if needed(flat, memory, other) or other == delivery:
            for step in range(wide + 1):
                held = other != delivery and memory.step[other] < step
                scratch.hold[row, step] = 0 if held else NEVER
        else:
            scratch.hold[row, 0] = NEVER
    for step in range(memory.steps):
        for place_ in range(first, stop):
            other = int64(scratch.member[place_])
            row = place_ - first
            if needed(flat, memory, other) or other == delivery:
                continue
            best, chosen = int64(NEVER), int64(-1)
            for choice in range(graphs.choice_start[other], graphs.choice_start[other + 1]):
                before = graphs.requires[choice]
                held = 0 if before < 0 else scratch.hold[scratch.local[before], step]
                if held >= best:
                    continue
                cost = held + _cheapest(graphs, memory, scratch.value, graphs.graph[choice], step)
                if cost < best:
                    best, chosen = cost, choice
            scratch.member_cost[row, step], scratch.member_choice[row, step] = best, chosen
            scratch.hold[row, step + 1] = min(scratch.hold[row, step], best)


@internal
def price_delivery(parts: Parts, delivery: int, state: State) -> None:
    """Fill ``scratch.cost`` and ``scratch.choice`` for a removed delivery.

    Where some deliveries are optional, ``scratch.hold`` is filled first.
    """
    flat, graphs, memory, scratch = parts
    optional = len(scratch.member) > 0
    if optional:
        price_family(parts, delivery)
    cost, chosen, value = scratch.cost, scratch.choice, scratch.value
    wide = len(cost)
    cost[:] = NEVER
    first, stop = graphs.choice_start[delivery], graphs.choice_start[delivery + 1]
    start = below(state, stop - first)
    weight = memory.break_weight[delivery]
    for offset in range(stop - first):
        choice = first + start + offset
        if choice >= stop:
            choice -= stop - first
        if len(graphs.offset):
            row = _price_slots(graphs, memory, graphs.graph[choice], value)
        else:
            row = price(graphs, memory, graphs.graph[choice], value)
        before = int64(graphs.requires[choice])
        if before < 0:
            for step in range(wide):
                if value[row, step] < cost[step]:
                    cost[step], chosen[step] = value[row, step], choice
        elif optional and not needed(flat, memory, before):
            held = scratch.hold[scratch.local[before]]
            for step in range(wide):
                if value[row, step] + held[step] < cost[step]:
                    cost[step], chosen[step] = value[row, step] + held[step], choice
        else:
            late = memory.step[before]
            for step in range(wide):
                price_ = value[row, step] + (weight if step <= late else 0)
                if price_ < cost[step]:
                    cost[step], chosen[step] = price_, choice
    for step in range(memory.steps):
        cost[step] += scratch.follower_cost[step]
    for step in range(memory.steps, wide):
        cost[step] = NEVER


@internal
def carry_out(parts: Parts, delivery: int, choice: int, step: int, state: State) -> None:
    """Schedule a removed delivery in a step, with the optional deliveries that it needs there."""
    flat, _, memory, scratch = parts
    optional = len(scratch.member) > 0
    if optional:
        price_family(parts, delivery)
    current = follower = delivery
    while True:
        option = path_at(parts, choice, step, state)
        before = int64(flat.requires[option])
        needs_required = optional and before >= 0 and not needed(flat, memory, before)
        put_in(flat, memory, current, option, step)
        # Now it is known whether the follower is later than its required delivery.
        recheck(flat, memory, follower)
        if not needs_required:
            break
        follower, current, row = current, before, scratch.local[before]
        latest = step
        if scratch.hold[row, latest] >= NEVER:
            break
        # The earliest step in which the required delivery costs no more.
        step = int64(0)
        while scratch.hold[row, step + 1] > scratch.hold[row, latest]:
            step += 1
        choice = int64(scratch.member_choice[row, step])
    recheck(flat, memory, current)
    recheck_followers(flat, memory, delivery)
