"""Liquid schedules: every team once, exact results for fixed routes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.liquid.engine import Liquid
from cchybrid_plugins.liquid.routes import choose_routes, has_fixed_routes
from cchybrid_plugins.liquid.traffic import Traffic, bits
from hypothesis import HealthCheck, assume, given, settings

import cchybrid
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.packing import Packing
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, scattered

RANDOM = settings(
    max_examples=examples(40), derandomize=True, suppress_health_check=list(HealthCheck)
)
SMALL = instances(
    kinds=("deliver",), switchings=("wormhole",), routings=("minimal", 1), max_nodes=6
).map(scattered)


def solved(instance: Instance, rounds: int = 12, **rest: Any) -> tuple[LocalRun, Stop]:
    run = LocalRun(build_problem(instance), **{"budget": Budget(seconds=30.0), **rest})
    stop = Liquid(Liquid.Options(rounds)).solve(run.problem, run)
    assert run.violations == []
    return run, stop


def traffic(problem: Problem) -> Traffic:
    packing = Packing.of(problem)
    columns, _ = choose_routes(packing, 1, 1.0, 0, lambda: False)
    return Traffic.of(packing, columns)


@RANDOM
@given(SMALL)
def test_lists_every_team_once(instance: Instance) -> None:
    """Against all subsets: no congestion, maximal, every bottleneck used, one transfer in all."""
    problem = build_problem(instance)
    assume(Liquid(Liquid.Options()).unsupported(problem) is None)
    net = traffic(problem)
    count = len(net.column)
    assume(count <= 9)
    free = [
        team
        for size in range(1, count + 1)
        for team in (sum(1 << i for i in some) for some in combinations(range(count), size))
        if not any(net.congests[i] & team for i in bits(team))
    ]
    for steps in (net.load(net.everything), net.load(net.everything) + 1):
        bottlenecks = [users for users in net.users if users.bit_count() == steps]
        expected = [
            team
            for team in free
            if all(users & team for users in bottlenecks)
            and not any(team != other and team & other == team for other in free)
        ]
        found = [team for team in net.teams(net.everything, steps) if team]
        assert len(found) == len(set(found))
        assert set(found) <= set(expected)
        held = net.everything
        for team in found:
            held &= team
        assert held or not found
        assert any(set(found) == {t for t in expected if t >> i & 1} for i in range(count))
    assert not list(net.teams(net.everything, net.load(net.everything) - 1))


@RANDOM
@given(SMALL)
def test_is_exact_where_routes_are_laid_down(instance: Instance) -> None:
    problem = build_problem(instance)
    assume(Liquid(Liquid.Options()).unsupported(problem) is None)
    assume(has_fixed_routes(Packing.of(problem)))
    run, stop = solved(instance)
    best = run.best()
    assert best is not None
    assert stop is Stop.EXHAUSTED
    assert best == run.lower() == fewest_steps(instance, best)


@RANDOM
@given(SMALL)
def test_refutes_nothing_where_there_are_several_routes(instance: Instance) -> None:
    problem = build_problem(instance)
    assume(Liquid(Liquid.Options()).unsupported(problem) is None)
    assume(not has_fixed_routes(Packing.of(problem)))
    run, _ = solved(instance, rounds=2)
    assert run.bounds == []
    best = run.best()
    assert best is not None
    assert best >= fewest_steps(instance, best)


@pytest.mark.parametrize(
    ("topology", "rest", "optimum"),
    [
        ("omega-8", {}, 7),
        ("butterfly-8", {}, 7),
        ("ring-uni-8", {}, 28),
        ("b-tree-8", {}, 16),
        ("full-tree-7", {}, 12),
        ("petersen-10", {}, 5),
        ("kautz-12", {}, 7),
        ("omega-8", {"ports": 1}, 7),
    ],
)
def test_finds_and_proves_the_optimum(topology: str, rest: dict[str, Any], optimum: int) -> None:
    run, stop = solved(cchybrid.instance(topology, "AAS", **rest))
    assert (run.best(), run.lower(), stop) == (optimum, optimum, Stop.EXHAUSTED)


def test_one_port_between_disjoint_sets_is_an_edge_colouring() -> None:
    """The case of the papers; one channel is in every path, so four steps.."""
    instance = cchybrid.instance(
        "omega-8", "MNS", transmitters=[0, 1, 2, 3], receivers=[4, 5, 6, 7], ports=1
    )
    run, stop = solved(instance)
    assert (run.best(), run.lower(), stop) == (4, 4, Stop.EXHAUSTED)


@pytest.mark.parametrize(
    ("topology", "optimum"), [("ring-bi-16", 32), ("hypercube-16", 8), ("torus-4x4", 8)]
)
def test_finds_short_schedules_over_routes_of_its_own(topology: str, optimum: int) -> None:
    instance = cchybrid.instance(topology, "AAS")
    run, stop = solved(instance, first_lower=optimum)
    assert (run.best(), stop) == (optimum, Stop.EXHAUSTED)
    assert run.bounds == []


def test_chooses_routes_with_the_smallest_maximal_load() -> None:
    packing = Packing.of(build_problem(cchybrid.instance("torus-4x4", "AAS")))
    columns, _ = choose_routes(packing, 1, 1.0, 0, lambda: False)
    assert packing.row[columns].tolist() == list(range(packing.rows))
    assert packing.uses.load(columns).max() == 8


def test_three_turns_of_a_triangle_congest() -> None:
    """Any two of them share a channel although none carries more than two: liquid would be 2."""
    network = Network("triangle", 3, tuple(Channel(a, (a + 1) % 3, 1) for a in range(3)))
    turns = Collective("turn", tuple(Message(a, ((a + 2) % 3,)) for a in range(3)))
    instance = Instance(network, turns, CommunicationModel())
    net = traffic(build_problem(instance))
    assert net.load(net.everything) == 2
    run, stop = solved(instance)
    assert [steps for steps, _ in run.bounds] == [2, 3]
    assert (run.best(), run.lower(), stop) == (3, 3, Stop.EXHAUSTED)


@pytest.mark.parametrize(
    ("topology", "collective", "rest", "words"),
    [
        ("mesh-3x3", "AAB", {}, "wait for others"),
        ("hypercube-8", "AAS", {"ports": 2}, "takes several transfers"),
        ("2-fat-hypercube-4", "AAS", {"switching": "store-and-forward"}, "wait for others"),
    ],
)
def test_says_what_it_requires(
    topology: str, collective: str, rest: dict[str, Any], words: str
) -> None:
    problem = build_problem(cchybrid.instance(topology, collective, **rest))
    assert words in (Liquid(Liquid.Options()).unsupported(problem) or "")


@pytest.mark.long
def test_same_seed_and_evaluations_same_search() -> None:
    def searched(seed: int) -> tuple[Any, ...]:
        budget = Budget(None, evaluations=800)
        run, _ = solved(cchybrid.instance("fat-tree-16", "AAS"), seed=seed, budget=budget)
        return [schedule.steps for schedule in run.schedules], run.notes

    assert searched(1) == searched(1)
    assert searched(1) != searched(2)


def test_columns_of_a_team() -> None:
    net = Traffic((7, 3, 5), (), (0, 0, 0))
    assert net.columns(0b101).tolist() == [5, 7]
    assert net.everything == 0b111
    assert np.array_equal(list(bits(0b1010)), [1, 3])
