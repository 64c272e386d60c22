from __future__ import annotations

import numpy as np
import pytest
from cchybrid_plugins.hgsa.engine import Hgsa, HgsaOptions
from cchybrid_plugins.hgsa.genetics import accepts, cross, draw, exchange, start
from cchybrid_plugins.hgsa.kernels import Solution, closes_cycle, move, process
from cchybrid_plugins.hgsa.processes import AnnealingProcesses
from cchybrid_plugins.hgsa.shortening import shorten, shorten_longest, shortest_chains
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels

HOPS = {"switching": "store-and-forward"}
RANDOM = settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
STEPS = 4
GO_ON = np.zeros(1, dtype=np.bool_)


def solve(case: Instance, lower: int, options: HgsaOptions, **rest: object) -> LocalRun:
    run = LocalRun(build_problem(case), first_lower=lower, **{"budget": Budget(seconds=60), **rest})  # type: ignore[arg-type]
    Hgsa(options).solve(run.problem, run)
    assert not run.violations
    return run


def processes_of(problem: Problem, seed: int, **options: object) -> AnnealingProcesses:
    chosen = HgsaOptions(**{"processes": 3, **options})  # type: ignore[arg-type]
    island = AnnealingProcesses(problem, flatten(problem), chosen, STEPS, None, seed_state(seed))
    island.advance(0, GO_ON)
    return island


def check_counts(problem: Problem, solution: Solution) -> None:
    """Compare everything that is changed move by move with a plain recount."""
    found = Assignment(solution.option, solution.step)
    needed = plain_kernels.needed(problem, found)
    assert set(np.flatnonzero(solution.users).tolist()) == needed
    loads = plain_kernels.loads(problem, found, needed)
    assert {key: int(solution.table[key[1], key[0]]) for key in loads} == dict(loads)
    assert int(solution.table.sum()) == sum(loads.values())
    length = sum(
        int(found.step[d]) + 1 + len(problem.resources_of(found.option[d])) for d in needed
    )
    assert solution.counts.tolist() == [plain_kernels.conflicts(problem, found), length]


def check_no_circle(problem: Problem, solution: Solution) -> None:
    for first in range(problem.deliveries):
        seen, delivery = set(), first
        while delivery >= 0 and delivery not in seen:
            seen.add(delivery)
            delivery = int(problem.option_requires[solution.option[delivery]])
        assert delivery < 0


@pytest.mark.parametrize(
    ("words", "model", "steps"),
    [
        (("hypercube-8", "OAB"), HOPS, 3),
        (("amp-8", "OAB"), HOPS, 2),
        (("hypercube-16", "OAB"), HOPS, 4),
        (("hypercube-8", "AAB"), HOPS, 3),
        (("ring-bi-4", "AAS"), HOPS, 2),
        (("hypercube-8", "AAS"), HOPS, 4),
        (("spidergon-8", "AAS"), {}, 4),
        (("mesh-3x3", "AAS"), {}, 6),
        (("mesh-3x3", "AAS"), {"ports": 1}, 8),
        (("hypercube-8", "AAB"), {}, 3),
        (("torus-3x3", "AOR"), {}, 2),
    ],
)
@pytest.mark.parametrize("fitness", ["conflicts", "steps"])
def test_it_reaches_the_optimum(
    words: tuple[str, str], model: dict[str, object], steps: int, fitness: str
) -> None:
    case = instance(*words, **model)  # type: ignore[arg-type]
    assert solve(case, steps, HgsaOptions(fitness=fitness)).best() == steps


def test_raising_the_steps_ends_with_the_first_schedule() -> None:
    case = instance("spidergon-8", "AAS")
    run = solve(case, 3, HgsaOptions(control="raise", patience=500))
    assert [len(schedule.steps) for schedule in run.schedules] == [4]
    assert {steps for steps, _ in run.progressed} >= {3}


