"""Overloads: uses of a resource beyond its limit, in one step or in one tick."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNLIMITED = 1 << 62
"""Stands for "no limit" and for limits beyond 64 bits."""
CELLS = 1 << 22
"""Entries of a table that is looked up in any order, in the cache of a processor."""

Ints = NDArray[np.signedinteger[Any]]


def overloads_in_steps(
    resource: Ints, when: Ints, limits: Ints, rounds: Ints
) -> Iterator[tuple[int, int, Ints]]:
    """Yield every resource that is used above its limit in one step, the step, and these uses.

    Parameters
    ----------
    resource, when
        Shape (uses,): the resource of each use, and its step.
    limits
        Shape (resources,): the limit of each in one round.
    rounds
        Shape (steps,): the rounds of each step.
    """
    group = pairs(when, len(limits), resource)
    # What shares its entry with no more uses than the limit is within it.
    cell = (group - group.min(initial=UNLIMITED)) % CELLS
    crowded = np.flatnonzero(np.bincount(cell)[cell] > limits[resource])
    order = crowded[np.argsort(group[crowded], kind="stable")]
    starts = run_heads(group[order])
    size = np.diff(np.append(starts, len(order)))
    which, step = resource[order[starts]], when[order[starts]]
    # Each round carries the limit once; the uses are divided, as products could overflow.
    for index in np.flatnonzero(-(-size // rounds[step]) > limits[which]).tolist():
        uses = order[starts[index] : starts[index] + size[index]]
        yield int(which[index]), int(step[index]), uses


def overloads_in_ticks(
    resource: Ints, since: Ints, length: Ints, limits: Ints
) -> Iterator[tuple[int, int, Ints]]:
    """Yield every resource with the ticks from which on its limit is exceeded, and these uses.

    ``since`` and ``length`` have the first tick of each use and the number of its ticks.
    """
    until = since + length
    # Of a resource and tick, ends come first; at every beginning one more is in use.
    change = np.repeat((-1, 1), len(resource))
    tick, what = np.append(until, since), np.append(resource, resource)
    order = np.lexsort((change, tick, what))
    used = np.cumsum(change[order])
    over = (change[order] > 0) & (used == limits[what[order]] + 1)
    for event in order[over].tolist():
        which, now = int(what[event]), int(tick[event])
        yield which, now, np.flatnonzero((resource == which) & (since <= now) & (now < until))


def pairs(first: Ints, size: int, second: Ints | int) -> Ints:
    """Return a number for each pair: ``first * size + second``, in 64 bits."""
    return first.astype(np.int64) * size + second


def run_heads(keys: Ints) -> Ints:
    """Return the first index of each run of equal keys."""
    begins = np.ones(len(keys), dtype=bool)
    begins[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(begins)
