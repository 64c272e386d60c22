"""Bounds of the steps: no schedule, and no network, is below them."""

import itertools
import math
from typing import Any

import pytest
from cchybrid_plugins.design.network.all_networks import all_networks
from cchybrid_plugins.design.network.bounds import latency_bound
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.ports import Links, Ports, links_of, ports_of
from cchybrid_plugins.design.network.steps import (
    instance_of,
    network_reach,
    proven_steps,
    steps_of_all_networks,
    steps_of_network,
)
from cchybrid_plugins.design.network.steps_walk import form_of, rooted, walk
from cchybrid_plugins.design.network.task import DESIGN_COLLECTIVES, DesignTask, layout
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.model import CommunicationModel
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.examples import examples
from tests.plugins.design.network.plain_distances import (
    PETERSEN,
    plain_distances,
    random_ports,
    ring,
    torus,
)
from tests.proof.optimum import fewest_steps

FORWARD = ("store-and-forward",)
MODELS = st.builds(
    lambda switching, ports, routing: CommunicationModel(switching, *ports, routing),
    st.sampled_from(("wormhole", "store-and-forward")),
    st.sampled_from(((None, None), (1, 1), (2, 2), (1, 2), (3, 1))),
    st.sampled_from(("minimal", 1, "any")),
)


def optimum(task: DesignTask, links: Links) -> int:
    instance = instance_of(task, links)
    return fewest_steps(instance, first_fit(build_problem(instance), 0).steps)


@st.composite
def tiny_networks(draw: st.DrawFn) -> tuple[int, int, Links]:
    nodes = draw(st.integers(2, 4))
    degree = draw(st.integers(1 if nodes == 2 else 2, nodes - 1))
    listed = list(all_networks(DesignTask(nodes, degree), maximal=False))
    return nodes, degree, draw(st.sampled_from(listed))


@given(tiny_networks(), st.sampled_from(DESIGN_COLLECTIVES), MODELS)
@settings(max_examples=examples(80))
def test_no_schedule_is_shorter(
    network: tuple[int, int, Links], collective: str, model: CommunicationModel
) -> None:
    nodes, degree, links = network
    task = DesignTask(nodes, degree, collective=collective, model=model)
    steps = optimum(task, links)
    assert steps_of_all_networks(task) <= steps_of_network(task, ports_of(*network)) <= steps
    found = proven_steps(task, links, 1)
    assert found.steps <= steps
    assert proven_steps(task, links, steps + 1) is None


@pytest.mark.parametrize("collective", ["AAS", "AAB", "OAB"])
@pytest.mark.parametrize(("nodes", "degree"), [(4, 2), (4, 3), (5, 2), (5, 3), (5, 4)])
def test_no_network_of_a_tiny_order_is_below_the_bound(
    nodes: int, degree: int, collective: str
) -> None:
    for switching in ("wormhole", "store-and-forward"):
        for ports in (None, 1):
            model = CommunicationModel(switching, ports, ports)  # type: ignore[arg-type]
            task = DesignTask(nodes, degree, collective=collective, model=model)
            every = [o for links in all_networks(task) for o in rooted(task, links)]
            best = min(optimum(task, links) for links in every)
            assert steps_of_all_networks(task) <= best
            if ports is None and switching == "wormhole" and nodes * degree % 2 == 0:
                assert steps_of_all_networks(task) == best


@given(random_ports(24), st.sampled_from(DESIGN_COLLECTIVES), MODELS, st.integers(0, 2**20))
@settings(max_examples=examples(100))
def test_no_network_is_below_the_bound_over_all(
    ports: Ports, collective: str, model: CommunicationModel, draw: int
) -> None:
    nodes, degree = ports.shape
    task = DesignTask(nodes, degree, redundant_links=True, collective=collective, model=model)
    steps = steps_of_network(task, ports)
    assert steps_of_all_networks(task) <= steps
    links = list(links_of(ports))
    del links[draw % len(links)]
    assert steps_of_network(task, ports_of(nodes, degree, links)) >= steps


@given(random_ports(30))
@settings(max_examples=examples(40))
def test_reach_is_that_of_the_plain_distances(ports: Ports) -> None:
    reach = network_reach(ports)
    rows = plain_distances(len(ports), links_of(ports))
    for row, within in zip(rows, reach.within, strict=True):
        hops = [hop for hop in row if hop is not None]
        for limit, count in enumerate(within):
            assert count == sum(hop <= limit for hop in hops)
    assert sum(reach.links) == 2 * len(links_of(ports))


