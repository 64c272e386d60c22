"""The thesis' heuristics and operators: compiled as written, and right by their definitions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.problem import ACCEPT, INJECT, Problem, build_problem
from cchybrid.toolkit.evolution.initial import build_in_order, complete
from cchybrid.toolkit.evolution.min_conflicts import best_place, settle
from cchybrid.toolkit.evolution.mutation import mutate, swap_steps
from cchybrid.toolkit.evolution.ports import spread_ports
from cchybrid.toolkit.evolution.restoration import restore
from cchybrid.toolkit.kernels.first_fit import fill
from cchybrid.toolkit.kernels.flat import flatten, min_uses
from cchybrid.toolkit.kernels.occupancy import Loaded, build, remove
from cchybrid.toolkit.kernels.rng import below, seed_state
from cchybrid.toolkit.kernels.surrounding import hops_of, restrict
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels
from tests.toolkit.kernels.random_assignments import RANDOM, STEPS, random_assignment
from tests.toolkit.kernels.uncompiled import call

SEEDS = st.integers(0, 2**32 - 1)
NEVER = np.zeros(1, dtype=np.bool_)


class Start:
    """A random assignment, the deliveries that count, and the tables of kernels."""

    def __init__(self, problem: Problem, seed: int, all_count: bool, excess: bool = False):
        self.problem, self.flat = problem, flatten(problem, excess=excess)
        self.found = random_assignment(problem, seed)
        self.counted = np.ones(problem.deliveries, dtype=np.bool_)
        if not all_count:
            self.counted[:] = False
            self.counted[list(plain_kernels.needed(problem, self.found))] = True
        self.candidates = 1 + seed % 8
        self.near = min_uses(problem, self.flat) + np.int32(seed % 3)
        self.table = np.zeros((STEPS, problem.resources), dtype=np.int32)
        self.chain = np.zeros(problem.deliveries + STEPS + 1, dtype=np.int32)
        self.state = seed_state(seed)

    @property
    def loaded(self) -> Loaded:
        return Loaded(self.found.option, self.found.step, self.counted, self.table)

    def build(self) -> int:
        late = int((self.found.step[self.counted] >= STEPS).sum())
        return late + int(build(self.flat, self.loaded))

    def restore(self) -> int:
        rest = self.chain, NEVER, self.state
        return int(call(restore, self.flat, self.near, self.candidates, self.loaded, *rest))


def assert_ordered(start: Start) -> None:
    """Every delivery has an option of its own, and comes after the one that it requires."""
    problem, (option, step) = start.problem, start.loaded[:2]
    assert (problem.option_delivery[option] == np.arange(problem.deliveries)).all()
    before = problem.option_requires[option]
    assert ((before < 0) | (step >= STEPS) | (step[before] < step)).all()


def test_random_words_are_those_of_the_paper():
    """The first outputs of splitmix64 from the state 1234567."""
    state = seed_state(1234567)
    words = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [below(state, 2**31 - 1) for _ in words] == [
        (word >> 32) * (2**31 - 1) >> 32 for word in words
    ]


@RANDOM
@given(instances(), SEEDS, st.booleans())
def test_conflicts_are_pairs_or_excess(instance, seed, excess):
    start = Start(build_problem(instance), seed, True, excess)
    counted = set(range(start.problem.deliveries))

    def recount() -> int:
        used = plain_kernels.loads(start.problem, start.found, counted)
        return plain_kernels.overload(start.problem, used, excess)

    assert start.build() == recount()
    for delivery in range(start.problem.deliveries):
        before = recount()
        counted.remove(delivery)
        path = start.flat.path[start.found.option[delivery]]
        row = start.table[start.found.step[delivery]]
        assert remove(start.flat, row, path) == recount() - before


@RANDOM
@given(instances(max_nodes=6), SEEDS, st.booleans(), st.booleans())
def test_heuristics_are_compiled_as_written(instance, seed, all_count, excess):
    start = Start(build_problem(instance), seed, all_count, excess)
    start.found.step[0] = min(start.found.step[0] + seed % 2 * STEPS, STEPS)  # a late one
    flat, state = start.flat, start.state
    start.build()
    for _ in range(4):
        call(mutate, flat, bool(seed % 2), start.loaded, state)
    total = start.build()
    for delivery in np.flatnonzero(start.counted & (start.found.step < STEPS)).tolist():
        change = call(swap_steps, flat, start.loaded, delivery, state)
        assert change <= 0
        total += change
    total += call(spread_ports, flat, start.loaded, NEVER, state)
    assert total == start.build()
    for delivery in np.flatnonzero(start.counted & (start.found.step < STEPS)).tolist():
        path = flat.path[start.found.option[delivery]]
        stay = -remove(flat, start.table[start.found.step[delivery]], path)
        for max_conflicts in (stay, 10**6):
            call(best_place, flat, start.loaded, delivery, max_conflicts, state)
        start.build()
    start.counted[:] = True
    assert start.restore() == np.count_nonzero(start.found.step >= STEPS)
    assert_ordered(start)
    total = start.build()
    settled = call(settle, flat, start.loaded, total, 3, NEVER, state)
    assert settled <= total
    assert_ordered(start)
    table = start.table.copy()
    assert start.build() == settled
    assert (table == start.table).all()


@RANDOM
@given(instances(), SEEDS, st.booleans())
def test_first_individuals_are_compiled_as_written(instance, seed, greedy):
    start = Start(build_problem(instance), seed, True)
    option, step = start.found.option, start.found.step
    gone = np.ones(len(option), dtype=np.bool_)
    if not greedy:
        gone = np.random.default_rng(seed).random(len(option)) < 0.5
    option[gone] = step[gone] = -1
    required = np.flatnonzero(start.problem.required).astype(np.int32)
    rest = required.copy(), STEPS, greedy, option, step, NEVER, start.state
    call(complete, start.flat, start.near, *rest)
    assert (start.problem.option_delivery[option] == np.arange(len(option))).all()
    option[:] = step[:] = -1
    order = required.copy()  # overwritten
    missing = call(fill, start.flat, start.near, STEPS, order, option, step, NEVER, start.state)
    assert missing == np.count_nonzero(step[required] < 0)


@RANDOM
@given(instances(), SEEDS)
def test_first_individuals_without_steps_get_those_in_which_senders_and_ports_are_free(
    instance, seed
):
    start = Start(build_problem(instance), seed, True)
    option, step = start.found.option, start.found.step
    order = np.zeros(len(option), dtype=np.int32)
    call(build_in_order, start.flat, order, option, step, start.table, start.state)
    assert sorted(order.tolist()) == list(range(len(order)))
    assert (start.problem.option_delivery[option] == np.arange(len(option))).all()
    assert ((step >= 0) & (step < STEPS)).all()
    early = step < STEPS - 1
    before = start.problem.option_requires[option]
    assert ((before < 0) | (step[before] < step))[early].all()
    ports = np.isin(start.problem.kind, (INJECT, ACCEPT))
    assert (start.table <= start.problem.capacity)[:-1, ports].all()


def reachable(problem: Problem, options: set[int]) -> set[int]:
    """Return the deliveries that can be made with these options."""
    found: set[int] = set()
    while True:
        made = [o for o in options if int(problem.option_requires[o]) in found | {-1}]
        more = set(problem.option_delivery[made].tolist())
        if more <= found:
            return found
        found |= more


@RANDOM
@given(instances(), st.integers(1, 4))
def test_a_radius_keeps_near_senders_and_every_delivery(instance, radius):
    problem = build_problem(instance)
    near, kept = restrict(problem, radius)
    options = set(range(problem.options))
    assert set(np.flatnonzero(hops_of(problem) <= radius).tolist()) <= set(kept.tolist())
    for name in ("option_delivery", "option_requires", "option_path"):
        assert (getattr(near, name) == getattr(problem, name)[kept]).all()
    assert reachable(problem, set(kept.tolist())) == reachable(problem, options)
