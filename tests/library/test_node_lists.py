"""Nodes and pairs as users write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.library.node_lists import format_nodes, parse_nodes, parse_pairs
from cchybrid.model.errors import InputError
from tests.examples import examples


@pytest.mark.parametrize(
    ("text", "nodes"),
    [("0-3,7", (0, 1, 2, 3, 7)), ("5", (5,)), ("7, 1 - 2 ,1", (1, 2, 7)), ("4-4", (4,))],
)
def test_parse_nodes(text, nodes):
    assert parse_nodes(text) == nodes


@pytest.mark.parametrize(
    "text", ["", ",", "a", "1,,2", "1-", "-1", "1-2-3", "0-99999999", "\u0663", "1-\uff12", "1_0"]
)
def test_no_list_of_nodes(text):
    with pytest.raises(InputError, match="is no list of nodes; write it like 0-3,7"):
        parse_nodes(text)


def test_long_ranges_are_refused_before_they_are_listed():
    with pytest.raises(InputError, match="the range 0-1048576 is too long; at most 1048576 nodes"):
        parse_nodes("0-1048576")
    with pytest.raises(InputError, match="more than 1048576 nodes are listed"):
        parse_nodes(",".join(["0-1048570"] * 10_000))


@settings(max_examples=examples(60))
@given(st.sets(st.integers(0, 60), min_size=1))
def test_format_nodes_is_parse_nodes_backwards(nodes):
    assert parse_nodes(format_nodes(nodes)) == tuple(sorted(nodes))


def test_parse_pairs():
    assert parse_pairs("0>3, 2 > 5,0>3") == [(0, 3), (2, 5), (0, 3)]
    for text, words in (("0>1,", "a pair is missing"), ("0>\u0663", "is no pair")):
        with pytest.raises(InputError, match=words):
            parse_pairs(text)
