"""All maximal compatibility classes of options.

A class is a set of options, of different deliveries, that fits into one step together. If every
resource has capacity 1, it is a clique of the graph of compatible options. In general it is a set
of an independence system, enumerated by the same search: options are included or excluded one by
one, and a class is maximal if no excluded option fits (Bron and Kerbosch 1973,
doi:10.1145/362342.362367).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

import networkx as nx
import numpy as np

from cchybrid.problem.ragged import grouped
from cchybrid.toolkit.packing import Packing


def list_classes(packing: Packing) -> Iterator[list[int]]:
    """Yield the maximal classes as columns of the packing, each once.

    Every set of options that fits into a step is a subset of one of them. An empty list is yielded
    for a branch without a class, so that the caller can check limits.
    """
    if (packing.capacity == 1).all():
        yield from nx.find_cliques(compatible(packing))
    else:
        yield from _extend(packing)


def compatible(packing: Packing) -> nx.Graph:
    """Return the graph of options (as columns) with an edge where two fit into one step."""
    conflicts = nx.Graph()
    conflicts.add_nodes_from(range(packing.columns))
    of_rows = grouped(packing.row, np.arange(packing.columns))
    of_resources = grouped(packing.uses.resource, packing.column)
    for _, (group,) in chain(of_rows, of_resources):
        conflicts.add_edges_from(combinations(group, 2))
    return nx.complement(conflicts)


def _extend(packing: Packing) -> Iterator[list[int]]:
    """Search depth first over (class, its load, open options that fit, excluded ones that fit)."""
    rows, columns = packing.row, np.arange(packing.columns)
    nothing = np.zeros(0, dtype=np.int64)
    waiting = [(nothing, packing.uses.load(nothing), columns, nothing)]
    while waiting:
        taken, load, open_, left_out = waiting.pop()
        if not len(open_):
            # If an excluded option fits, the class is not maximal.
            yield [] if len(left_out) else taken.tolist()
            continue
        new, others = int(open_[0]), open_[1:]
        # Exclude the option, if other options can make it not fit.
        if _excludable(packing, new, others, load):
            waiting.append((taken, load, others, np.append(left_out, new)))
        resource, times = packing.uses.row(new)
        fuller = load.copy()
        fuller[resource] += times
        fits = packing.fitting(fuller) & (rows != rows[new])
        waiting.append(
            (np.append(taken, new), fuller, others[fits[others]], left_out[fits[left_out]])
        )


def _excludable(packing: Packing, column: int, others: np.ndarray, load: np.ndarray) -> bool:
    """Return whether the other options can make an option not fit."""
    if (packing.row[others] == packing.row[column]).any():
        return True
    resource, times = packing.uses.row(column)
    residual = packing.capacity - load - packing.uses.load(others)
    return bool((times > residual[resource]).any())
