"""The host's own schedule is valid for every feasible instance and needs no engine."""

import sys
from collections import deque
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.host import earliest_steps, link_filling, link_matching, scatter_greedy
from cchybrid.host.first_schedule import CHECK_INTERVAL, GreedyKernels, first_schedule
from cchybrid.host.hop_scatter import HopScatter
from cchybrid.host.link_matching import LinkMatching
from cchybrid.host.scatter_greedy import ScatterGreedy
from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import build_problem
from cchybrid.proof.reach import unreachable
from cchybrid.referee.verify import verify
from tests.examples import examples
from tests.named_instances import named
from tests.random_instances import instances
from tests.toolkit.kernels.uncompiled import call

CASES = """spidergon-8 AAS, mesh-4x4 AAB, omega-8 AAB, clos-12 AAS ports=1, 2-fat-spidergon-8 AAB,
    mesh-3x4 AAR, mesh-4x4 AOR ports=1, fat-tree-8 AAG, hypercube-16 AAS hops ports=1,
    ring-uni-8 AAB hops, omega-8 OAB hops, dgx-1 AAB, mesh-3x3 AAS routing=any, dgx-1 AAS ports=2,
    omega-8 AAS, fat-tree-8 AAS, mesh-4x4 AAB ports=1, mesh-4x4 OAS,
    mesh-3x4 AAS routing=xy, mesh-3x4 AAB routing=yx ports=1, mesh-3x4 AAR routing=xy,
    hypercube-8 OAB routing=e-cube, mesh-3x4 AOG routing=xy"""
"""Among them endpoints that no path may pass, reductions, capacities above 1, routing tables."""


def steps_of(instance: Instance | str) -> int:
    """Return the number of steps, and assert that they are valid."""
    instance = named(instance) if isinstance(instance, str) else instance
    steps = first_schedule(instance)
    assert not verify(instance, steps)
    return len(steps)


@pytest.mark.parametrize("words", CASES.split(","))
def test_it_is_valid(words):
    assert steps_of(words)


def test_it_can_be_stopped():
    assert first_schedule(named("hypercube-32 AAS"), lambda: True) is None


@pytest.mark.parametrize(
    ("words", "max_steps"),
    [
        pytest.param("torus-8x16 AAS", 265, marks=pytest.mark.long),
        ("hypercube-128 AAB", 20),
        ("torus-8x16 AAR", 34),
        ("dgx-1 AAS hops", 3),  # the optimum
        ("mesh-4x4 AAS hops", 16),  # the optimum
        ("hypercube-32 AAS hops ports=1", 88),  # the bound is 80
    ],
)
def test_it_is_close_to_the_bound(words, max_steps):
    assert steps_of(words) <= max_steps


@pytest.mark.parametrize("network", ["omega-8", "fat-tree-8", "mesh-3x3"])
def test_many_deliveries_between_endpoints_are_sent_by_their_sources(network, monkeypatch):
    monkeypatch.setattr("cchybrid.host.first_schedule.MAX_COMPARED_DELIVERIES", 0)
    assert steps_of(f"{network} AAB")


def test_a_source_without_a_path_needs_others_to_forward(monkeypatch):
    monkeypatch.setattr("cchybrid.host.first_schedule.MAX_COMPARED_DELIVERIES", 0)
    line = Network.from_arcs("line", 3, [(0, 1), (1, 2)], endpoints=(1,))
    instance = Instance(line, Collective("both", (Message(0, (1, 2)),)))
    assert not ScatterGreedy(instance).feasible
    assert steps_of(instance) == 2


@given(instances(), st.booleans())
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
def test_it_is_valid_for_every_feasible_instance(instance, hop_by_hop):
    switching = "store-and-forward" if hop_by_hop else "wormhole"
    instance = replace(instance, model=replace(instance.model, switching=switching))
    if unreachable(instance.forward) is None:
        steps = first_schedule(instance)
        assert not verify(instance, steps)


@pytest.mark.parametrize(
    ("network", "collective", "calls"),
    [
        ("hypercube-32", "AAS", 5),  # once per number of hops
        ("hypercube-32", "AAB", 7),  # once per step
        ("omega-32", "AAB", 992 // CHECK_INTERVAL),  # while deliveries are sorted and placed
    ],
)
def test_it_tests_often_whether_to_stop(network, collective, calls):
    requests: list[int] = []
    instance = cchybrid.instance(network, collective)
    assert first_schedule(instance, lambda: bool(requests.append(1)))
    assert len(requests) >= calls
    requests.clear()
    assert first_schedule(instance, lambda: bool(requests.append(1)) or len(requests) == 2) is None


def test_a_schedule_is_kept_if_the_second_method_is_stopped():
    requests: list[int] = []
    instance = cchybrid.instance("mesh-8x8", "AAB")
    steps = first_schedule(instance, lambda: bool(requests.append(1)) or len(requests) > 33)
    assert len(requests) == 34
    assert not verify(instance, steps)


@given(instances(), st.booleans(), st.data())
@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
def test_scatters_and_one_hop_transfers_are_valid(instance, hop_by_hop, data):
    """The same nodes with a random scatter, and each method called directly."""
    forward = instance.forward
    wormhole, stored = (
        replace(forward, model=replace(forward.model, switching=switching))
        for switching in ("wormhole", "store-and-forward")
    )
    matched = stored if hop_by_hop else wormhole
    matching = LinkMatching(matched)
    deque(matching.place_all())
    if matching.complete:
        assert not verify(matched, matching.steps())
    messages = forward.collective.deliver_messages
    pairs = sorted({(m.source, node) for m in messages for node in m.destinations})
    chosen = data.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=20))
    scatter = Collective("scatter", tuple(Message(a, (b,)) for a, b in chosen))
    methods = (ScatterGreedy, wormhole), (ScatterGreedy, stored), (HopScatter, stored)
    for method, switched in methods:
        scattered = replace(switched, collective=scatter)
        if unreachable(scattered) is None:
            greedy = method(scattered)
            deque(greedy.place_all())
            assert not verify(scattered, greedy.steps())


