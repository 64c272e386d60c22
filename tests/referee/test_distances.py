"""Hop distances against a plain breadth-first search."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.model import Network
from cchybrid.referee import distances
from cchybrid.referee.distances import distance_blocks, hop_distances


def plain_distances(network: Network, source: int) -> list[int]:
    hops = [-1] * network.nodes
    hops[source] = 0
    queue = deque([source])
    while queue:
        node = queue.popleft()
        if node in network.endpoints and node != source:
            continue
        for target in network.successors[node]:
            if hops[target] < 0:
                hops[target] = hops[node] + 1
                queue.append(target)
    return hops


@st.composite
def networks(draw) -> Network:
    nodes = draw(st.integers(1, 9))
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    endpoints = draw(st.sets(st.integers(0, nodes - 1), max_size=nodes // 2))
    return Network.from_arcs("random", nodes, arcs, endpoints=tuple(sorted(endpoints)))


@given(networks(), st.data())
def test_equals_plain_search(network, data):
    sources = data.draw(st.lists(st.integers(0, network.nodes - 1), max_size=12))
    found = hop_distances(network, sources)
    assert found.dtype == np.int32
    assert found.shape == (len(sources), network.nodes)
    assert found.tolist() == [plain_distances(network, source) for source in sources]


@given(networks(), st.data())
def test_radius_cuts_the_search(network, data):
    sources = range(network.nodes)
    radius = [data.draw(st.integers(0, 5)) for _ in sources]
    ((rows, found),) = distance_blocks(network, sources, radius)
    assert rows == slice(0, network.nodes)
    assert found.dtype == np.int32
    for source in sources:
        plain = plain_distances(network, source)
        assert found[source].tolist() == [h if h <= radius[source] else -1 for h in plain]


def test_blocks_make_no_difference(monkeypatch):
    network = Network.from_links("ring", 11, [(v, (v + 1) % 11) for v in range(11)])
    whole = hop_distances(network, range(11))
    monkeypatch.setattr(distances, "_BLOCK_CELLS", 50)
    assert (hop_distances(network, range(11)) == whole).all()


def test_hypercube_distance_is_hamming_distance():
    nodes = 256
    links = [(v, v ^ 1 << bit) for v in range(nodes) for bit in range(8) if v < v ^ 1 << bit]
    hops = hop_distances(Network.from_links("hypercube", nodes, links), range(nodes))
    assert all(hops[a, b] == (a ^ b).bit_count() for a in range(nodes) for b in range(0, nodes, 7))


def test_search_ends_at_endpoints_but_begins_there():
    star = Network.from_links("star", 4, [(0, 1), (1, 2), (2, 3)], endpoints=(0, 2))
    rows = [[0, 1, 2, -1], [1, 0, 1, -1], [2, 1, 0, 1], [-1, -1, 1, 0]]
    assert hop_distances(star, [0, 1, 2, 3]).tolist() == rows


@pytest.mark.parametrize("source", [-1, 3])
def test_unknown_source_is_refused(source):
    with pytest.raises(IndexError, match=f"no node {source} in line"):
        hop_distances(Network.from_links("line", 3, [(0, 1), (1, 2)]), [0, source])
