"""Nodes by name or number, as users write them."""

import pytest

from cchybrid.library.node_numbers import node_numbers, read_pairs
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from tests.refusals import refused


def named(*names: str) -> Network:
    return Network.from_links("line", len(names), [(0, 1)], node_names=names)


def test_numbers_are_positions_unless_a_name_is_a_number():
    assert node_numbers("0-1,eve", named("ann", "bob", "eve")) == (0, 1, 2)
    hosts = named("1", "2", "3", "switch")
    assert node_numbers("1-3,switch", hosts) == (0, 1, 2, 3)
    for nodes in ("0-3", [0, 1]):
        with pytest.raises(InputError, match="no node '0' in line; its nodes are 1, 2, 3, switch"):
            node_numbers(nodes, hosts)
    gpus = named("0-0", "0-1", "1-0", "1-1")
    assert node_numbers("0-1,1-0", gpus) == (1, 2)
    for nodes in ("0-0,1-2", [1]):
        with pytest.raises(InputError, match="no node '1' in line; its nodes are 0-0, 0-1, 1-0"):
            node_numbers(nodes, gpus)
    guids = named("a", "2000000000000000001")
    with refused("no node '1' in line; its nodes are a, 2000000000000000001"):
        node_numbers("1", guids)


def test_pairs_of_a_file_by_name(tmp_path):
    path = tmp_path / "pairs.csv"
    network = named("ann", "bob", "bob #2", "#3")
    path.write_text('source,destination\n # ann,"none\nann,bob #2\nann,bob\n"#3",0\n#3\n')
    assert read_pairs(path, network) == [(0, 2), (0, 1), (3, 0)]
    path.write_text("ann,bob\n#3,bob\n")
    with refused(f"{path}: line 2: ", "'#3,bob' can be read in two ways"):
        read_pairs(path, network)
    path.write_text("Ann,Bob\nann,bob\n")
    with refused(f"{path}: line 1: ", "no node 'Ann'"):
        read_pairs(path, network)
    path.write_text("0,3\n")
    with refused(f"{path}: line 1: ", "no node '0'"):
        read_pairs(path, named("1", "2", "3"))


def test_a_first_line_of_nodes_named_as_the_columns_is_refused(tmp_path):
    path = tmp_path / "pairs.csv"
    network = named("Source", "relay", "Destination")
    path.write_text("Source,Destination\nrelay,Destination\n")
    with refused(f"{path}: line 1: ", "'Source,Destination' can be read in two ways"):
        read_pairs(path, network)
    path.write_text("source,destination\nSource,Destination\n")
    assert read_pairs(path, network) == [(0, 2)]


def test_read_pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes('\ufeffSource,Destination\r\n# note\r\n\r\n0,1\r\n"2", 3\r\n'.encode())
    assert read_pairs(path) == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no pairs; write one source,destination a line"),
        ("# only a comment\n", "no pairs"),
        ("source,destination\n", "no pairs"),
        ("0,1\n0;1\n", "line 2: '0;1' is no pair; write source,destination"),
        ("from,to\n0,1\n", "line 1: 'from>to' is no pair"),
        ("0,1,2\n", "line 1: '0,1,2' is no pair"),
        ("source,destination\nfrom,to\n", "line 2: 'from>to' is no pair"),
        ("0,-1\n", "line 1: '0>-1' is no pair"),
        ("0,1 # a\n", "line 1: '0>1 # a' is no pair"),
        ('"0,1\n', "line 1: no CSV"),
    ],
)
def test_read_pairs_refuses(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with refused(f"{path}: ", message):
        read_pairs(path)
