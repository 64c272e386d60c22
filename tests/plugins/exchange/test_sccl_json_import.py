"""JSON algorithms of SCCL and msccl-tools."""

import json
from typing import Any

import pytest
from cchybrid_plugins.exchange.sccl_json_import import read_sccl_json

import cchybrid
from cchybrid.model import Message, Network
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.referee.verify import verify_schedule
from tests.plugins.exchange.expected import sound
from tests.plugins.exchange.foreign_texts import sccl_allgather
from tests.refusals import refused


def read(text: str, network: Any = None) -> Imported:
    return read_sccl_json(text, ImportRequest("hand-made", network))


def steps(*listed: tuple[int, list[list[int]]]) -> list[dict[str, Any]]:
    return [{"msccl_type": "step", "rounds": r, "sends": sends} for r, sends in listed]


def chunk(pre: list[int], post: list[int], address: int) -> dict[str, Any]:
    return {"msccl_type": "chunk", "pre": pre, "post": post, "addr": address}


def with_chunks(chunks: list[dict[str, Any]], **changes: Any) -> str:
    collective = json.loads(sccl_allgather())["collective"]
    return sccl_allgather(collective={**collective, "chunks": chunks}, **changes)


@pytest.mark.parametrize("key", ["msccl_type", "sccl_type"])
def test_an_allgather_becomes_a_valid_schedule(key):
    found = read(sccl_allgather().replace("msccl_type", key))
    assert sound(found).instance.name == "triangle AAB, store-and-forward"
    assert found.place(0, 2) == "step 0, send 2 (address 1)"


def test_rounds_are_kept():
    two = [chunk([a % 3], [0, 1, 2], a) for a in range(6)]
    both = [[a, a % 3, b] for a in range(6) for b in range(3) if a % 3 != b]
    found = sound(read(with_chunks(two, steps=steps((2, both)))))
    assert (found.rounds, found.instance.collective.chunks) == ((2,), 2)
    narrow = read(with_chunks(two, steps=steps((1, both)))).schedule
    assert verify_schedule(narrow)[0].rule == "channel-overload"


def test_parts_that_are_combined_become_a_reduction():
    scatter = [chunk([n], [d], d) for d in range(3) for n in range(3)]
    sends = [[d, n, d] for d in range(3) for n in range(3) if n != d]
    found = read(with_chunks(scatter, steps=steps((1, sends))))
    assert sound(found).instance.collective.name == "AAR"


def test_an_allreduce_has_the_sums_of_its_transfers():
    parts = [chunk([n], [0, 1, 2], 0) for n in range(3)]
    ring = (1, [[0, 0, 1]]), (1, [[0, 1, 2]]), (1, [[0, 2, 0], [0, 2, 1]])
    found = sound(read(with_chunks(parts, steps=steps(*ring))))
    assert found.sums == (((0,),), ((0, 1),), ((0, 1, 2), (0, 1, 2)))


def test_a_send_of_nothing_and_a_missing_link_are_named():
    found = read(sccl_allgather(steps=steps((1, [[0, 1, 2]]), (1, [[0, 0, 1]]))))
    assert found.broken[0].rule == "not-informed"
    assert found.broken[0].place == "step 0, send 0 (address 0)"
    links = {"msccl_type": "topology", "name": "line", "switches": [],
             "links": [[0, 1, 0], [1, 0, 1], [0, 1, 0]]}  # fmt: skip
    schedule = read(sccl_allgather(topology=links)).schedule
    assert {each.rule for each in verify_schedule(schedule)} == {"no-such-channel"}


def test_shared_capacities_are_checked():
    topology = json.loads(sccl_allgather())["topology"]
    text = sccl_allgather(topology={**topology, "switches": [[[0], [1, 2], 1, "hub out"]]})
    found = read(text)
    assert str(found.broken[0]) == "step 0: hub out carries 2 chunks, 1 at most (group-overload)"
    shared = "capacities shared by groups of links (1) are"
    assert found.limits == (f"{shared} checked, and not in the bound",)
    other = read(text, cchybrid.network("complete-3"))
    sound(other)
    assert other.limits == (f"{shared} not checked on another network",)


NO_COLLECTIVE = {**json.loads(sccl_allgather())["collective"], "chunks": [chunk([0, 1], [2], 0)]}
SOME = {**NO_COLLECTIVE, "chunks": [chunk([node], [0, 1], 0) for node in range(3)]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"msccl_type": "chunk"}, "it is of type 'chunk'; give one of type algorithm"),
        ({"instance": {"pipeline": 2}}, "a pipelined algorithm"),
        ({"topology": {"msccl_type": "topology", "links": [[0]]}}, "topology.links: 1 nodes"),
        ({"steps": steps((1, [[0, 0]]))}, "steps[0].sends[0]: 2 numbers"),
        ({"steps": steps((1, [[7, 0, 1]]))}, "steps[0].sends[0]: no such address or node"),
        ({"steps": steps((0, []))}, "0 rounds in a step"),
        ({"steps": 3}, "steps: 3 is not a list"),
        ({"instance": {"steps": 5}}, "instance.steps: it says 5, and the file has 1"),
        ({"collective": NO_COLLECTIVE}, "a chunk that 2 nodes have at the start and 1 need"),
        ({"collective": SOME}, "a reduction to some of its nodes"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(changes, words):
    with refused(words):
        read(sccl_allgather(**changes))


def test_chunks_that_stay_where_they_are_are_no_messages():
    """msccl-tools writes them for every all-to-all."""
    chunks = [chunk([a], [b], 3 * a + b) for a in range(3) for b in range(3)]
    sends = [[3 * a + b, a, b] for a in range(3) for b in range(3) if a != b]
    found = sound(read(with_chunks(chunks, steps=steps((1, sends)))))
    assert found.instance.collective.name == "AAS"


def test_nodes_are_those_of_their_numbers_in_a_named_network():
    """The second node of the network is called 0: a send from 0 leaves it."""
    path = Network.from_links("path", 3, [(0, 2), (1, 2)], node_names=("2", "0", "1"))
    text = with_chunks([chunk([0], [0, 1, 2], 0)], steps=steps((1, [[0, 0, 1]]), (1, [[0, 1, 2]])))
    assert sound(read(text, path)).instance.collective.messages == (Message(1, (0, 2)),)
    switched = Network.from_links("star", 3, [(0, 1), (1, 2)], switches=(1,))
    for network, words in (
        (switched, "node 1 of the file is a switch"),
        (cchybrid.network("mesh-1x2"), "node 2"),
    ):
        with refused(words):
            read(text, network)
