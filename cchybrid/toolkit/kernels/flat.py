"""A Problem as a tuple of arrays for kernels."""

from typing import NamedTuple

import numpy as np

from cchybrid.problem import ACCEPT, INJECT, Problem
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import inlined, internal

NO_LIMIT = np.int32(2**31 - 1)
"""The limit of a resource whose capacity other resources imply: never exceeded."""


class Flat(NamedTuple):
    """The arrays of a Problem, with derived arrays that kernels use often.

    Parameters
    ----------
    option_start, requires, path, required
        ``option_start``, ``option_requires``, ``option_path`` and ``required`` of the Problem.
    group_start, group_stop
        Shape (options,): the range of options with the same delivery and the same required
        delivery, which differ in the path only (same distributor, thesis eq. 6.11).
    use_start, use, offset
        ``path_start``, ``path_resource`` and ``path_offset`` of the Problem.
    limited_start, limited
        The same without resources whose capacity is implied: those that can be in conflict.
    limit
        Shape (resources,): the capacity, ``NO_LIMIT`` where it is implied.
    capacity
        Shape (resources,): the capacity, implied or not, for heuristics that use ports.
    inject, accept
        Shape (paths,): the injection and the acceptance ports that the path uses, -1 for none.
    follower_start, follower
        Deliveries with an option that requires delivery d: ``follower`` from
        ``follower_start[d]`` up to, not including, ``follower_start[d + 1]``.
    excess
        Whether conflicts are uses beyond the capacity, not pairs of transfers that share a
        resource (see ``occupancy``).
    """

    option_start: LongArray
    requires: IntArray
    path: IntArray
    required: BoolArray
    group_start: IntArray
    group_stop: IntArray
    use_start: LongArray
    use: IntArray
    offset: IntArray
    limited_start: LongArray
    limited: IntArray
    limit: IntArray
    capacity: IntArray
    inject: IntArray
    accept: IntArray
    follower_start: LongArray
    follower: IntArray
    excess: bool


def flatten(problem: Problem, excess: bool = False) -> Flat:
    """Return the arrays of a Problem for kernels; ``excess`` selects how conflicts are counted."""
    group_start, group_stop = _groups(problem)
    follower_start, follower = _followers(problem)
    decides = ~problem.implied[problem.path_resource]
    limited_start = np.concatenate(([0], np.cumsum(decides)))[problem.path_start]
    return Flat(
        option_start=problem.option_start,
        requires=problem.option_requires,
        path=problem.option_path,
        required=problem.required,
        group_start=group_start,
        group_stop=group_stop,
        use_start=problem.path_start,
        use=problem.path_resource,
        offset=problem.path_offset,
        limited_start=limited_start.astype(np.int64),
        limited=problem.path_resource[decides],
        limit=np.where(problem.implied, NO_LIMIT, problem.capacity).astype(np.int32),
        capacity=problem.capacity,
        inject=ports_of(problem, INJECT),
        accept=ports_of(problem, ACCEPT),
        follower_start=follower_start,
        follower=follower,
        excess=excess,
    )


@internal
def has_optional(required: BoolArray) -> bool:
    """Return whether some deliveries are not required; compiles faster than ``all``."""
    number = 0
    for one in required:
        number += one
    return number < len(required)


@inlined
def step_of_use(flat: Flat, use: int, step: int, steps: int) -> int:
    """Return the step of a use of an option that starts in a step, of this number of steps."""
    return in_period(step + flat.offset[use], steps) if len(flat.offset) else step


@inlined
def in_period(step: int, steps: int) -> int:
    """Return a step modulo the number of steps; a division would take longer than the test."""
    return step % steps if step >= steps else step


def uses_of(flat: Flat) -> LongArray:
    """Return, shape (options,), the number of resources that each option uses, ports included."""
    return np.diff(flat.use_start)[flat.path]


def _groups(problem: Problem) -> tuple[IntArray, IntArray]:
    delivery, requires = problem.option_delivery, problem.option_requires
    new = np.ones(problem.options + 1, dtype=np.bool_)
    new[1:-1] = (delivery[1:] != delivery[:-1]) | (requires[1:] != requires[:-1])
    edge = np.flatnonzero(new).astype(np.int32)
    size = np.diff(edge)
    return np.repeat(edge[:-1], size), np.repeat(edge[1:], size)


def _followers(problem: Problem) -> tuple[LongArray, IntArray]:
    bound = problem.option_requires >= 0
    key = problem.option_requires[bound].astype(np.int64) * problem.deliveries
    pairs = np.sort(key + problem.option_delivery[bound])
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    first = np.arange(problem.deliveries + 1, dtype=np.int64) * problem.deliveries
    start = np.searchsorted(pairs, first).astype(np.int64)
    return start, (pairs % max(problem.deliveries, 1)).astype(np.int32)


def ports_of(problem: Problem, kind: int) -> IntArray:
    """Return, shape (paths,), the port of a kind that each path uses, -1 for none."""
    found = np.full(problem.paths, -1, dtype=np.int32)
    place = np.flatnonzero(problem.kind[problem.path_resource] == kind)
    path = np.searchsorted(problem.path_start, place, side="right") - 1
    found[path] = problem.path_resource[place]
    return found


def min_uses(problem: Problem, flat: Flat) -> IntArray:
    """Return, shape (deliveries,), the fewest resources that an option of each delivery uses."""
    fewest = np.full(problem.deliveries, NO_LIMIT, dtype=np.int32)
    np.minimum.at(fewest, problem.option_delivery, uses_of(flat).astype(np.int32))
    return fewest
