"""Measure the speed of the kernels: calls per second, and the ratio to a numpy twin.

Run as ``python -m tests.benchmarks.bench_kernels``. Every figure is the best of three rounds of
processor time, after a first call that compiles. The twins are reference implementations with
whole-array operations.

The first lines of an instance resemble a search: the conflicts after every one of a hundred
thousand random moves (a delivery takes another option and step), in one compiled loop with
incremental counts, against two twins that make the same moves with array operations: one recounts
all loads, one updates them. All have to give the same sequence of counts. The exit
status is 1 if the kernels are less than ``MIN_RATIO`` times as fast there as either twin.

The other lines are single calls from Python. They are only a few times faster than their twins,
because a call takes longer than the kernel. ``settle`` has no twin: its figure is the conflicts
that it leaves, and how soon.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from cchybrid.host.api import instance
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.toolkit.evolution.min_conflicts import settle
from cchybrid.toolkit.kernels import compiled
from cchybrid.toolkit.kernels.conflicts import broken, mark_needed
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.kernels.flat import Flat, flatten
from cchybrid.toolkit.kernels.occupancy import add, build, remove
from cchybrid.toolkit.kernels.rng import seed_state

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


def numpy_broken(problem: Problem, found: Assignment) -> int:
    """Compare every step with that of the delivery required; all deliveries happen."""
    before = problem.option_requires[found.option]
    return int(((before >= 0) & (found.step[before] >= found.step)).sum())


def numpy_move(problem: Problem, table: np.ndarray, used: np.ndarray, one: int, other: int) -> int:
    """Move a delivery from step ``one`` to ``other``; return the change of the conflicts."""
    counts = ~problem.implied[used]
    capacity = problem.capacity[used]
    table[one, used] -= 1
    change = -int(table[one, used][counts & (table[one, used] >= capacity)].sum())
    change += int(table[other, used][counts & (table[other, used] >= capacity)].sum())
    table[other, used] += 1
    return change


def kernel_move(flat: Flat, table: np.ndarray, path: int, one: int, other: int) -> int:
    """Do the same with the kernels, called from Python like the twin."""
    return remove(flat, table[one], path) + add(flat, table[other], path)


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
    conflicts = build(flat, option, step, counted, table)
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


def bench_moves(problem: Problem, flat: Flat, found: Assignment, steps: int) -> float:
    """Print the moves evaluated per second; return the smallest ratio to a twin."""
    moves = random_moves(problem, steps, MOVES)
    first = Moves(*(part[:TWIN_MOVES] for part in moves))
    table = np.zeros((steps, problem.resources), dtype=np.int32)
    counts = np.zeros(MOVES, dtype=np.int64)

    def kernel() -> None:
        kernel_moves(flat, found.option.copy(), found.step.copy(), table, moves, counts)

    fast = MOVES * best_rate(kernel)
    print(f"  {'evaluations, one by one':<28}{fast:>12,.0f}/s")
    if numpy_move_by_move(problem, found, steps, moves) != counts.tolist():
        raise SystemExit("the kernel's counts differ from those of its twin")
    twins = {"numpy, all loads": numpy_moves, "numpy, loads kept": numpy_move_by_move}
    ratios = []
    for name, twin in twins.items():
        if twin(problem, found, steps, first) != counts[:TWIN_MOVES].tolist():
            raise SystemExit(f"{name}: the counts differ from those of the kernel")
        slow = TWIN_MOVES * best_rate(partial(twin, problem, found, steps, first))
        ratios.append(fast / slow)
        print(f"    {name:<26}{slow:>12,.0f}/s   kernel: {fast / slow:,.1f} x numpy")
    return min(ratios)


def best_rate(work: Callable[[], object]) -> float:
    """Return how often ``work`` is done per second, the best of three after a first call."""
    work()
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1 / max(min(times), 1e-9)


def rate(work: Callable[[], object], seconds: float) -> float:
    """Return how often ``work`` is done in a second of processor time."""
    work()
    best = 0.0
    for _ in range(3):
        count, start = 0, time.process_time()
        while time.process_time() - start < seconds:
            for _ in range(10):
                work()
            count += 10
        best = max(best, count / (time.process_time() - start))
    return best


def compare(name: str, kernel: Callable[[], int], twin: Callable[[], int], seconds: float) -> None:
    """Print one line, after a check that both give the same number."""
    if kernel() != twin():
        raise SystemExit(f"{name}: the kernel gives {kernel()}, its twin {twin()}")
    fast, slow = rate(kernel, seconds), rate(twin, seconds)
    print(f"  {name:<28}{fast:>12,.0f}/s {fast / slow:>8.1f} x numpy")


def bench(topology: str, collective: str, seconds: float) -> float:
    """Print the figures of one instance; return the ratio that counts."""
    problem = build_problem(instance(topology, collective))
    flat = flatten(problem)
    greedy = first_fit(problem, 0)
    steps = greedy.steps - 1
    # A typical near-solution: greedy, with late deliveries in random steps.
    random = np.random.default_rng(0)
    late = greedy.step >= steps
    step = np.where(late, random.integers(0, steps, len(late)), greedy.step).astype(np.int32)
    found = Assignment(greedy.option, step)
    counted = np.ones(problem.deliveries, dtype=np.bool_)
    table = np.zeros((steps, problem.resources), dtype=np.int32)
    print(f"{topology} {collective}: {problem.deliveries} deliveries, {steps} steps")
    ratio = bench_moves(problem, flat, found, steps)
    compare(
        "evaluate an assignment",
        lambda: build(flat, found.option, found.step, counted, table),
        lambda: numpy_build(problem, found, steps),
        seconds,
    )
    if problem.ordered:
        mark_needed(flat, found.option, counted)
        compare(
            "count broken precedences",
            lambda: broken(flat, found.option, found.step, counted),
            lambda: numpy_broken(problem, found),
            seconds,
        )
    option, home = int(found.option[0]), int(found.step[0])
    away = (home + 1) % steps

    def there_and_back(move: Callable[[int, int], int]) -> int:
        there = move(home, away)
        return there if move(away, home) == -there else -1

    compare(
        "move a delivery, and back",
        partial(there_and_back, partial(kernel_move, flat, table, int(flat.path[option]))),
        partial(there_and_back, partial(numpy_move, problem, table, problem.resources_of(option))),
        seconds,
    )
    print(f"  {'first_fit':<28}{rate(lambda: first_fit(problem, 0), seconds):>12,.0f}/s")
    bench_settle(flat, found, table, seconds)
    return ratio


def bench_settle(flat: Flat, found: Assignment, table: np.ndarray, seconds: float) -> None:
    """Print the conflicts after twenty sweeps of min-conflicts, and their time."""
    counted = np.ones(len(found.option), dtype=np.bool_)
    stop = np.zeros(1, dtype=np.bool_)
    start = end = 0

    def work() -> None:
        nonlocal start, end
        option, step = found.option.copy(), found.step.copy()
        start = build(flat, option, step, counted, table)
        end = settle(flat, option, step, counted, table, start, 20, stop, seed_state(0))

    often = rate(work, seconds)
    print(f"  {'settle, 20 sweeps':<28}{often:>12,.0f}/s   {start} conflicts to {end}")


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.3, help="per measurement, three times")
    seconds = parser.parse_args().seconds
    ratios = [bench(topology, collective, seconds) for topology, collective in INSTANCES]
    if min(ratios) < MIN_RATIO:
        raise SystemExit(f"only {min(ratios):.1f} times as fast as numpy, not {MIN_RATIO:.0f}")


if __name__ == "__main__":
    main()
