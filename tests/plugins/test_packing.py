"""The engine ``packing``: scatters, each step filled with routes that share no channel."""

from __future__ import annotations

import time
from typing import Any

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.packing import engine
from cchybrid_plugins.packing.engine import Packing
from cchybrid_plugins.packing.filling import fill_steps, list_users, new_step, new_users
from cchybrid_plugins.packing.routes import (
    choose_routes,
    new_prices,
    new_routes,
    new_scatter,
    reduce_load,
)
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, NoOptions, Stop
from cchybrid.problem import build_problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import WATCH_SECONDS
from tests.examples import examples
from tests.plugins.plain_packing import PlainPacking
from tests.random_instances import instances
from tests.toolkit.kernels.plain_random import PlainRandom

RANDOM = settings(
    max_examples=examples(60), derandomize=True, suppress_health_check=list(HealthCheck)
)
GO_ON = np.zeros(1, dtype=np.bool_)


def solve(instance: Instance, lower: int = 1, **rest: Any) -> tuple[LocalRun, Stop]:
    run = LocalRun(
        build_problem(instance), first_lower=lower, **{"budget": Budget(seconds=60.0), **rest}
    )
    stop = Packing(NoOptions()).solve(run.problem, run)
    assert run.violations == []
    return run, stop


def scattered(instance: Instance) -> Instance:
    """Return an instance with the first destination of every message only, three times."""
    messages = 3 * tuple(
        Message(message.source, message.destinations[:1])
        for message in instance.collective.deliver_messages
    )
    return Instance(instance.network, Collective("one", messages), instance.model)


SCATTERS = instances(max_nodes=7, kinds=("deliver",), switchings=("wormhole",)).map(scattered)


@RANDOM
@given(
    SCATTERS,
    st.lists(st.sampled_from((2.0, 24.0, 300.0)), max_size=3),
    st.integers(1, 4),
    st.sampled_from((0.5, 3.0)),
    st.integers(0, 2**32 - 1),
)
def test_the_kernels_do_what_the_plain_version_does(
    instance: Instance, more: list[float], steps: int, effort: float, seed: int
) -> None:
    problem = build_problem(instance)
    assert problem.structure is not None
    scatter = new_scatter(problem, problem.structure)
    routes, prices, state = new_routes(scatter), new_prices(scatter), seed_state(seed)
    users, filled = new_users(routes), new_step(scatter, routes)
    step = np.full(len(scatter.source), -1, dtype=np.int32)
    waiting = np.arange(len(step), dtype=np.int32)
    plain = PlainPacking(scatter, PlainRandom(seed))
    order, first = waiting.tolist(), 0
    choose_routes(scatter, routes, prices, waiting, np.array([1.0, *more]), GO_ON, state)
    plain.choose(order, [1.0, *more])
    while len(waiting):
        target = max(1, int(routes.load.max()) - 1)
        reduced = reduce_load(
            scatter, routes, prices, waiting, target, 3 * len(waiting), GO_ON, state
        )
        assert reduced == plain.reduce(order, target, 3 * len(order))
        assert waiting.tolist() == order
        found = [uses[:count].tolist() for uses, count in zip(*routes[:2], strict=True)]
        assert found == plain.routes
        assert {one: load for one, load in enumerate(routes.load.tolist()) if load} == +plain.load
        list_users(routes, waiting, users)
        made = fill_steps(scatter, routes, users, filled, step, first, steps, effort, GO_ON, state)
        assert made == plain.fill(order, first, steps, effort)
        assert step.tolist() == plain.steps
        first += made
        waiting = waiting[step[waiting] < 0]
        order = [delivery for delivery in order if plain.steps[delivery] < 0]
        choose_routes(scatter, routes, prices, waiting, np.array(more), GO_ON, state)
        plain.choose(order, more)


