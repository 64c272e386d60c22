"""The bit-parallel distances against networkx and a plain twin."""

import networkx as nx
import numpy as np
from cchybrid_plugins.design.network.distances import (
    NO_LIMIT,
    UNREACHABLE,
    all_distances,
    scratch,
    search_distances,
)
from cchybrid_plugins.design.network.latency import latency
from cchybrid_plugins.design.network.ports import Ports, links_of, ports_of
from hypothesis import given, settings

from tests.examples import examples
from tests.plugins.design.network.plain_distances import (
    plain_distances,
    plain_total,
    random_ports,
    ring,
)


@given(random_ports(140))
@settings(max_examples=examples(100))
def test_distances_are_those_of_the_plain_twin_and_of_networkx(ports: Ports) -> None:
    found = all_distances(ports)
    assert found == plain_total(len(ports), links_of(ports))
    lengths = dict(nx.all_pairs_shortest_path_length(nx.Graph(links_of(ports))))
    assert found.total == sum(sum(row.values()) for row in lengths.values())


@given(random_ports(140))
@settings(max_examples=examples(50))
def test_a_search_from_some_sources_gives_their_distances(ports: Ports) -> None:
    nodes = len(ports)
    sources = (nodes + 1) // 2
    rows = plain_distances(nodes, links_of(ports))[:sources]
    expected = sum(v for row in rows for v in row if v), max(v for row in rows for v in row if v)
    assert search_distances(ports, sources, NO_LIMIT, scratch(nodes, sources)) == expected
    dirty = np.full_like(scratch(nodes), 2**64 - 1)
    assert search_distances(ports, sources, NO_LIMIT, dirty) == expected


@given(random_ports())
@settings(max_examples=examples(50))
def test_a_limit_ends_the_search_with_a_lower_bound(ports: Ports) -> None:
    nodes = len(ports)
    total, diameter = all_distances(ports)
    for limit in (0, total // 2, total - 1):
        stopped, levels = search_distances(ports, nodes, limit, scratch(nodes))
        assert limit < stopped <= total
        assert levels <= diameter
    assert search_distances(ports, nodes, total, scratch(nodes)) == (total, diameter)


def test_networks_that_are_not_connected_have_infinite_latency() -> None:
    for nodes, links in ((4, [(0, 1), (2, 3)]), (70, ring(69)), (3, [])):
        ports = ports_of(nodes, 2, links)
        assert all_distances(ports) == (UNREACHABLE, UNREACHABLE)
        assert latency(ports) == (np.inf, np.inf)
