"""Instances by the user's words: what a file holds and a collective does not use is reported."""

import json
from pathlib import Path

import pytest

import cchybrid
from cchybrid.cli.app import run
from tests.refusals import refused

MODES = "4 2\n0 T 1 3\n1 B 0 2\n2 R 1 3\n3 N 0 2\n"
"""A ring of four nodes: 0 and 1 transmit, 1 and 2 receive, 3 is a switch."""


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "ring.txt"
    path.write_text(MODES)
    return path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("words", [["MNB"], ["MNS"], ["pairs:0>1,1>2"]])
def test_modes_that_are_those_of_the_collective_need_no_note(file, words, tmp_path, capsys):
    cchybrid.instance(file, *words)
    assert run(["instance", str(file), *words, "-o", str(tmp_path / "i.json")]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("error")
def test_modes_without_the_nodes_that_fail_need_no_note(file):
    file.write_text("4 2\n0 T 1 3\n1 T 0 2\n2 R 1 3\n3 R 0 2\n")
    cchybrid.instance(file, "MNB", fail_nodes=[0])


@pytest.mark.filterwarnings("error")
def test_a_network_alone_leaves_the_modes_of_its_file_with_a_warning(file):
    with pytest.warns(UserWarning, match="0-1 send and 1-2 receive, are no part") as caught:
        network = cchybrid.network(file)
    assert (network.terminals, len(caught)) == ((0, 1, 2, 3), 1)
    cchybrid.instance(network, "AAS")
    file.write_text(MODES.replace("T", "B").replace("R", "B").replace("N", "B"))
    cchybrid.network(file)


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
    line = f"ring: the modes of the file are not those of {ends}; MNB and MNS take the modes"
    assert run(["instance", str(file), *words, "-o", str(tmp_path / "i.json")]) == 0
    assert capsys.readouterr().err == f"cchybrid: {line}\n"
    more = {"root": 2} if "--root" in words else {}
    with pytest.warns(UserWarning, match="the modes of the file") as caught:
        cchybrid.instance(file, words[0], **more)
    assert [str(each.message) for each in caught] == [line]


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("AAS", {}),
        ("MNB", {}),
        ("OAB", {}),
        ("AOG", {"root": 2}),
        ("multicast", {}),
        ("MNS", {"transmitters": "0,2"}),
        ("AAB", {"participants": [0, 2]}),
        ([(0, 1), (1, 2)], {}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*the modes of the file")
def test_a_collective_on_a_file_is_that_of_the_instance(file, name, roles):
    expected = cchybrid.instance(file, name, **roles).collective
    for source in (file, str(file)):
        found = cchybrid.collective(name, source, **roles)
        assert found == expected
    assert 3 not in {node for message in found.messages for node in message.destinations}


@pytest.mark.parametrize("letters", ["TR", "BB"])
def test_nodes_that_the_user_names_against_the_modes_are_noted(file, letters):
    file.write_text(MODES.replace("T", letters[0]).replace("R", letters[1]))
    with pytest.warns(UserWarning, match="in which 0,3 send and 0,3 receive"):
        cchybrid.instance(file, "AAS", participants=[0, 3])
    one = [(0, 3)]
    for make, words in ((cchybrid.collective, (one, file)), (cchybrid.instance, (file, one))):
        with pytest.warns(UserWarning, match="in which 0 send and 3 receive"):
            make(*words)


def test_a_node_that_failed_links_cut_off_is_not_left_out_in_silence():
    with refused("fail_links: no link of node 0 is left"):
        cchybrid.instance("mesh-1x4", "allgather", fail_links=["0-1"])
    with refused("fail_nodes: no link of node 0 is left"):
        cchybrid.instance("mesh-1x4", "allgather", fail_nodes=[1])
    for more in ({"fail_nodes": [0]}, {"participants": [1, 2, 3]}):
        found = cchybrid.instance("mesh-1x4", "allgather", fail_links=["0-1"], **more)
        assert {message.source for message in found.collective.messages} == {1, 2, 3}
    apart = cchybrid.instance("mesh-1x4", "allgather", fail_links=["1-2"])
    assert cchybrid.solve(apart, time_limit=5).status == "infeasible"


def test_a_node_of_a_file_without_links_is_named(tmp_path):
    (tmp_path / "n.adjlist").write_text("0 1\n1 0\n2\n")
    with pytest.warns(UserWarning, match="2 have no links and take no part"):
        cchybrid.instance(tmp_path / "n.adjlist", "allgather")


def test_the_ending_of_an_instance_file_may_be_in_capitals(tmp_path):
    path = tmp_path / "x.JSON"
    cchybrid.instance("ring-bi-4", "AAB").save(path)
    assert cchybrid.instance(path).collective.name == "AAB"
    with refused("names its collective itself"):
        cchybrid.instance(path, "AAB")


@pytest.mark.parametrize("word", ["NaN", "1e400"])
def test_a_number_that_is_none_is_named_also_beside_a_collective(word, tmp_path):
    record = {"name": "x", "nodes": 2, "channels": [[0, 1]]}
    text = {"format": "cchybrid-network/2", "network": record, "bandwidth": ["NUMBER"]}
    (tmp_path / "x.json").write_text(json.dumps(text).replace('"NUMBER"', word))
    with refused(f"x.json: not valid JSON: {word} is no number; use a finite number"):
        cchybrid.instance(tmp_path / "x.json", "AAB")
