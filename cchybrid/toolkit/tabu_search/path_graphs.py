"""The listed paths of every choice as an acyclic graph: the cheapest is found without a list.

The options of a delivery that require the same delivery form a *choice*. Their paths, as words of
resources, share beginnings and ends; as the smallest automaton that accepts these words they take
a small part of the room (on the 6-cube 720 shortest paths between opposite corners have 192
edges), and the cheapest path in every step at once is one pass over it. The graph is that of the
shortest paths where all of them are listed, and it serves any other list as well, such as that of
a quotient. Words are added in order and states are shared as soon as they are complete (Daciuk,
Mihov, Watson, Watson, "Incremental construction of minimal acyclic finite-state automata",
Computational Linguistics 26, 2000).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, inlined
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat, min_uses

SPREAD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))


class PathGraphs(NamedTuple):
    """The choices of all deliveries and the graphs of their paths.

    Parameters
    ----------
    choice_start
        Shape (deliveries + 1,): the choices of delivery d are ``choice_start[d]`` up to, not
        including, ``choice_start[d + 1]``.
    requires, first, graph
        Shape (choices,): the delivery required or -1, the first option (the others follow), and
        the graph. Choices with the same paths share a graph.
    state_start
        Shape (graphs + 1,): states of graph g, in an order in which edges lead to earlier ones:
        the first is the end of all paths, the last their beginning.
    edge_start
        Shape (states + 1,): edges out of a state.
    resource, target, before
        Shape (edges,): what is used, the state it leads to, and how many of the paths from the
        state come before those over the edge. The sum of ``before`` along a path is its number.
    path_start, place
        Path number n of graph g is that of the option ``first + place[path_start[g] + n]``.
    """

    choice_start: LongArray
    requires: IntArray
    first: IntArray
    graph: IntArray
    state_start: LongArray
    edge_start: LongArray
    resource: IntArray
    target: IntArray
    before: IntArray
    path_start: LongArray
    place: IntArray


def build_graphs(problem: Problem, flat: Flat, farther: int | IntArray, detour: int) -> PathGraphs:
    """Return the graphs of the paths that are not too long.

    Parameters
    ----------
    farther
        Choices whose shortest path has more than so many uses more than the delivery's shortest
        are left out; one number, or one for each delivery.
    detour
        Paths that have more than so many uses more than the shortest of their choice are.
    """
    begins = np.flatnonzero(flat.group_start == np.arange(problem.options, dtype=np.int32))
    stops = flat.group_stop[begins]
    uses = np.diff(flat.use_start)[flat.path]
    shortest = np.minimum.reduceat(uses, begins) if len(begins) else uses
    owner = problem.option_delivery[begins]
    max_uses = min_uses(problem, flat) + farther
    kept = shortest <= max_uses[owner]
    begins, stops, owner, shortest = begins[kept], stops[kept], owner[kept], shortest[kept]
    # Paths of a choice follow each other, so that the first and their number name the list; where
    # they do not (a grown problem), the choice has a graph of its own.
    first, size = flat.path[begins].astype(np.int64), stops - begins
    jumps = np.concatenate([[0], np.cumsum(np.diff(flat.path) != 1)])
    alone = jumps[stops - 1] != jumps[begins]
    key = np.where(alone, -1 - begins, first * (int(size.max(initial=0)) + 1) + size)
    _, found, graph = np.unique(key, return_index=True, return_inverse=True)
    longest = int(np.diff(flat.use_start).max(initial=0))
    listed = _spans(begins[found], size[found])
    many = int(np.diff(flat.use_start)[flat.path[listed]].sum())
    state_start, edge_start, resource, target, before, path_start, place = _build(
        flat, begins[found], stops[found], shortest[found] + detour, longest, len(listed), many
    )
    return PathGraphs(
        choice_start=np.searchsorted(owner, np.arange(problem.deliveries + 1)).astype(np.int64),
        requires=flat.requires[begins],
        first=begins.astype(np.int32),
        graph=graph.astype(np.int32),
        state_start=state_start,
        edge_start=edge_start,
        resource=resource,
        target=target,
        before=before,
        path_start=path_start,
        place=place,
    )


def _spans(first: LongArray, size: LongArray) -> LongArray:
    ends = np.cumsum(size)
    return np.arange(int(size.sum())) + np.repeat(first - ends + size, size)


class _Draft(NamedTuple):
    """Graphs under construction; see ``PathGraphs``, and ``_build`` for the sizes.

    Parameters
    ----------
    paths
        Shape (states,): how many paths lead from a state to the end.
    made
        Shape (2,): the states and the edges so far.
    """

    edge_start: LongArray
    resource: IntArray
    target: IntArray
    before: IntArray
    paths: IntArray
    made: LongArray


STATES, EDGES = 0, 1
"""Places in ``_Draft.made``."""


@compiled
def _build(
    flat: Flat,
    begins: LongArray,
    stops: IntArray,
    max_uses: LongArray,
    longest: int,
    paths_listed: int,
    many: int,
) -> tuple[LongArray, LongArray, IntArray, IntArray, IntArray, LongArray, IntArray]:
    """Build all graphs; ``many`` bounds the number of edges, ``longest`` the length of a word."""
    path_start = np.zeros(len(begins) + 1, dtype=np.int64)
    place = np.empty(paths_listed, dtype=np.int32)
    kept = 0
    state_start = np.zeros(len(begins) + 1, dtype=np.int64)
    draft = _Draft(
        np.zeros(many + len(begins) + 2, dtype=np.int64),
        np.empty(many, dtype=np.int32),
        np.empty(many, dtype=np.int32),
        np.empty(many, dtype=np.int32),
        np.zeros(many + len(begins) + 1, dtype=np.int32),
        np.zeros(2, dtype=np.int64),
    )
    # The states along the last word are open: their edges are not complete yet.
    open_edges = np.zeros(longest + 2, dtype=np.int32)
    widest = 64
    open_resource = np.empty((longest + 2, widest), dtype=np.int32)
    open_target = np.empty((longest + 2, widest), dtype=np.int32)
    word = np.empty(longest + 1, dtype=np.int32)
    last = np.empty(longest + 1, dtype=np.int32)
    few = np.empty(1024, dtype=np.int32)
    for graph in range(len(begins)):
        slots = few
        slots[:] = -1
        end = draft.made[STATES]
        state_start[graph] = end
        _add_state(draft, open_resource, open_target, 0, 0)
        draft.paths[end] = 1
        open_edges[:] = 0
        length = 0
        for option in range(begins[graph], stops[graph] + 1):
            # One round more than there are words closes the last of them.
            letters = 0
            common = 0
            if option < stops[graph]:
                path = flat.path[option]
                if flat.use_start[path + 1] - flat.use_start[path] > max_uses[graph]:
                    continue
                place[kept] = option - begins[graph]
                kept += 1
                letters = _read_word(flat, path, word)
                # No word ends where another goes on, nor where one has ended: such ones branch off
                # before their last letter, so that every word keeps an end of its own.
                while common < min(letters, length) - 1 and word[common] == last[common]:
                    common += 1
            for depth in range(length, common, -1):
                # Close the state after ``depth`` letters: share it with an equal one.
                state = end
                if depth < length:
                    count = open_edges[depth]
                    slot = _find(draft, slots, open_resource, open_target, depth, count)
                    state = np.int64(slots[slot])
                    if state < 0:
                        state = draft.made[STATES]
                        slots[slot] = state
                        _add_state(draft, open_resource, open_target, depth, count)
                        if 2 * (state - end) >= len(slots):
                            slots = _widened(draft, len(slots), end)
                    open_edges[depth] = 0
                edge = open_edges[depth - 1]
                if edge == widest:
                    open_resource = np.concatenate((open_resource, open_resource), axis=1)
                    open_target = np.concatenate((open_target, open_target), axis=1)
                    widest *= 2
                open_resource[depth - 1, edge] = last[depth - 1]
                open_target[depth - 1, edge] = state
                open_edges[depth - 1] = edge + 1
            length = letters
            for letter in range(letters):
                last[letter] = word[letter]
        _add_state(draft, open_resource, open_target, 0, open_edges[0])
        path_start[graph + 1] = kept
    states, total = draft.made[STATES], draft.made[EDGES]
    state_start[len(begins)] = states
    return (
        state_start,
        draft.edge_start[: states + 1].copy(),
        draft.resource[:total].copy(),
        draft.target[:total].copy(),
        draft.before[:total].copy(),
        path_start,
        place[:kept].copy(),
    )


@inlined
def _read_word(flat: Flat, path: int, word: IntArray) -> int:
    """Write the resources of a path into ``word``, those with a limit; return how many."""
    letters = 0
    for use in range(flat.use_start[path], flat.use_start[path + 1]):
        if flat.limit[flat.use[use]] != NO_LIMIT:
            word[letters] = flat.use[use]
            letters += 1
    return letters


@inlined
def _add_state(
    draft: _Draft, open_resource: IntArray, open_target: IntArray, depth: int, count: int
) -> None:
    """Add the open state after ``depth`` letters, which has ``count`` edges."""
    resource, target, before, paths = draft.resource, draft.target, draft.before, draft.paths
    state, edge, total = draft.made[STATES], draft.made[EDGES], 0
    for number in range(count):
        resource[edge], target[edge] = open_resource[depth, number], open_target[depth, number]
        before[edge] = total
        total += paths[target[edge]]
        edge += 1
    draft.paths[state] = total
    draft.edge_start[state + 1] = edge
    draft.made[STATES], draft.made[EDGES] = state + 1, edge


@inlined
def _find(
    draft: _Draft,
    slots: IntArray,
    open_resource: IntArray,
    open_target: IntArray,
    depth: int,
    count: int,
) -> int:
    """Return the slot of a state that equals the open one, or the free slot where it belongs."""
    mixed: Any = np.int64(count)
    for edge in range(count):
        mixed = _mix(mixed, open_resource[depth, edge], open_target[depth, edge])
    edge_start, resource, target = draft.edge_start, draft.resource, draft.target
    slot: int = (mixed >> 17) & (len(slots) - 1)
    while slots[slot] >= 0:
        first = edge_start[slots[slot]]
        same = edge_start[slots[slot] + 1] - first == count
        edge = 0
        while same and edge < count:
            same = (
                resource[first + edge] == open_resource[depth, edge]
                and target[first + edge] == open_target[depth, edge]
            )
            edge += 1
        if same:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inlined
def _mix(mixed: Any, resource: int, target: int) -> Any:
    mixed = (mixed ^ resource) * SPREAD
    return (mixed ^ (mixed >> 29) ^ target) * SPREAD


@compiled
def _widened(draft: _Draft, size: int, end: int) -> IntArray:
    """Return a table of four times as many slots, with the states after ``end`` in it."""
    slots = np.full(4 * size, -1, dtype=np.int32)
    for state in range(end + 1, draft.made[STATES]):
        first, stop = draft.edge_start[state], draft.edge_start[state + 1]
        mixed = np.int64(stop - first)
        for edge in range(first, stop):
            mixed = _mix(mixed, draft.resource[edge], draft.target[edge])
        slot = (mixed >> 17) & (len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = state
    return slots
