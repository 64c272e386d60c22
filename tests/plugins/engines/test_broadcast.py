"""Flows from all informed nodes: as short as any schedule, and within their reach."""

from dataclasses import replace

import numpy as np
import pytest
from cchybrid_plugins.engines.broadcast.engine import Broadcast
from cchybrid_plugins.engines.broadcast.flows import Senders, SpreadModel
from hypothesis import assume, given
from hypothesis import strategies as st
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
)
from cchybrid.plugin.engine import Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import small_groups
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.solver import StoppedError
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.problem.symmetry.test_images import many_to_many
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, models, networks

RANDOM = drawn(40)
BROADCAST = Broadcast(Broadcast.Options())


def senders(problem: Problem) -> Senders:
    return Senders.of(problem, problem.structure)


def test_building_a_model_can_be_stopped():
    problem = build_problem(cchybrid.instance("mesh-4x4", "OAB"))
    with pytest.raises(StoppedError):
        SpreadModel(senders(problem), (6, 2), lambda: True)


@RANDOM
@given(instances(switchings=("wormhole",), routings=("minimal",), max_nodes=6, max_messages=3))
def test_without_limits_it_has_all_schedules(instance):
    """Ports, capacities, endpoints and half-duplex links among them; against the rules alone."""
    problem = build_problem(instance)
    assume(Broadcast(Broadcast.Options()).unsupported(problem) is None)
    fewest = fewest_steps(instance, first_fit(problem, 0).steps)
    run, stop = solved(BROADCAST, problem)
    assert (run.best(), stop) == (fewest, Stop.STALLED if fewest > 1 else Stop.EXHAUSTED)


@RANDOM
@given(instances(switchings=("wormhole",), routings=("any", 1, 2), max_nodes=6, max_messages=3))
def test_shortest_paths_do_where_longer_ones_are_allowed(instance):
    problem = build_problem(instance)
    assume(Broadcast(Broadcast.Options()).unsupported(problem) is None)
    run, _ = solved(BROADCAST, problem)
    minimal = replace(instance, model=replace(instance.model, routing="minimal"))
    assert run.best() == fewest_steps(minimal, first_fit(build_problem(minimal), 0).steps)
    assert run.bounds == []


@pytest.mark.parametrize("reach", [1, 2])
def test_steps_keep_within_their_reach(reach):
    problem = build_problem(cchybrid.instance("mesh-5x5", "OAB", root=0))
    run, _ = solved(Broadcast(Broadcast.Options(reach=reach)), problem, 3)
    for before_last, step in enumerate(reversed(run.schedules[-1].steps[1:])):
        assert max(len(path) - 1 for _, path in step) <= reach + before_last


def test_paths_that_the_pool_lacks_are_offered_too():
    problem = build_problem(cchybrid.instance("mesh-6x6", "OAB", root=0), max_options=1000)
    assert not problem.complete
    run, _ = solved(BROADCAST, problem, lower=3)
    assert run.best() == 3
    found = run.schedules[-1].steps
    assert (problem.match(found).option < 0).any()


@pytest.mark.parametrize(("ports", "steps"), [(None, 1), (2, 1), (1, 2)])
def test_parallel_links_carry_as_many_copies_as_ports_let_out(ports, steps):
    """Node 0 reaches 2 and 3 over one channel of capacity 2."""
    channels = (Channel(0, 1, 2), Channel(1, 2, 1), Channel(1, 3, 1))
    network = Network("fork", 4, channels)
    collective = Collective("multicast", (Message(0, (2, 3)),))
    model = CommunicationModel(inject=ports, accept=ports)
    run, _ = solved(BROADCAST, build_problem(Instance(network, collective, model)))
    assert run.best() == steps


def test_refuses_what_is_too_large(monkeypatch):
    problem = build_problem(cchybrid.instance("mesh-5x5", "OAB"))
    monkeypatch.setattr("cchybrid_plugins.engines.broadcast.engine.MAX_HOPS", 1000)
    refused = Broadcast(Broadcast.Options()).unsupported(problem)
    assert refused == "2,000 senders times channels, more than 1,000"
    monkeypatch.undo()
    # What is too large for the given number of steps is passed over.
    options = Broadcast.Options(max_variables=90)
    assert Broadcast(options).unsupported(problem) is None
    run, stop = solved(Broadcast(options), problem, lower=2)
    assert (run.best(), stop) == (None, Stop.STALLED)


@st.composite
def apart(draw: st.DrawFn) -> Instance:
    """Random instances in which no source is a destination, some of equal source."""
    network = draw(networks(6))
    nodes = draw(st.permutations(range(network.nodes)))
    cut = draw(st.integers(1, network.nodes - 1))
    goals = st.lists(st.sampled_from(nodes[cut:]), min_size=1, unique=True).map(tuple)
    sources = draw(st.lists(st.sampled_from(nodes[:cut]), min_size=2, max_size=4))
    kind = draw(st.sampled_from((Message, lambda one, many: Reduction(many, one))))
    messages = tuple(kind(source, draw(goals)) for source in sources)
    model = draw(models(network.nodes, ("wormhole",), ("minimal",)))
    return Instance(network, Collective("apart", messages), model)


@RANDOM
@given(apart())
def test_in_the_end_it_has_all_schedules(instance):
    problem = build_problem(instance)
    options = Broadcast.Options(max_messages=1)
    assume(Broadcast(options).unsupported(problem) is None)
    fewest = fewest_steps(instance, first_fit(problem, 0).steps)
    run, stop = solved(Broadcast(options), problem)
    assert (run.best(), stop) == (fewest, Stop.STALLED if fewest > 1 else Stop.EXHAUSTED)
    assert run.bounds == []


def values_of(model: SpreadModel) -> np.ndarray | None:
    """Return the values of a solution, if there is one."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.solve(model.model) != cp_model.OPTIMAL:
        return None
    return np.array(solver.response_proto.solution, dtype=np.int64)


def test_deliveries_are_invariant():
    problem = build_problem(many_to_many("mesh-3x4", 4))
    (images,) = small_groups(problem, 0, 9)
    model = SpreadModel(
        senders(problem), (5, 2, 1, 1), lambda: False, from_source=(5, 4, 3, 2), images=images
    )
    values = values_of(model)
    grown, assignment = model.solution(values)
    steps = grown.lift(assignment).steps
    made = {(m, path[-1], step) for step, sent in enumerate(steps) for m, path in sent}
    for message, node in zip(images.message, images.node, strict=True):
        assert {(message[m], node[v], step) for m, v, step in made} == made
    assert len(made) == problem.deliveries
