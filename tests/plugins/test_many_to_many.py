"""The engine ``broadcast`` on several messages: sources apart from destinations, symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.broadcast.engine import Broadcast
from cchybrid_plugins.broadcast.flows import Senders, SpreadModel
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.model import Collective, Instance, Message, Reduction
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import Images, small_groups
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.examples import examples
from tests.plugins.plain_broadcast import invariant
from tests.proof.optimum import fewest_steps
from tests.random_instances import models, networks

RANDOM = settings(
    max_examples=examples(30), derandomize=True, suppress_health_check=list(HealthCheck)
)


def many_to_many(name: str, sources: int) -> Instance:
    """Nodes before ``sources`` send to all others."""
    receivers = list(range(sources, cchybrid.network(name).nodes))
    return cchybrid.instance(name, "MNB", transmitters=list(range(sources)), receivers=receivers)


def solved(
    problem: Problem, options: Broadcast.Options | None = None, **rest: Any
) -> tuple[LocalRun, Stop]:
    run = LocalRun(problem, **{"budget": Budget(seconds=30.0), **rest})
    stop = Broadcast(options or Broadcast.Options()).solve(run.problem, run)
    assert run.violations == []
    return run, stop


def senders(problem: Problem) -> Senders:
    assert problem.structure is not None
    return Senders.of(problem, problem.structure)


def groups_of(problem: Problem) -> list[Images]:
    return small_groups(problem, 0, 9)


def values_of(model: SpreadModel) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.solve(model.model) != cp_model.OPTIMAL:
        return None
    return np.array(solver.response_proto.solution, dtype=np.int64)


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
def test_in_the_end_it_has_all_schedules(instance: Instance) -> None:
    problem = build_problem(instance)
    options = Broadcast.Options(max_messages=1)
    assume(Broadcast(options).unsupported(problem) is None)
    fewest = fewest_steps(instance, first_fit(problem, 0).steps)
    run, stop = solved(problem, options)
    assert (run.best(), stop) == (fewest, Stop.STALLED if fewest > 1 else Stop.EXHAUSTED)
    assert run.bounds == []


@pytest.mark.parametrize(
    ("name", "sources", "receivers"),
    [
        ("mesh-2x3", "012", "345"),
        ("mesh-3x3", "012", "345678"),
        ("mesh-3x3", "4", "01235678"),
        ("ring-bi-6", "01", "2345"),
        ("ring-bi-7", "0", "123456"),
        ("torus-3x3", "012", "345678"),
        ("hypercube-8", "0123", "4567"),
        ("spidergon-8", "04", "123567"),
    ],
)
def test_it_has_all_invariant_schedules(name: str, sources: str, receivers: str) -> None:
    """Nodes and messages that a group fixes, and groups of several orders, are among them."""
    instance = cchybrid.instance(
        name, "MNB", transmitters=[*map(int, sources)], receivers=[*map(int, receivers)]
    )
    problem = build_problem(instance)
    found = groups_of(problem)
    assert found
    farthest = senders(problem).farthest
    for images in found:
        for steps in range(1, 5):
            model = SpreadModel(senders(problem), (farthest,) * steps, lambda: False, images=images)
            has = values_of(model) is not None
            assert has == invariant(instance, images.node, steps), (images.node, steps)
            if has:
                break


def test_deliveries_are_invariant() -> None:
    problem = build_problem(many_to_many("mesh-3x4", 4))
    (images,) = groups_of(problem)
    model = SpreadModel(
        senders(problem), (5, 2, 1, 1), lambda: False, from_source=(5, 4, 3, 2), images=images
    )
    values = values_of(model)
    assert values is not None
    grown, assignment = model.solution(values)
    steps = grown.lift(assignment).steps
    made = {(m, path[-1], step) for step, sent in enumerate(steps) for m, path in sent}
    for message, node in zip(images.message, images.node, strict=True):
        assert {(message[m], node[v], step) for m, v, step in made} == made
    assert len(made) == problem.deliveries


def test_destinations_reach_less_far_than_sources() -> None:
    problem = build_problem(many_to_many("mesh-4x4", 5))
    run, _ = solved(problem, Broadcast.Options(reach=1), first_lower=4, target=4)
    for number, step in enumerate(run.schedules[-1].steps):
        for _, path in step:
            limit = 2 + 3 - number if path[0] < 5 else 1 + max(0, 2 - number)
            assert len(path) - 1 <= limit


def test_size_is_that_of_the_model() -> None:
    found = senders(build_problem(many_to_many("mesh-4x4", 6)))
    for reach, source in (((6, 2, 1), (6, 4, 2)), ((6, 1, 1), (3, 2, 1))):
        model = SpreadModel(found, reach, lambda: False, from_source=source)
        assert len(model._flow) <= found.size(reach, source)


def test_invariant_models_are_smaller() -> None:
    problem = build_problem(many_to_many("mesh-4x4", 4))
    images = groups_of(problem)[0]
    whole, divided = (
        SpreadModel(senders(problem), (6, 2, 1), lambda: False, images=which).booleans
        for which in (None, images)
    )
    assert 0.4 * whole < divided < 0.6 * whole


def test_the_same_seed_and_evaluations_give_the_same_schedules() -> None:
    problem = build_problem(many_to_many("mesh-4x4", 5))
    once, again = (
        solved(problem, seed=3, target=4, budget=Budget(evaluations=20_000))[0] for _ in range(2)
    )
    assert once.schedules
    assert once.schedules == again.schedules
    assert once.spent == again.spent


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        (many_to_many("mesh-6x6", 17), "17 messages, more than 16"),
        (cchybrid.instance("mesh-3x3", "AAB"), "9 messages, more than 4"),
    ],
)
def test_refusals_say_why(instance: Instance, words: str) -> None:
    assert Broadcast(Broadcast.Options()).unsupported(build_problem(instance)) == words
    assert Broadcast(Broadcast.Options(max_apart=0)).unsupported(build_problem(instance)) == (
        words.replace("16", "4")
    )


@pytest.mark.long
def test_a_mesh_takes_as_few_steps_as_its_corners_allow() -> None:
    """12 messages enter each corner by two channels."""
    run, stop = solved(
        build_problem(many_to_many("mesh-5x6", 12)),
        first_lower=6,
        target=6,
        budget=Budget(seconds=120.0),
    )
    assert (run.best(), stop) == (6, Stop.EXHAUSTED)
