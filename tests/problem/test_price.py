"""Prices, drafts and ``match``."""

import random
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Transfer
from cchybrid.problem import Problem, build_problem, needed
from tests.problem.plain_problem import options_of, random_assignment
from tests.random_instances import allowed_paths, instances


def cost_of(problem: Problem, path: tuple[int, ...], cost: np.ndarray) -> float:
    structure = problem.structure
    resources, channels = structure.resources, structure.network.channel_index
    ends = resources.inject[path[0]], resources.accept[path[-1]]
    used = [*ends, *(resources.channel[channels[hop]] for hop in pairwise(path))]
    return float(cost[used].sum())


@given(instances(), st.integers(0, 2**32 - 1), st.booleans())
def test_price_is_the_minimum_of_all_allowed_options(instance, seed, whole):
    """Whether they are listed or not."""
    every = build_problem(instance)
    problem = every if whole else build_problem(instance, max_options=1)
    rng = random.Random(seed)
    # Quarters add up exactly in any order; many zeros make free cycles.
    cost = np.array([rng.choice((0, 0, 1, 2, 7, 0.25)) for _ in range(problem.resources)])
    options = options_of(every)
    for delivery in range(problem.deliveries):
        found = problem.price(delivery, cost)
        mine = [options[place] for place in range(*every.option_start[delivery : delivery + 2])]
        assert found.cost == min(cost_of(problem, option[3], cost) for option in mine)
        assert found.cost == cost_of(problem, found.path, cost)
        before = -1 if found.requires < 0 else int(problem.structure.delivery_node[found.requires])
        assert (before, found.path) in [option[2:] for option in mine]


@given(instances(), st.integers(0, 2**32 - 1), st.sampled_from((1, 400_000)))
def test_drafts_come_back(instance, seed, max_options):
    """Near-solutions survive being written as steps, with their empty steps."""
    problem = build_problem(instance, max_options=max_options)
    rng = random.Random(seed)
    draft = random_assignment(problem, rng)
    for delivery in range(problem.deliveries):
        if rng.random() < 0.3:
            draft.option[delivery] = draft.step[delivery] = -1
    steps = draft.steps + rng.randint(0, 2)
    schedule = problem.lift(draft, steps)
    assert len(schedule.steps) == steps
    kept = needed(problem, draft)
    found = problem.match(schedule.steps)
    assert found.option.tolist() == np.where(kept, draft.option, -1).tolist()
    assert found.step.tolist() == np.where(kept, draft.step, -1).tolist()
    assert needed(problem, found).tolist() == kept.tolist()
    # Without a number of steps the empty ones go, and nothing else.
    assert problem.lift(draft).steps == tuple(step for step in schedule.steps if step)


def test_match_takes_any_transfers():
    problem = build_problem(cchybrid.instance("ring-bi-4", "OAB"))
    strange = ((Transfer(7, (0, 1)), Transfer(0, ()), Transfer(0, (9, 9)), Transfer(-1, (0, 1))),)
    assert problem.match(strange).option.tolist() == [-1, -1, -1]


def test_allowed_paths_of_an_incomplete_pool_are_reached_by_price():
    """Every single path is the cheapest under some price, also those that were not listed."""
    instance = cchybrid.instance("ring-bi-6", [(0, 3)])
    problem = build_problem(instance, max_options=1)
    assert not problem.complete
    for path in allowed_paths(instance, 0, 3):
        cost = np.ones(problem.resources)
        channels = instance.network.channel_index
        used = [channels[hop] for hop in pairwise(path)]
        cost[problem.structure.resources.channel[used]] = 0.0
        assert problem.price(0, cost).path == path
