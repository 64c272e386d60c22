"""``network``, ``collective`` and ``instance``: everything that they take, and what they refuse."""

import doctest
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cchybrid.host import instances
from cchybrid.host.api import solve
from cchybrid.host.instances import collective, instance, network
from cchybrid.library import graphs, matrices, network_facts, node_numbers
from cchybrid.model import Message, Network, Reduction
from cchybrid.model.errors import InputError

LINE = Network.from_links("line", 3, [(0, 1), (1, 2)], node_names=("R1", "R2", "R3"))


@pytest.mark.parametrize("module", [instances, graphs, matrices, network_facts, node_numbers])
def test_the_examples_run(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def test_networks_of_every_kind():
    ring = network("ring-bi-4")
    adjacency = nx.to_numpy_array(nx.cycle_graph(4))
    for source in (nx.cycle_graph(4), adjacency, adjacency.astype(int), list(ring.channels)):
        assert network(source, name="ring-bi-4").channels == ring.channels
    assert network(ring) is ring


def test_collectives_of_every_kind():
    expected = (Message(2, (0,)), Message(0, (1, 2)))
    assert collective([("R3", "R1"), (np.int64(0), ["R2", 2])], LINE).messages == expected
    assert collective(list(expected), LINE).messages == expected
    assert collective("broadcast", LINE, root="R2").messages == (Message(1, (0, 2)),)
    reduction = (Reduction((0, 1), 2),)
    assert (
        collective([(["R1", "R2"], "R3")], LINE, kind="combine", name="mine").messages == reduction
    )
    assert collective(reduction, LINE).messages == reduction
    assert collective("pairs:R1>R3,R2>R3", LINE).name == "pairs:R1>R3,R2>R3"


def test_instances_by_name_and_by_object_are_equal():
    ring = network("ring-bi-6")
    given: dict[str, Any] = {
        "root": np.int64(2), "fail_links": ["0-1"], "fail_nodes": [np.int32(4)], "ports": (1, 2)
    }  # fmt: skip
    assert instance("ring-bi-6", "bcast", **given) == instance(ring, "bcast", **given)
    given["fail_nodes"] = np.array([4])
    assert instance("ring-bi-6", "bcast", **given) == instance(ring, "bcast", **given)
    assert instance(LINE, [("R1", "R3")], name="own", routing="any").name == "own"


def test_unknown_attributes_warn_if_they_are_ignored():
    graph = nx.Graph()
    graph.add_edge(0, 1, colour="red")
    with pytest.raises(InputError, match="'colour' has no meaning here"):
        instance(graph, "AAS")
    with pytest.warns(UserWarning, match="ignored attribute of edges: colour"):
        assert instance(graph, "AAS", ignore_attributes=True).network.nodes == 2


def test_warnings_name_the_line_of_the_caller():
    graph = nx.Graph()
    graph.add_edge(0, 1, bandwidth=25)
    for call, words in ((network, ()), (instance, ["AAS"]), (solve, ["AAS"])):
        with pytest.warns(UserWarning, match="capacity 1 is bandwidth 25") as caught:
            call(graph, *words)
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("source", [None, True, 3, 2.5, {}, [], object(), b"mesh"])
def test_no_network(source):
    with pytest.raises(InputError, match="is no network; give a name"):
        network(source)


@pytest.mark.parametrize(
    "given",
    [
        {"root": True}, {"root": 1.5}, {"root": "R9"}, {"root": 7}, {"root": []},
        {"transmitters": 3}, {"receivers": [None]}, {"ports": True}, {"ports": "many"},
        {"routing": True}, {"switching": 3}, {"fail_nodes": 3}, {"fail_nodes": ["R9"]},
        {"fail_links": "R1-R2"}, {"fail_links": [3]}, {"name": ""}, {"name": 3},
        {"collective": 3}, {"collective": [3]}, {"collective": [("R1", "R1")]},
        {"collective": None}, {"collective": [("R1",)]}, {"collective": []},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(given):
    with pytest.raises(InputError):
        instance(**{"network": LINE, "collective": "bcast", **given})


def test_an_attribute_changes_the_certified_optimum():
    graph = nx.star_graph(4)
    plain = solve(instance(graph, "AAB"), time_limit=20)
    graph.nodes[0]["switch"] = True
    nx.set_edge_attributes(graph, "half", "duplex")
    marked = solve(instance(graph, "AAB"), time_limit=20)
    assert (plain.certified, marked.certified) == (True, True)
    assert marked.steps > plain.steps
