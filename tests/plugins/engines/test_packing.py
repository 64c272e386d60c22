"""The engine ``packing``: scatters, each step filled with routes that share no channel."""

import math
from dataclasses import replace

import numpy as np
import pytest
from cchybrid_plugins.engines.packing import engine
from cchybrid_plugins.engines.packing.engine import EXPONENTS, Packing
from cchybrid_plugins.engines.packing.filling import fill_steps
from cchybrid_plugins.engines.packing.path_exchanges import fill_by_paths
from cchybrid_plugins.engines.packing.prices import LEVEL, improve_duals, new_duals
from cchybrid_plugins.engines.packing.routes import (
    choose_routes,
    count_load,
    new_routing,
    reduce_load,
)
from cchybrid_plugins.engines.packing.step_filling import list_users, new_filling
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, NoOptions, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.dual_prices import Pricing
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.usage_matrix import UsageMatrix
from tests.examples import drawn
from tests.plugins.engines.runs import scattered, solved
from tests.random_instances import instances
from tests.toolkit.kernels.uncompiled import call

RANDOM = drawn(60)
GO_ON = np.zeros(1, dtype=np.bool_)
PACKING = Packing(NoOptions())


SCATTERS = instances(max_nodes=7, kinds=("deliver",), switchings=("wormhole",)).map(
    lambda instance: scattered(instance, 3)
)


