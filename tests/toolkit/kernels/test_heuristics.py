"""The thesis' heuristics and operators against plain-Python twins, from equal random states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host.api import instance as named
from cchybrid.model import Instance
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.evolution.initial import complete
from cchybrid.toolkit.evolution.min_conflicts import best_place, settle
from cchybrid.toolkit.evolution.mutation import mutate
from cchybrid.toolkit.evolution.ports import spread_ports
from cchybrid.toolkit.evolution.restoration import restore
from cchybrid.toolkit.evolution.swap import swap_steps
from cchybrid.toolkit.kernels.first_fit import fill
from cchybrid.toolkit.kernels.flat import Flat, flatten, min_uses
from cchybrid.toolkit.kernels.occupancy import build, remove
from cchybrid.toolkit.kernels.rng import below, normal, seed_state, shuffle, uniform
from cchybrid.toolkit.kernels.surrounding import hops_of, near_uses, restrict
from tests.random_instances import instances
from tests.toolkit.kernels import plain_heuristics as plain
from tests.toolkit.kernels import plain_kernels
from tests.toolkit.kernels.plain_random import PlainRandom
from tests.toolkit.kernels.random_assignments import RANDOM, STEPS, random_assignment

SEEDS = st.integers(0, 2**32 - 1)
NEVER = np.zeros(1, dtype=np.bool_)


class Pair:
    """One random assignment for the kernels and for their twins, with equal random states."""

    def __init__(self, instance: Instance, seed: int, all_count: bool, excess: bool = False):
        self.problem = build_problem(instance)
        self.flat: Flat = flatten(self.problem, excess=excess)
        self.found = random_assignment(self.problem, seed)
        chosen = set(range(self.problem.deliveries))
        if not all_count:
            chosen = plain_kernels.needed(self.problem, self.found)
        self.counted = np.zeros(self.problem.deliveries, dtype=np.bool_)
        self.counted[list(chosen)] = True
        self.state = seed_state(seed)
        self.twin = plain.Candidate(
            self.problem, self.found.option, self.found.step, STEPS, chosen, PlainRandom(seed),
            excess,
        )  # fmt: skip
        self.table = np.zeros((STEPS, self.problem.resources), dtype=np.int32)
        self.chain = np.zeros(self.problem.deliveries + STEPS + 1, dtype=np.int32)
        self.total = self.build()

    def build(self) -> int:
        found = self.found
        late = int((found.step[self.counted] >= STEPS).sum())
        return late + int(build(self.flat, found.option, found.step, self.counted, self.table))

    def arguments(self) -> tuple[object, ...]:
        return self.flat, self.found.option, self.found.step, self.counted, self.table

    def check(self) -> None:
        assert self.found.option.tolist() == self.twin.option
        assert self.found.step.tolist() == self.twin.step
        assert int(self.state[0]) == self.twin.random.state


def test_random_numbers_equal_their_twin() -> None:
    state, twin = seed_state(2**63 + 5), PlainRandom(2**63 + 5)
    for bound in (1, 2, 7, 2**31 - 1):
        assert below(state, bound) == twin.below(bound)
    assert uniform(state) == twin.uniform()
    assert normal(state) == pytest.approx(twin.normal())
    values, plainly = np.arange(30, dtype=np.int32), list(range(30))
    shuffle(values, state)
    twin.shuffle(plainly)
    assert values.tolist() == plainly


@RANDOM
@given(instances(), SEEDS, st.booleans())
def test_conflicts_are_pairs_or_excess(instance: Instance, seed: int, excess: bool) -> None:
    pair = Pair(instance, seed, True, excess)
    assert pair.total == pair.twin.conflicts()
    for delivery in range(pair.problem.deliveries):
        row = pair.table[pair.found.step[delivery]]
        total = pair.twin.conflicts()
        pair.twin.counted.remove(delivery)
        change = remove(pair.flat, row, pair.flat.path[pair.found.option[delivery]])
        assert change == pair.twin.conflicts() - total


@pytest.mark.long
@RANDOM
@given(instances(), SEEDS, st.booleans(), st.booleans())
def test_the_best_place_equals_its_twin(
    instance: Instance, seed: int, all_count: bool, excess: bool
) -> None:
    pair = Pair(instance, seed, all_count, excess)
    for delivery in np.flatnonzero(pair.counted).tolist():
        path = pair.flat.path[pair.found.option[delivery]]
        stay = -remove(pair.flat, pair.table[pair.found.step[delivery]], path)
        for max_conflicts in (stay, 10**6):
            place = best_place(*pair.arguments(), delivery, max_conflicts, pair.state)  # type: ignore[arg-type]
            assert place == plain.best_place(pair.twin, delivery, max_conflicts)
        pair.build()
    pair.check()


@RANDOM
@given(instances(max_nodes=5, max_messages=3), SEEDS, st.booleans())
def test_settling_equals_its_twin(instance: Instance, seed: int, excess: bool) -> None:
    pair = Pair(instance, seed, True, excess)
    near = min_uses(pair.problem, pair.flat)
    restore(pair.flat, near, pair.found.option, pair.found.step, pair.counted, pair.table,
            pair.chain, NEVER, pair.state)  # fmt: skip
    plain.restore(pair.twin, near.tolist())
    total = pair.build()
    end = settle(*pair.arguments(), total, 3, NEVER, pair.state)  # type: ignore[arg-type]
    assert end == plain.settle(pair.twin, 3)
    pair.check()


@RANDOM
@given(instances(), SEEDS, st.booleans())
def test_the_port_heuristic_equals_its_twin(instance: Instance, seed: int, all_count: bool) -> None:
    pair = Pair(instance, seed, all_count)
    pair.found.step[:] = np.minimum(pair.found.step, 1)
    pair.twin.step = pair.found.step.tolist()
    total = pair.build()
    change = spread_ports(*pair.arguments(), NEVER, pair.state)  # type: ignore[arg-type]
    plain.spread_ports(pair.twin)
    assert total + change == pair.twin.conflicts()
    pair.check()


@RANDOM
@given(instances(), SEEDS, st.booleans(), st.booleans())
def test_the_transfer_swap_equals_its_twin(
    instance: Instance, seed: int, all_count: bool, excess: bool
) -> None:
    pair = Pair(instance, seed, all_count, excess)
    for delivery in np.flatnonzero(pair.counted).tolist():
        change = swap_steps(*pair.arguments(), delivery, pair.state)  # type: ignore[arg-type]
        assert change == plain.swap_steps(pair.twin, delivery)
    pair.check()


@RANDOM
@given(instances(), SEEDS, st.integers(0, 2))
def test_restoration_equals_its_twin(instance: Instance, seed: int, far: int) -> None:
    pair = Pair(instance, seed, True)
    counted = pair.problem.required
    pair.twin.counted = set(np.flatnonzero(counted).tolist())
    near = min_uses(pair.problem, pair.flat) + np.int32(far)
    late = restore(pair.flat, near, pair.found.option, pair.found.step, counted, pair.table,
                   pair.chain, NEVER, pair.state)  # fmt: skip
    assert late == plain.restore(pair.twin, near.tolist())
    pair.check()


@RANDOM
@given(instances(), SEEDS, st.booleans(), st.booleans())
def test_mutation_equals_its_twin(
    instance: Instance, seed: int, all_count: bool, ordered: bool
) -> None:
    pair = Pair(instance, seed, all_count)
    pair.found.step[0] = pair.twin.step[0] = STEPS  # a late one
    total = pair.build()
    for _ in range(8):
        flat, *rest = pair.arguments()
        total += mutate(flat, ordered, *rest, pair.state)  # type: ignore[arg-type]
        plain.mutate(pair.twin, ordered)
        on_time = sum(pair.twin.step[d] >= STEPS for d in pair.twin.counted)
        assert build(*pair.arguments()) + on_time == pair.twin.conflicts()  # type: ignore[arg-type]
    pair.check()


@RANDOM
@given(instances(), SEEDS, st.booleans())
def test_initial_individuals_equal_their_twin(instance: Instance, seed: int, greedy: bool) -> None:
    pair = Pair(instance, seed, True)
    problem = pair.problem
    gone = np.ones(problem.deliveries, dtype=np.bool_)
    if not greedy:
        gone = np.random.default_rng(seed).random(problem.deliveries) < 0.5
    pair.found.option[gone] = pair.found.step[gone] = -1
    pair.twin.option, pair.twin.step = pair.found.option.tolist(), pair.found.step.tolist()
    required = np.flatnonzero(problem.required).astype(np.int32)
    near = min_uses(problem, pair.flat)
    complete(pair.flat, near, required, STEPS, greedy, pair.found.option, pair.found.step, NEVER,
             pair.state)  # fmt: skip
    if greedy:
        order = required.tolist()
        pair.twin.random.shuffle(order)
        pair.twin.counted = set()
        plain.fill(pair.twin, near.tolist(), order)
    plain.complete(pair.twin, near.tolist())
    pair.check()


@RANDOM
@given(instances(), SEEDS)
def test_greedy_scheduling_equals_its_twin(instance: Instance, seed: int) -> None:
    pair = Pair(instance, seed, True)
    pair.found.option[:] = pair.found.step[:] = -1
    pair.twin.option, pair.twin.step = pair.found.option.tolist(), pair.found.step.tolist()
    pair.twin.counted = set()
    order = np.flatnonzero(pair.problem.required).astype(np.int32)
    near = min_uses(pair.problem, pair.flat)
    plainly = order.tolist()
    missing = fill(
        pair.flat, near, STEPS, order, pair.found.option, pair.found.step, NEVER, pair.state
    )
    assert missing == plain.fill(pair.twin, near.tolist(), plainly)
    pair.check()


@RANDOM
@given(instances(), st.integers(1, 4))
def test_the_radius_equals_its_twin(instance: Instance, radius: int) -> None:
    problem = build_problem(instance)
    near, kept = restrict(problem, radius)
    assert set(kept.tolist()) == plain.restrict(problem, radius)
    assert (near.option_delivery == problem.option_delivery[kept]).all()
    assert (near.option_requires == problem.option_requires[kept]).all()
    assert (near.option_path == problem.option_path[kept]).all()
    everything = set(range(problem.options))
    assert plain.reachable(problem, set(kept.tolist())) == plain.reachable(problem, everything)


def test_a_radius_of_one_leaves_neighbours_only_where_that_is_enough() -> None:
    problem = build_problem(named("hypercube-8", "AAB"))
    near, kept = restrict(problem, 1)
    assert (hops_of(near) == 1).all()
    assert not near.complete
    assert len(kept) == problem.deliveries * 3
    scatter = build_problem(named("hypercube-8", "AAS"))
    again, kept = restrict(scatter, 1)
    assert len(kept) == scatter.options
    assert again.complete == scatter.complete
    with pytest.raises(ValueError, match="at least 1"):
        restrict(problem, 0)


def test_with_more_steps_farther_senders_are_near() -> None:
    problem: Problem = build_problem(named("hypercube-8", "AAB"))
    flat = flatten(problem)
    few, many = near_uses(problem, flat, 3), near_uses(problem, flat, 30)
    assert (few >= min_uses(problem, flat)).all()
    assert (many > few).all()


@pytest.mark.parametrize("words", [("hypercube-8", "AAB"), ("mesh-3x3", "MNB")])
def test_with_many_options_restoration_and_mutation_equal_their_twins(
    words: tuple[str, str],
) -> None:
    for seed in range(6):
        pair = Pair(named(*words), seed, True)
        near = min_uses(pair.problem, pair.flat) + np.int32(seed % 2)
        for _ in range(2):
            late = restore(pair.flat, near, pair.found.option, pair.found.step, pair.counted,
                           pair.table, pair.chain, NEVER, pair.state)  # fmt: skip
            assert late == plain.restore(pair.twin, near.tolist())
            pair.check()
            pair.build()
            for _ in range(20):
                flat, *rest = pair.arguments()
                mutate(flat, True, *rest, pair.state)  # type: ignore[arg-type]
                plain.mutate(pair.twin, True)
            pair.check()
