"""Routes, faults and bisection: plain twins, networkx, and the rows of the paper's tables."""

import math
import statistics

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.design.network.bisection import STARTS, bisection, improve_halves, part_sizes
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.faults import node_faults, random_faults
from cchybrid_plugins.design.network.ports import Links, Ports, links_of, ports_of
from cchybrid_plugins.design.network.routes import contention, path_deviations
from cchybrid_plugins.design.network.task import DesignTask
from cchybrid_plugins.design.network.terms import TERMS
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples
from tests.plugins.design.network.exact_bisection import exact_bisection
from tests.plugins.design.network.plain_distances import binary_tree, random_ports, ring, torus
from tests.plugins.design.network.plain_routes import plain_routes


@given(random_ports(16))
@settings(max_examples=examples(40))
def test_routes_are_those_of_the_plain_twin(ports: Ports) -> None:
    through, messages, _ = plain_routes(ports, contended=False)
    nodes = len(ports)
    used = [count for (node, port), count in messages.items() if ports[node, port] != node]
    expected = statistics.stdev(through), statistics.stdev(used)
    assert path_deviations(ports) == pytest.approx(expected)
    _, messages, hops = plain_routes(ports, contended=True)
    lengths = [length for row in hops for length in row]
    assert contention(ports) == pytest.approx(
        (sum(lengths) / nodes**2, max(lengths), statistics.pstdev(messages.values()))
    )


PUBLISHED = [
    (64, 2, ring(64), "latency=16 max-latency=32 connectivity=2 node-deviation=0"
     " link-deviation=16.06 node-faults=20.99 max-node-faults=62 random-faults=inf"
     " max-random-faults=inf bisection=2"),
    (64, 4, torus(8, 8), "latency=4 max-latency=8 connectivity=4 node-faults=4.01 max-node-faults=8"
     " bisection=16"),
    (64, 6, torus(4, 4, 4), "latency=3 max-latency=6 connectivity=6 bisection=32"),
    (63, 3, binary_tree(63), "latency=6.48 max-latency=10 connectivity=1 node-deviation=574.07"
     " link-deviation=229.65 node-faults=inf max-node-faults=inf random-faults=inf bisection=1"),
    (16, 2, ring(16), "latency=4 max-latency=8 node-deviation=0 link-deviation=4.06"
     " node-faults=4.98 max-node-faults=14 random-faults=inf bisection=2"),
    (16, 4, torus(4, 4), "latency=2 max-latency=4 node-faults=1.99 max-node-faults=4 bisection=8"),
    (15, 3, binary_tree(15), "latency=3.27 max-latency=6 node-deviation=44.04 link-deviation=15.75"
     " node-faults=inf max-node-faults=inf random-faults=inf max-random-faults=inf bisection=1"),
    (8, 2, ring(8), "latency=2 max-latency=4"),
    (7, 3, binary_tree(7), "latency=1.96 max-latency=4"),
]  # fmt: skip
"""Rows of tables 1 to 8, with these corrections.

Table 1 misprints 6.68 for the latency of the tree of 63 nodes, and table 3 cuts 1.959 to 1.95. The
link deviation of the ring of 64 nodes is 16.00 in table 5, with divisor n. Table 6 has a bisection
of 7 for the tree of 63 nodes, by a heuristic; one link cuts 31 from 32 nodes.
"""


@pytest.mark.parametrize(("nodes", "degree", "links", "published"), PUBLISHED)
def test_terms_are_those_of_the_paper(
    nodes: int, degree: int, links: Links, published: str
) -> None:
    expected = {
        name: float(value) for name, value in (each.split("=") for each in published.split())
    }
    task = DesignTask(nodes, degree, weights=tuple((name, 1.0) for name in expected))
    found = Cost(task).values(ports_of(nodes, degree, links))
    assert found == pytest.approx(expected, abs=0.006)


def test_contention_of_the_tree_of_table_2() -> None:
    """A tree has one path per pair. The table's deviation, 104.92, is half of ours."""
    mean, maximum, deviation = contention(ports_of(63, 3, binary_tree(63)))
    assert (round(mean, 2), maximum) == (6.48, 10)
    assert deviation / 2 == pytest.approx(104.92, abs=0.005)


