"""Automorphisms of a Problem, and the symmetry-breaking constraints that follow from them.

An automorphism permutes deliveries, options and resources and leaves the Problem unchanged, so it
maps schedules to schedules. Of all deliveries in one orbit, a chosen one may therefore be required
to happen first; then the same within the stabiliser of that delivery, and so on: the
Schreier-Sims inequalities.

References
----------
L. Liberti, J. Ostrowski, "Stabilizer-based symmetry breaking constraints for mathematical
programs", Journal of Global Optimization 60, 2014. doi:10.1007/s10898-013-0106-6

D. Salvagnin, "Symmetry breaking inequalities from the Schreier-Sims table", CPAIOR 2018.
doi:10.1007/978-3-319-93031-2_37

B. D. McKay, A. Piperno, "Practical graph isomorphism, II", Journal of Symbolic Computation 60,
2014 (nauty). doi:10.1016/j.jsc.2013.09.003
"""

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
"""Vertices of the graph; nauty stores it as a dense matrix, so larger graphs are not tried."""

MAX_NUMBERS = 2_000_000
"""Entries of the table of options that is sorted to check that a permutation is an automorphism."""


class Automorphisms:
    """Automorphisms of a Problem, computed by nauty on a small coloured graph.

    The graph has three vertices per delivery: adjacent to the last resources of its paths, to the
    first ones, and to the first resources of the options that require it; one vertex per resource,
    adjacent to the resources that follow it on a path; and one per family, adjacent to its
    deliveries. Automorphisms of this graph are usually automorphisms of the Problem; ``known`` says
    whether all generators are, checked option by option.

    Parameters
    ----------
    problem
        The Problem.
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
        """Return, shape (deliveries,), the number of each delivery's orbit.

        Parameters
        ----------
        fixed
            Deliveries that all automorphisms considered map to themselves.
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
        """Return whether a permutation of the vertices maps the set of options to itself."""
        new = np.append(image[: self._deliveries], -1)
        resource = np.append(image[self._resource : self._family] - self._resource, -1)
        moved = np.concatenate([new[rows[:, :2]], np.sort(resource[rows[:, 2:]], axis=1)], axis=1)
        return bool((_sorted(moved) == rows).all())


class Link(NamedTuple):
    """Constraint: delivery ``first`` happens no later than any of ``others``, shape (others,)."""

    first: int
    others: IntVector


def chain(problem: Problem, should_stop: Callable[[], bool] = lambda: False) -> list[Link]:
    """Return symmetry-breaking constraints: if S steps suffice, some schedule satisfies them all.

    The list is empty where steps are interchangeable (ordering the steps breaks more symmetry),
    where the group is not known, and where computing it would take too long. ``should_stop`` ends
    the computation with the constraints found so far.
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
    """Return, shape (arcs, 2), the arcs of the graph without duplicates."""
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
    """Return sorted rows, one per option: its delivery, the required delivery, sorted resources."""
    path = problem.option_path
    size = np.diff(problem.path_start)
    rows = np.full((problem.paths, int(size.max())), -1, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < size[:, None]] = problem.path_resource
    ends = np.stack([problem.option_delivery, problem.option_requires], axis=1).astype(np.int64)
    return _sorted(np.concatenate([ends, np.sort(rows, axis=1)[path]], axis=1))


def _sorted(rows: IntVector) -> IntVector:
    return rows[np.lexsort(rows.T[::-1])]
