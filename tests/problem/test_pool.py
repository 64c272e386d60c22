"""The pool of paths with more than one extra hop, against its definition."""

import time
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import cchybrid
from cchybrid.model import Network, RoutingTable
from cchybrid.problem import build_problem, list_transfers
from cchybrid.problem.pool import Pool, list_paths
from cchybrid.problem.ragged import offsets
from cchybrid.problem.routes import Routes, TableRoutes
from cchybrid.problem.short_paths import ShortPaths

NETWORKS = """mesh-3x3 torus-3x3 spidergon-8 omega-8 kautz-12 de-bruijn-2-3 ring-bi-7 b-tree-8
    small-world-9-4-1 random-links-9-13-1 random-links-10-13-4 2-fat-ring-bi-4 hyperx-2x3"""
DOWN = RoutingTable(tuple(tuple((v - (v != goal)) % 4 for goal in range(4)) for v in range(4)))


def by_definition(routes, pairs, weight, max_options, seed):
    """Return all paths, or an equal share of a fifth of the options for every pair."""
    whole = [list(routes.paths(*pair)) for pair in pairs]
    count = np.array([len(paths) for paths in whole])
    share = int(count.max())
    if weight @ count > max_options:
        while share > 1 and weight @ np.minimum(count, share) > max_options // 5:
            share -= 1
    random = Random(seed)
    chosen = [
        paths if len(paths) <= share else routes.sample(*pair, share, random)
        for pair, paths in zip(pairs, whole, strict=True)
    ]
    paths = [path for some in chosen for path in some]
    return Pool(
        np.array([node for path in paths for node in path]),
        offsets([len(path) for path in paths]),
        offsets([len(some) for some in chosen]),
        bool((count <= share).all()),
    )


@pytest.mark.parametrize("name", NETWORKS.split())
@pytest.mark.parametrize("extra_hops", [2, 3, None])
def test_every_pair_has_all_paths_or_an_equal_share(name, extra_hops):
    routes, random = Routes(cchybrid.network(name), extra_hops), Random(name)
    connected = [tuple(pair) for pair in np.argwhere(routes.distance > 0).tolist()]
    for percent in (5, 20, 50, 80, 99, 100, 120):
        pairs = sorted(random.sample(connected, random.randint(1, len(connected))))
        weight = np.array([random.choice((1, 5)) for _ in pairs])
        options = int(weight @ [len(list(routes.paths(*pair))) for pair in pairs])
        check(routes, pairs, weight, max(1, options * percent // 100))


@pytest.mark.parametrize("max_options", [1000, 3000, 5000, 7000, 8000])
def test_pairs_of_one_path_leave_their_share_to_others(max_options):
    every = [(a, b) for a in range(6) for b in range(a)]
    network = Network.from_links("brush", 14, [*every, *((0, leaf) for leaf in range(6, 14))])
    pairs = [(a, b) for a in range(14) for b in range(14) if a != b]
    check(Routes(network, None), pairs, np.ones(len(pairs), dtype=np.int64), max_options)


@pytest.mark.parametrize("max_options", [1, 11, 12, 20, 36, 60, 1000])
def test_tables_have_one_path_however_few_options_there_may_be(max_options):
    routes = TableRoutes(cchybrid.network("ring-bi-4"), DOWN)
    pairs = [tuple(pair) for pair in np.argwhere(routes.distance > 0).tolist()]
    check(routes, pairs, np.full(len(pairs), 3), max_options)


def check(routes, pairs, weight, max_options):
    found = list_paths(routes, *np.array(pairs).T, weight, max_options, 3)
    expected = by_definition(routes, pairs, weight, max_options, 3)
    if callable(found.node):
        found = replace(found, node=found.node())
    for name in ("node", "start", "first", "complete"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_many_paths_of_any_length_are_counted_without_listing_them():
    """An eighth of the time it took to list eight paths of every pair."""
    instance = cchybrid.instance("mesh-8x8", "AAB", routing="any")
    start = time.process_time()
    problem = build_problem(instance)
    assert time.process_time() - start < 2
    assert not problem.complete
    assert len(problem.structure.path_node_start) - 1 == 64 * 63


def test_paths_are_listed_when_they_are_first_read(monkeypatch):
    listed, list_all = [], ShortPaths.listed
    monkeypatch.setattr(
        ShortPaths, "listed", lambda self, *rest: listed.append(self) or list_all(self, *rest)
    )
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
    copy = replace(problem, complete=False, path_resource=problem.capacity)
    assert (problem.options, problem.paths, problem.complete) == (140, 140, True)
    assert list_transfers(problem, [])[0].path_resource.size == 0
    assert copy.path_resource is problem.capacity
    assert not listed
    assert problem.path_resource is problem.path_resource
    assert len(problem.path_resource) == problem.path_start[-1]
    assert len(problem.structure.path_node) == problem.structure.path_node_start[-1]
    assert len(listed) == 1
