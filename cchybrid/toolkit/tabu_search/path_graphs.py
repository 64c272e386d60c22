"""The listed paths of every choice as an acyclic graph, over which the cheapest path is found fast.

The options of a delivery that require the same delivery form a *choice*. Their paths are words over
the alphabet of resources, with common prefixes and suffixes. The minimal acyclic automaton of these
words is much smaller than the list (on the 6-cube, 720 shortest paths between opposite corners have
192 edges), and the cheapest path, in every step at once, is one pass over it. It works for any list
of paths, such as that of a quotient.

Words are added in the order of the options, and a state is shared as soon as it is complete. Where
that order is not lexicographic, equal prefixes that are not adjacent stay apart: the graph is then
correct, but not minimal.

References
----------
J. Daciuk, S. Mihov, B. W. Watson, R. E. Watson, "Incremental construction of minimal acyclic
finite-state automata", Computational Linguistics 26, 2000. doi:10.1162/089120100561601
"""

from typing import Any, NamedTuple

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import NO_OFFSETS, IntArray, LongArray
from cchybrid.problem.ragged import within
from cchybrid.toolkit.kernels import compiled, inlined
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat, min_uses

SPREAD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
"""Odd multiplier of the hash function."""


class PathGraphs(NamedTuple):
    """The choices of all deliveries and the graphs of their paths.

    Parameters
    ----------
    choice_start
        Shape (deliveries + 1,): the choices of delivery d are ``choice_start[d]`` up to, not
        including, ``choice_start[d + 1]``.
    requires, first, graph
        Shape (choices,): the delivery required or -1, the first option (the others follow), and
        the graph. Choices with the same paths share one.
    state_start
        Shape (graphs + 1,): the states of graph g in reverse topological order: the first is the
        end of all paths, the last their start.
    edge_start
        Shape (states + 1,): the edges out of a state.
    resource, offset, target, before
        Shape (edges,): the resource used, how many steps after the start (shape (0,) where always
        at the start), the state reached, and how many of the paths from the
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
    offset: IntArray
    target: IntArray
    before: IntArray
    path_start: LongArray
    place: IntArray


def build_graphs(
    problem: Problem, flat: Flat, choice_excess: int | IntArray, path_excess: int
) -> PathGraphs:
    """Return the graphs of all paths within the given lengths.

    Parameters
    ----------
    choice_excess
        Uses by which the shortest path of a choice may exceed the delivery's shortest; longer
        choices are excluded. One number, or one per delivery.
    path_excess
        Uses by which a path may exceed the shortest of its choice; longer paths are excluded.
    """
    begins = np.flatnonzero(flat.group_start == np.arange(problem.options, dtype=np.int32))
    stops = flat.group_stop[begins]
    uses = np.diff(flat.use_start)[flat.path]
    shortest = np.minimum.reduceat(uses, begins) if len(begins) else uses
    owner = problem.option_delivery[begins]
    max_uses = min_uses(problem, flat) + choice_excess
    kept = shortest <= max_uses[owner]
    if problem.periodic:
        kept &= flat.requires[begins] < 0
    begins, stops, owner, shortest = begins[kept], stops[kept], owner[kept], shortest[kept]
    # The paths of a choice are consecutive, so the first path and their number identify the list;
    # where they are not (in a grown problem), the choice gets a graph of its own.
    first, size = flat.path[begins].astype(np.int64), stops - begins
    jumps = np.concatenate([[0], np.cumsum(np.diff(flat.path) != 1)])
    alone = jumps[stops - 1] != jumps[begins]
    key = np.where(alone, -1 - begins, first * (int(size.max(initial=0)) + 1) + size)
    _, found, graph = np.unique(key, return_index=True, return_inverse=True)
    longest = int(np.diff(flat.use_start).max(initial=0))
    listed = within(size[found]) + np.repeat(begins[found], size[found])
    max_edges = int(np.diff(flat.use_start)[flat.path[listed]].sum())
    lists = begins[found], stops[found], shortest[found] + path_excess
    state_start, edge_start, resource, target, before, path_start, place = _build(
        flat, *lists, longest, len(listed), max_edges
    )
    offset, resource = np.divmod(resource, np.int32(len(flat.limit)))
    return PathGraphs(
        choice_start=np.searchsorted(owner, np.arange(problem.deliveries + 1)).astype(np.int64),
        requires=flat.requires[begins],
        first=begins.astype(np.int32),
        graph=graph.astype(np.int32),
        state_start=state_start,
        edge_start=edge_start,
        resource=resource,
        offset=offset if problem.periodic else NO_OFFSETS,
        target=target,
        before=before,
        path_start=path_start,
        place=place,
    )


class _Draft(NamedTuple):
    """Graphs under construction; see ``PathGraphs``, and ``_build`` for the sizes.

    Parameters
    ----------
    paths
        Shape (states,): the number of paths from a state to the end.
    made
        Shape (2,): the numbers of states and edges so far.
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
    max_edges: int,
) -> tuple[LongArray, LongArray, IntArray, IntArray, IntArray, LongArray, IntArray]:
    """Build all graphs, of at most ``max_edges`` edges, of words of at most ``longest`` letters."""
    path_start = np.zeros(len(begins) + 1, dtype=np.int64)
    place = np.empty(paths_listed, dtype=np.int32)
    kept = 0
    state_start = np.zeros(len(begins) + 1, dtype=np.int64)
    draft = _Draft(
        np.zeros(max_edges + len(begins) + 2, dtype=np.int64),
        np.empty(max_edges, dtype=np.int32),
        np.empty(max_edges, dtype=np.int32),
        np.empty(max_edges, dtype=np.int32),
        np.zeros(max_edges + len(begins) + 1, dtype=np.int32),
        np.zeros(2, dtype=np.int64),
    )
    # The states along the last word are open: further edges may follow.
    open_edges = np.zeros(longest + 2, dtype=np.int32)
    widest = 64
    open_resource = np.empty((longest + 2, widest), dtype=np.int32)
    open_target = np.empty((longest + 2, widest), dtype=np.int32)
    word = np.empty(longest + 1, dtype=np.int32)
    last = np.empty(longest + 1, dtype=np.int32)
    small_table = np.empty(1024, dtype=np.int32)
    for graph in range(len(begins)):
        # Per graph: a hash table of its closed states, by their edges.
        table = small_table
        table[:] = -1
        end = draft.made[STATES]
        state_start[graph] = end
        _add_state(draft, open_resource, open_target, 0, 0)
        draft.paths[end] = 1
        open_edges[:] = 0
        length = 0
        for option in range(begins[graph], stops[graph] + 1):
            # An extra iteration closes the states of the last word.
            letters = 0
            common = 0
            if option < stops[graph]:
                path = flat.path[option]
                if flat.use_start[path + 1] - flat.use_start[path] > max_uses[graph]:
                    continue
                place[kept] = option - begins[graph]
                kept += 1
                letters = _read_word(flat, path, word)
                # A word that equals the last one, or is a prefix of it (or the other way round),
                # branches off before its last letter, so that every path has a last edge, and so a
                # number, of its own.
                while common < min(letters, length) - 1 and word[common] == last[common]:
                    common += 1
            for depth in range(length, common, -1):
                # Close the state after ``depth`` letters: share an equal one if there is one.
                state = end
                if depth < length:
                    count = open_edges[depth]
                    slot = _find(draft, table, open_resource, open_target, depth, count)
                    state = np.int64(table[slot])
                    if state < 0:
                        state = draft.made[STATES]
                        table[slot] = state
                        _add_state(draft, open_resource, open_target, depth, count)
                        if 2 * (state - end) >= len(table):
                            table = _larger_table(draft, len(table), end)
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
    """Write the limited resources of a path into ``word``; return their number.

    The letter of a resource that is used o steps after the start is its number plus o times the
    number of resources.
    """
    letters = 0
    for use in range(flat.use_start[path], flat.use_start[path + 1]):
        if flat.limit[flat.use[use]] != NO_LIMIT:
            word[letters] = flat.use[use]
            if len(flat.offset):
                word[letters] += flat.offset[use] * len(flat.limit)
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
    table: IntArray,
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
    slot: int = (mixed >> 17) & (len(table) - 1)
    while table[slot] >= 0:
        first = edge_start[table[slot]]
        same = edge_start[table[slot] + 1] - first == count
        edge = 0
        while same and edge < count:
            same = (
                resource[first + edge] == open_resource[depth, edge]
                and target[first + edge] == open_target[depth, edge]
            )
            edge += 1
        if same:
            break
        slot = (slot + 1) & (len(table) - 1)
    return slot


@inlined
def _mix(mixed: Any, resource: int, target: int) -> Any:
    mixed = (mixed ^ resource) * SPREAD
    return (mixed ^ (mixed >> 29) ^ target) * SPREAD


@compiled
def _larger_table(draft: _Draft, size: int, end: int) -> IntArray:
    """Return a hash table of four times the size with the states after ``end``."""
    table = np.full(4 * size, -1, dtype=np.int32)
    for state in range(end + 1, draft.made[STATES]):
        first, stop = draft.edge_start[state], draft.edge_start[state + 1]
        mixed = np.int64(stop - first)
        for edge in range(first, stop):
            mixed = _mix(mixed, draft.resource[edge], draft.target[edge])
        slot = (mixed >> 17) & (len(table) - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = state
    return table
