"""Measure the kernels that count conflicts, against numpy twins.

Run as ``python -m tests.benchmarks.bench_kernels``. Every figure is the best of three rounds of
processor time, after a first call that compiles. As in a search, the conflicts are counted after
every one of a hundred thousand random moves (a delivery takes another option and step): by one
compiled loop with incremental counts, and by two twins with array operations, of which one recounts
all loads and one updates them. All have to give the same sequence of counts. The exit status is 1
if the kernels are less than ``MIN_RATIO`` times as fast as either twin.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from cchybrid.host.api import instance
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.kernels.flat import Flat, flatten
from cchybrid.toolkit.kernels.occupancy import Loaded, add, build, remove

MIN_RATIO = 50.0
MOVES = 100_000
TWIN_MOVES = 2_000
"""The number of moves with which the speed of the twins is measured."""
INSTANCES = (("mesh-4x4", "AAS"), ("hypercube-16", "AAB"), ("hypercube-64", "AAS"))


def numpy_build(problem: Problem, found: Assignment, steps: int) -> int:
    """Count the loads of all steps at once."""
    path = problem.option_path[found.option]
    size = problem.path_start[path + 1] - problem.path_start[path]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    used = problem.path_resource[np.repeat(problem.path_start[path], size) + within]
    key = np.repeat(found.step, size) * problem.resources + used
    load = np.bincount(key, minlength=steps * problem.resources).reshape(steps, -1)
    capacity = problem.capacity.astype(np.int64)
    over = np.where((load > capacity) & ~problem.implied, load, capacity)
    return int((over * (over - 1) // 2 - capacity * (capacity - 1) // 2).sum())


class Moves(NamedTuple):
    """Random moves one after the other: delivery, option and step, shape (moves,)."""

    delivery: IntArray
    option: IntArray
    step: IntArray


def random_moves(problem: Problem, steps: int, count: int) -> Moves:
    """Return moves of random deliveries to any of their options in any step."""
    random = np.random.default_rng(1)
    delivery = random.integers(0, problem.deliveries, count)
    options = np.diff(problem.option_start)[delivery]
    option = problem.option_start[delivery] + random.integers(0, options)
    step = random.integers(0, steps, count)
    return Moves(*(part.astype(np.int32) for part in (delivery, option, step)))


@compiled
def kernel_moves(
    flat: Flat, option: IntArray, step: IntArray, table: IntArray, moves: Moves, counts: LongArray
) -> None:
    """Fill ``counts`` with the conflicts after every move; the assignment is changed in place."""
    counted = np.ones(len(option), dtype=np.bool_)
    conflicts = build(flat, Loaded(option, step, counted, table))
    for move in range(len(counts)):
        delivery, other = moves.delivery[move], moves.option[move]
        conflicts += remove(flat, table[step[delivery]], flat.path[option[delivery]])
        option[delivery], step[delivery] = other, moves.step[move]
        conflicts += add(flat, table[step[delivery]], flat.path[other])
        counts[move] = conflicts


def numpy_moves(problem: Problem, found: Assignment, steps: int, moves: Moves) -> list[int]:
    """Return the conflicts after every move, recounted from all loads."""
    option, step = found.option.copy(), found.step.copy()
    counts = []
    for delivery, other, when in zip(*moves, strict=True):
        option[delivery], step[delivery] = other, when
        counts.append(numpy_build(problem, Assignment(option, step), steps))
    return counts


def numpy_move_by_move(problem: Problem, found: Assignment, steps: int, moves: Moves) -> list[int]:
    """Return the conflicts after every move, recounting only the cells of the move."""
    option, step = found.option.copy(), found.step.copy()
    table = np.zeros((steps, problem.resources), dtype=np.int64)
    for delivery in range(problem.deliveries):
        table[step[delivery], problem.resources_of(option[delivery])] += 1
    conflicts, counts = numpy_build(problem, found, steps), []
    for delivery, other, when in zip(*moves, strict=True):
        used, row = problem.resources_of(option[delivery]), table[step[delivery]]
        row[used] -= 1
        conflicts -= numpy_beyond(problem, row, used)
        used, row = problem.resources_of(other), table[when]
        conflicts += numpy_beyond(problem, row, used)
        row[used] += 1
        option[delivery], step[delivery] = other, when
        counts.append(conflicts)
    return counts


def numpy_beyond(problem: Problem, row: np.ndarray, used: np.ndarray) -> int:
    """Return the conflicts that one more use of each given resource adds."""
    load = row[used]
    return int(load[~problem.implied[used] & (load >= problem.capacity[used])].sum())


def best_rate(work: Callable[[], object]) -> float:
    """Return how often ``work`` is done per second, the best of three after a first call."""
    work()
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1 / max(min(times), 1e-9)


def bench(topology: str, collective: str) -> float:
    """Print the moves evaluated per second; return the smallest ratio to a twin."""
    problem = build_problem(instance(topology, collective))
    found, flat = first_fit(problem, 0), flatten(problem)
    steps = found.steps
    moves = random_moves(problem, steps, MOVES)
    first = Moves(*(part[:TWIN_MOVES] for part in moves))
    table = np.zeros((steps, problem.resources), dtype=np.int32)
    counts = np.zeros(MOVES, dtype=np.int64)

    def kernel() -> None:
        kernel_moves(flat, found.option.copy(), found.step.copy(), table, moves, counts)

    fast = MOVES * best_rate(kernel)
    print(f"{topology} {collective}: {problem.deliveries} deliveries, {steps} steps")
    print(f"  {'kernel':<20}{fast:>12,.0f}/s")
    ratios = []
    for twin in (numpy_moves, numpy_move_by_move):
        if twin(problem, found, steps, first) != counts[:TWIN_MOVES].tolist():
            raise SystemExit(f"{twin.__name__}: the counts differ from those of the kernel")
        slow = TWIN_MOVES * best_rate(partial(twin, problem, found, steps, first))
        ratios.append(fast / slow)
        print(f"  {twin.__name__:<20}{slow:>12,.0f}/s   kernel: {fast / slow:,.1f} x", flush=True)
    return min(ratios)


if __name__ == "__main__":
    if (worst := min(bench(*row) for row in INSTANCES)) < MIN_RATIO:
        raise SystemExit(f"only {worst:.1f} times as fast as numpy, not {MIN_RATIO:.0f}")
