"""``throughput`` in Python: results, rates, files, wrong arguments."""

from fractions import Fraction

import networkx as nx
import pytest
from cchybrid_plugins.pipelining.throughput import checked_throughput

import cchybrid
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def test_the_height_counts_paths_from_the_root():
    # A one-way ring has one tree per root; read backwards, too.
    for collective in ("allgather", "reduce-scatter"):
        assert cchybrid.throughput("ring-uni-5", collective).height == 4
    assert cchybrid.throughput("complete-4", "alltoall").height == 1


def test_graphs_roles_and_faults():
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")])
    assert cchybrid.throughput(graph, "broadcast", root="b").rounds_per_chunk == 1
    whole = cchybrid.throughput("mesh-2x2", "allgather")
    assert whole.rounds_per_chunk == Fraction(3, 2)
    assert cchybrid.throughput("mesh-2x2", "allgather", fail_links=["0-1"]).rounds_per_chunk == 3
    rest = cchybrid.throughput("mesh-2x2", "allgather", fail_nodes=[3])
    assert len(rest.instance.collective.messages) == 3


def test_an_instance_keeps_its_switching_and_takes_any_routing():
    given = cchybrid.instance("mesh-3x3", "alltoall", switching="store-and-forward")
    result = cchybrid.throughput(given)
    assert result.instance.model.switching == "store-and-forward"
    assert result.instance.model.routing == "any"
    assert result.rounds_per_chunk == 6


GROUP = cchybrid.instance("dgx-1", "allgather", participants="0-3")
HUGE = Network.from_json({"name": "two", "nodes": 2, "channels": [[0, 1, 2**128], [1, 0]]})


@pytest.mark.parametrize(
    ("arguments", "rest", "error"),
    [
        (("dgx-1", "allgather"), {"root": 1}, "root: AAB has no root"),
        ((cchybrid.instance("dgx-1", "AAB"), "AAB"), {}, "collective: the instance names"),
        ((cchybrid.instance("dgx-1", "AAB"),), {"root": 1}, "root: the instance names"),
        ((GROUP,), {"participants": "0-3"}, "participants: the instance names the messages"),
        ((HUGE, "AAS"), {}, "by a common factor"),
        (("ring-uni-4", "AAS"), {"fail_links": ["0>1"]}, "no path leads from node 0 to node 1"),
    ],
)
def test_wrong_arguments(arguments, rest, error):
    with pytest.raises(InputError, match=error):
        cchybrid.throughput(*arguments, **rest)


def test_throughput_of_a_group():
    whole = cchybrid.throughput("dgx-1", "allgather")
    half = cchybrid.throughput("dgx-1", "allgather", participants="0-3")
    assert half.certified
    assert half.rounds_per_chunk < whole.rounds_per_chunk


def test_evidence_that_is_no_cut_is_not_read_as_one() -> None:
    """The channels into two nodes: 6 is what the four messages pay."""
    result = cchybrid.throughput("ring-bi-4", "allgather")
    assert "at least 3 times per chunk" in str(result)
    into = [[1, 0, 1], [3, 0, 1], [0, 1, 1], [2, 1, 1]]
    two = {"kind": "linear", "channels": into, "groups": [{"sets": [[1, 0], [1, 1]]}]}
    other = checked_throughput(result.instance, {**result.record, "evidence": two})
    assert "every message pays at least its cheapest path over 4 priced channels" in str(other)


def test_a_price_of_several_channels_in_a_row_is_no_number_of_messages() -> None:
    ring = cchybrid.throughput("ring-bi-4", "allgather")
    for bound, evidence, words in (
        (
            "1/3",
            {"kind": "linear", "channels": [[0, 1, 1]], "inject": [[0, 1]]},
            "1 priced channel,",
        ),
        ("1", {"kind": "linear", "channels": [[1, 0, 1], [3, 0, 1], [1, 0, 1]]}, "2 priced"),
        ("1/2", {"kind": "linear", "inject": [[node, 1] for node in range(4)]}, "priced ports"),
    ):
        record = {**ring.record, "evidence": evidence, "bound": bound}
        other = checked_throughput(ring.instance, record)
        assert "all messages together use" not in str(other)
        assert f"its cheapest path over {words}" in str(other)
    result = cchybrid.throughput(Network.from_links("line", 3, [(0, 1), (1, 2)]), "broadcast")
    evidence = {"kind": "linear", "channels": [[0, 1, 1], [1, 2, 1]]}
    other = checked_throughput(result.instance, {**result.record, "evidence": evidence})
    assert "use the 2 channels 0->1, 1->2, of capacity 2, at least 2 times per chunk" in str(other)