def test_a_target_is_honoured() -> None:
    best = solve(instance("ring-bi-8", "AAS"), 8, HgsaOptions(), target=10).best()
    assert best is not None
    assert 8 <= best <= 10


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_and_evaluations_repeat_exactly(threads: int) -> None:
    found = []
    for seed in (3, 3, 4):
        budget = Budget(evaluations=200_000, threads=threads)
        problem = build_problem(instance("kautz-12", "AAS"))
        run = LocalRun(problem, seed=seed, budget=budget, first_lower=6)
        assert Hgsa(HgsaOptions()).solve(problem, run) == Stop.LIMIT
        near = [(one.option.tolist(), one.step.tolist()) for one in run.suggestions]
        found.append(([schedule.steps for schedule in run.schedules], near, run.spent))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_it_hands_out_near_solutions_that_still_have_conflicts() -> None:
    case, budget = instance("torus-4x4", "AAB"), Budget(evaluations=200_000)
    run = solve(case, 4, HgsaOptions(), budget=budget)
    assert run.suggestions
    assert all(conflicts(run.problem, near) > 0 for near in run.suggestions)


def test_it_starts_from_a_hint() -> None:
    problem = build_problem(instance("spidergon-8", "AAS"))
    first = LocalRun(problem, first_lower=4, budget=Budget(seconds=60))
    Hgsa(HgsaOptions()).solve(problem, first)
    solution = problem.match(first.schedules[-1].steps)
    run = LocalRun(problem, first_lower=4, seed=9, hints={4: solution})
    Hgsa(HgsaOptions()).solve(problem, run)
    assert np.array_equal(problem.match(run.schedules[-1].steps).step, solution.step)


@pytest.mark.parametrize(
    "options",
    [
        {"processes": 0}, {"moves": -1}, {"exchange": 0}, {"mutation": 1.5}, {"genes": 0},
        {"temperature": 0.0}, {"cooling": 1.0}, {"floor": 0.0}, {"floor": 2.0}, {"weight": -1.0},
        {"fitness": "length"}, {"end": -1}, {"longest": -1}, {"control": "up"}, {"patience": 0},
    ],
)  # fmt: skip
def test_senseless_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        HgsaOptions(**options)  # type: ignore[arg-type]


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_counts_after_moves_equal_a_recount(case: Instance, seed: int) -> None:
    problem = build_problem(case)
    flat, state = flatten(problem), seed_state(seed)
    solution = process(processes_of(problem, seed).processes, 0)
    check_counts(problem, solution)
    for delivery in np.random.default_rng(seed).integers(0, problem.deliveries, 12).tolist():
        before = solution.option.copy(), solution.step.copy(), solution.counts.tolist()
        option, step = draw(flat, solution, delivery, state)
        if closes_cycle(flat, solution, delivery, option):
            continue
        move(flat, solution, delivery, option, step)
        check_counts(problem, solution)
        check_no_circle(problem, solution)
        if delivery % 2:
            move(flat, solution, delivery, before[0][delivery], before[1][delivery])
            assert (solution.option == before[0]).all()
            assert solution.counts.tolist() == before[2]
            check_counts(problem, solution)


@pytest.mark.long
@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_annealing_and_master_steps_keep_the_counts(case: Instance, seed: int) -> None:
    problem = build_problem(case)
    island = processes_of(problem, seed, exchange=2)
    island.advance(40 * problem.deliveries, GO_ON)
    exchange(
        island.flat, island.settings, island.processes, island.memory, 0.5, GO_ON, island.state
    )
    for index in range(3):
        check_counts(problem, process(island.processes, index))
        check_no_circle(problem, process(island.processes, index))
    assert conflicts(problem, island.best()) == island.conflicts


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_a_child_has_the_genes_of_one_parent_between_two_points(case: Instance, seed: int) -> None:
    problem = build_problem(case)
    island = processes_of(problem, seed)
    memory, mother, father = island.memory, 0, 2
    memory.option[:], memory.step[:] = island.processes.option, island.processes.step
    rng = np.random.default_rng(seed)
    first, last = sorted(rng.integers(0, problem.deliveries + 1, 2).tolist())
    cross(
        island.flat,
        island.settings,
        memory,
        mother,
        father,
        first,
        last,
        memory.one,
        GO_ON,
        island.state,
    )
    check_counts(problem, memory.one)
    check_no_circle(problem, memory.one)
    if not problem.ordered:  # else the order is restored
        for gene in range(problem.deliveries):
            parent = father if first <= gene < last else mother
            assert memory.one.option[gene] == memory.option[parent, gene]
            assert memory.one.step[gene] == memory.step[parent, gene]


