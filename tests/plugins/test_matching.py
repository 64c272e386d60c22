"""The engine ``matching``: matchings of messages to links, step by step."""

from __future__ import annotations

import time
from threading import Timer
from typing import Any

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.matching.engine import Matching
from cchybrid_plugins.matching.kernels import match
from cchybrid_plugins.matching.one_hop import OneHop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples
from tests.plugins.plain_matching import PlainMatching
from tests.random_instances import instances
from tests.toolkit.kernels.plain_random import PlainRandom

RANDOM = settings(
    max_examples=examples(60), derandomize=True, suppress_health_check=list(HealthCheck)
)
HOPS = {"switching": "store-and-forward"}
GO_ON = np.zeros(1, dtype=np.bool_)


def solve(instance: Instance, lower: int = 1, **rest: Any) -> tuple[LocalRun, Stop]:
    problem = build_problem(instance)
    run = LocalRun(problem, first_lower=lower, **{"budget": Budget(seconds=60.0), **rest})
    stop = Matching(Matching.Options()).solve(problem, run)
    assert run.violations == []
    assert run.bounds == []
    return run, stop


@RANDOM
@given(
    instances(max_nodes=6),
    st.tuples(*(st.sampled_from((0.0, 0.5, 2.0)) for _ in range(3)), st.just(1.0)),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_the_kernel_makes_the_schedule_of_the_plain_version(
    instance: Instance, weight: tuple[float, ...], steps: int, seed: int
) -> None:
    one_hop = OneHop.of(build_problem(instance))
    option, step = one_hop.problem.empty().option, one_hop.problem.empty().step
    missing = match(
        one_hop.flat,
        one_hop.group_start,
        one_hop.member,
        one_hop.message,
        one_hop.receiver,
        np.array(weight),
        steps,
        option,
        step,
        GO_ON,
        seed_state(seed),
    )
    plain = PlainMatching(one_hop, weight, steps, PlainRandom(seed))
    assert {d: s for d, s in enumerate(step.tolist()) if s >= 0} == plain.step
    assert {d: o for d, o in enumerate(option.tolist()) if o >= 0} == plain.option
    assert missing == len(plain.missing())


@RANDOM
@given(instances(max_nodes=6), st.integers(0, 2**32 - 1))
def test_schedules_are_valid_and_near_solutions_have_missing_deliveries_only(
    instance: Instance, seed: int
) -> None:
    problem = build_problem(instance)
    engine = Matching(Matching.Options())
    if engine.unsupported(problem) is not None:
        return
    run = LocalRun(problem, seed=seed, budget=Budget(seconds=None, evaluations=30))
    engine.solve(problem, run)
    assert run.schedules
    assert run.violations == []
    for draft, (steps, missing) in zip(run.suggestions, run.progressed, strict=True):
        assert draft.steps <= steps
        assert np.count_nonzero(draft.option[problem.required] < 0) == missing
        rules = {violation.rule for violation in problem.violations(draft)}
        assert rules == {"missing-delivery"}
        assert conflicts(problem, draft) >= missing


@pytest.mark.parametrize(
    ("topology", "collective", "model", "optimum"),
    [
        ("hypercube-8", "AAB", {}, 3),
        ("torus-4x4", "AAB", {}, 4),
        ("petersen-10", "AAB", {}, 3),
        ("random-regular-20-3-2", "AAB", {}, 9),
        ("random-regular-32-3-1", "AAB", {}, 11),
        ("slim-fly-7", "AAB", {}, 9),  # the Problem does not list all links
        ("torus-3x3", "AOR", HOPS, 2),
        ("hypercube-8", "AAR", {}, 3),
        ("hypercube-8", "AAB", HOPS, 3),
        ("hypercube-8", "AAB", {**HOPS, "ports": 1}, 7),
        ("hypercube-8", "OAB", {**HOPS, "ports": 1}, 3),
        ("mesh-2x3", "AAB", {"ports": 1}, 5),
        ("random-regular-20-3-3", "AAB", {**HOPS, "ports": 1}, 19),
        ("mesh-5x5", "AAB", {**HOPS, "ports": 1}, 26),
        ("ring-bi-4", "AAS", HOPS, 2),
    ],
)
def test_reaches_the_optimum(
    topology: str, collective: str, model: dict[str, Any], optimum: int
) -> None:
    run, stop = solve(cchybrid.instance(topology, collective, **model), optimum)
    assert run.best() == optimum
    assert stop is Stop.EXHAUSTED


@pytest.mark.parametrize("topology", ["mesh-3x3", "mesh-4x4", "random-regular-12-3-1"])
def test_with_one_port_every_step_serves_as_many_receivers_as_possible(topology: str) -> None:
    """Against the maximum matchings of NetworkX."""
    case = cchybrid.instance(topology, "AAB", **HOPS, ports=1)
    one_hop = OneHop.of(build_problem(case))
    for seed in range(5):
        plain = PlainMatching(one_hop, (1.0, 0.3, 3.0, 0.5), 99, PlainRandom(seed))
        structure = one_hop.problem.structure
        assert structure is not None
        held = {(int(node), int(node)) for node in structure.message_source}
        for now in range(max(plain.step.values()) + 1):
            graph = nx.Graph(
                (("sender", a), ("receiver", b))
                for a, b, _ in structure.channels.tolist()
                if any((c, a) in held and (c, b) not in held for c in range(case.network.nodes))
            )
            made = [one for one, step in plain.step.items() if step == now]
            assert len(made) == len(nx.max_weight_matching(graph, maxcardinality=True))
            held |= {
                (
                    int(structure.message_source[structure.delivery_message[one]]),
                    int(structure.delivery_node[one]),
                )
                for one in made
            }


def allgather(network: Network, **model: Any) -> Instance:
    nodes = range(network.nodes)
    messages = tuple(Message(a, tuple(b for b in nodes if b != a)) for a in nodes)
    return Instance(network, Collective("all", messages), CommunicationModel(**model))


def test_channels_of_higher_capacity_carry_several_messages() -> None:
    channels = (Channel(0, 1, 2), Channel(1, 2, 2), Channel(2, 0, 2))
    run, _ = solve(allgather(Network("ring", 3, channels)), 2)
    assert run.best() == 2
    line = Channel(0, 1, 3), Channel(1, 0, 1), Channel(1, 2, 1), Channel(2, 1, 3)
    run, _ = solve(allgather(Network("line", 3, line)), 2)
    assert run.best() == 2


def test_both_directions_of_a_half_duplex_link_share_its_capacity() -> None:
    """Six deliveries over three links: two steps at least."""
    links = [(0, 1), (1, 2), (2, 0)]
    network = Network(
        "ring", 3, Network.from_links("ring", 3, links).channels, half_duplex=tuple(links)
    )
    run, _ = solve(allgather(network), 2)
    assert run.best() == 2


def test_augmenting_paths_change_the_links_of_other_messages() -> None:
    """Node 3 can receive three messages in step 2 only if each comes over the right link."""
    arcs = [(0, 1), (0, 2), (1, 3), (2, 3), (4, 2), (4, 3)]
    messages = (Message(0, (1, 2, 3)), Message(1, (3,)), Message(4, (3,)))
    network = Network.from_arcs("three", 5, arcs)
    for seed in range(10):
        run, _ = solve(Instance(network, Collective("some", messages)), 2, seed=seed)
        assert run.best() == 2


def test_multicast_passes_nodes_that_need_not_receive() -> None:
    line = Network.from_links("line", 5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    multicast = Collective("one", (Message(0, (2, 4)),))
    run, stop = solve(Instance(line, multicast, CommunicationModel("store-and-forward")), 4)
    assert run.best() == 4
    assert stop is Stop.EXHAUSTED
    run, _ = solve(cchybrid.instance("mesh-3x3", "multicast:2,6,8", root=0, **HOPS), 4)
    assert run.best() == 4


def test_what_it_cannot_solve_is_unsupported() -> None:
    engine = Matching(Matching.Options())
    scatter = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
    assert engine.unsupported(scatter) == "no message is forwarded"
    line = Network.from_links("line", 4, [(0, 1), (1, 2), (2, 3)])
    far = build_problem(Instance(line, Collective("far", (Message(0, (1, 3)),))))
    assert engine.unsupported(far) == "some delivery cannot be made by transfers of one hop"
    assert engine.unsupported(build_problem(cchybrid.instance("mesh-3x3", "AAB"))) is None


def test_gives_up_when_one_hop_per_step_cannot_be_faster() -> None:
    """A wormhole broadcast on a line needs fewer steps than it has hops."""
    run, stop = solve(cchybrid.instance("mesh-1x8", "OAB"))
    assert stop is Stop.STALLED
    assert run.best() == 7


def test_a_target_ends_the_run() -> None:
    run, stop = solve(cchybrid.instance("random-regular-20-3-2", "AAB"), target=12)
    assert stop is Stop.EXHAUSTED
    best = run.best()
    assert best is not None
    assert best <= 12


@pytest.mark.long
def test_an_evaluation_budget_is_kept_and_repeats() -> None:
    def searched(seed: int) -> tuple[Any, ...]:
        budget = Budget(seconds=None, evaluations=700)
        case = cchybrid.instance("random-regular-28-3-1", "AAB")
        run, stop = solve(case, 8, seed=seed, budget=budget)
        assert stop is Stop.LIMIT
        assert run.spent == 700
        drafts = [draft.step.tolist() for draft in run.suggestions]
        return [schedule.steps for schedule in run.schedules], run.progressed, drafts

    assert searched(1) == searched(1)
    assert searched(1) != searched(2)


def test_stops_within_a_schedule() -> None:
    problem = build_problem(cchybrid.instance("torus-8x8", "AAB", ports=1))
    engine = Matching(Matching.Options())
    engine.prepare()
    run = LocalRun(problem, budget=Budget(seconds=None))
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.process_time())
        run.stopped = True

    Timer(0.3, stop).start()
    assert engine.solve(problem, run) is Stop.LIMIT
    assert time.process_time() - stopped[0] < 1.0
