"""Lower bounds of latencies against the literature, and against all networks of small orders."""

import pytest
from cchybrid_plugins.design.network.bounds import latency_bound, moore_counts
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.distances import all_distances
from cchybrid_plugins.design.network.ports import Ports, ports_of
from cchybrid_plugins.design.network.task import DesignTask, layout
from hypothesis import given, settings

from tests.examples import examples
from tests.plugins.design.network.plain_distances import PETERSEN, mean_of, random_ports

MOORE = {
    16: ((3, 2.2000), (2, 1.7333), (2, 1.6667), (2, 1.6000)),
    32: ((4, 2.9355), (3, 2.3548), (3, 2.0323), (2, 1.8065)),
    64: ((5, 3.7619), (4, 2.8571), (3, 2.5238), (3, 2.3333)),
    72: ((5, 3.9014), (4, 2.9859), (3, 2.5775), (3, 2.4085)),
    256: ((7, 5.5882), (5, 4.0902), (4, 3.4706), (4, 3.1059)),
}
"""Diameter and mean distance for degree 3 to 6, as in the tables of the order/degree problem."""


@pytest.mark.parametrize("nodes", MOORE)
def test_moore_bounds(nodes: int) -> None:
    for degree, (diameter, mean) in enumerate(MOORE[nodes], 3):
        bound = latency_bound(DesignTask(nodes, degree))
        assert (bound.diameter, round(float(mean_of(bound)), 4)) == (diameter, mean)


@pytest.mark.parametrize(
    ("width", "height", "degree", "wire", "mean"),
    [(4, 4, 3, 2, 2.2), (5, 5, 4, 2, 2.2133), (10, 10, 6, 3, 2.8388), (10, 10, 8, 4, 2.3511)],
)
def test_bounds_of_grids(width: int, height: int, degree: int, wire: int, mean: float) -> None:
    nodes = width * height
    positions = layout(f"grid-{width}x{height}", nodes)
    bound = latency_bound(DesignTask(nodes, degree, positions=positions, max_wire=wire))
    assert round(float(mean_of(bound)), 4) == mean


def test_moore_counts() -> None:
    assert moore_counts(10, 3) == [1, 4, 10]
    assert moore_counts(11, 3) == [1, 4, 10, 11]
    assert moore_counts(5, 2) == [1, 3, 5]
    assert moore_counts(2, 1) == [1, 2]


@given(random_ports(40))
@settings(max_examples=examples(60))
def test_no_network_is_below_the_bound(ports: Ports) -> None:
    nodes, degree = ports.shape
    total, diameter = all_distances(ports)
    bound = latency_bound(DesignTask(nodes, degree))
    assert bound.total <= total
    assert bound.diameter <= diameter


def test_the_bound_of_a_cost() -> None:
    task = DesignTask(10, 3)
    bound = latency_bound(task)
    assert bound.cost(task) == Cost(task)(ports_of(10, 3, PETERSEN)) == 1.5 + 2
    other = DesignTask(10, 3, weights=(("latency", 1.0), ("connectivity", 1.0)))
    assert bound.cost(other) is None
