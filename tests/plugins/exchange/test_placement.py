"""Transfers of a foreign program on a named network: shortest paths that pass no GPU."""

from itertools import pairwise

import networkx as nx
import pytest
from cchybrid_plugins.exchange.placement import MAX_PATHS, Placement

import cchybrid
from cchybrid.model import Network


@pytest.mark.parametrize("name", ["1-fat-complete-70", "fat-tree-16", "omega-16"])
def test_every_path_is_a_shortest_one_over_switches(name: str) -> None:
    """More than ``MAX_PATHS`` switches beside the source lead nowhere in the first network."""
    network = cchybrid.network(name)
    placement = Placement(network, len(network.terminals))
    graph = nx.DiGraph(list(network.channel_index))
    start, end = network.terminals[0], network.terminals[-1]
    graph.remove_nodes_from({*network.terminals} - {start, end})
    every = {tuple(path) for path in nx.all_shortest_paths(graph, start, end)}
    found = placement._shortest_paths(start, end)
    assert len(found) == min(len(every), MAX_PATHS)
    assert set(found) <= every
    step, path = placement.put(0, len(network.terminals) - 1, 3)
    assert step == 3
    assert all(hop in network.channel_index for hop in pairwise(path))


def test_without_a_path_it_is_one_hop() -> None:
    line = Network("line", 3, ((0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)))
    assert Placement(line, 3).put(0, 2, 1) == (1, (0, 2))
