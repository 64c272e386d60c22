"""Symmetries of a Problem, and the chain of comparisons that breaks them.

An automorphism renames deliveries, options and resources so that nothing changes; it carries
schedules to schedules. So of all deliveries that automorphisms carry to the same one, that one may
be asked to happen first; then the same with the automorphisms that leave it where it is, and so on
(Liberti and Ostrowski 2014; Salvagnin 2018: Schreier-Sims inequalities).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pynauty
from numpy.typing import NDArray

from cchybrid.problem import Problem
from cchybrid.toolkit.usage_matrix import families

IntVector = NDArray[np.int64]

MAX_VERTICES = 3_000
"""Vertices of the graph beyond which nauty, which keeps it as a dense matrix, is not asked."""

MAX_NUMBERS = 2_000_000
"""Resources of all options that are sorted at most to see whether a renaming changes nothing."""


class Automorphisms:
    """Automorphisms of a Problem, found as those of a small graph.

    The graph has three vertices per delivery: joined to the last resources of its paths, to the
    first ones, and to the first ones of what requires it; one per resource, joined to those that
    follow it on a path; and one per family, joined to its deliveries. What leaves that as it is
    mostly leaves the Problem as it is; whether it does is looked up option by option for the
    generators, and so holds for all.
    """

    def __init__(self, problem: Problem) -> None:
        self._deliveries = problem.deliveries
        self._resource = 3 * problem.deliveries
        self._family = self._resource + problem.resources
        known, number = np.unique(families(problem), return_inverse=True)
        self.vertices = self._family + len(known)
        joined: defaultdict[int, set[int]] = defaultdict(set)
        members = np.stack([number.ravel() + self._family, np.arange(self._deliveries)], axis=1)
        for a, b in np.concatenate([_arcs(problem), members]).tolist():
            joined[a].add(b)
        self._joined = {vertex: sorted(others) for vertex, others in joined.items()}
        signature = np.stack([problem.kind, problem.capacity, problem.implied])
        self._colour = np.concatenate(
            [
                np.repeat(np.arange(0, 6, 2), self._deliveries) + np.tile(problem.required, 3),
                7 + np.unique(signature, axis=1, return_inverse=True)[1].ravel(),
                np.full(len(known), 6),
            ]
        )
        generators, _ = self._group([])
        rows = _rows(problem)
        self.known = all(self._keeps(np.array(g), rows) for g in generators)
        """Whether the automorphisms of the graph are those of the Problem."""

    def orbits(self, fixed: Sequence[int]) -> IntVector:
        """Return, shape (deliveries,), a number shared by what automorphisms carry to each other.

        Parameters
        ----------
        fixed
            Deliveries that the automorphisms leave where they are.
        """
        return np.array(self._group(fixed)[1][: self._deliveries], dtype=np.int64)

    def _group(self, fixed: Sequence[int]) -> tuple[list[list[int]], list[int]]:
        colour = self._colour.copy()
        colour[list(fixed)] = colour.max() + 1 + np.arange(len(fixed))
        cells: defaultdict[int, set[int]] = defaultdict(set)
        for vertex, cell in enumerate(colour.tolist()):
            cells[cell].add(vertex)
        graph = pynauty.Graph(
            self.vertices,
            adjacency_dict=self._joined,
            vertex_coloring=[cells[cell] for cell in sorted(cells)],
        )
        generators, _, _, orbits, _ = pynauty.autgrp(graph)
        return generators, orbits

    def _keeps(self, image: IntVector, rows: IntVector) -> bool:
        """Return whether the Problem with new names has the same options as before."""
        new = np.append(image[: self._deliveries], -1)
        resource = np.append(image[self._resource : self._family] - self._resource, -1)
        moved = np.concatenate([new[rows[:, :2]], np.sort(resource[rows[:, 2:]], axis=1)], axis=1)
        return bool((_sorted(moved) == rows).all())


class Link(NamedTuple):
    """A required delivery that happens no later than others, shape (others,)."""

    first: int
    others: IntVector


def chain(problem: Problem, should_stop: Callable[[], bool] = lambda: False) -> list[Link]:
    """Return comparisons that some schedule keeps to wherever there is one of so many steps.

    None where steps are interchangeable, which breaks more symmetry; where the group is not
    known; and where it would take too long to find. ``should_stop`` cuts the chain short.
    """
    size = 4 * problem.deliveries + problem.resources
    if not problem.ordered or size > MAX_VERTICES:
        return []
    if problem.options * (2 + int(np.diff(problem.path_start).max())) > MAX_NUMBERS:
        return []
    group = Automorphisms(problem)
    found: list[Link] = []
    while group.known and not should_stop():
        orbit = group.orbits([link.first for link in found])
        number = np.bincount(orbit[problem.required], minlength=problem.deliveries)
        largest = int(np.argmax(number))
        if number[largest] < 2:
            break
        members = np.flatnonzero((orbit == largest) & problem.required)
        found.append(Link(int(members[0]), members[1:].astype(np.int64)))
    return found


def _arcs(problem: Problem) -> IntVector:
    """Return, shape (arcs, 2), the arcs of the graph, some more than once."""
    deliveries, start, resource = problem.deliveries, problem.path_start, problem.path_resource
    place = resource.astype(np.int64) + 3 * deliveries
    path = problem.option_path
    first, last = place[start[path]], place[start[path + 1] - 1]
    happens, requires = problem.option_delivery.astype(np.int64), problem.option_requires
    onward = requires >= 0
    inner = np.ones(len(place), dtype=np.bool_)
    inner[start[1:] - 1] = False
    before = np.flatnonzero(inner)
    each = np.arange(deliveries)
    ends: list[tuple[IntVector, IntVector]] = [
        (happens, last),
        (happens[~onward] + deliveries, first[~onward]),
        (requires[onward].astype(np.int64) + 2 * deliveries, first[onward]),
        (place[before], place[before + 1]),
        (each, each + deliveries),
        (each, each + 2 * deliveries),
    ]
    pairs = np.concatenate([np.stack(pair, axis=1) for pair in ends])
    return np.unique(pairs, axis=0)


def _rows(problem: Problem) -> IntVector:
    """Return sorted rows, one per option: its delivery, what it requires, sorted resources."""
    path = problem.option_path
    size = np.diff(problem.path_start)
    rows = np.full((problem.paths, int(size.max())), -1, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < size[:, None]] = problem.path_resource
    ends = np.stack([problem.option_delivery, problem.option_requires], axis=1).astype(np.int64)
    return _sorted(np.concatenate([ends, np.sort(rows, axis=1)[path]], axis=1))


def _sorted(rows: IntVector) -> IntVector:
    return rows[np.lexsort(rows.T[::-1])]