def test_contention_lengthens_paths_where_there_are_others() -> None:
    """Table 2 has 18.16 and 61 for the ring, 4.48 and 12 for the torus, by an unstated rule."""
    mean, maximum, _ = contention(ports_of(64, 2, ring(64)))
    assert 16 < mean < 18.16
    assert 32 < maximum <= 61
    mean, maximum, _ = contention(ports_of(64, 4, torus(8, 8)))
    assert 4 < mean < 4.48
    assert 8 < maximum <= 12


@given(random_ports(20))
@settings(max_examples=examples(30))
def test_single_node_faults_are_those_of_networkx(ports: Ports) -> None:
    graph = nx.Graph(links_of(ports))
    means, maxima = [], []
    for node in range(len(ports)):
        rest = graph.subgraph(set(graph) - {node})
        if not nx.is_connected(rest):
            assert node_faults(ports) == (math.inf, math.inf)
            return
        lengths = [k for _, row in nx.all_pairs_shortest_path_length(rest) for k in row.values()]
        means.append(sum(lengths) / len(rest) ** 2)
        maxima.append(max(lengths))
    assert node_faults(ports) == pytest.approx((sum(means) / len(means), max(maxima)))


def test_random_faults_of_the_torus() -> None:
    """The 5.59 of table 6 is not the mean of its definition."""
    ports = ports_of(64, 4, torus(8, 8))
    mean, maximum = random_faults(ports, 1)
    assert 4.0 < mean < 4.2
    assert 8 <= maximum <= 10
    assert random_faults(ports, 1) == (mean, maximum) != random_faults(ports, 2)


@given(random_ports(14))
@settings(max_examples=examples(25))
def test_small_bisections_are_exact_and_the_heuristic_is_close(ports: Ports) -> None:
    nodes = len(ports)
    low, high = part_sizes(nodes)
    links = links_of(ports)
    best = min(
        sum((chosen >> a & 1) != (chosen >> b & 1) for a, b in links)
        for chosen in range(1 << (nodes - 1))
        if low <= chosen.bit_count() <= high
    )
    assert bisection(ports, 0) == exact_bisection(ports) == best
    assert best <= improve_halves(ports, low, high, STARTS, seed_state(0)) <= best + 1


@pytest.mark.parametrize(
    ("nodes", "sizes"), [(64, (26, 38)), (10, (4, 6)), (2, (1, 1)), (3, (1, 2))]
)
def test_sizes_of_parts(nodes: int, sizes: tuple[int, int]) -> None:
    assert part_sizes(nodes) == sizes


def test_networks_that_are_not_connected() -> None:
    ports = ports_of(6, 2, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    assert path_deviations(ports) == (math.inf, math.inf)
    assert contention(ports) == (math.inf, math.inf, math.inf)
    assert node_faults(ports) == (math.inf, math.inf)
    assert random_faults(ports, 0) == (math.inf, math.inf)
    assert bisection(ports, 0) == exact_bisection(ports) == 0


@given(random_ports(14), st.integers(0, 3), st.floats(0.5, 1.5))
@settings(max_examples=examples(40))
def test_a_cost_is_computed_up_to_a_limit(ports: Ports, seed: int, share: float) -> None:
    """Bounds of the terms that are left never reject a network within the limit."""
    nodes, degree = ports.shape
    names = [name for name in TERMS if name != "wire"]
    rng = np.random.default_rng(seed)
    weights = tuple((name, rng.uniform(0.1, 3.0)) for name in rng.permutation(names)[:6])
    task = DesignTask(
        nodes, max(2, degree), weights=weights, redundant_links=True, collective="AAB"
    )
    cost = Cost(task)
    whole = cost(ports)
    limit = whole * share if math.isfinite(whole) else 10.0
    assert cost.up_to(ports, limit) == (whole if whole <= limit else math.inf)
    assert cost.up_to(ports, whole) == whole
