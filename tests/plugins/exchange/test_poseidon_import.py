"""Poseidon platforms and communication specifications."""

from collections import Counter
from dataclasses import replace

import pytest
from cchybrid_plugins.exchange.poseidon_import import read_poseidon, recognises_poseidon

import cchybrid
from cchybrid.model import Instance
from cchybrid.plugin.imported import ImportRequest
from tests.refusals import refused

SPEC = """<?xmlversion="1.0" encoding="UTF-8"?>
  <platform width="{0}" height="{1}">
    <topology type="{2}"></topology>
  </platform>
  <communication type="all2all">
  </communication>
"""
PAIRS = """<?xml version="1.0"?>
<topology width="3" height="2"><graph type="mesh" /></topology>
<channels type="arbitrary">
  <channel from="(0,0)" to="(2,1)" bandwidth="2" />
  <channel from="(1,0)" to="(0,0)" />
</channels>
"""
LINKS = """<platform width="2" height="1"><topology type="custom">
<link source="(0,0)" sink="(1,0)"/></topology></platform>
<communication type="custom"><channel from="(0,0)" to="(1,0)" bandwidth="3"/></communication>
"""
SQUARE = """<platform width="4" height="4"><topology type="custom">
<link source="{0}" sink="{1}"/>
<link source="(1,0)" sink="(0,0)"/><link source="(3,0)" sink="(0,0)"/></topology></platform>
<communication type="all2all"/>
"""
SLOTS = (
    '<schedule length="1" width="2" height="1"><tile id="(0,0)"><timeslot value="0">'
    '<na rx="(0,0)" tx="(1,0)" route="EL"/></timeslot></tile></schedule>'
)


def instance_of(text: str) -> Instance:
    assert recognises_poseidon(text)
    found = read_poseidon(text, ImportRequest("hand-made"))
    assert found.schedule is None
    assert "the file holds no schedule" in found.limits
    assert found.instance is not None
    return found.instance


@pytest.mark.parametrize(
    ("size", "kind", "name"),
    [
        ((3, 4), "mesh", "mesh-4x3"),
        ((5, 1), "mesh", "mesh-1x5"),
        ((2, 2), "mesh", "mesh-2x2"),
        ((4, 3), "bitorus", "torus-3x4"),
    ],
)
def test_a_platform_is_the_network_of_the_library_that_has_its_name(size, kind, name):
    assert instance_of(SPEC.format(*size, kind)).network == cchybrid.network(name)


@pytest.mark.parametrize("size", [(2, 2), (3, 2), (2, 3), (2, 1), (1, 2)])
def test_two_tiles_of_a_torus_have_two_links_and_it_has_no_name_of_the_library(size):
    width, height = size
    network = instance_of(SPEC.format(*size, "bitorus")).network
    listed = [
        (width * y + x, width * (b % height) + a % width)
        for x in range(width)
        for y in range(height)
        for a, b in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
    ]
    assert {(a, b): size for a, b, size in network.channels} == Counter(
        (a, b) for a, b in listed if a != b
    )
    for text in (SPEC.format(*size, "bitorus"), LINKS):
        with refused("unknown network"):
            cchybrid.network(instance_of(text).network.name)


def test_all_to_all_is_a_message_for_every_pair_and_one_port():
    instance = instance_of(SPEC.format(2, 2, "mesh"))
    assert len(instance.collective.messages) == 12
    assert instance.collective.name == "AAS"
    assert (instance.model.inject, instance.model.accept) == (1, 1)


def test_a_bandwidth_is_a_number_of_messages():
    instance = instance_of(PAIRS)
    pairs = [(m.source, m.destinations) for m in instance.collective.deliver_messages]
    assert pairs == [(0, (5,)), (0, (5,)), (1, (0,))]
    linked = instance_of(LINKS)
    assert linked.network.channels == ((0, 1, 1),)
    assert linked.collective.chunks == 3


