"""The model in ticks: whether some deliveries can end by a tick, the others as in a schedule.

One boolean per option and tick in which it may start, and one per delivery and tick in which an
option that requires it may start (*informed*: the delivery has ended).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.problem.ragged import Integers, gather, grouped, within
from cchybrid.toolkit.cpsat.rows import Rows
from cchybrid.toolkit.usage_matrix import IntVector

NEVER = 1 << 40
MAX_USES = 4_000_000
"""Uses of resources in all rows above which no model is built; some hundred MiB."""


@dataclass(frozen=True, eq=False)
class TickModel:
    """A CP-SAT model; the first booleans are an option from a tick on each.

    Parameters
    ----------
    model
        The model, ready to be solved.
    problem, known, free
        The Problem, the schedule that is changed, and the deliveries that are made anew.
    option, end
        Shape (option booleans,): the option and its last tick.
    """

    model: cp_model.CpModel
    problem: Problem
    known: Assignment
    free: BoolArray
    option: IntVector
    end: IntVector

    @property
    def booleans(self) -> int:
        """The number of variables."""
        return len(self.model.proto.variables)

    def solution(self, values: IntVector) -> tuple[Problem, Assignment]:
        """Return the Problem and the assignment that a solution encodes."""
        option, step = self.known.option.copy(), self.known.step.copy()
        option[self.free], step[self.free] = -1, -1
        chosen = np.flatnonzero(values[: len(self.option)])
        delivery = self.problem.option_delivery[self.option[chosen]]
        option[delivery], step[delivery] = self.option[chosen], self.end[chosen]
        return self.problem, Assignment(option, step)


def build(
    problem: Problem,
    known: Assignment,
    free: BoolArray,
    ticks: IntVector,
    limit: int,
    max_booleans: int,
    should_stop: Callable[[], bool],
) -> TickModel | None:
    """Return the model whose solutions make the free deliveries within ``limit`` ticks.

    Parameters
    ----------
    known
        A schedule without deliveries that none needs; those that are not free stay.
    ticks
        The ticks, ascending, in which options may start.

    Returns
    -------
    TickModel or None
        ``None`` if it would have more than ``max_booleans`` booleans.

    Raises
    ------
    StoppedError
        If ``should_stop`` becomes true.
    """
    owner, requires = problem.option_delivery, problem.option_requires.astype(np.int64)
    duration = problem.path_duration[problem.option_path].astype(np.int64)
    fixed = np.flatnonzero((known.step >= 0) & ~free)
    fixed_start = problem.start_of(known.option, known.step)[fixed]
    # A delivery is made before those that stay and require it start.
    before = requires[known.option[fixed]]
    due = np.full(problem.deliveries, limit, dtype=np.int64)
    np.minimum.at(due, before[before >= 0], fixed_start[before >= 0])
    required = free & problem.required
    required[before[before >= 0]] = free[before[before >= 0]]

    listed = np.flatnonzero(free[owner])
    first = np.searchsorted(ticks, _earliest(problem, known, free, duration)[listed])
    last = np.searchsorted(ticks, due[owner[listed]] - duration[listed], side="right")
    count = np.maximum(last - first, 0)
    if count.sum() > max_booleans:
        return None
    option = np.repeat(listed, count)
    start = ticks[within(count) + np.repeat(first, count)]

    # The uses of a resource in a tick in which one of them begins are within its capacity.
    far = NEVER // max(problem.resources, problem.deliveries, 1)
    row, since, until = _uses(problem, option, start, far)
    _, fixed_since, fixed_until = _uses(problem, known.option[fixed], fixed_start, far)
    cell = np.unique(np.concatenate((since, fixed_since)))
    room = problem.capacity[cell // far].astype(np.int64)
    room -= np.searchsorted(np.sort(fixed_since), cell, side="right")
    room += np.searchsorted(np.sort(fixed_until), cell, side="right")
    head, tail = np.searchsorted(cell, since), np.searchsorted(cell, until)
    if (tail - head).sum() > MAX_USES:
        return None
    used, by = within(tail - head) + np.repeat(head, tail - head), np.repeat(row, tail - head)
    pair, times = np.unique(used * len(option) + by, return_counts=True)
    used, by = np.divmod(pair, max(len(option), 1))
    possible = np.ones(len(option), dtype=np.bool_)
    possible[by[times > room[used]]] = False
    kept = possible[by]
    used, by, times = used[kept], (np.cumsum(possible) - 1)[by[kept]], times[kept]
    option, start = option[possible], start[possible]
    end, delivery = start + duration[option], owner[option].astype(np.int64)

    forwards = np.flatnonzero(requires[option] >= 0)
    forwards = forwards[free[requires[option[forwards]]]]
    key = requires[option[forwards]] * far + start[forwards]
    informed = np.unique(key)
    rows = Rows(len(option) + len(informed), should_stop)
    _deliver_once(rows, required, delivery)
    for number, (literals, weights) in grouped(used, by, times):
        rows.capacity(literals, weights, int(room[number]))
    # Informed: since the tick before of the same delivery, or by an option that has ended since.
    place = np.searchsorted(informed, delivery * far + end)
    in_time = np.flatnonzero(place < len(informed))
    in_time = in_time[informed[place[in_time]] // far == delivery[in_time]]
    ended = {number: found for number, (found,) in grouped(place[in_time], in_time)}
    first_level = np.diff(informed // far, prepend=-1) != 0
    for number, is_first in enumerate(first_level.tolist()):
        level = len(option) + number
        rows.at_least_one([*ended.get(number, []), *([] if is_first else [level - 1]), ~level])
    levels = len(option) + np.searchsorted(informed, key)
    same = levels * problem.deliveries + delivery[forwards]
    for _, (literals, informs) in grouped(same, forwards, levels):
        rows.at_most_one([*literals, ~informs[0]])
    made = (known.option[delivery] == option) & (known.step[delivery] == end - 1)
    rows.hint(made.astype(int).tolist())
    return TickModel(rows.model, problem, known, free, option, end - 1)


def _deliver_once(rows: Rows, required: BoolArray, delivery: IntVector) -> None:
    """Make every required delivery once, every other one at most once."""
    missing = required.copy()
    missing[delivery] = False
    if missing.any():
        rows.at_least_one([])
    for found, (literals,) in grouped(delivery, np.arange(len(delivery))):
        (rows.exactly_one if required[found] else rows.at_most_one)(literals)


def _earliest(
    problem: Problem, known: Assignment, free: BoolArray, duration: IntVector
) -> IntVector:
    """Return, shape (options,), the first tick in which each may start; ``NEVER`` for none."""
    stays = (known.step >= 0) & ~free
    ended = np.append(np.where(stays, known.step.astype(np.int64) + 1, NEVER), 0)
    while True:
        start = ended[problem.option_requires]  # none is required: the last entry, 0
        found = ended.copy()
        np.minimum.at(found, problem.option_delivery, np.minimum(start + duration, NEVER))
        found[:-1] = np.where(free, found[:-1], ended[:-1])
        if (found == ended).all():
            return start
        ended = found


def _uses(
    problem: Problem, option: Integers, start: IntVector, far: int
) -> tuple[IntVector, IntVector, IntVector]:
    """Return rows of options, and their uses of resources: ``far`` times a resource plus a tick.

    Shape (uses,) each: the row, and the first tick of the use and the one after its last.
    """
    path = problem.option_path[option]
    use, row = gather(problem.path_start, path)
    resource = problem.path_resource[use].astype(np.int64)
    limited = ~problem.implied[resource] | (problem.capacity[resource] == 0)
    use, row, resource = use[limited], row[limited], resource[limited]
    since = resource * far + start[row] + problem.path_offset[use]
    return row, since, since + problem.path_length[path[row]]


def left_shifted(problem: Problem, limit: int, max_ticks: int) -> IntVector | None:
    """Return the ticks below a limit in which transfers start if none can start earlier.

    A transfer, or another one that it waits for, starts in the first tick. It waits for the end of
    the one that it requires, or for the end of another use of a resource.

    Returns
    -------
    array or None
        ``None`` if there are more than ``max_ticks``.
    """
    if limit > MAX_USES:
        return None
    path = np.repeat(np.arange(problem.paths), np.diff(problem.path_start))
    begins = np.unique(np.stack((problem.path_resource, problem.path_offset)), axis=1)
    ends = np.unique(
        np.stack((problem.path_resource, problem.path_offset + problem.path_length[path])), axis=1
    )
    waits = set(problem.path_duration.tolist())
    for resource in range(problem.resources):
        starts = begins[1, begins[0] == resource]
        waits.update((ends[1, ends[0] == resource, None] - starts).ravel().tolist())
    found = new = np.zeros(1, dtype=np.int64)
    while len(new):
        later = np.unique(new[:, None] + np.array(sorted(waits)))
        new = np.setdiff1d(later[(later >= 0) & (later < limit)], found)
        found = np.union1d(found, new)
        if len(found) > max_ticks:
            return None
    return found
