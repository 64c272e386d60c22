"""The engine ``matching`` on messages of one destination: routes, then matchings of ports."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.matching.engine import Matching
from cchybrid_plugins.matching.one_hop import OneHop
from cchybrid_plugins.matching.ports import match_ports
from cchybrid_plugins.matching.routed import match_routes
from cchybrid_plugins.matching.routes import choose_routes, new_routes
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.problem.ragged import owners
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples
from tests.plugins.plain_routes import PlainRoutes
from tests.random_instances import instances
from tests.toolkit.kernels.plain_random import PlainRandom

RANDOM = settings(
    max_examples=examples(60), derandomize=True, suppress_health_check=list(HealthCheck)
)
HOPS = {"switching": "store-and-forward"}
GO_ON = np.zeros(1, dtype=np.bool_)


def solve(instance: Instance, lower: int = 1, **rest: Any) -> tuple[LocalRun, Stop]:
    problem = build_problem(instance)
    assert OneHop.of(problem).has_routes
    run = LocalRun(problem, first_lower=lower, **{"budget": Budget(seconds=60.0), **rest})
    stop = Matching(Matching.Options()).solve(problem, run)
    assert run.violations == []
    return run, stop


def scattered(instance: Instance) -> Instance:
    """Return an instance with the first destination of every message only."""
    messages = tuple(
        Message(message.source, message.destinations[:1])
        for message in instance.collective.deliver_messages
    )
    return Instance(instance.network, Collective("one", messages), instance.model)


DELIVERIES = instances(max_nodes=6, kinds=("deliver",), switchings=("store-and-forward",))


@RANDOM
@given(
    DELIVERIES,
    st.sampled_from((0, 1, 3)),
    st.sampled_from((0.5, 1.0, 4.0)),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_the_kernels_make_the_schedule_of_the_plain_version(
    instance: Instance, sweeps: int, hops: float, steps: int, seed: int
) -> None:
    one_hop = OneHop.of(build_problem(scattered(instance)))
    assume(one_hop.has_routes)
    flat, state, random = one_hop.flat, seed_state(seed), PlainRandom(seed)
    routes = new_routes(flat)
    delivery_of = owners(flat.option_start).astype(np.int32)
    choose_routes(flat, delivery_of, routes, sweeps, GO_ON, state)
    plain = PlainRoutes(flat, sweeps, random)
    for first, goal, route in zip(routes.first, routes.goal, plain.routes, strict=True):
        found, delivery = [], int(first)
        while delivery >= 0:
            found.append(int(routes.option[delivery]))
            delivery = int(routes.following[delivery])
        assert found == route
        assert plain.delivery[route[-1]] == goal
    assert {one: uses for one, uses in enumerate(routes.load.tolist()) if uses} == +plain.load
    option, step = one_hop.problem.empty().option, one_hop.problem.empty().step
    weight = np.array((hops, 0.5))
    missing = match_routes(flat, routes, weight, steps, option, step, GO_ON, state)
    made = plain.match((hops, 0.5), steps, random)
    assert {d: (option[d], step[d]) for d in np.flatnonzero(step >= 0)} == made
    assert missing == np.count_nonzero(step[routes.goal] < 0)


@RANDOM
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(4, 7), st.integers(1, 9)), max_size=9),
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
)
def test_ports_are_matched_with_maximum_value(
    edges: list[tuple[int, int, int]], capacity: list[int]
) -> None:
    """Against all sets of edges, and with one port against NetworkX."""

    def matched(limit: list[int]) -> int:
        sender, receiver, value = np.array(edges, dtype=np.int64).reshape(-1, 3).T
        chosen = np.zeros(len(edges), dtype=np.bool_)
        match_ports(
            sender.astype(np.int32),
            receiver.astype(np.int32),
            value.astype(np.float64),
            len(edges),
            np.array(limit, dtype=np.int32),
            chosen,
            np.empty(8, dtype=np.int32),
            np.empty(8),
            np.empty(8, dtype=np.int32),
        )
        uses = np.bincount(np.concatenate((sender[chosen], receiver[chosen])), minlength=8)
        assert (uses <= limit).all()
        return int(value[chosen].sum())

    def fits(chosen: tuple[tuple[int, int, int], ...]) -> bool:
        ports = [port for edge in chosen for port in edge[:2]]
        return all(ports.count(port) <= capacity[port] for port in ports)

    sets = (chosen for size in range(len(edges) + 1) for chosen in combinations(edges, size))
    assert matched(capacity) == max(sum(e[2] for e in one) for one in sets if fits(one))
    graph = nx.Graph()
    for sender, receiver, value in sorted(edges, key=lambda edge: edge[2]):
        graph.add_edge(sender, receiver, weight=value)
    best = nx.max_weight_matching(graph)
    assert matched([1] * 8) == sum(graph.edges[edge]["weight"] for edge in best)


@RANDOM
@given(DELIVERIES, st.integers(0, 2**32 - 1))
def test_schedules_are_valid_and_near_solutions_have_missing_deliveries_only(
    instance: Instance, seed: int
) -> None:
    problem = build_problem(scattered(instance))
    assume(OneHop.of(problem).has_routes)
    run = LocalRun(problem, seed=seed, budget=Budget(seconds=None, evaluations=30))
    Matching(Matching.Options()).solve(problem, run)
    assert run.schedules
    assert run.violations == []
    for draft, (steps, missing) in zip(run.suggestions, run.progressed, strict=True):
        assert draft.steps <= steps
        assert np.count_nonzero(draft.option[problem.required] < 0) == missing
        assert {one.rule for one in problem.violations(draft)} == {"missing-delivery"}


@pytest.mark.parametrize(
    ("topology", "collective", "ports", "bound"),
    [
        ("mesh-4x5", "AAS", 1, 61),
        ("mesh-4x5", "AAS", 2, 31),
        ("hypercube-16", "AAS", 1, 32),
        ("hypercube-16", "AAS", 2, 16),
        ("random-regular-24-3-1", "AAS", 1, 95),
        ("random-regular-24-3-1", "AAS", 2, 48),
        ("random-geometric-20-8-1", "AAS", 2, 50),
        ("mesh-5x5", "OAS", 1, 24),
    ],
)
def test_reaches_the_bound(topology: str, collective: str, ports: int, bound: int) -> None:
    case = cchybrid.instance(topology, collective, **HOPS, ports=ports)
    budget = Budget(seconds=60.0, evaluations=200)
    run, stop = solve(case, bound, budget=budget)
    assert run.best() == bound
    assert stop is Stop.EXHAUSTED


def test_routes_avoid_a_loaded_node() -> None:
    """Six messages from 0 to 5 over three paths of two hops: two over each."""
    links = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5), (1, 5), (2, 5), (3, 5)]
    network = Network.from_links("three", 6, links)
    messages = (Message(0, (5,)),) * 6
    model = CommunicationModel("store-and-forward")
    run, _ = solve(Instance(network, Collective("six", messages), model), 3)
    assert run.best() == 3


def test_channels_of_higher_capacity_and_half_duplex_links() -> None:
    model = CommunicationModel("store-and-forward")
    line = Network("line", 3, (Channel(0, 1, 2), Channel(1, 2, 2)))
    run, _ = solve(Instance(line, Collective("four", (Message(0, (2,)),) * 4), model), 3)
    assert run.best() == 3
    links = [(0, 1), (1, 2)]
    both = Network("half", 3, Network.from_links("half", 3, links).channels, tuple(links))
    messages = (Message(0, (2,)), Message(2, (0,))) * 2
    run, _ = solve(Instance(both, Collective("two", messages), model), 4)
    assert run.best() == 4


def test_messages_of_several_destinations_get_no_routes() -> None:
    for collective in ("AAB", "OAB", "AOR"):
        assert not OneHop.of(build_problem(cchybrid.instance("mesh-3x3", collective))).has_routes
    for collective in ("AAS", "OAS", "AOG", "permutation:random-1"):
        case = cchybrid.instance("mesh-3x3", collective, **HOPS)
        assert OneHop.of(build_problem(case)).has_routes


@pytest.mark.long
def test_an_evaluation_budget_is_kept_and_repeats() -> None:
    def searched(seed: int) -> tuple[Any, ...]:
        case = cchybrid.instance("random-links-20-36-1", "AAS", **HOPS, ports=1)
        budget = Budget(seconds=None, evaluations=60)
        run, stop = solve(case, 60, seed=seed, budget=budget)
        assert stop is Stop.LIMIT
        assert run.spent == 60
        drafts = [draft.step.tolist() for draft in run.suggestions]
        return [schedule.steps for schedule in run.schedules], run.progressed, drafts

    assert searched(1) == searched(1)
    assert searched(1) != searched(2)
