"""Failed links and nodes."""

import pytest

from cchybrid.library.topologies import fail, network, without_link
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from tests.refusals import refused

MESH = network("mesh-4x4")


def pairs(net: Network) -> set[tuple[int, int]]:
    return {(source, target) for source, target, _ in net.channels}


def test_a_link_of_a_symmetric_network_fails_in_both_directions():
    broken = fail(MESH, ["1-0"])
    assert pairs(MESH) - pairs(broken) == {(0, 1), (1, 0)}
    assert broken.name == "mesh-4x4 without link 0-1"
    assert broken.positions == MESH.positions


def test_a_link_of_a_digraph_is_one_channel():
    kautz = network("kautz-12")
    assert {(0, 3), (3, 0)} <= pairs(kautz)
    assert pairs(kautz) - pairs(fail(kautz, ["0>3"])) == {(0, 3)}
    with refused("0-3 may be one link or two, as kautz-12 has one-way links"):
        fail(kautz, ["0-3"])
    a, b = next(pair for pair in pairs(kautz) if pair[::-1] not in pairs(kautz))
    assert fail(kautz, [f"{a}-{b}"]).name == f"kautz-12 without link {a}>{b}"


@pytest.mark.parametrize("text", ["0>1", " 0 > 1 ", "0->1"])
def test_one_direction(text):
    assert pairs(MESH) - pairs(fail(MESH, [text])) == {(0, 1)}


def test_symmetry_is_that_of_the_network_before_the_faults():
    broken = fail(MESH, ["0>1", "4-5", "5-4"])
    assert pairs(MESH) - pairs(broken) == {(0, 1), (4, 5), (5, 4)}
    assert broken.name == "mesh-4x4 without links 0>1, 4-5"


def test_a_failed_node_keeps_its_number_and_is_no_terminal():
    broken = fail(MESH, ["0-1"], [5, 5, 10])
    assert broken.nodes == 16
    assert broken.terminals == tuple(node for node in range(16) if node not in (5, 10))
    assert broken.name == "mesh-4x4 without link 0-1 and nodes 5, 10"


def test_half_duplex_and_endpoints_stay_consistent():
    net = Network.from_links(
        "y", 4, [(0, 3), (1, 3), (2, 3)], half_duplex=((0, 3), (3, 1)), endpoints=(0, 1, 2)
    )
    assert fail(net, ["0>3"]).half_duplex == ((3, 1),)
    broken = fail(net, nodes=[1])
    assert broken.half_duplex == ((0, 3),)
    assert broken.terminals == (0, 2)
    # Were the endpoints dropped, switch 3 would become a terminal.
    assert fail(net, nodes=[0, 1, 2]).terminals == ()


def test_without_link():
    assert without_link(MESH, 0, 1, both=True) == fail(MESH, ["0-1"])
    assert without_link(MESH, 0, 1, both=False) == fail(MESH, ["0>1"])
    with pytest.raises(InputError, match="no link 0-2 in mesh-4x4"):
        without_link(MESH, 0, 2, both=True)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("0-5", "no link 0-5 in mesh-4x4; node 0 is linked to 1, 4"),
        ("0>5", "no channel from 0 to 5 in mesh-4x4; node 0 is linked to 1, 4"),
        ("77-0", "no link 77-0 in mesh-4x4; its nodes are 0 to 15"),
        ("0-77", "no link 0-77 in mesh-4x4; node 0 is linked to 1, 4"),
        ("0:5", "'0:5' is no link; write A-B"),
        ("", "'' is no link; write A-B"),
        ("-1-0", "'-1-0' is no link"),
    ],
)
def test_a_link_that_does_not_exist(link, message):
    with refused(message):
        fail(MESH, [link])


@pytest.mark.parametrize("node", [-1, 16])
def test_a_node_that_does_not_exist(node):
    with pytest.raises(InputError, match=f"no node {node} in mesh-4x4; use 0 to 15"):
        fail(MESH, nodes=[node])
