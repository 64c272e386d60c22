"""All maximal compatibility classes of options.

A class is a set of options, of different deliveries, that fits into one step together. Where every
resource allows one use, that is a clique of the graph of compatible options; in general it is a
set of an independence system, and listed by the same search: options are taken or left out one by
one, and what a class could still take decides whether it is maximal (Bron and Kerbosch, 1973).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import networkx as nx
import numpy as np

from cchybrid.toolkit.packing import Packing


def list_classes(packing: Packing) -> Iterator[list[int]]:
    """Yield the maximal classes as columns of the packing, each once.

    Every set of options that fits into a step is part of one of them. An empty list is yielded
    now and then when the search goes on without finding any: time to look at the clock.
    """
    if (packing.capacity == 1).all():
        yield from nx.find_cliques(compatible(packing))
    else:
        yield from _extend(packing)


def compatible(packing: Packing) -> nx.Graph:
    """Return the graph of options (as columns) with an edge where two fit into one step."""
    conflicts = nx.Graph()
    conflicts.add_nodes_from(range(packing.columns))
    groups = [*_members(packing.row, np.arange(packing.columns))]
    groups += _members(packing.resource, packing.column)
    for group in groups:
        conflicts.add_edges_from(combinations(group, 2))
    return nx.complement(conflicts)


def _members(key: np.ndarray, member: np.ndarray) -> list[list[int]]:
    order = np.argsort(key, kind="stable")
    edges = np.flatnonzero(np.diff(key[order])) + 1
    return [group.tolist() for group in np.split(member[order], edges)]


def _extend(packing: Packing) -> Iterator[list[int]]:
    """Search depth first over (class, its load, options that fit and are open, those left out)."""
    rows, columns = packing.row, np.arange(packing.columns)
    nothing = np.zeros(0, dtype=np.int64)
    waiting = [(nothing, packing.load(nothing), columns, nothing)]
    while waiting:
        taken, load, open_, left_out = waiting.pop()
        if not len(open_):
            # What fits and was left out belongs in: the class is found where it was taken.
            yield [] if len(left_out) else taken.tolist()
            continue
        new, others = int(open_[0]), open_[1:]
        # Without the option; some other choice has to keep it out.
        if _excludable(packing, new, others, load):
            waiting.append((taken, load, others, np.append(left_out, new)))
        used = slice(packing.start[new], packing.start[new + 1])
        fuller = load.copy()
        fuller[packing.resource[used]] += packing.times[used]
        fits = packing.fitting(fuller) & (rows != rows[new])
        waiting.append(
            (np.append(taken, new), fuller, others[fits[others]], left_out[fits[left_out]])
        )


def _excludable(packing: Packing, column: int, others: np.ndarray, load: np.ndarray) -> bool:
    """Return whether the others could leave no room for an option."""
    if (packing.row[others] == packing.row[column]).any():
        return True
    used = slice(packing.start[column], packing.start[column + 1])
    room = packing.capacity - load - packing.load(others)
    return bool((packing.times[used] > room[packing.resource[used]]).any())
