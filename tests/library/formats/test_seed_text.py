"""The thesis's text format, both ways."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.library.formats import NetworkFile, read_seed_text, write_seed_text
from cchybrid.library.topologies import FAMILIES, network
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError
from tests.examples import examples

FIGURE_6_1 = """\
# number of nodes and
# maximal number of links per node
16 4
# Node operation mode
0 T 1 4
1 T 2 5 0
2 T 3 6 1
3 N 7 2
4 B 5 8 0
5 B 6 9 4 1
6 B 7 10 5 2
7 R 11 6 3
8 B 9 12 4
9 B 10 13 8 5
10 B 11 14 9 6
11 R 15 10 7
12 T 13 8
13 T 14 12 9
14 T 15 13 10
15 N 14 11
"""


def test_the_file_of_figure_6_1():
    file = read_seed_text(FIGURE_6_1, "mesh-4x4")
    assert file.network.channels == network("mesh-4x4").channels
    assert file.transmitters == (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14)
    assert file.receivers == (4, 5, 6, 7, 8, 9, 10, 11)


def test_order_case_blanks_and_comments_do_not_matter():
    text = "\n  2\t1 # size\r\n\r\n1 n # nothing\n0   b   1 # to 1\n#end"
    file = read_seed_text(text, "n")
    assert file == NetworkFile(Network("n", 2, (Channel(0, 1),)), (0,), (0,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the first row does not hold two numbers; write the number of nodes and"),
        ("#\n16\n", "line 2: the first row does not hold two numbers"),
        ("2 -1", "line 1: '-1' is no number"),
        ("9" * 5000 + " 4", "is no number"),
        ("2 1\n0 B 1", "no row for node 1; write one row for every node, or correct the number"),
        ("9 1\n3 B 1", "no row for nodes 0-2,4-8; write"),
        ("2 1\n0 B 1\n1 X 0", "line 3: 'X' is no mode; write the node, then T, R, B or N"),
        ("2 1\n0\n1 B", "line 2: the mode is missing"),
        ("2 1\n0 B 1\n0 B 1", "line 3: node 0 has a row already, line 2; keep one of them"),
        ("2 1\n2 B 1", "line 2: there is no node 2; use 0 to 1"),
        ("2 1\n0 B x", "line 2: 'x' is no number"),
        ("# links\na b", "'a' is no number; write a number there (an edge list is a .edges file)"),
        ("1 2\n0 2", "'2' is no mode; write the node, then T, R, B or N, then its neighbours (an"),
        ("2 1\n0 B 0", "line 2: node 0 is linked to itself; drop that link"),
        ("3 1\n0 B 1 2", "line 2: node 0 has 2 outgoing links, the first row allows 1; correct"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(InputError) as caught:
        read_seed_text(text, "n")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_survives(family):
    net = network(family.example)
    if net.endpoints and not net.symmetric:  # a terminal of a one-way multistage network
        with pytest.raises(InputError, match="the text format cannot express that no path passes"):
            write_seed_text(NetworkFile.of(net))
        return
    file = read_seed_text(write_seed_text(NetworkFile.of(net)), net.name)
    assert file.network.channels == net.channels
    assert file.transmitters == file.receivers == net.terminals


@st.composite
def network_files(draw: st.DrawFn) -> NetworkFile:
    nodes = draw(st.integers(1, 8))
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    capacities = draw(st.dictionaries(pairs.filter(lambda p: p[0] != p[1]), st.integers(1, 3)))
    channels = tuple(Channel(a, b, size) for (a, b), size in sorted(capacities.items()))
    some = st.sets(st.integers(0, nodes - 1)).map(sorted).map(tuple)
    return NetworkFile(Network("any", nodes, channels), draw(some), draw(some))


@settings(max_examples=examples(60))
@given(network_files())
def test_round_trip(file):
    assert read_seed_text(write_seed_text(file), "any") == file


@settings(max_examples=examples(60))
@given(st.text(alphabet="0123 TBx#\n-", max_size=60))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        file = read_seed_text(text, "n")
        assert read_seed_text(write_seed_text(file), "n") == file


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"half_duplex": ((0, 1),)}, "line: the text format holds no half-duplex links"),
        ({"times": ((0, 2),) * 4}, "line: the text format holds no times; save it as JSON"),
        ({"endpoints": (0, 1, 2)}, "cannot express that no path passes node 1; save it as JSON"),
    ],
)
def test_what_cannot_be_written(more, line):
    net = Network.from_links("line", 3, [(0, 1), (1, 2)], **more)
    with pytest.raises(InputError, match=line):
        write_seed_text(NetworkFile.of(net))


@pytest.mark.parametrize(
    "arcs",
    [
        [(0, 1), (1, 0)],  # one neighbour on either side: a simple path cannot pass node 0
        [(0, 1), (0, 2)],  # nothing enters node 0
        [(1, 0), (2, 0)],  # nothing leaves node 0
    ],
)
def test_an_endpoint_that_no_path_can_pass_is_written(arcs):
    net = Network.from_arcs("n", 3, arcs, endpoints=(0,))
    file = read_seed_text(write_seed_text(NetworkFile.of(net)), "n")
    assert file.network.channels == net.channels
    assert file.transmitters == (0,)


def test_any_name_stays_a_comment_that_a_file_can_hold():
    name = "a\nb\ud800"
    net = Network(name, 2, (Channel(0, 1),))
    text = write_seed_text(NetworkFile.of(net))
    assert text.startswith("# a b\n")
    assert read_seed_text(text.encode().decode(), name).network == net