@RANDOM
@given(
    SCATTERS,
    st.lists(st.sampled_from((2.0, 24.0, 300.0)), max_size=3),
    st.integers(1, 4),
    st.sampled_from(((0.5, 0.0), (3.0, 0.0), (0.5, 3.0))),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_the_kernels_are_compiled_as_written(instance, more, steps, effort, priced, seed):
    problem = build_problem(instance)
    routing, state = new_routing(problem, problem.structure), seed_state(seed)
    scatter, routes, _ = routing
    filling = new_filling(scatter, routes)
    step = filling.step
    waiting, first = np.arange(len(step), dtype=np.int32), 0
    if priced:
        call(improve_duals, routing, waiting, new_duals(scatter), 5, GO_ON)
    call(choose_routes, routing, waiting, np.array([1.0, *more]), GO_ON, state)
    while len(waiting):
        used = [uses[:count].tolist() for uses, count in zip(*routes[:2], strict=True)]
        load = np.bincount([one for d in waiting for one in used[d]], minlength=len(routes.load))
        assert routes.load.tolist() == load.tolist()
        target = max(1, int(routes.load.max()) - 1)
        moves = 3 * len(waiting)
        reduced = call(reduce_load, routing, waiting, target, moves, GO_ON, state)
        assert not reduced or (routes.load <= target * scatter.capacity).all()
        list_users(filling, waiting)
        if effort[1]:
            made = call(fill_by_paths, filling, waiting, first, steps, effort, GO_ON, state)
        else:
            made = call(fill_steps, filling, first, steps, (effort[0], 0.6), GO_ON, state)
        first += made
        assert step.max() < first
        waiting, by_paths = waiting[step[waiting] < 0], routes.load.copy()
        call(count_load, routes, waiting)
        assert not effort[1] or routes.load.tolist() == by_paths.tolist()
        call(choose_routes, routing, waiting, np.array(more), GO_ON, state)


def priced(instance, sweeps):
    """Return a Problem, its routing with dual prices, and the cost of its cheapest routes."""
    problem = build_problem(instance)
    routing = new_routing(problem, problem.structure)
    deliveries = np.arange(len(routing.scatter.source), dtype=np.int32)
    duals = new_duals(routing.scatter)
    for part in (sweeps // 2, sweeps - sweeps // 2):
        improve_duals(routing, deliveries, duals, part, GO_ON)
    uses = UsageMatrix.of(problem)
    cost = uses.costs(routing.prices.base)
    cheapest = np.minimum.reduceat(cost, problem.option_start[:-1][problem.required])
    return problem, routing, cheapest.sum()


@RANDOM
@given(SCATTERS)
def test_dual_prices_bound_the_smallest_largest_load(instance):
    """Routes of any load cost at most the load times the priced capacity."""
    _, (scatter, routes, prices), cheapest = priced(instance, 20)
    load = (routes.load / np.maximum(scatter.capacity, 1)).max(initial=0)
    assert (prices.base >= 0).all()
    assert cheapest <= load * (prices.base @ scatter.capacity) * (1 + 1e-9)


def test_dual_prices_come_near_those_of_the_linear_program():
    problem, routing, cheapest = priced(cchybrid.instance("random-regular-24-3-1", "AAS"), 200)
    prices = routing.prices.base
    program = Pricing(problem, UsageMatrix.of(problem))
    program.sharpen()
    assert program.min_steps == 42
    assert 41 < cheapest / (prices @ problem.capacity) <= 42
    assert prices[prices > 1e-3 * prices.max()].mean() == pytest.approx(LEVEL)


def test_with_dual_prices_loads_are_reduced_in_fewer_moves():
    """One route per delivery is tried; with the prices the largest load becomes the lower bound."""
    _, routing, _ = priced(cchybrid.instance("random-regular-96-4-1", "AAS"), 200)
    dual, order = routing.prices.base.copy(), np.arange(96 * 95, dtype=np.int32)
    reduced = {}
    for share in (0.0, 1.0):
        routing.prices.base[:] = share * dual
        for seed in range(4):
            state = seed_state(seed)
            choose_routes(routing, order, EXPONENTS, GO_ON, state)
            reduced[share, seed] = reduce_load(routing, order, 95, len(order), GO_ON, state)
    assert [reduced[1.0, seed] for seed in range(4)] == [True] * 4
    assert not any(reduced[0.0, seed] for seed in range(4))


def test_a_part_that_takes_too_many_steps_is_filled_again(monkeypatch):
    problem = build_problem(cchybrid.instance("mesh-5x5", "AAS"))
    steps = {}
    for trials in (1, 5):
        effort = engine.LATER._replace(exchanges=4.0, trials=trials)
        monkeypatch.setattr(engine, "LATER", effort)
        steps[trials] = [one_schedule(problem, seed) for seed in range(6)]
    assert min(*steps[1], *steps[5]) == 30
    assert sum(steps[5]) < sum(steps[1])


def one_schedule(problem, seed):
    """Return the steps of the second schedule of ``packing``."""
    search = second(problem, seed)
    while len(search.waiting):
        search.fill(GO_ON)
    return len(np.unique(search.found()[0].step))


def second(problem, seed):
    """Return the second schedule of ``packing``, with routes of load 30 but without steps."""
    search = engine.Schedules(problem, seed)
    search.start(1000, GO_ON)
    assert not search.is_near_end()
    search.start(30, GO_ON)
    assert search.fewest_left() == 30
    return search


def near_end(problem, seed):
    """Return the second schedule of ``packing``, filled up to its last steps."""
    search = second(problem, seed)
    while not search.is_near_end():
        search.fill(GO_ON)
    return search


def test_the_last_steps_are_scheduled_at_once(monkeypatch):
    """Filled one after another with little effort, they would be one more, see above."""
    problem = build_problem(cchybrid.instance("mesh-5x5", "AAS"))
    monkeypatch.setattr(engine, "LATER", engine.LATER._replace(exchanges=4.0, trials=1))
    lengths = []
    for seed in range(6):
        search, run = near_end(problem, seed), LocalRun(problem, budget=Budget(seconds=60))
        left = search.steps + search.fewest_left()
        run.offer(*search.complete(run))
        assert (run.violations, run.best()) == ([], left)
        lengths.append(left)
    assert lengths.count(30) >= 3


def test_an_evaluation_budget_limits_the_search_for_the_last_steps():
    problem = build_problem(cchybrid.instance("mesh-5x5", "AAS"))
    made = {}
    for evaluations in (100, 60_000, 60_000):
        run = LocalRun(problem, budget=Budget(seconds=None, evaluations=evaluations))
        found = near_end(problem, 0).complete(run)
        assert (found is None) == (evaluations == 100)
        step = None if found is None else found[0].step.tolist()
        assert made.setdefault(evaluations, (step, run.spent)) == (step, run.spent)
    assert made[100] == (None, 0)
    assert 0 < made[60_000][1] <= 6_000


def test_all_kernels_are_compiled_beforehand():
    PACKING.prepare()
    assert all(kernel.signatures for kernel in (choose_routes, improve_duals, reduce_load))


def test_a_bound_above_the_load_of_all_routes_does_not_stop_the_search():
    """Every two of three messages share a channel, so they need three steps, but no channel two."""
    instance = cchybrid.instance("ring-uni-6", [(a, (a + 4) % 6) for a in (0, 2, 4)])
    run, stop = solved(PACKING, instance, lower=3, budget=Budget(seconds=None, evaluations=3))
    assert (stop, len(run.schedules[-1].steps)) == (Stop.EXHAUSTED, 3)


def test_a_schedule_that_refutes_a_wrong_bound_is_offered():
    one = Budget(seconds=None, evaluations=1)
    run, _ = solved(PACKING, cchybrid.instance("ring-10", "AAS"), lower=100, budget=one)
    assert [len(schedule.steps) for schedule in run.schedules] == [13]


def test_channels_of_higher_capacity_and_half_duplex_links():
    line = Network("line", 3, (Channel(0, 1, 2), Channel(1, 2, 2)))
    both = replace(cchybrid.network("mesh-1x3"), half_duplex=((0, 1), (1, 2)))
    for network, messages, steps in ((line, [(0, 2)] * 4, 2), (both, [(0, 2), (2, 0)] * 2, 4)):
        run, _ = solved(PACKING, cchybrid.instance(network, messages), steps)
        assert run.best() == steps


def test_no_path_passes_an_endpoint():
    links = [(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)]
    network = Network.from_links("detour", 5, links, endpoints=(1,))
    run, _ = solved(PACKING, Instance(network, Collective("one", (Message(0, (3,)),))), 1)
    assert [transfer.path for transfer in run.schedules[-1].steps[0]] == [(0, 2, 4, 3)]


def paces(search, times):
    """Return the pace after parts of a second, with some time left after each."""
    made = []
    for left in times:
        search.set_pace(1.0, left)
        made.append(search._pace)
    return made


def test_exchanges_are_as_many_as_time_allows(monkeypatch):
    """With 24 parts, the factor 4 of the last steps makes 57 parts of equal length."""
    monkeypatch.setattr(engine, "MANY", 100)
    search = engine.Schedules(build_problem(cchybrid.instance("mesh-4x4", "AAS")), 0)
    search.start(1000, GO_ON)
    soon = engine.FIRST_PACE
    expected = [soon, soon, pytest.approx(soon * 100 / 57.27, rel=1e-3), engine.MIN_PACE]
    assert paces(search, (math.inf, 200.0, 100.0, -1.0)) == expected
    search.start(1000, GO_ON)
    expected = [pytest.approx(100 / 57.27, rel=1e-3), engine.MIN_PACE, engine.MAX_PACE]
    assert paces(search, (100.0, -1.0, math.inf)) == expected


def test_few_deliveries_are_filled_at_one_pace():
    search = engine.Schedules(build_problem(cchybrid.instance("mesh-4x4", "AAS")), 0)
    search.start(1000, GO_ON)
    assert paces(search, (1.0, -1.0, math.inf)) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("by_paths", [0, 1000, 100_000])
def test_many_deliveries_are_filled_within_a_few_steps(by_paths, monkeypatch):
    """The lower bound is 95; the ordinary first schedule takes 95."""
    monkeypatch.setattr(engine, "MANY", 1000)
    monkeypatch.setattr(engine, "MANY_WAITING", by_paths)
    problem = build_problem(cchybrid.instance("random-regular-96-4-1", "AAS"))
    for seed in range(2):
        search = engine.Schedules(problem, seed)
        search.start(95, GO_ON)
        while len(search.waiting):
            search.fill(GO_ON)
        run = LocalRun(problem, budget=Budget(seconds=60))
        run.offer(*search.found())
        assert run.violations == []
        assert 95 <= run.best() <= 100


def test_groups_of_channels_are_refused():
    """A path may use a group twice, which the kernels do not count."""
    network = replace(cchybrid.network([(0, 1), (1, 2)]), groups=(((0, 1), (1, 2)),))
    messages = Collective("one", (Message(0, (1,)),))
    assert "group" in PACKING.unsupported(build_problem(Instance(network, messages)))