def test_link_matching_ends_where_one_hop_is_not_enough():
    matching = LinkMatching(cchybrid.instance("omega-8", "AAB"))
    deque(matching.place_all())
    assert not matching.complete
    assert not matching.steps()


@pytest.mark.parametrize("words", ["", "ports=1", "ports=2"])
@pytest.mark.parametrize(
    "name",
    ["random-links-20-50-2 AAB", "mesh-3x3 AAB chunks=8", "mesh-5x6 AAS", "2-fat-spidergon-8 AAS"],
)
def test_kernels_find_the_schedules_of_the_plain_methods(name, words, monkeypatch):
    """Large instances are scheduled by kernels, small ones without loading numba."""
    instance = named(f"{name} {words}")
    for module, kernel in (
        (earliest_steps, "draw_paths"),
        (earliest_steps, "place_earliest"),
        (link_filling, "fill_step"),
    ):
        monkeypatch.setattr(module, kernel, partial(call, getattr(module, kernel)))
    found = []
    for limit in (0, sys.maxsize):
        monkeypatch.setattr(link_matching, "MIN_COMPILED_DELIVERIES", limit)
        monkeypatch.setattr(scatter_greedy, "MIN_COMPILED_DELIVERIES", limit)
        method = (LinkMatching if "AAB" in name else ScatterGreedy)(instance)
        deque(method.place_all())
        found.append(method.steps())
        assert not verify(instance, found[-1])
    assert [*map(sorted, found[0])] == [*map(sorted, found[1])]


def test_warm_up_compiles_what_large_instances_need(monkeypatch):
    """The kernels are compiled for the types of arrays that every large instance has."""
    GreedyKernels(GreedyKernels.Options()).prepare()
    kernels = earliest_steps.draw_paths, earliest_steps.place_earliest, link_filling.fill_step
    before = [len(kernel.signatures) for kernel in kernels]
    assert min(before) > 0
    monkeypatch.setattr(link_matching, "MIN_COMPILED_DELIVERIES", 0)
    monkeypatch.setattr(scatter_greedy, "MIN_COMPILED_DELIVERIES", 0)
    for words in ("", "ports=1", "ports=2", "switching=store-and-forward"):
        for name in ("mesh-3x3 AAB", "mesh-3x3 AAS", "2-fat-spidergon-8 AAS", "torus-4x4 AAR"):
            first_schedule(named(f"{name} {words}"))
    assert [len(kernel.signatures) for kernel in kernels] == before


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"time_limit": 0.1}, {"time_limit": 2.0, "evaluations": 50}])
def test_it_comes_before_all_else(budget, monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,tests.endless_bounds")
    events: list[str] = []
    result = cchybrid.solve(
        cchybrid.instance("spidergon-8", "AAS"), engines=["tuned"],
        options={"tuned": {"rounds": 2}}, registry=load_registry(),
        observers=[lambda event: events.append(event["event"])], **budget,
    )  # fmt: skip
    assert result.schedule is not None
    assert events[:2] == ["run", "schedule"]


@pytest.mark.parametrize("times", [(), ((1, 2),) * 5])
@pytest.mark.parametrize("goals", [[(2,), (2,)], [(2, 4), (2, 3)], [(1, 2)]])
def test_a_path_uses_a_group_twice(goals, times):
    """The path 0, 1, 2 is in no schedule: both of its channels share the capacity of one."""
    hops = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)]
    network = replace(cchybrid.network(hops), times=times, groups=(((0, 1), (1, 2)),))
    messages = tuple(Message(0, each) for each in goals)
    model = cchybrid.CommunicationModel(routing="any")
    instance = Instance(network, Collective("two", messages), model)
    steps = first_schedule(instance)
    assert not verify(instance, steps)
    problem = build_problem(instance)
    paths = problem.lift(problem.match(steps)).steps
    assert (0, 1, 2) not in {path for step in paths for _, path in step}
    structure = problem.structure
    assert [0, 1, 2] not in [
        structure.path_node[start:stop].tolist()
        for start, stop in pairwise(structure.path_node_start.tolist())
    ]


def test_two_uses_of_a_group_in_one_slot_make_the_period_longer():
    """Of the path 0, 1, 2, 3 the first and the last channel share the capacity of one."""
    network = replace(cchybrid.network([(0, 1), (1, 2), (2, 3)]), groups=(((0, 1), (2, 3)),))
    model = cchybrid.CommunicationModel("tdm")
    instance = Instance(network, Collective("one", (Message(0, (3,)),)), model)
    assert steps_of(instance) == 3


def test_a_group_that_no_path_uses_once_is_refused():
    network = replace(cchybrid.network([(0, 1), (1, 2)]), groups=(((0, 1), (1, 2)),))
    instance = Instance(network, Collective("one", (Message(0, (2,)),)))
    with pytest.raises(InputError, match="more often than it carries"):
        first_schedule(instance)


@settings(max_examples=examples(60))
@given(instances(switchings=("tdm",)))
def test_periods_are_valid(instance):
    assert not verify(instance, first_schedule(instance))
