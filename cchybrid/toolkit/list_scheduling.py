"""List scheduling of Problems in ticks: schedules with random keys, and better ones near them."""

import numpy as np

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.problem.ragged import components, offsets, offsets_of
from cchybrid.toolkit.kernels.list_scheduling import NEVER, Numbers, Tables, choose_chains, dispatch
from cchybrid.toolkit.kernels.rng import seed_state

URGENCY, COPIES = (0.0, 0.1, 1.0), (0.0, 0.3, 1.0)
"""Values from which every restart draws the first two weights of the scores."""
NOISE = (0.1, 1.0, 3.0)
"""Values from which every restart draws the largest key."""
SWEEPS = 12
"""The largest number of times that all chains are chosen, where some deliveries are optional."""
MAX_MOVED = 0.2
"""The largest share of keys that a change draws anew."""


class ListScheduler:
    """Schedules of a Problem in ticks by random keys.

    Parameters
    ----------
    problem
        The Problem; every required delivery can be made.
    random
        The source of all random numbers.
    """

    def __init__(self, problem: Problem, random: np.random.Generator) -> None:
        self.problem, self._random = problem, random
        self.tables = tables_of(problem)
        self._arrival: LongArray = np.empty(problem.deliveries, dtype=np.int64)
        self._option = np.empty(problem.deliveries, dtype=np.int32)
        self._useful = problem.required.copy()
        self._height = np.zeros(problem.deliveries)
        self._chosen = np.full(problem.deliveries, -1, dtype=np.int64)
        self._is_routed = not problem.required.all()
        self._key = np.zeros(problem.options)
        self._order: IntArray = np.arange(problem.paths, dtype=np.int32)
        self._weight = np.zeros(3)

    def restart(self) -> None:
        """Draw chains, weights, keys and the order of the paths."""
        random, tables = self._random, self.tables
        weight = 10.0 ** random.uniform(-3, 0)
        slow = weight * tables.duration * (1 + 0.1 * random.random(self.problem.paths))
        sweeps = 1 + int(random.integers(0, SWEEPS)) * self._is_routed
        if not choose_chains(
            tables,
            random.permutation(len(tables.member_start) - 1).astype(np.int32),
            slow,
            sweeps,
            self.problem.required,
            self._chosen,
            self._useful,
            self._height,
            seed_state(int(random.integers(1 << 62))),
        ):
            raise ValueError("a required delivery cannot be made")
        self._weight[:] = [random.choice(URGENCY), random.choice(COPIES), random.random() < 0.7]
        self._key = random.choice(NOISE) * random.random(self.problem.options)
        late = tables.duration * random.random()
        self._order = np.argsort(late + random.random(self.problem.paths), kind="stable").astype(
            np.int32
        )

    def change(self) -> tuple[Numbers, IntArray]:
        """Draw some keys and places in the order anew; return the former ones."""
        before = self._key, self._order
        random = self._random
        self._key = self._key.copy()
        moved = random.random(len(self._key)) < MAX_MOVED * random.random() ** 3
        self._key[moved] = self._key.max(initial=1.0) * random.random(int(moved.sum()))
        self._order = self._order.copy()
        for _ in range(int(random.integers(0, 3))):
            a, b = random.integers(0, len(self._order), 2)
            self._order[[a, b]] = self._order[[b, a]]
        return before

    def undo(self, before: tuple[Numbers, IntArray]) -> None:
        """Take back a change."""
        self._key, self._order = before

    def made(self, limit: int, stop: BoolArray) -> int:
        """Make a schedule of fewer ticks than the limit; return its ticks, or the limit."""
        return int(
            dispatch(
                self.tables,
                self._useful,
                self._height,
                self._key,
                self._weight,
                self._order,
                limit,
                self._arrival,
                self._option,
                stop,
            )
        )

    def assignment(self) -> Assignment:
        """Return the last schedule that was made."""
        made = self._arrival < NEVER
        step = np.where(made, self._arrival - 1, -1).astype(np.int32)
        return Assignment(np.where(made, self._option, -1).astype(np.int32), step)


def tables_of(problem: Problem) -> Tables:
    """Return the arrays for the kernels of a Problem in ticks, or in steps as ticks."""
    limited = ~problem.implied | (problem.capacity == 0)
    decides = limited[problem.path_resource]
    ticks = problem.horizon == "ticks"
    offset = problem.path_offset if ticks else np.zeros_like(problem.path_resource)
    one = np.ones(problem.paths, dtype=np.int64)
    total = problem.deliveries
    by_path = np.argsort(problem.option_path, kind="stable").astype(np.int32)
    before = problem.option_requires
    linked = np.flatnonzero(before >= 0)
    label = components(problem.option_delivery[linked], before[linked], problem.deliveries)
    message = np.unique(label, return_inverse=True)[1].ravel()
    member = np.argsort(message, kind="stable").astype(np.int32)
    return Tables(
        option_start=problem.option_start,
        requires=before,
        path=problem.option_path,
        owner=problem.option_delivery,
        use_start=np.concatenate(([0], np.cumsum(decides)))[problem.path_start],
        use=problem.path_resource[decides],
        offset=offset[decides].astype(np.int64),
        length=problem.path_length.astype(np.int64) if ticks else one,
        duration=problem.path_duration.astype(np.int64) if ticks else one,
        slot_start=offsets(np.minimum(np.where(limited, problem.capacity, 0), total)),
        listed_start=offsets_of(problem.option_path[by_path], problem.paths),
        listed=by_path,
        message=message.astype(np.int32),
        member_start=offsets_of(message[member], int(message.max(initial=-1)) + 1),
        member=member,
    )
