"""Flows from all informed nodes: as short as any schedule, and within their reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.broadcast.engine import Broadcast
from cchybrid_plugins.broadcast.flows import Senders, SpreadModel
from hypothesis import HealthCheck, assume, given, settings
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.solver import StoppedError
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances

RANDOM = settings(
    max_examples=examples(40), derandomize=True, suppress_health_check=list(HealthCheck)
)


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


def has_schedule(problem: Problem, reach: tuple[int, ...]) -> bool:
    model = SpreadModel(senders(problem), reach, lambda: False)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver.solve(model.model) == cp_model.OPTIMAL


@RANDOM
@given(instances(switchings=("wormhole",), routings=("minimal",), max_nodes=6, max_messages=3))
def test_without_limits_it_has_all_schedules(instance: Instance) -> None:
    """Ports, capacities, endpoints and half-duplex links among them; against the rules alone."""
    problem = build_problem(instance)
    assume(Broadcast(Broadcast.Options()).unsupported(problem) is None)
    fewest = fewest_steps(instance, first_fit(problem, 0).steps)
    run, stop = solved(problem)
    assert (run.best(), stop) == (fewest, Stop.STALLED if fewest > 1 else Stop.EXHAUSTED)


@RANDOM
@given(instances(switchings=("wormhole",), routings=("any", 1, 2), max_nodes=6, max_messages=3))
def test_shortest_paths_do_where_longer_ones_are_allowed(instance: Instance) -> None:
    problem = build_problem(instance)
    assume(Broadcast(Broadcast.Options()).unsupported(problem) is None)
    run, _ = solved(problem)
    minimal = replace(instance, model=replace(instance.model, routing="minimal"))
    assert run.best() == fewest_steps(minimal, first_fit(build_problem(minimal), 0).steps)
    assert run.bounds == []


@pytest.mark.parametrize(
    ("name", "root", "steps"),
    [
        pytest.param("hypercube-32", 0, 2, marks=pytest.mark.long),
        ("mesh-6x6", 0, 3),
        ("mesh-7x7", 0, 3),
        ("torus-9x9", 0, 3),
        ("spidergon-64", 0, 3),
    ],
)
def test_rows_of_the_thesis_meet_their_bound(name: str, root: int, steps: int) -> None:
    run, stop = solved(build_problem(cchybrid.instance(name, "OAB", root=root)), first_lower=steps)
    assert (run.best(), stop) == (steps, Stop.EXHAUSTED)


def test_a_reduction_is_a_broadcast_read_backwards() -> None:
    run, _ = solved(build_problem(cchybrid.instance("mesh-4x4", "AOR", root=5)), first_lower=2)
    assert run.best() == 2


@pytest.mark.parametrize("reach", [1, 2])
def test_steps_keep_within_their_reach(reach: int) -> None:
    run, _ = solved(
        build_problem(cchybrid.instance("mesh-5x5", "OAB", root=0)),
        Broadcast.Options(reach=reach),
        first_lower=3,
    )
    steps = run.schedules[-1].steps
    for before_last, step in enumerate(reversed(steps[1:])):
        assert max(len(path) - 1 for _, path in step) <= reach + before_last


def test_paths_that_the_pool_lacks_are_offered_too() -> None:
    problem = build_problem(cchybrid.instance("mesh-6x6", "OAB", root=0), max_options=1000)
    assert not problem.complete
    run, _ = solved(problem, first_lower=3)
    assert run.best() == 3
    found = run.schedules[-1].steps
    assert (problem.match(found).option < 0).any()


@pytest.mark.parametrize(("ports", "steps"), [(None, 1), (2, 1), (1, 2)])
def test_parallel_links_carry_as_many_copies_as_ports_let_out(
    ports: int | None, steps: int
) -> None:
    """Node 0 reaches 2 and 3 over one channel of capacity 2."""
    channels = (Channel(0, 1, 2), Channel(1, 2, 1), Channel(1, 3, 1))
    network = Network("fork", 4, channels)
    collective = Collective("multicast", (Message(0, (2, 3)),))
    model = CommunicationModel(inject=ports, accept=ports)
    run, _ = solved(build_problem(Instance(network, collective, model)))
    assert run.best() == steps


def test_growth_is_no_more_than_ports_allow() -> None:
    """One port: 8 nodes take 3 steps, and the last step needs 4 informed before it."""
    problem = build_problem(cchybrid.instance("hypercube-8", "OAB", ports=1))
    assert has_schedule(problem, (3, 3, 3))
    assert not has_schedule(problem, (3, 3))


def test_the_same_seed_and_evaluations_give_the_same_schedules() -> None:
    problem = build_problem(cchybrid.instance("mesh-5x5", "OAB", root=2))
    once, again = (
        solved(problem, seed=3, first_lower=2, budget=Budget(evaluations=20_000))[0]
        for _ in range(2)
    )
    assert once.schedules
    assert once.schedules == again.schedules
    assert once.spent == again.spent


def test_only_the_target_is_tried() -> None:
    problem = build_problem(cchybrid.instance("mesh-4x4", "OAB", root=0))
    run, _ = solved(problem, target=3, first_lower=2)
    assert run.best() == 3
    run, stop = solved(problem, target=2, first_lower=2)
    assert (run.best(), stop) in ((2, Stop.EXHAUSTED), (None, Stop.STALLED))


def test_building_a_model_can_be_stopped() -> None:
    with pytest.raises(StoppedError):
        SpreadModel(
            senders(build_problem(cchybrid.instance("mesh-4x4", "OAB"))), (6, 2), lambda: True
        )


def test_size_is_that_of_the_model() -> None:
    found = senders(build_problem(cchybrid.instance("torus-4x4", "OAB")))
    for reach in ((4, 1), (4, 2, 1), (4, 4)):
        model = SpreadModel(found, reach, lambda: False)
        assert len(model._flow) <= found.size(reach)
    # Here all nodes can be informed in the first step.
    assert len(SpreadModel(found, (4, 4), lambda: False)._flow) == found.size((4, 4))


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        (cchybrid.instance("ring-bi-8", "OAB", switching="store-and-forward"), "not wormhole"),
        (cchybrid.instance("ring-bi-8", "OAS"), "every message has one destination"),
        (cchybrid.instance("ring-bi-8", "AAB"), "8 messages, more than 4"),
    ],
)
def test_refusals_say_why(instance: Instance, words: str) -> None:
    refused = Broadcast(Broadcast.Options()).unsupported(build_problem(instance))
    assert str(refused).startswith(words)


def test_refuses_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = build_problem(cchybrid.instance("mesh-5x5", "OAB"))
    refused = Broadcast(Broadcast.Options(max_variables=50)).unsupported(problem)
    assert refused == "82 variables for two steps of one hop, more than 50"
    monkeypatch.setattr("cchybrid_plugins.broadcast.engine.MAX_HOPS", 1000)
    refused = Broadcast(Broadcast.Options()).unsupported(problem)
    assert refused == "2,000 senders times channels, more than 1,000"
    monkeypatch.undo()
    # What is too large for the given number of steps is passed over.
    options = Broadcast.Options(max_variables=90)
    assert Broadcast(options).unsupported(problem) is None
    run, stop = solved(problem, options, first_lower=2)
    assert (run.best(), stop) == (None, Stop.STALLED)


def test_a_negative_reach_is_refused() -> None:
    with pytest.raises(ValueError, match="reach is -1, use at least 0"):
        Broadcast.Options(reach=-1)


def test_a_solution_is_one_path_per_delivery() -> None:
    problem = build_problem(cchybrid.instance("mesh-4x4", "OAB", root=0))
    model = SpreadModel(senders(problem), (6, 3, 2), lambda: False)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model.model) == cp_model.OPTIMAL
    values = np.array(solver.response_proto.solution, dtype=np.int64)
    grown, found = model.solution(values)
    assert (found.option >= 0).all()
    assert (found.step < 3).all()
    assert (grown.option_delivery[found.option] == np.arange(problem.deliveries)).all()
