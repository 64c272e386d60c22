"""The engine ``packing``: scatters, each step filled with routes that share no channel."""

import numpy as np
from cchybrid_plugins.engines.packing.engine import Packing
from cchybrid_plugins.engines.packing.filling import fill_steps, list_users, new_filling
from cchybrid_plugins.engines.packing.routes import choose_routes, new_routing, reduce_load
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.plugin.engine import Budget, NoOptions, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.rng import seed_state
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
def test_the_kernels_are_compiled_as_written(instance, more, steps, effort, seed):
    problem = build_problem(instance)
    routing, state = new_routing(problem, problem.structure), seed_state(seed)
    scatter, routes, _ = routing
    filling = new_filling(scatter, routes)
    step = filling.step
    waiting, first = np.arange(len(step), dtype=np.int32), 0
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
        first += call(fill_steps, filling, first, steps, effort, GO_ON, state)
        assert step.max() < first
        waiting = waiting[step[waiting] < 0]
        call(choose_routes, routing, waiting, np.array(more), GO_ON, state)


def test_a_bound_above_the_load_of_all_routes_does_not_stop_the_search():
    """Every two of three messages share a channel, so they need three steps, but no channel two."""
    ring = Network("one-way ring", 6, tuple(Channel(a, (a + 1) % 6) for a in range(6)))
    messages = tuple(Message(source, ((source + 4) % 6,)) for source in (0, 2, 4))
    three = Budget(seconds=None, evaluations=3)
    run, stop = solved(
        PACKING, Instance(ring, Collective("three", messages)), lower=3, budget=three
    )
    assert (stop, len(run.schedules[-1].steps)) == (Stop.EXHAUSTED, 3)


def test_a_schedule_that_refutes_a_wrong_bound_is_offered():
    one = Budget(seconds=None, evaluations=1)
    run, _ = solved(PACKING, cchybrid.instance("ring-10", "AAS"), lower=100, budget=one)
    assert [len(schedule.steps) for schedule in run.schedules] == [13]


def test_channels_of_higher_capacity_and_half_duplex_links():
    line = Network("line", 3, (Channel(0, 1, 2), Channel(1, 2, 2)))
    run, _ = solved(PACKING, Instance(line, Collective("four", (Message(0, (2,)),) * 4)), 2)
    assert run.best() == 2
    links = [(0, 1), (1, 2)]
    both = Network("half", 3, Network.from_links("half", 3, links).channels, tuple(links))
    messages = (Message(0, (2,)), Message(2, (0,))) * 2
    run, _ = solved(PACKING, Instance(both, Collective("two", messages)), 4)
    assert run.best() == 4


def test_no_path_passes_an_endpoint():
    links = [(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)]
    network = Network.from_links("detour", 5, links)
    network = Network("detour", 5, network.channels, endpoints=(1,))
    run, _ = solved(PACKING, Instance(network, Collective("one", (Message(0, (3,)),))), 1)
    assert [transfer.path for transfer in run.schedules[-1].steps[0]] == [(0, 2, 4, 3)]