def test_packets_that_the_named_collective_lacks_or_has_besides_are_reported():
    mesh = cchybrid.network("mesh-2x3")
    named = ImportRequest("x", mesh, cchybrid.collective("pairs:0>5,0>5,1>0", mesh))
    assert read_poseidon(PAIRS, named).broken == ()
    single = PAIRS.replace(' bandwidth="2"', "")
    [broken] = read_poseidon(
        single, replace(named, collective=cchybrid.collective("AAS", mesh))
    ).broken
    assert str(broken) == "communication: 2 packets for 30 messages of AAS (missing-demand)"
    with refused("is listed 2 times, in pairs:0>5 1"):
        read_poseidon(PAIRS, replace(named, collective=cchybrid.collective("pairs:0>5", mesh)))


def test_tiles_are_the_nodes_of_their_numbers_where_names_are_numbers():
    names = ("5", "4", "3", "2", "1", "0")
    mesh = replace(cchybrid.network("mesh-2x3"), node_names=names)
    found = read_poseidon(PAIRS, ImportRequest("x", mesh)).instance
    assert found is not None
    pairs = {(m.source, m.destinations) for m in found.collective.deliver_messages}
    assert pairs == {(5, (0,)), (4, (5,))}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SPEC.format(0, 3, "mesh"), "0 x 3 tiles"),
        (SPEC.format(999, 999, "mesh"), "999 x 999 tiles"),
        (SPEC.format(3, 3, "star"), "topology 'star'"),
        (SPEC.format(3, 3, "custom"), "no links"),
        ("<platform width='2' height='2'/>", "no communication"),
        (PAIRS.replace("(2,1)", "(2,2)"), "to='(2,2)' is no tile"),
        (PAIRS.replace('bandwidth="2"', 'bandwidth="0"'), "0 packets from tile 0 to 5"),
        (PAIRS.replace('bandwidth="2"', 'bandwidth="999999999"'), "999999999 packets"),
        (SPEC.format(32, 32, "mesh"), "no more than 1,000,000 in all"),
        ("<platform width='2' height='2'>", "not well-formed XML"),
        (PAIRS + '<communication type="all2all"/>', "line 7: another <communication>"),
        (
            PAIRS.replace("<channels", '<topology width="3" height="3"/><channels'),
            "another <topology>",
        ),
        (PAIRS.replace('bandwidth="2"', 'bandwidth="1e10"'), "up to 999,999,999, in digits only"),
        (
            SPEC.replace('type="{2}"', 'kind="{2}"').format(2, 2, "mesh"),
            "line 3: unknown attribute",
        ),
        (PAIRS.replace("bandwidth=", "bandwith="), "line 4: unknown attribute 'bandwith' in <chan"),
        (PAIRS.replace('height="2"', 'height="2" phits="1"'), "unknown attribute 'phits' in <topo"),
        (PAIRS.replace("<graph", "<router/><graph"), "unknown element 'router' in <topology>"),
        (PAIRS + "<timeslots available='4'/>", "line 7: unknown element 'timeslots' in <file>"),
        (
            LINKS.replace("<topology", "<topology routerdepth='3'"),
            "unknown attribute 'routerdepth'",
        ),
        (
            LINKS.replace("<platform", "<platform routerDepth='3'"),
            "unknown attribute 'routerDepth'",
        ),
        ("<platform width='2' height='2'/><channels/>", "no topology"),
        (PAIRS.replace("arbitrary", "all2al"), "channels 'all2al'; use all2all, custom, arbitrary"),
        (LINKS.replace("(1,0)", "(0,0)", 1), "line 2: tiles (0,0) and (0,0) have no further link"),
        (SQUARE.format("(0,0)", "(1,1)"), "line 2: tiles (0,0) and (1,1) have no further link"),
        (SQUARE.format("(0,0)", "(2,0)"), "line 2: tiles (0,0) and (2,0) have no further link"),
        (SQUARE.format("(1,0)", "(0,0)"), "line 3: tiles (1,0) and (0,0) have no further link"),
        (SLOTS.replace("rx", "xr"), "line 1: unknown attribute 'xr' in <na>"),
        (SLOTS.replace("<na", "<na/><ns"), "unknown element 'ns' in <timeslot>"),
        (SLOTS + LINKS, "unknown element 'platform' in <file>"),
        (LINKS.replace("custom", "mesh", 1), "line 2: <link> has no meaning in mesh"),
        (PAIRS.replace("arbitrary", "all2all"), "line 4: <channel> has no meaning in all2all"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(text, words):
    with refused(words):
        read_poseidon(text, ImportRequest("hand-made"))
