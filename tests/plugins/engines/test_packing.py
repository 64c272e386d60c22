"""The engine ``packing``: scatters, each step filled with routes that share no channel."""

import time

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.engines.packing import engine
from cchybrid_plugins.engines.packing.engine import Packing
from cchybrid_plugins.engines.packing.filling import fill_steps, list_users, new_step, new_users
from cchybrid_plugins.engines.packing.routes import (
    choose_routes,
    new_prices,
    new_routes,
    new_scatter,
    reduce_load,
)
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, NoOptions, Stop
from cchybrid.problem import build_problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import WATCH_SECONDS
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.random_instances import instances
from tests.toolkit.kernels.uncompiled import call

RANDOM = drawn(60)
GO_ON = np.zeros(1, dtype=np.bool_)
PACKING = Packing(NoOptions())


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
def test_the_kernels_are_compiled_as_written(
    instance: Instance, more: list[float], steps: int, effort: float, seed: int
) -> None:
    problem = build_problem(instance)
    assert problem.structure is not None
    scatter = new_scatter(problem, problem.structure)
    routes, prices, state = new_routes(scatter), new_prices(scatter), seed_state(seed)
    users, filled = new_users(routes), new_step(scatter, routes)
    step = np.full(len(scatter.source), -1, dtype=np.int32)
    waiting, first = np.arange(len(step), dtype=np.int32), 0
    call(choose_routes, scatter, routes, prices, waiting, np.array([1.0, *more]), GO_ON, state)
    while len(waiting):
        used = [uses[:count].tolist() for uses, count in zip(*routes[:2], strict=True)]
        load = np.bincount([one for d in waiting for one in used[d]], minlength=len(routes.load))
        assert routes.load.tolist() == load.tolist()
        target = max(1, int(routes.load.max()) - 1)
        moves = 3 * len(waiting)
        reduced = call(reduce_load, scatter, routes, prices, waiting, target, moves, GO_ON, state)
        assert not reduced or (routes.load <= target * scatter.capacity).all()
        list_users(routes, waiting, users)
        first += call(
            fill_steps, scatter, routes, users, filled, step, first, steps, effort, GO_ON, state
        )
        assert step.max() < first
        waiting = waiting[step[waiting] < 0]
        call(choose_routes, scatter, routes, prices, waiting, np.array(more), GO_ON, state)


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


def test_a_bound_above_the_load_of_all_routes_does_not_stop_the_search() -> None:
    """Every two of three messages share a channel, so they need three steps, but no channel two."""
    ring = Network("one-way ring", 6, tuple(Channel(a, (a + 1) % 6) for a in range(6)))
    messages = tuple(Message(source, ((source + 4) % 6,)) for source in (0, 2, 4))
    three = Budget(seconds=None, evaluations=3)
    run, stop = solved(
        PACKING, Instance(ring, Collective("three", messages)), lower=3, budget=three
    )
    assert (stop, len(run.schedules[-1].steps)) == (Stop.EXHAUSTED, 3)


def test_a_schedule_that_refutes_a_wrong_bound_is_offered() -> None:
    one = Budget(seconds=None, evaluations=1)
    run, _ = solved(PACKING, cchybrid.instance("ring-10", "AAS"), lower=100, budget=one)
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


def test_channels_of_higher_capacity_and_half_duplex_links() -> None:
    line = Network("line", 3, (Channel(0, 1, 2), Channel(1, 2, 2)))
    run, _ = solved(PACKING, Instance(line, Collective("four", (Message(0, (2,)),) * 4)), 2)
    assert run.best() == 2
    links = [(0, 1), (1, 2)]
    both = Network("half", 3, Network.from_links("half", 3, links).channels, tuple(links))
    messages = (Message(0, (2,)), Message(2, (0,))) * 2
    run, _ = solved(PACKING, Instance(both, Collective("two", messages)), 4)
    assert run.best() == 4


def test_no_path_passes_an_endpoint() -> None:
    links = [(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)]
    network = Network.from_links("detour", 5, links)
    network = Network("detour", 5, network.channels, endpoints=(1,))
    run, _ = solved(PACKING, Instance(network, Collective("one", (Message(0, (3,)),))), 1)
    assert [transfer.path for transfer in run.schedules[-1].steps[0]] == [(0, 2, 4, 3)]
