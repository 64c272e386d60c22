"""Process groups: collectives among some of the nodes, which all others forward."""

import networkx as nx
import pytest

import cchybrid
from cchybrid.library.collectives import collective
from cchybrid.library.topologies import network
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify_schedule

GROUP = (0, 2, 5)
DGX = network("dgx-1")


@pytest.mark.parametrize(
    "name", ["AAB", "AAS", "OAB", "OAS", "AOG", "AOR", "AAG", "AAR", "reduce-scatter", "scatter"]
)
def test_only_participants_send_and_receive(name):
    found = collective(name, DGX, participants=GROUP)
    assert found.name.endswith(" among 0,2,5")
    named = {m.source for m in found.deliver_messages}
    named |= {goal for m in found.deliver_messages for goal in m.destinations}
    assert named == set(GROUP)
    everyone = collective(name, DGX, participants=range(8))
    assert everyone == collective(name, DGX)


def test_others_forward():
    """Nodes 0 and 3 of a ring of six are three hops apart, so the others have to help."""
    for switching in ("wormhole", "store-and-forward"):
        instance = cchybrid.instance(
            "ring-bi-6", "allgather", participants=[0, 3], switching=switching
        )
        result = cchybrid.solve(instance, time_limit=20)
        assert not verify_schedule(result.schedule)
        assert result.steps == (1 if switching == "wormhole" else 3)
        assert result.certified


def test_the_root_is_a_participant():
    found = cchybrid.instance("dgx-1", "broadcast", root=5, participants="2,5,7")
    assert found.collective.messages[0].source == 5
    assert cchybrid.instance("dgx-1", "gather", participants="2,5,7").name == (
        "dgx-1 AOG among 2,5,7"
    )
    with pytest.raises(InputError, match="node 1 takes no part; use some of 2,5,7"):
        cchybrid.instance("dgx-1", "broadcast", root=1, participants="2,5,7")


def test_nodes_by_name():
    graph = nx.cycle_graph(["a", "b", "c", "d"])
    found = cchybrid.instance(graph, "alltoall", participants=["a", "c"])
    assert found.name.endswith("AAS among a,c")
    assert {m.source for m in found.collective.deliver_messages} == {0, 2}
    assert cchybrid.collective("alltoall", graph, participants="a,c") == found.collective


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("AAB", {"participants": [0]}, r"too few participants \(1\); name at least two terminals"),
        ("AAB", {"participants": []}, "too few participants|no nodes"),
        ("AAB", {"participants": [0, 8]}, "no node 8 in dgx-1; use 0 to 7"),
        ("AAB", {"participants": "0-x"}, "0-x"),
        ("AAB", {"participants": [0, 1], "transmitters": [0]}, "AAB has no transmitters"),
        ("AAB", {"participants": [0, 1], "receivers": [0]}, "AAB has no receivers; leave it out"),
        ("MNB", {"participants": [0, 1], "receivers": [0]},
         "participants, and transmitters or receivers; give"),
        ([(0, 1)], {"participants": "0-3"}, "a list of messages names the nodes already"),
    ],
)  # fmt: skip
def test_what_makes_no_sense(name, given, line):
    with pytest.raises(InputError, match=line):
        cchybrid.instance("dgx-1", name, **given)
