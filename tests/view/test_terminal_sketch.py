"""Drawings of networks in characters: what they show, and where there is none."""

import io

import pytest
from rich.console import Console

from cchybrid.library.topologies import FAMILIES, network
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.view.terminal_sketch import MAX_NODES, MAX_ROWS, print_sketch, sketch


def test_a_mesh_in_ascii() -> None:
    assert sketch(network("mesh-2x3"), 80, ascii_only=True) == [
        "0---1---2",
        "|   |   |",
        "3---4---5",
    ]


def test_links_around_a_torus_are_short_ends() -> None:
    lines = sketch(network("torus-3x3"), 80)
    assert lines[1] == "─0───1───2─"
    assert lines[0].split() == lines[-1].split() == ["│", "│", "│"]


def test_names_are_shown_instead_of_numbers() -> None:
    named = Network.from_links(
        "n", 3, [(0, 1), (1, 2)], positions=((0, 0), (1, 0), (2, 0)), node_names=("R1", "[b]", "x")
    )
    (line,) = sketch(named, 80)
    assert [word for word in line.replace("─", " ").split() if word] == ["R1", "[b]", "x"]


def test_channels_of_one_direction_have_arrowheads() -> None:
    line = Network.from_arcs("line", 3, [(0, 1), (2, 1)], positions=((0, 0), (1, 0), (2, 0)))
    assert sketch(line, 80, ascii_only=True) == ["0-->1<--2"]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_drawing_fits_and_shows_every_node(family) -> None:
    try:
        drawn = network(family.example)
    except InputError:  # examples that are too large
        return
    for width in (30, 60, 80):
        for ascii_only in (True, False):
            lines = sketch(drawn, width, ascii_only=ascii_only)
            if not lines:
                continue
            text = "\n".join(lines)
            assert drawn.nodes <= MAX_NODES
            assert len(lines) <= MAX_ROWS
            assert max(map(len, lines)) <= width
            assert text.isascii() or not ascii_only
            shown = sorted(word for word in _words(text))
            assert shown == sorted(map(str, range(drawn.nodes)))


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() and c not in "vX" else " " for c in text).split()


@pytest.mark.parametrize("name", ["mesh-5x5", "complete-8", "kautz-12"])
def test_what_would_not_be_readable_is_not_drawn(name: str) -> None:
    assert sketch(network(name), 200) == []


def test_names_that_do_not_fit_are_not_drawn() -> None:
    for name in ("a long name of a node", "line\nbreak", "\x1b[31mred"):
        pair = Network.from_links("n", 2, [(0, 1)], node_names=("a", name))
        assert sketch(pair, 80) == []


def test_nodes_at_one_place_are_not_drawn() -> None:
    assert sketch(Network.from_links("n", 2, [(0, 1)], positions=((0, 0), (0, 0))), 80) == []


def test_it_is_printed_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    small = network("mesh-2x2")
    print_sketch(Console(file=io.StringIO(), force_terminal=False), small)
    assert capsys.readouterr().out == ""
    print_sketch(Console(file=io.StringIO(), force_terminal=True, width=80), small)
    assert capsys.readouterr().out.count("\n") == 3
