"""Groups and Cayley graphs of the symmetric designer."""

import dataclasses

import networkx as nx
import numpy as np
import pynauty
import pytest
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.local_run import LocalDesignRun
from cchybrid_plugins.design.network.ports import links_of
from cchybrid_plugins.design.network.task import DesignTask
from cchybrid_plugins.design.symmetric.engine import Symmetric, SymmetricOptions, _Search
from cchybrid_plugins.design.symmetric.groups import Group, groups_of

from cchybrid.plugin.engine import Stop
from cchybrid.toolkit.kernels.rng import seed_state

pytestmark = pytest.mark.long


@pytest.mark.parametrize("order", [2, 3, 8, 12, 16, 20, 21, 27])
def test_tables_are_those_of_groups(order: int) -> None:
    elements = np.arange(order)
    for group in groups_of(order):
        product = group.table()
        assert (product[0] == elements).all()
        assert (product[:, 0] == elements).all()
        assert (np.sort(product, axis=1) == elements).all()
        assert (np.sort(product, axis=0) == elements[:, None]).all()
        assert (product[product] == product[:, product]).all()


def test_groups_that_are_not_cyclic_are_among_them() -> None:
    assert Group(7, 3, 2) in groups_of(21)
    assert Group(9, 2, 8) in groups_of(18)
    assert Group(4, 4, 1) in groups_of(16)
    assert list(groups_of(7)) == [Group(7, 1, 1)]


@pytest.mark.parametrize(("nodes", "degree"), [(12, 3), (16, 4), (20, 5), (21, 4), (15, 3)])
def test_networks_are_vertex_transitive_and_costs_those_of_the_definition(
    nodes: int, degree: int
) -> None:
    task = DesignTask(nodes, degree)
    for group in groups_of(nodes):
        search = _Search(task, group, Cost(task))
        state = seed_state(nodes)
        for _ in range(5):
            chosen = search.draw(state)
            ports = search.ports(chosen)
            links = links_of(ports)
            joined = {v: [b for a, b in links if a == v] for v in range(nodes)}
            orbits = pynauty.autgrp(pynauty.Graph(nodes, adjacency_dict=joined))[3]
            assert set(orbits) == {0}
            assert search.cost(chosen) == pytest.approx(Cost(task)(ports))
            for place in range(len(chosen)):
                for other in search.exchanges(chosen, place):
                    assert len(set(other)) == len(chosen)
                    assert len(links_of(search.ports(other))) == len(links)


def test_small_groups_are_searched_completely() -> None:
    """The best circulant of 13 nodes with 4 links has the jumps 1 and 5."""
    task = DesignTask(13, 4)
    run = LocalDesignRun(task)
    Symmetric(SymmetricOptions()).design(task, run)
    assert run.links is not None
    assert nx.is_isomorphic(nx.Graph(run.links), nx.circulant_graph(13, [1, 5]))


def test_other_terms_and_local_search() -> None:
    task = dataclasses.replace(
        DesignTask(24, 3), weights=(("bisection", 1.0), ("latency", 1.0), ("connectivity", 1.0))
    )
    run = LocalDesignRun(task, evaluations=300)
    assert Symmetric(SymmetricOptions(exhaustive=0)).design(task, run) is Stop.LIMIT
    assert len(run.links) == 36