@pytest.mark.parametrize(
    ("nodes", "degree", "collective", "model", "steps"),
    [
        # Moore: 4 at one hop, 11 at two, so 26 channels per source, of 4: 6.5.
        (16, 4, "AAS", (), 7), (10, 3, "AAS", (), 5), (16, 3, "AAS", (), 11),
        (16, 4, "AAB", (), 4), (16, 4, "OAB", (), 2), (26, 4, "OAB", (), 3),
        (25, 4, "OAB", (), 2), (16, 3, "OAS", (), 5),
        # One node has two links only: it takes 4 steps to receive 8 messages.
        (9, 3, "AAB", (), 4), (9, 3, "AAS", (), 5),
        (22, 3, "OAB", FORWARD, 3),  # 1, 4, 10, 22 nodes within 0, 1, 2, 3 hops
        # 1, 2, 4, 8, 15: the first nodes have no neighbours left
        (22, 3, "OAB", (*FORWARD, 1, 1), 5),
        (22, 3, "AAB", (*FORWARD, 1, 1), 21), (22, 3, "AOR", (*FORWARD, 1, 1), 5),
        (22, 3, "OAS", (*FORWARD, 2, 2), 11),
        (22, 3, "AAS", (*FORWARD, 1, 1), 51),  # 3 + 2 * 6 + 3 * 12 hops from every node
    ],
)  # fmt: skip
def test_known_bounds(
    nodes: int, degree: int, collective: str, model: tuple[Any, ...], steps: int
) -> None:
    task = DesignTask(nodes, degree, collective=collective, model=CommunicationModel(*model))
    assert steps_of_all_networks(task) == steps


@pytest.mark.parametrize(
    ("nodes", "degree", "links", "steps"),
    [
        (16, 4, torus(4, 4), 8), (10, 3, PETERSEN, 5),
        (6, 2, ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)), math.inf),  # not connected
    ],
)  # fmt: skip
def test_known_bounds_of_networks(nodes: int, degree: int, links: Links, steps: float) -> None:
    task = DesignTask(nodes, degree, weights=(("steps", 1.0),), collective="alltoall")
    assert task.collective == "AAS"
    ports = ports_of(nodes, degree, links)
    assert steps_of_network(task, ports) == Cost(task)(ports) == steps


def test_ports_of_reductions_are_exchanged() -> None:
    for name, reversed_name in (("OAB", "AOR"), ("AAB", "AAR"), ("OAS", "AOG")):
        for switching in ("wormhole", "store-and-forward"):
            model = CommunicationModel(switching, 1, 3)  # type: ignore[arg-type]
            one = DesignTask(12, 3, collective=name, model=model)
            two = DesignTask(12, 3, collective=reversed_name, model=model.reversed())
            assert steps_of_all_networks(one) == steps_of_all_networks(two)


def test_the_cost_term() -> None:
    task = DesignTask(10, 3, weights=(("steps", 2.0), ("latency", 1.0)), collective="AAS")
    cost = Cost(task)(ports_of(10, 3, PETERSEN))
    assert cost == latency_bound(task).cost(task) == 2 * 5 + 1.5


def test_limited_wires_increase_the_bound() -> None:
    near = DesignTask(16, 4, positions=layout("backplane", 16), max_wire=2, collective="AAS")
    assert steps_of_all_networks(near) > steps_of_all_networks(DesignTask(16, 4, collective="AAS"))
    links = [(a, b) for a in range(16) for b in (a + 1, a + 2) if b < 16]
    assert steps_of_all_networks(near) <= steps_of_network(near, ports_of(16, 4, links))
    far = DesignTask(16, 4, positions=layout("backplane", 16), max_wire=15, collective="AAS")
    assert steps_of_all_networks(far) == 7


@pytest.mark.parametrize("collective", ["OAB", "OAS", "AOR", "AOG"])
@pytest.mark.parametrize("max_wire", [1, 2])
def test_a_root_in_the_middle_has_no_farther_nodes_than_its_own(
    collective: str, max_wire: int
) -> None:
    line = tuple((float(x),) for x in (0, -1, 1, -2, 2))
    model = CommunicationModel("store-and-forward")
    task = DesignTask(5, 4, (("latency", 1.0),), line, max_wire, collective=collective, model=model)
    links = tuple((a, b) for a in range(5) for b in range(a) if task.allowed[a, b])
    steps = optimum(task, links)
    assert steps_of_all_networks(task) == steps_of_network(task, ports_of(5, 4, links)) == steps


@given(
    st.integers(3, 5), st.sampled_from(DESIGN_COLLECTIVES), MODELS, st.integers(0, 2**10), st.data()
)
@settings(max_examples=examples(60))
def test_no_network_with_limited_wires_is_below_the_bounds(
    nodes: int, collective: str, model: CommunicationModel, number: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(nodes)))
    degree, wire = 2 + number % (nodes - 2), 1 + number % 3
    points = tuple((float(x),) for x in order)
    task = DesignTask(nodes, degree, (("latency", 1.0),), points, wire,
                      collective=collective, model=model)  # fmt: skip
    every = (links for links in all_networks(task) if all(task.allowed[a, b] for a, b in links))
    listed = list(itertools.islice(every, 20))
    if not listed:
        return
    links = data.draw(st.sampled_from(listed))
    ports = ports_of(nodes, degree, links)
    steps = optimum(task, links)
    assert steps_of_network(task, ports) <= steps
    assert steps_of_all_networks(task) <= steps


def test_the_walk_yields_networks_of_the_bound_once() -> None:
    task = DesignTask(12, 3, collective="AAS")
    found = list(itertools.islice(walk(task, ring(12), 8, 3), 10))
    assert len({form_of(task, links) for links in found}) == 10
    for links in found:
        assert steps_of_network(task, ports_of(12, 3, links)) <= 8


def test_roots_that_differ() -> None:
    path = ((0, 1), (1, 2), (2, 3))
    assert len(list(rooted(DesignTask(4, 2, collective="OAB"), path))) == 2
    assert list(rooted(DesignTask(4, 2, collective="AAB"), path)) == [path]
