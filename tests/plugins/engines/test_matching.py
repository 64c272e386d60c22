"""The engine ``matching``: matchings of messages to links, step by step."""

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.engines.matching.engine import Matching
from cchybrid_plugins.engines.matching.kernels import match
from cchybrid_plugins.engines.matching.one_hop import OneHop
from cchybrid_plugins.engines.matching.routed import match_ports, match_routes
from cchybrid_plugins.engines.matching.routes import Routes, choose_routes, new_routes, reduce_load
from hypothesis import assume, given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import drawn
from tests.plugins.engines.runs import scattered, solved
from tests.random_instances import instances
from tests.toolkit.kernels.uncompiled import call

RANDOM = drawn(60)
HOPS = {"switching": "store-and-forward"}
GO_ON = np.zeros(1, dtype=np.bool_)
MATCHING = Matching(Matching.Options())


@RANDOM
@given(
    instances(max_nodes=6),
    st.tuples(*(st.sampled_from((0.0, 0.5, 2.0)) for _ in range(3)), st.just(1.0)),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_the_kernel_is_compiled_as_written(instance, weight, steps, seed):
    one_hop = OneHop.of(build_problem(instance))
    step, missing = matched(one_hop, weight, steps, seed)
    assert missing == np.count_nonzero(one_hop.tables.flat.required & (step < 0))


def matched(
    one_hop: OneHop, weight: tuple[float, ...], steps: int, seed: int
) -> tuple[np.ndarray, int]:
    """Return the step of every delivery, and how many required ones are missing."""
    found = one_hop.problem.empty()
    rest = np.array(weight), steps, found.option, found.step, GO_ON, seed_state(seed)
    missing = call(match, one_hop.tables, *rest)
    return found.step, missing


@RANDOM
@given(instances(max_nodes=6), st.booleans(), st.integers(0, 2**32 - 1))
def test_schedules_are_valid_and_near_solutions_have_missing_deliveries_only(
    instance, with_routes, seed
):
    if with_routes and instance.collective.kind == "deliver":
        instance = scattered(instance)
    problem = build_problem(instance)
    if MATCHING.unsupported(problem) is not None:
        return
    run = LocalRun(problem, seed=seed, budget=Budget(seconds=None, evaluations=30))
    MATCHING.solve(problem, run)
    assert run.schedules
    assert run.violations == []
    for draft, (steps, missing) in zip(run.suggestions, run.progressed, strict=True):
        assert draft.steps <= steps
        assert np.count_nonzero(draft.option[problem.required] < 0) == missing
        rules = {violation.rule for violation in problem.violations(draft)}
        assert rules == {"missing-delivery"}
        assert conflicts(problem, draft) >= missing


def test_augmenting_paths_change_the_links_of_other_messages():
    """Node 3 can receive three messages in step 2 only if each comes over the right link."""
    arcs = [(0, 1), (0, 2), (1, 3), (2, 3), (4, 2), (4, 3)]
    messages = (Message(0, (1, 2, 3)), Message(1, (3,)), Message(4, (3,)))
    network = Network.from_arcs("three", 5, arcs)
    for seed in range(10):
        run, _ = solved(MATCHING, Instance(network, Collective("some", messages)), 2, seed=seed)
        assert run.best() == 2


def test_what_it_cannot_solve_is_unsupported():
    far = build_problem(cchybrid.instance("mesh-1x4", [(0, [1, 3])]))
    assert MATCHING.unsupported(far) == "some delivery cannot be made by transfers of one hop"
    assert MATCHING.unsupported(build_problem(cchybrid.instance("mesh-3x3", "AAB"))) is None


def test_gives_up_when_one_hop_per_step_cannot_be_faster():
    """A wormhole broadcast on a line needs fewer steps than it has hops."""
    run, stop = solved(MATCHING, cchybrid.instance("mesh-1x8", "OAB"))
    assert stop is Stop.STALLED
    assert run.best() == 7


def largest_load(flat: Flat, routes: Routes) -> float:
    return float((routes.load / np.maximum(flat.limit, 1)).max(initial=0))


DELIVERIES = instances(max_nodes=6, kinds=("deliver",), switchings=("store-and-forward",))


@RANDOM
@given(
    DELIVERIES,
    st.sampled_from((0, 1, 3)),
    st.sampled_from((0.5, 1.0, 4.0)),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_the_kernels_of_routes_are_compiled_as_written(instance, sweeps, hops, steps, seed):
    one_hop = OneHop.of(build_problem(scattered(instance)))
    assume(one_hop.has_routes)
    flat, state = one_hop.tables.flat, seed_state(seed)
    routes = new_routes(flat)
    call(choose_routes, flat, routes, sweeps, GO_ON, state)
    before = largest_load(flat, routes)
    call(reduce_load, flat, routes, 1, sweeps, GO_ON, state)
    after = largest_load(flat, routes)
    assert after <= before if sweeps else after == before
    load = np.zeros_like(routes.load)
    for first, goal in zip(routes.first.tolist(), routes.goal.tolist(), strict=True):
        last, delivery = -1, first
        while delivery >= 0:
            option = routes.option[delivery]
            assert flat.requires[option] == last
            path = flat.path[option]
            np.add.at(load, flat.limited[slice(*flat.limited_start[path : path + 2])], 1)
            last, delivery = delivery, int(routes.following[delivery])
        assert last == goal
    assert (routes.load == load).all()
    found = one_hop.problem.empty()
    rest = np.array((hops, 0.5)), steps, found.option, found.step, GO_ON, state
    missing = call(match_routes, flat, routes, *rest)
    assert missing == np.count_nonzero(found.step[routes.goal] < 0)


@RANDOM
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(4, 7), st.integers(1, 9)), max_size=9),
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
)
def test_ports_are_matched_with_maximum_value(edges, capacity):
    """Against all sets of edges, and with one port against NetworkX."""

    def matched(limit: list[int]) -> int:
        sender, receiver, value = np.array(edges, dtype=np.int64).reshape(-1, 3).T
        chosen = np.zeros(len(edges), dtype=np.bool_)
        match_ports(
            sender.astype(np.int32), receiver.astype(np.int32), value.astype(np.float64),
            len(edges), np.array(limit, dtype=np.int32), chosen, np.empty(8, dtype=np.int32),
            np.empty(8), np.empty(8, dtype=np.int32),
        )  # fmt: skip
        uses = np.bincount(np.concatenate((sender[chosen], receiver[chosen])), minlength=8)
        assert (uses <= limit).all()
        return int(value[chosen].sum())

    def fits(chosen: tuple[tuple[int, int, int], ...]) -> bool:
        ports = [port for edge in chosen for port in edge[:2]]
        return all(ports.count(port) <= capacity[port] for port in ports)

    sets = (chosen for size in range(len(edges) + 1) for chosen in combinations(edges, size))
    assert matched(capacity) == max(sum(e[2] for e in one) for one in sets if fits(one))


