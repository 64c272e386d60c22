"""Instances by the user's words: what a file holds and a collective does not use is reported."""

import warnings
from pathlib import Path

import pytest

import cchybrid
from cchybrid.cli.app import run

MODES = "4 2\n0 T 1 3\n1 B 0 2\n2 R 1 3\n3 N 0 2\n"
"""A ring of four nodes: 0 and 1 transmit, 1 and 2 receive, 3 is a switch."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ring.txt"
    path.write_text(MODES)
    return path


@pytest.mark.parametrize("words", [["MNB"], ["MNS"], ["pairs:0>1,1>2"]])
def test_modes_that_are_those_of_the_collective_need_no_note(file, words, tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cchybrid.instance(file, *words)
    assert run(["instance", str(file), *words, "-o", str(tmp_path / "i.json")]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        (["AAS"], "AAS, in which 0-2 send and 0-2 receive"),
        (["OAB"], "OAB, in which 0 send and 1-2 receive"),
        (["multicast"], "multicast, in which 0 send and 1-2 receive"),
        (["AOR", "--root", "2"], "AOR, in which 0-1 send and 2 receive"),
        (["allreduce"], "allreduce, in which 0-2 send and 0-2 receive"),
    ],
)
def test_modes_that_the_collective_does_not_use_are_noted_in_one_line(
    file, words, ends, tmp_path, capsys
):
    line = (
        f"ring: the modes T and R of the file are not those of {ends}; MNB and MNS take the modes"
    )
    assert run(["instance", str(file), *words, "-o", str(tmp_path / "i.json")]) == 0
    assert capsys.readouterr().err == f"cchybrid: {line}\n"
    more = {"root": 2} if "--root" in words else {}
    with pytest.warns(UserWarning, match="modes T and R") as caught:
        cchybrid.instance(file, words[0], **more)
    assert [str(each.message) for each in caught] == [line]


def test_a_file_whose_terminals_all_send_and_receive_needs_no_note(tmp_path, capsys):
    path = tmp_path / "ring.txt"
    path.write_text(MODES.replace(" T ", " B ").replace(" R ", " B "))
    assert run(["instance", str(path), "OAB", "-o", str(tmp_path / "i.json")]) == 0
    assert capsys.readouterr().err == ""
