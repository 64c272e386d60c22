"""The parts of the tabu search against plain-Python twins, on random problems."""

import random
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host.api import instance
from cchybrid.model import Channel, Instance, Network
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.kernels.surrounding import spare_uses
from cchybrid.toolkit.tabu_search.memory import (
    Memory,
    decay_weights,
    increase_weights,
    new_memory,
    recheck,
)
from cchybrid.toolkit.tabu_search.moves import (
    NEVER,
    Parts,
    Scratch,
    carry_out,
    new_scratch,
    path_at,
    present_cost,
    price_delivery,
    price_followers,
    put_back,
    take_out,
)
from cchybrid.toolkit.tabu_search.path_graphs import PathGraphs, build_graphs
from cchybrid.toolkit.tabu_search.search import Record, start
from tests.random_instances import instances
from tests.toolkit import plain_tabu as plain
from tests.toolkit.kernels.random_assignments import RANDOM, random_assignment

SEEDS = st.integers(0, 2**32 - 1)
HOPS = {"switchings": ("store-and-forward",), "max_nodes": 5, "max_messages": 3}
FAR = 1000
GO_ON = np.zeros(1, dtype=np.bool_)


class Search:
    """A search from an assignment; by default a random one, with missing and late deliveries."""

    def __init__(
        self,
        problem: Problem,
        seed: int,
        steps: int = 3,
        excess: int = FAR,
        initial: Assignment | None = None,
    ) -> None:
        self.problem, self.flat, self.steps = problem, flatten(problem), steps
        self.graphs: PathGraphs = build_graphs(problem, self.flat, excess, excess)
        self.memory: Memory = new_memory(self.flat, steps)
        self.scratch: Scratch = new_scratch(problem, self.graphs, self.memory.load.shape[1])
        self.state = seed_state(seed)
        self.random = random.Random(seed)
        nothing = problem.empty()
        self.record = Record(nothing.option, nothing.step, np.zeros(4, dtype=np.int64))
        initial = random_assignment(problem, seed, missing=True) if initial is None else initial
        start(self.parts, self.record, initial.option, initial.step, GO_ON, self.state)

    @property
    def parts(self) -> Parts:
        return Parts(self.flat, self.graphs, self.memory, self.scratch)

    def check(self) -> None:
        plain.check_memory(self.problem, self.memory)

    def price(self, delivery: int) -> None:
        price_followers(self.flat, self.memory, self.scratch, delivery)
        price_delivery(self.parts, delivery, self.state)

    def recheck_taken(self, count: int) -> None:
        for freed in range(count):
            recheck(self.flat, self.memory, int(self.scratch.taken[freed, 0]))

    def move(self, delivery: int) -> None:
        """Move a delivery to the best place of a random step, and change weights."""
        count = take_out(self.flat, self.memory, self.scratch, delivery)
        if not plain.is_needed(self.problem, self.memory, delivery):
            self.recheck_taken(count)
            return
        self.price(delivery)
        steps = [step for step in range(self.steps) if self.scratch.cost[step] < NEVER]
        if not steps:
            put_back(self.flat, self.memory, self.scratch, count)
            return
        step = self.random.choice(steps)
        carry_out(self.parts, delivery, int(self.scratch.choice[step]), step, self.state)
        for freed in range(1, count):
            recheck(self.flat, self.memory, int(self.scratch.taken[freed, 0]))
        self.random.choice((increase_weights, increase_weights, decay_weights))(self.memory)


def check_graphs(
    problem: Problem, graphs: PathGraphs, choice_excess: int, path_excess: int
) -> None:
    """Every choice keeps the options that it should, and its walks spell exactly these."""
    reached = []
    for delivery in range(problem.deliveries):
        options = range(*problem.option_start[delivery : delivery + 2].tolist())
        uses = {option: len(problem.resources_of(option)) for option in options}
        groups = [list(g) for _, g in groupby(options, lambda o: problem.option_requires[o])]
        shortest = [min(map(uses.__getitem__, group)) for group in groups]
        expected = [
            [option for option in group if uses[option] <= fewest + path_excess]
            for group, fewest in zip(groups, shortest, strict=True)
            if fewest <= min(shortest) + choice_excess
        ]
        assert expected, "a delivery has no choice"
        mine = plain.choices(graphs, delivery)
        assert [plain.options_of(graphs, choice) for choice in mine] == expected
        for choice, kept in zip(mine, expected, strict=True):
            assert {problem.option_requires[option] for option in kept} == {graphs.requires[choice]}
            found = sorted(plain.walks(graphs, graphs.graph[choice]))
            assert found == [(n, plain.words(problem, option)) for n, option in enumerate(kept)]
            reached += kept
    assert len(set(reached)) == len(reached)
    for graph in range(len(graphs.state_start) - 1):
        for state in range(graphs.state_start[graph], graphs.state_start[graph + 1]):
            targets = graphs.target[graphs.edge_start[state] : graphs.edge_start[state + 1]]
            assert ((targets >= graphs.state_start[graph]) & (targets < state)).all()


@RANDOM
@given(instances(), st.sampled_from((0, 1, 2, FAR)), st.sampled_from((0, 1, 2, FAR)))
def test_walks_through_a_graph_are_the_paths(case, choice_excess, path_excess):
    problem = build_problem(case)
    graphs = build_graphs(problem, flatten(problem), choice_excess, path_excess)
    check_graphs(problem, graphs, choice_excess, path_excess)