def test_routes_avoid_a_loaded_node():
    """Six messages from 0 to 5 over three paths of two hops: two over each."""
    links = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5), (1, 5), (2, 5), (3, 5)]
    network = Network.from_links("three", 6, links)
    run, _ = solved(MATCHING, cchybrid.instance(network, [(0, 5)] * 6, **HOPS), 3)
    assert run.best() == 3


def test_channels_of_higher_capacity_and_half_duplex_links():
    line = Network("line", 3, (Channel(0, 1, 2), Channel(1, 2, 2)))
    both = replace(cchybrid.network("mesh-1x3"), half_duplex=((0, 1), (1, 2)))
    for network, messages, steps in ((line, [(0, 2)] * 4, 3), (both, [(0, 2), (2, 0)] * 2, 4)):
        run, _ = solved(MATCHING, cchybrid.instance(network, messages, **HOPS), steps)
        assert run.best() == steps


@pytest.mark.parametrize("topology", ["mesh-3x3", "mesh-4x4", "random-regular-12-3-1"])
def test_with_one_port_every_step_serves_as_many_receivers_as_possible(topology):
    """Against the maximum matchings of NetworkX."""
    case = cchybrid.instance(topology, "AAB", **HOPS, ports=1)
    one_hop = OneHop.of(build_problem(case))
    for seed in range(5):
        step_of, missing = matched(one_hop, (1.0, 0.3, 3.0, 0.5), 99, seed)
        assert not missing
        structure = one_hop.problem.structure
        source = structure.message_source.tolist()
        goals = structure.delivery_message.tolist(), structure.delivery_node.tolist()
        ends = [(source[message], node) for message, node in zip(*goals, strict=True)]
        held = {(node, node) for node in source}
        for now in range(step_of.max() + 1):
            graph = nx.Graph(
                (("sender", a), ("receiver", b))
                for a, b, _ in structure.channels.tolist()
                if any((c, a) in held and (c, b) not in held for c in range(case.network.nodes))
            )
            made = np.flatnonzero(step_of == now).tolist()
            assert len(made) == len(nx.max_weight_matching(graph, maxcardinality=True))
            held |= {ends[one] for one in made}


@pytest.mark.parametrize("seed", range(3))
def test_the_load_of_routes_is_reduced_to_the_lower_bound(seed):
    instance = cchybrid.instance("random-regular-24-3-8932", "AAS", ports=1, **HOPS)
    flat, state = OneHop.of(build_problem(instance)).tables.flat, seed_state(seed)
    routes = new_routes(flat)
    choose_routes(flat, routes, 6, GO_ON, state)
    assert largest_load(flat, routes) > 77
    reduce_load(flat, routes, 77, 100, GO_ON, state)
    assert largest_load(flat, routes) == 77