@pytest.mark.long
@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_routes_only_get_shorter(case: Instance, seed: int) -> None:
    problem = build_problem(case)
    island = processes_of(problem, seed)
    solution, depth = process(island.processes, 1), island.settings.depth.tolist()

    def length(delivery: int) -> tuple[int, int]:
        option = int(solution.option[delivery])
        before = int(problem.option_requires[option])
        return len(problem.resources_of(option)), depth[before] if before >= 0 else 0

    for heuristic in (
        lambda: shorten(island.flat, island.settings.depth, solution, island.state),
        lambda: shorten_longest(island.flat, 3, solution, island.state),
    ):
        before = [length(delivery) for delivery in range(problem.deliveries)]
        steps, total = solution.step.copy(), solution.counts[0]
        heuristic()
        check_counts(problem, solution)
        check_no_circle(problem, solution)
        assert solution.counts[0] <= total
        for delivery in range(problem.deliveries):
            if steps[delivery] == solution.step[delivery]:
                assert length(delivery)[:1] <= before[delivery][:1]
    longest = max(before)[0]
    if sum(uses == longest for uses, _ in before) > 3:
        assert [length(delivery) for delivery in range(problem.deliveries)] == before


def test_a_route_is_shortened_where_the_message_is_nearer_already() -> None:
    problem = build_problem(instance("ring-bi-8", "OAB"))
    flat = flatten(problem)
    island = processes_of(problem, 0)
    solution = process(island.processes, 0)
    direct = [
        option
        for delivery in range(problem.deliveries)
        for option in range(problem.option_start[delivery], problem.option_start[delivery + 1])
        if problem.option_requires[option] < 0
    ]
    first = {int(problem.option_delivery[option]): option for option in direct}
    solution.option[:] = [first[delivery] for delivery in range(problem.deliveries)]
    # One after the other the nearer ones get the message first, each from the source.
    near = sorted(range(problem.deliveries), key=lambda d: len(problem.resources_of(first[d])))
    solution.step[near] = [0, 0, 1, 1, 2, 2, 3]
    start(flat, island.settings, solution, island.memory.chain, GO_ON, island.state)
    assert {len(problem.resources_of(option)) for option in solution.option} == {3}
    assert solution.counts[0] == 0


@RANDOM
@given(instances())
def test_shortest_chains_equal_their_twin(case: Instance) -> None:
    problem = build_problem(case)
    depth, tree = np.empty((2, problem.deliveries), dtype=np.int32)
    shortest_chains(flatten(problem), depth, tree)
    known = {-1: 0}
    for _ in range(problem.deliveries + 1):
        for option in range(problem.options):
            delivery = int(problem.option_delivery[option])
            before = int(problem.option_requires[option])
            if before in known:
                total = known[before] + len(problem.resources_of(option))
                known[delivery] = min(known.get(delivery, total), total)
    assert {d: int(depth[d]) for d in known if d >= 0} == {d: known[d] for d in known if d >= 0}
    for delivery in set(known) - {-1}:
        before = int(problem.option_requires[tree[delivery]])
        used = len(problem.resources_of(tree[delivery]))
        assert known[delivery] == used + known[before]


def test_metropolis_accepts_as_often_as_it_should() -> None:
    state = seed_state(1)
    assert all(accepts(rise, 0.1, state) for rise in (-2.0, 0.0))
    share = np.mean([accepts(1.0, 2.0, state) for _ in range(4000)])
    assert abs(share - np.exp(-0.5)) < 0.03
