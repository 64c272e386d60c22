"""Transfers of a foreign program on a named network: shortest paths that pass no GPU."""

from itertools import pairwise

import pytest
from cchybrid_plugins.exchange.placement import Placement, nodes_by_name

import cchybrid
from cchybrid.model import Network
from tests.refusals import refused


@pytest.mark.parametrize("name", ["1-fat-complete-70", "fat-tree-16", "omega-16"])
def test_a_transfer_takes_the_first_step_with_room_on_a_path_over_switches(name):
    """In the first network 69 switches beside the source lead nowhere."""
    network = cchybrid.network(name)
    placement = Placement(network, len(network.terminals))
    step, path = placement.put(0, len(network.terminals) - 1, 3)
    assert step == 3
    assert set(path).intersection(network.terminals) == {path[0], path[-1]}
    assert all(hop in network.channel_index for hop in pairwise(path))


def test_without_a_path_it_is_one_hop():
    line = Network("line", 3, ((0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)))
    assert Placement(line, 3).put(0, 2, 1) == (1, (0, 2))


def test_a_name_and_a_number_of_one_node_are_refused():
    network = Network.from_links("pair", 2, [(0, 1)], node_names=("R", "S"))
    assert nodes_by_name({0: "S", 1: "0"}, network) == {0: 1, 1: 0}
    with refused("two are one node"):
        nodes_by_name({0: "R", 1: "0"}, network)
