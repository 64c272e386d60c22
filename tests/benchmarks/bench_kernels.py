"""Measure the kernels that count conflicts, against a numpy twin.

Run as ``python -m tests.benchmarks.bench_kernels``. Every figure is the best of three rounds of
processor time, after a first call that compiles. As in a search, the conflicts are counted after
every one of a hundred thousand random moves (a delivery takes another option and step): by one
compiled loop with incremental counts, and, for the first moves, by a twin that updates the loads
with array operations. Both have to give the same sequence of counts. The exit status is 1 if the
kernels are less than ``MIN_RATIO`` times as fast.
"""

from __future__ import annotations

import time
from collections.abc import Callable

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
"""The number of moves with which the speed of the twin is measured."""
INSTANCES = (("mesh-4x4", "AAS"), ("hypercube-16", "AAB"), ("hypercube-64", "AAS"))

Moves = tuple[IntArray, IntArray, IntArray]
"""Moves one after the other: delivery, option and step of each."""


def random_moves(problem: Problem, steps: int, count: int) -> Moves:
    """Return moves of random deliveries to any of their options in any step."""
    random = np.random.default_rng(1)
    delivery = random.integers(0, problem.deliveries, count)
    options = np.diff(problem.option_start)[delivery]
    option = problem.option_start[delivery] + random.integers(0, options)
    step = random.integers(0, steps, count)
    return delivery.astype(np.int32), option.astype(np.int32), step.astype(np.int32)


@compiled
def kernel_moves(
    flat: Flat, option: IntArray, step: IntArray, table: IntArray, moves: Moves, counts: LongArray
) -> None:
    """Fill ``counts`` with the conflicts after every move; the assignment is changed in place."""
    counted = np.ones(len(option), dtype=np.bool_)
    conflicts = build(flat, Loaded(option, step, counted, table))
    for move in range(len(counts)):
        delivery, other, when = moves[0][move], moves[1][move], moves[2][move]
        conflicts += remove(flat, table[step[delivery]], flat.path[option[delivery]])
        option[delivery], step[delivery] = other, when
        conflicts += add(flat, table[when], flat.path[other])
        counts[move] = conflicts


def numpy_moves(problem: Problem, found: Assignment, moves: Moves) -> list[int]:
    """Return the conflicts after every move from a valid assignment, by array operations."""
    option, step = found.option.copy(), found.step.copy()
    table = np.zeros((found.steps, problem.resources), dtype=np.int64)
    for delivery in range(problem.deliveries):
        table[step[delivery], problem.resources_of(option[delivery])] += 1
    conflicts, counts = 0, []
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


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor seconds of ``work``, the best of three after a first call."""
    times = []
    for _ in range(4):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times[1:])


def bench(topology: str, collective: str, count: int = MOVES, twins: int = TWIN_MOVES) -> float:
    """Print the moves evaluated per second; return the ratio of kernel and twin."""
    problem = build_problem(instance(topology, collective))
    found, flat = first_fit(problem, 0), flatten(problem)
    moves = random_moves(problem, found.steps, count)
    delivery, option, step = (part[:twins] for part in moves)
    table = np.zeros((found.steps, problem.resources), dtype=np.int32)
    counts = np.zeros(count, dtype=np.int64)
    fast = count / seconds_of(
        lambda: kernel_moves(flat, found.option.copy(), found.step.copy(), table, moves, counts)
    )
    if numpy_moves(problem, found, (delivery, option, step)) != counts[:twins].tolist():
        raise SystemExit("the twin's counts differ from those of the kernel")
    slow = twins / seconds_of(lambda: numpy_moves(problem, found, (delivery, option, step)))
    title = f"{topology} {collective}: {problem.deliveries} deliveries, {found.steps} steps"
    print(f"{title}; kernel {fast:,.0f}/s, numpy {slow:,.0f}/s: {fast / slow:,.1f} x", flush=True)
    return fast / slow


if __name__ == "__main__":
    if (worst := min(bench(*row) for row in INSTANCES)) < MIN_RATIO:
        raise SystemExit(f"only {worst:.1f} times as fast as numpy, not {MIN_RATIO:.0f}")