def words_problem(lists: list[list[list[int]]], resources: int) -> Problem:
    """Return a problem in which delivery d has the paths ``lists[d]``, each a list of resources."""
    like = build_problem(instance("ring-bi-4", "AAS"))
    paths = [path for options in lists for path in options]
    return replace(
        like, capacity=np.ones(resources, dtype=np.int32), kind=np.zeros(resources, dtype=np.int8),
        implied=np.zeros(resources, dtype=np.bool_), required=np.ones(len(lists), dtype=np.bool_),
        option_start=np.cumsum([0, *map(len, lists)]).astype(np.int64),
        option_requires=np.full(len(paths), -1, dtype=np.int32),
        option_path=np.arange(len(paths), dtype=np.int32),
        path_start=np.cumsum([0, *map(len, paths)]).astype(np.int64),
        path_resource=np.concatenate(paths).astype(np.int32),
    )  # fmt: skip


@RANDOM
@given(
    st.lists(
        st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=12),
        min_size=1,
        max_size=4,
    )
)
def test_any_words_even_twice_and_prefixes_of_others(lists):
    problem = words_problem(lists, 4)
    check_graphs(problem, build_graphs(problem, flatten(problem), 0, FAR), 0, FAR)


def test_graphs_outgrow_their_first_tables():
    chance = random.Random(5)
    lists = [[[chance.randrange(90) for _ in range(6)] for _ in range(700)] for _ in range(2)]
    problem = words_problem(lists, 90)
    check_graphs(problem, build_graphs(problem, flatten(problem), 0, FAR), 0, FAR)


def test_lists_that_only_begin_and_end_alike_have_graphs_of_their_own():
    problem = words_problem([[[0], [1], [2], [3]], [[0], [1], [2], [3]]], 4)
    crossed = replace(problem, option_path=np.array([0, 1, 2, 3, 0, 2, 1, 3], dtype=np.int32))
    check_graphs(crossed, build_graphs(crossed, flatten(crossed), 0, 0), 0, 0)


def test_choices_with_the_same_paths_share_a_graph():
    problem = build_problem(instance("hypercube-8", "AAB"))
    graphs = build_graphs(problem, flatten(problem), FAR, FAR)
    assert len(graphs.state_start) - 1 == 8 * 7
    assert len(graphs.graph) > 8 * 7


def check_prices(search: Search, delivery: int) -> None:
    """Compare all that a move is priced with, for a delivery that is taken out."""
    problem, memory, graphs, scratch = search.problem, search.memory, search.graphs, search.scratch
    search.price(delivery)
    for step in range(search.steps):
        twin = {
            choice: plain.choice_cost(problem, memory, graphs, delivery, choice, step)
            for choice in plain.choices(graphs, delivery)
        }
        if min(twin.values()) >= NEVER:
            assert scratch.cost[step] >= NEVER
            continue
        assert scratch.cost[step] == min(twin.values())
        choice = int(scratch.choice[step])
        assert twin[choice] == scratch.cost[step]
        option = path_at(search.parts, choice, step, search.state)
        assert option in plain.options_of(graphs, choice)
        cheapest = plain.cheapest(problem, memory, graphs, choice, step)
        assert plain.path_cost(problem, memory, option, step) == cheapest
    assert (scratch.cost[search.steps :] >= NEVER).all()


@pytest.mark.long
@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", ["wormhole", "store-and-forward"])
def test_prices_equal_brute_force(kind):
    small = HOPS if kind == "store-and-forward" else {"switchings": (kind,), "max_nodes": 6}

    @RANDOM
    @given(instances(**small), SEEDS, st.sampled_from((0, FAR)))
    def check(case: Instance, seed: int, excess: int) -> None:
        search = Search(build_problem(case), seed, excess=excess)
        for _ in range(8):
            search.move(search.random.randrange(search.problem.deliveries))
        for delivery in range(search.problem.deliveries):
            count = take_out(search.flat, search.memory, search.scratch, delivery)
            check_prices(search, delivery)
            put_back(search.flat, search.memory, search.scratch, count)
        search.check()

    check()


@RANDOM
@given(instances(max_nodes=6, max_messages=4), SEEDS)
def test_a_move_changes_the_cost_as_it_was_priced(case, seed):
    """The move changes the weighted sum of all violations by its price."""
    search = Search(build_problem(case), seed)
    problem, memory, scratch = search.problem, search.memory, search.scratch
    for _ in range(8):
        search.move(search.random.randrange(problem.deliveries))
    for delivery in range(problem.deliveries):
        if not plain.is_needed(problem, memory, delivery):
            continue
        before = plain.total_cost(problem, memory)
        count = take_out(search.flat, memory, scratch, delivery)
        if not plain.is_needed(problem, memory, delivery):
            search.recheck_taken(count)
            continue
        search.price(delivery)
        stay = present_cost(search.flat, memory, scratch, count)
        price = [int(cost) for cost in scratch.cost[: search.steps]]
        step = min(range(search.steps), key=price.__getitem__)
        if price[step] >= NEVER:
            put_back(search.flat, memory, scratch, count)
            continue
        choice = int(scratch.choice[step])
        carry_out(search.parts, delivery, choice, step, search.state)
        for freed in range(1, count):
            recheck(search.flat, memory, int(scratch.taken[freed, 0]))
        search.check()
        assert plain.total_cost(problem, memory) - before == price[step] - stay


def test_huge_capacities_fit_into_the_numbers_of_kernels():
    channels = tuple(Channel(a, b, 10**9) for a in range(4) for b in range(4) if a != b)
    wide = instance(Network("wide", 4, channels), "alltoall", ports=1)
    assert 8 < spare_uses(build_problem(wide), 20) <= 1 << 20
