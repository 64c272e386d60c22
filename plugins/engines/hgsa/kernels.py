"""Solutions of HGSA with loads, users and conflicts, updated incrementally by moves.

A conflict is a pair of transfers that share a channel in one step (HGSA paper, section 3.2; in
general see ``kernels.occupancy``), or a delivery that is not later than the delivery it requires.
The paper's genes are whole routes, whose hops are always in order. Here a gene is one delivery, so
a move may violate the order, which counts as a conflict.

The counts are exact because the requirements of a solution never form a cycle: initial solutions
have none, and a move that would close one is refused.
"""

from typing import NamedTuple

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import add, remove

CONFLICTS, LENGTH = 0, 1
"""Indices into ``Solution.counts``."""


class Solution(NamedTuple):
    """A solution: every delivery has an option and a step, whether needed or not.

    Parameters
    ----------
    option, step
        Shape (deliveries,): never -1; steps from 0.
    users
        Shape (deliveries,): the number of needed deliveries that require this one, plus one if it
        is required itself. A delivery is needed if this is not 0.
    table
        Shape (steps, resources): the loads of the needed deliveries.
    counts
        Shape (2,): the conflicts, and the sum of steps (from 1) and uses of needed deliveries.
    """

    option: IntArray
    step: IntArray
    users: IntArray
    table: IntArray
    counts: LongArray


@compiled
def process(processes: Solution, index: int) -> Solution:
    """Return the solution of one process (a view); ``processes`` has an additional first axis."""
    return Solution(
        processes.option[index],
        processes.step[index],
        processes.users[index],
        processes.table[index],
        processes.counts[index],
    )


@internal
def uses(flat: Flat, option: int) -> int:
    """Return how many resources an option uses."""
    path = flat.path[option]
    return int(flat.use_start[path + 1] - flat.use_start[path])


@internal
def count(flat: Flat, solution: Solution) -> None:
    """Recount everything from ``option`` and ``step``, whose requirements form no cycle."""
    solution.users[:] = 0
    solution.table[:] = 0
    solution.counts[:] = 0
    for delivery in range(len(solution.option)):
        if flat.required[delivery]:
            _need(flat, solution, delivery)


@internal
def move(flat: Flat, solution: Solution, delivery: int, option: int, step: int) -> None:
    """Give a delivery another option and step; ``closes_cycle`` must be false for it."""
    old_before, before = flat.requires[solution.option[delivery]], flat.requires[option]
    needed = solution.users[delivery] > 0
    if needed:
        _leave(flat, solution, delivery)
        old_step = solution.step[delivery]
        if step != old_step:
            for place in range(flat.follower_start[delivery], flat.follower_start[delivery + 1]):
                other = flat.follower[place]
                if solution.users[other] > 0 and flat.requires[solution.option[other]] == delivery:
                    then = solution.step[other]
                    solution.counts[CONFLICTS] += int(step >= then) - int(old_step >= then)
    solution.option[delivery] = option
    solution.step[delivery] = step
    if needed:
        _enter(flat, solution, delivery)
        if before != old_before:
            # In this order, so that deliveries of both chains keep their users.
            _need(flat, solution, before)
            _release(flat, solution, old_before)


@internal
def closes_cycle(flat: Flat, solution: Solution, delivery: int, option: int) -> bool:
    """Return whether a delivery would, directly or not, require itself with this option."""
    before = flat.requires[option]
    if before == flat.requires[solution.option[delivery]]:
        return False
    for _ in range(len(solution.option)):
        if before < 0:
            return False
        if before == delivery:
            return True
        before = flat.requires[solution.option[before]]
    return True  # a cycle among impossible deliveries


@internal
def copy_solution(source: Solution, target: Solution) -> None:
    """Copy a solution, element by element, as whole rows take seconds to compile."""
    for delivery in range(len(source.option)):
        target.option[delivery] = source.option[delivery]
        target.step[delivery] = source.step[delivery]
        target.users[delivery] = source.users[delivery]
    for now in range(source.table.shape[0]):
        for resource in range(source.table.shape[1]):
            target.table[now, resource] = source.table[now, resource]
    target.counts[CONFLICTS] = source.counts[CONFLICTS]
    target.counts[LENGTH] = source.counts[LENGTH]


@internal
def _need(flat: Flat, solution: Solution, delivery: int) -> None:
    """Add a user to a delivery; if it had none, add one to the delivery that it requires."""
    while delivery >= 0:
        solution.users[delivery] += 1
        if solution.users[delivery] > 1:
            return
        _enter(flat, solution, delivery)
        delivery = flat.requires[solution.option[delivery]]


@internal
def _release(flat: Flat, solution: Solution, delivery: int) -> None:
    """Undo ``_need``."""
    while delivery >= 0:
        solution.users[delivery] -= 1
        if solution.users[delivery] > 0:
            return
        _leave(flat, solution, delivery)
        delivery = flat.requires[solution.option[delivery]]


@internal
def _enter(flat: Flat, solution: Solution, delivery: int) -> None:
    """Add the path of a delivery to the loads, and its order violation to the conflicts."""
    option, now = solution.option[delivery], solution.step[delivery]
    solution.counts[CONFLICTS] += add(flat, solution.table[now], flat.path[option])
    before = flat.requires[option]
    if before >= 0 and solution.step[before] >= now:
        solution.counts[CONFLICTS] += 1
    solution.counts[LENGTH] += now + 1 + uses(flat, option)


@internal
def _leave(flat: Flat, solution: Solution, delivery: int) -> None:
    """Undo ``_enter``."""
    option, now = solution.option[delivery], solution.step[delivery]
    solution.counts[CONFLICTS] += remove(flat, solution.table[now], flat.path[option])
    before = flat.requires[option]
    if before >= 0 and solution.step[before] >= now:
        solution.counts[CONFLICTS] -= 1
    solution.counts[LENGTH] -= now + 1 + uses(flat, option)
