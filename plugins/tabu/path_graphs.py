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

from typing import NamedTuple

import numpy as np

from cchybrid.kernels import compiled
from cchybrid.kernels.flat import NO_LIMIT, Flat
from cchybrid.problem import Problem
from cchybrid.problem.arrays import IntArray, LongArray

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


def build_graphs(problem: Problem, flat: Flat, farther: int, detour: int) -> PathGraphs:
    """Return the graphs of the paths that are not too long.

    Parameters
    ----------
    farther
        Choices whose shortest path has more than so many uses more than the delivery's shortest
        are left out.
    detour
        Paths that have more than so many uses more than the shortest of their choice are.
    """
    begins = np.flatnonzero(flat.group_start == np.arange(problem.options, dtype=np.int32))
    stops = flat.group_stop[begins]
    uses = np.diff(flat.use_start)[flat.path]
    shortest = np.minimum.reduceat(uses, begins) if len(begins) else uses
    owner = problem.option_delivery[begins]
    kept = shortest <= _least(owner, shortest, problem.deliveries)[owner] + farther
    begins, stops, owner, shortest = begins[kept], stops[kept], owner[kept], shortest[kept]
    # Paths of a choice follow each other, so that the first and their number name the list; where
    # they do not (a grown problem), the choice has a graph of its own.
    first, size = flat.path[begins].astype(np.int64), stops - begins
    alone = flat.path[stops - 1] - first + 1 != size
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


def _least(owner: IntArray, uses: LongArray, deliveries: int) -> LongArray:
    least = np.full(deliveries, NO_LIMIT, dtype=np.int64)
    np.minimum.at(least, owner, uses)
    return least


def _spans(begin: LongArray, size: LongArray) -> LongArray:
    ends = np.cumsum(size)
    return np.arange(int(size.sum())) + np.repeat(begin - ends + size, size)


@compiled
def _build(
    flat: Flat,
    begins: LongArray,
    stops: LongArray,
    most: LongArray,
    longest: int,
    paths_listed: int,
    many: int,
) -> tuple[LongArray, LongArray, IntArray, IntArray, IntArray, LongArray, IntArray]:
    """Build all graphs; ``many`` bounds the number of edges, ``longest`` the length of a word."""
    path_start = np.zeros(len(begins) + 1, dtype=np.int64)
    place = np.empty(paths_listed, dtype=np.int32)
    kept = 0
    state_start = np.zeros(len(begins) + 1, dtype=np.int64)
    edge_start = np.zeros(many + len(begins) + 2, dtype=np.int64)
    resource = np.empty(many, dtype=np.int32)
    target = np.empty(many, dtype=np.int32)
    before = np.empty(many, dtype=np.int32)
    paths = np.zeros(many + len(begins) + 1, dtype=np.int32)
    # The states of the last word are open: their edges are not complete yet.
    open_edges = np.zeros(longest + 2, dtype=np.int32)
    widest = 64
    open_resource = np.empty((longest + 2, widest), dtype=np.int32)
    open_target = np.empty((longest + 2, widest), dtype=np.int32)
    word = np.empty(longest + 1, dtype=np.int32)
    last = np.empty(longest + 1, dtype=np.int32)
    few = np.empty(1024, dtype=np.int32)
    states = edges = 0
    for graph in range(len(begins)):
        size, slots = len(few), few
        slots[:] = -1
        end = states
        state_start[graph] = states
        paths[states] = 1
        states += 1
        edge_start[states] = edges
        open_edges[:] = 0
        length = 0
        for option in range(begins[graph], stops[graph] + 1):
            # One round more than there are words closes the last of them.
            letters = 0
            common = 0
            if option < stops[graph]:
                path = flat.path[option]
                if flat.use_start[path + 1] - flat.use_start[path] > most[graph]:
                    continue
                place[kept] = option - begins[graph]
                kept += 1
                for use in range(flat.use_start[path], flat.use_start[path + 1]):
                    if flat.limit[flat.use[use]] != NO_LIMIT:
                        word[letters] = flat.use[use]
                        letters += 1
                # No word ends where another goes on, nor where one has ended: such ones branch off
                # before their last letter, so that every word keeps an end of its own.
                while common < min(letters, length) - 1 and word[common] == last[common]:
                    common += 1
            for depth in range(length, common, -1):
                # Close the state after ``depth`` letters: share it with an equal one.
                if depth == length:
                    state = end
                else:
                    count = open_edges[depth]
                    mixed = np.int64(count)
                    for edge in range(count):
                        mixed = (mixed ^ open_resource[depth, edge]) * SPREAD
                        mixed = (mixed ^ (mixed >> 29) ^ open_target[depth, edge]) * SPREAD
                    slot = (mixed >> 17) & (size - 1)
                    state = -1
                    while slots[slot] >= 0:
                        other = slots[slot]
                        first = edge_start[other]
                        same = edge_start[other + 1] - first == count
                        edge = 0
                        while same and edge < count:
                            same = (
                                resource[first + edge] == open_resource[depth, edge]
                                and target[first + edge] == open_target[depth, edge]
                            )
                            edge += 1
                        if same:
                            state = other
                            break
                        slot = (slot + 1) & (size - 1)
                    if state < 0:
                        state = states
                        slots[slot] = state
                        total = 0
                        for edge in range(count):
                            resource[edges] = open_resource[depth, edge]
                            target[edges] = open_target[depth, edge]
                            before[edges] = total
                            total += paths[open_target[depth, edge]]
                            edges += 1
                        paths[state] = total
                        states += 1
                        edge_start[states] = edges
                        if 2 * (states - state_start[graph]) > size:
                            size, slots = _widen(size, end, states, edge_start, resource, target)
                    open_edges[depth] = 0
                if open_edges[depth - 1] == widest:
                    open_resource = np.concatenate((open_resource, open_resource), axis=1)
                    open_target = np.concatenate((open_target, open_target), axis=1)
                    widest *= 2
                edge = open_edges[depth - 1]
                open_resource[depth - 1, edge] = last[depth - 1]
                open_target[depth - 1, edge] = state
                open_edges[depth - 1] = edge + 1
            length = letters
            for letter in range(letters):
                last[letter] = word[letter]
        total = 0
        for edge in range(open_edges[0]):
            resource[edges] = open_resource[0, edge]
            target[edges] = open_target[0, edge]
            before[edges] = total
            total += paths[open_target[0, edge]]
            edges += 1
        paths[states] = total
        states += 1
        edge_start[states] = edges
        path_start[graph + 1] = kept
    state_start[len(begins)] = states
    return (
        state_start,
        edge_start[: states + 1].copy(),
        resource[:edges].copy(),
        target[:edges].copy(),
        before[:edges].copy(),
        path_start,
        place[:kept].copy(),
    )


@compiled
def _widen(
    size: int,
    end: int,
    states: int,
    edge_start: LongArray,
    resource: IntArray,
    target: IntArray,
) -> tuple[int, IntArray]:
    """Return a table of four times the slots with the states after ``end`` in it."""
    size *= 4
    slots = np.full(size, -1, dtype=np.int32)
    for state in range(end + 1, states):
        first, stop = edge_start[state], edge_start[state + 1]
        mixed = np.int64(stop - first)
        for edge in range(first, stop):
            mixed = (mixed ^ resource[edge]) * SPREAD
            mixed = (mixed ^ (mixed >> 29) ^ target[edge]) * SPREAD
        slot = (mixed >> 17) & (size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = state
    return size, slots
