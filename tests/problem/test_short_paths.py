"""Bundles of short paths against ``Routes``, which finds them one by one."""

from itertools import pairwise
from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.problem.routes import Routes
from cchybrid.problem.short_paths import ShortPaths
from tests.random_instances import networks


@given(networks(), st.integers(0, 1), st.integers(1, 5), st.integers(0, 3))
def test_the_same_paths_as_one_by_one(network, extra_hops, share, seed):
    routes = Routes(network, extra_hops)
    source, target = np.nonzero(routes.distance > 0)
    for extra in range(extra_hops + 1):
        short = ShortPaths(network, routes.distance, source, target, np.full(len(source), extra))
        pairs = list(zip(source.tolist(), target.tolist(), strict=True))
        known = [
            [path for path in routes.paths(*pair) if len(path) - 1 == routes.distance[pair] + extra]
            for pair in pairs
        ]
        assert short.count.tolist() == [len(paths) for paths in known]
        taken = np.minimum(short.count, share).astype(np.int64)
        nodes = short.listed(taken, np.random.default_rng(seed))
        hops = short.hops(np.repeat(np.arange(len(taken)), taken))
        parts = np.split(nodes, np.cumsum(hops + 1)[:-1]) if len(hops) else []
        found = [tuple(part.tolist()) for part in parts]
        assert len(found) == taken.sum()
        for paths, size in zip(known, taken.tolist(), strict=True):
            mine, found = found[:size], found[size:]
            assert mine == sorted(set(mine))
            assert set(mine) <= set(paths)
            if size == len(paths):
                assert mine == paths


def test_more_paths_than_floats_count():
    """Across this mesh lead more paths than a floating-point number counts exactly."""
    mesh, hops, last = cchybrid.network("mesh-30x30"), 58, 899
    distance = Routes(mesh, 0).distance
    short = ShortPaths(mesh, distance, np.array([0]), np.array([last]), np.zeros(1, np.int64))
    assert abs(short.count[0] / comb(hops, 29) - 1) < 1e-9
    taken = np.array([500])
    nodes, lengths = (
        short.listed(taken, np.random.default_rng(0)),
        short.hops(np.zeros(500, np.int64)),
    )
    assert lengths.tolist() == [hops] * 500
    paths = {tuple(path) for path in nodes.reshape(500, -1).tolist()}
    assert len(paths) == 500
    for path in paths:
        assert (path[0], path[-1]) == (0, last)
        assert all(hop in mesh.channel_index for hop in pairwise(path))
