"""Routes against every simple path that networkx lists."""

from collections import Counter
from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Network, RoutingTable
from cchybrid.problem import build_problem
from cchybrid.problem.routes import Path, Routes, TableRoutes
from cchybrid.problem.symmetry import automorphisms
from cchybrid.referee.verify import verify
from cchybrid.toolkit.kernels.first_fit import first_fit

EXTRA_HOPS = (0, 1, 2, 50, None)


@st.composite
def networks(draw: st.DrawFn, max_nodes: int = 7) -> Network:
    """Directed networks with endpoints; some nodes may be out of reach."""
    nodes = draw(st.integers(2, max_nodes))
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    min_arcs = draw(st.sampled_from((0, nodes)))  # half of the networks are dense
    arcs = draw(
        st.lists(st.sampled_from(pairs), unique=True, min_size=min_arcs, max_size=3 * nodes)
    )
    endpoints = draw(st.sets(st.integers(0, nodes - 1), max_size=nodes // 2))
    return Network.from_arcs("random", nodes, arcs, endpoints=tuple(sorted(endpoints)))


@st.composite
def route_cases(draw: st.DrawFn) -> tuple[Routes, int, int, list[Path]]:
    """Routes, two nodes, and all allowed paths between them, ascending."""
    network = draw(networks())
    routes = Routes(network, draw(st.sampled_from(EXTRA_HOPS)))
    source = draw(st.integers(0, network.nodes - 1))
    target = draw(st.integers(0, network.nodes - 1).filter(lambda node: node != source))
    return routes, source, target, allowed(routes, source, target)


def allowed(routes: Routes, source: int, target: int) -> list[Path]:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(routes.network.nodes))
    graph.add_edges_from(channel[:2] for channel in routes.network.channels)
    paths = [
        tuple(path)
        for path in nx.all_simple_paths(graph, source, target)
        if not set(path[1:-1]) & set(routes.network.endpoints)
    ]
    if paths and routes.extra_hops is not None:
        shortest = min(map(len, paths))
        paths = [path for path in paths if len(path) <= shortest + routes.extra_hops]
    return sorted(paths)


@given(route_cases())
def test_paths_are_all_simple_ones_in_order(case):
    routes, source, target, paths = case
    assert list(routes.paths(source, target)) == paths


@given(route_cases())
def test_ends_of_paths_are_as_many_as_paths(case):
    routes, source, target, paths = case
    ends = Counter(routes.ends(source))
    assert ends[target] == len(paths)
    assert ends[source] == 0


@given(route_cases(), st.integers(1, 6))
def test_short_paths_are_all_if_they_are_few(case, size):
    routes, source, target, paths = case
    if paths:
        found = routes.short_paths(source, target, size)
        assert set(found) <= set(paths)
        assert len(set(found)) == len(found) == min(size + 1, len(paths))
        assert len(found) > size or found == paths


@given(route_cases(), st.integers(0, 6), st.integers(0, 3))
def test_samples_are_distinct_and_the_shortest(case, size, seed):
    routes, source, target, paths = case
    found = routes.sample(source, target, size, Random(seed))
    assert found == routes.sample(source, target, size, Random(seed))
    assert found == sorted(set(found))
    assert set(found) <= set(paths)
    assert len(found) == min(size, len(paths))
    # The longest paths are a random sample.
    assert sorted(map(len, found)) == sorted(map(len, paths))[:size]


def test_samples_reach_all_shortest_paths():
    routes = Routes(cchybrid.network("mesh-3x3"), 0)
    seen = {path for seed in range(60) for path in routes.sample(0, 8, 2, Random(seed))}
    assert seen == set(routes.paths(0, 8))
    assert len(seen) == 6


@given(route_cases(), st.data())
def test_cheapest_equals_the_minimum_of_all(case, data):
    routes, source, target, paths = case
    # Many channels cost nothing, so cheapest walks may have cycles.
    size, values = len(routes.network.channels), st.sampled_from((0.0, 0.0, 1.0, 2.0, 0.5, 7.0))
    cost = np.array(data.draw(st.lists(values, min_size=size, max_size=size)), dtype=np.float64)
    spent, path = cheapest(routes, source, target, cost)
    assert spent == min((price(routes, other, cost) for other in paths), default=float("inf"))
    if paths:
        assert path in paths
        assert price(routes, path, cost) == spent
    else:
        assert path == ()
    everyone = range(routes.network.nodes)
    assert routes.cheapest_to(target, everyone, cost) == {
        node: cheapest(routes, node, target, cost)
        for node in everyone
        if routes.distance[node, target] > 0
    }


@pytest.mark.parametrize("extra_hops", EXTRA_HOPS)
def test_no_path_passes_an_endpoint(extra_hops):
    """Not even where it would cost nothing; it may begin and end there."""
    links = [(0, 1), (1, 2), (2, 3), (3, 0)]
    square = Network.from_links("square", 4, links, endpoints=(1,))
    routes = Routes(square, extra_hops)
    cost = np.array([0.0 if 1 in (a, b) else 1.0 for a, b, _ in square.channels])
    assert routes.cheapest_to(2, (0, 1), cost) == {0: (2.0, (0, 3, 2)), 1: (0.0, (1, 2))}
    assert cheapest(routes, 0, 1, cost) == (0.0, (0, 1))
    assert list(routes.paths(0, 2)) == routes.sample(0, 2, 5, Random(0)) == [(0, 3, 2)]


def cheapest(routes: Routes, source: int, target: int, cost: np.ndarray) -> tuple[float, Path]:
    return routes.cheapest_to(target, (source,), cost).get(source, (float("inf"), ()))


def price(routes: Routes, path: Path, cost: np.ndarray) -> float:
    return sum(float(cost[routes.network.channel_index[hop]]) for hop in pairwise(path))


def test_numbers_of_paths_beyond_64_bits():
    found = Routes(cchybrid.network("mesh-36x36"), 0).sample(0, 36 * 36 - 1, 3, Random(1))
    assert len(set(found)) == 3
    assert {len(path) for path in found} == {71}


def test_blind_alleys_do_not_trap_the_search():
    # A path that turns into the large grid behind node 1 never finds out again.
    grid = [(a + 2, b + 2) for a, b, _ in cchybrid.network("mesh-8x8").channels]
    both = [(0, 1), (1, 0), (1, 2), (2, 1)]
    routes = Routes(Network.from_arcs("trap", 67, [*grid, *both, (1, 66)]), None)
    assert list(routes.paths(0, 66)) == [(0, 1, 66)]
    assert len(routes.sample(65, 0, 50, Random(0))) == 50


def test_any_number_of_extra_hops_is_no_more_than_any_path():
    routes = Routes(cchybrid.network("ring-bi-6"), 10**12)
    assert list(routes.paths(0, 1)) == [(0, 1), (0, 5, 4, 3, 2, 1)]
    channels = routes.network.channels
    cost = np.array([10.0 if {a, b} == {0, 1} else 1.0 for a, b, _ in channels])
    assert cheapest(routes, 0, 1, cost) == (5.0, (0, 5, 4, 3, 2, 1))


DOWN = RoutingTable(tuple(tuple((v - (v != goal)) % 4 for goal in range(4)) for v in range(4)))


def test_a_table_gives_every_pair_its_path():
    routes = TableRoutes(cchybrid.network("ring-bi-4"), DOWN)
    assert routes.distance.tolist() == [[(a - b) % 4 for b in range(4)] for a in range(4)]
    assert list(routes.paths(1, 2)) == routes.sample(1, 2, 5, Random(0)) == [(1, 0, 3, 2)]
    assert list(routes.paths(1, 1)) == []
    cost, path = np.arange(8.0), (1, 0, 3, 2)
    assert routes.cheapest_to(2, [1, 2], cost) == {1: (price(routes, path, cost), path)}


@pytest.mark.parametrize("collective", ["AAS", "AAB", "AAR", "AOG"])
def test_a_problem_has_the_paths_of_the_table_alone(collective):
    instance = cchybrid.instance("mesh-2x3", collective, routing="xy")
    table = instance.forward.model.table
    problem = build_problem(instance)
    assert problem.complete
    assert problem.structure is None
    assert len(automorphisms(instance).generators) == 0
    structure = problem.origin.structure
    assert {(path[0], path[-1]): path for path in structure.paths}.items() <= {
        (a, b): table.path(a, b) for a in range(6) for b in range(6)
    }.items()
    found = first_fit(problem, 0)
    assert not verify(instance, problem.lift(found).steps)
    assert problem.price(0, np.ones(problem.resources)).cost <= 5