@RANDOM
@given(instances(max_nodes=7, switchings=("wormhole",)), st.integers(0, 2**32 - 1))
def test_schedules_are_valid(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    assume(not problem.ordered)
    run = LocalRun(problem, seed=seed, budget=Budget(seconds=None, evaluations=3))
    Packing(NoOptions()).solve(problem, run)
    assert run.schedules
    assert run.violations == []


def test_routes_are_shortest_and_of_low_load() -> None:
    """On a torus the load of all routes is that of a perfect balance after a few sweeps."""
    problem = build_problem(cchybrid.instance("torus-6x6", "AAS"))
    assert problem.structure is not None
    scatter = new_scatter(problem, problem.structure)
    routes = new_routes(scatter)
    order = np.arange(len(scatter.source), dtype=np.int32)
    exponents = 2.0 ** np.arange(3, 10)
    prices = new_prices(scatter)
    choose_routes(scatter, routes, prices, order, exponents, GO_ON, seed_state(1))
    graph = nx.DiGraph([channel[:2] for channel in problem.structure.network.channels])
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    hops = [distance[a][b] for a, b in zip(*(x.tolist() for x in scatter[:2]), strict=True)]
    assert routes.size.tolist() == hops
    assert routes.load.max() <= 1.05 * sum(hops) / len(problem.structure.network.channels)


def test_longer_routes_spread_the_load_where_they_are_allowed() -> None:
    """One channel of kautz-36 is on the only shortest path of 34 pairs."""
    run, stop = solve(cchybrid.instance("kautz-36", "AAS"), lower=34)
    assert (stop, len(run.schedules[-1].steps)) == (Stop.EXHAUSTED, 34)
    run, stop = solve(cchybrid.instance("kautz-36", "AAS", routing=1), lower=32)
    assert (stop, len(run.schedules[-1].steps)) == (Stop.EXHAUSTED, 32)


def test_a_bound_above_the_load_of_all_routes_does_not_stop_the_search() -> None:
    """Every two of three messages share a channel, so they need three steps, but no channel two."""
    ring = Network("one-way ring", 6, tuple(Channel(a, (a + 1) % 6) for a in range(6)))
    messages = tuple(Message(source, ((source + 4) % 6,)) for source in (0, 2, 4))
    three = Budget(seconds=None, evaluations=3)
    run, stop = solve(Instance(ring, Collective("three", messages)), lower=3, budget=three)
    assert (stop, len(run.schedules[-1].steps)) == (Stop.EXHAUSTED, 3)


def test_a_schedule_that_refutes_a_wrong_bound_is_offered() -> None:
    one = Budget(seconds=None, evaluations=1)
    run, _ = solve(cchybrid.instance("ring-10", "AAS"), lower=100, budget=one)
    assert [len(schedule.steps) for schedule in run.schedules] == [13]


def test_a_bound_that_rises_meanwhile_does_not_stop_a_schedule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = LocalRun(
        build_problem(cchybrid.instance("ring-10", "AAS")),
        budget=Budget(seconds=None, evaluations=1),
    )
    fill = engine._Schedules.fill

    def slow_fill(schedules: engine._Schedules, stop: BoolArray) -> None:
        run.first_lower = 13
        time.sleep(3 * WATCH_SECONDS)
        fill(schedules, stop)

    monkeypatch.setattr(engine._Schedules, "fill", slow_fill)
    Packing(NoOptions()).solve(run.problem, run)
    assert run.best() == 13


def test_the_first_schedule_chooses_routes_seldom() -> None:
    """The first schedule comes soon; later ones have more time and choose routes more often."""
    problem = build_problem(cchybrid.instance("random-regular-48-4-1", "AAS"))
    search = engine._Schedules(problem, 0)
    fills = []
    for _ in range(2):
        search.start(47, GO_ON)
        made = 0
        while len(search.waiting):
            search.fill(GO_ON)
            made += 1
        fills.append(made)
        assert 47 <= search.steps <= 50
    assert fills[0] <= 1 + np.log2(47) < 2 * fills[0] < fills[1]


@pytest.mark.parametrize(
    ("words", "model", "steps"),
    [
        (("random-regular-24-3-1", "AAS"), {}, 42),
        (("random-regular-48-4-1", "AAS"), {}, 47),
        (("mesh-3x3", "OAS"), {}, 4),
        (("mesh-3x3", "AOG"), {}, 4),
        (("mesh-3x3", "AAS"), {"ports": 1}, 8),
        (("mesh-6x6", "permutation:transpose"), {}, 2),
    ],
)
def test_reaches_the_optimum(words: tuple[str, str], model: dict[str, Any], steps: int) -> None:
    run, stop = solve(cchybrid.instance(*words, **model), steps)
    assert run.best() == steps
    assert stop is Stop.EXHAUSTED


def test_channels_of_higher_capacity_and_half_duplex_links() -> None:
    line = Network("line", 3, (Channel(0, 1, 2), Channel(1, 2, 2)))
    run, _ = solve(Instance(line, Collective("four", (Message(0, (2,)),) * 4)), 2)
    assert run.best() == 2
    links = [(0, 1), (1, 2)]
    both = Network("half", 3, Network.from_links("half", 3, links).channels, tuple(links))
    messages = (Message(0, (2,)), Message(2, (0,))) * 2
    run, _ = solve(Instance(both, Collective("two", messages)), 4)
    assert run.best() == 4


def test_no_path_passes_an_endpoint() -> None:
    links = [(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)]
    network = Network.from_links("detour", 5, links)
    network = Network("detour", 5, network.channels, endpoints=(1,))
    run, _ = solve(Instance(network, Collective("one", (Message(0, (3,)),))), 1)
    assert [transfer.path for transfer in run.schedules[-1].steps[0]] == [(0, 2, 4, 3)]


@pytest.mark.parametrize(
    ("words", "model"),
    [(("mesh-3x3", "AAB"), {}), (("mesh-3x3", "AAS"), {"switching": "store-and-forward"})],
)
def test_forwarding_is_refused(words: tuple[str, str], model: dict[str, Any]) -> None:
    problem = build_problem(cchybrid.instance(*words, **model))
    assert Packing(NoOptions()).unsupported(problem) == "messages are forwarded"


def test_an_evaluation_budget_is_kept_and_repeats() -> None:
    def searched(seed: int) -> list[Any]:
        case = cchybrid.instance("random-regular-24-3-1", "AAS")
        budget = Budget(seconds=None, evaluations=3)
        run, stop = solve(case, 30, seed=seed, budget=budget)
        assert stop is Stop.LIMIT
        assert run.spent == 3
        return [schedule.steps for schedule in run.schedules]

    assert searched(1) == searched(1)
    assert searched(1) != searched(2)
