"""``network``, and graph files on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import cchybrid
from cchybrid.cli.app import run
from cchybrid.model.errors import InputError


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a folder with a network of 6 nodes: a switch, a half-duplex link, names."""
    graph = nx.Graph()
    graph.add_node("S", switch=True)
    for name, size in (("R1", 25), ("R2", 25), ("R3", 50), ("R4", 25), ("R-5", 25)):
        graph.add_edge("S", name, bandwidth=size)
    nx.write_graphml(graph, tmp_path / "plain.graphml")
    graph.add_edge("R1", "R2", bandwidth=25, duplex="half")
    nx.write_graphml(graph, tmp_path / "cluster.graphml")
    graph.add_edge("R1", "R2", colour="red")
    nx.write_graphml(graph, tmp_path / "coloured.graphml")
    return tmp_path


def test_a_file_as_it_was_read(folder, command, answer):
    facts = answer("network cluster.graphml")
    assert facts["node_names"] == ["S", "R1", "R2", "R3", "R4", "R-5"]
    assert (facts["nodes"], facts["channels"], facts["capacities"]) == (6, 12, [1, 2])
    assert (facts["half_duplex"], facts["switches"]) == ([["R1", "R2"]], ["S"])
    assert (facts["diameter"], facts["automorphisms"]) == (2, 4)
    assert facts["notes"] == ["capacity 1 is bandwidth 25"]
    text = command("network cluster.graphml").stdout
    assert "half-duplex pairs: 1 (R1 - R2)" in text
    assert "note: capacity 1 is bandwidth 25" in text


def test_the_network_of_an_instance_file(folder, command, answer):
    command("instance cluster.graphml AAB -o instance.json")
    assert answer("network instance.json") == {**answer("network cluster.graphml"), "notes": []}
    (folder / "other.json").write_text('{"format": "cchybrid-schedule/1"}')
    line = 'give a file with "format": "cchybrid-network/1"'
    assert line in command("network other.json", 2).stderr


@pytest.mark.parametrize("words", ["network {}", "solve {} AAB", "bound {} AAB"])
def test_unknown_attributes_are_refused_by_every_command(words, folder, command):
    line = "edge R1 R2: the attribute 'colour' has no meaning here"
    assert line in command(words.format("coloured.graphml"), 2).stderr


def test_the_optimum_does_not_depend_on_ignored_attributes_but_on_all_others(folder, command):
    words = "AAB --json --time-limit 20"
    done = command(f"solve cluster.graphml {words}")
    line = "read cluster.graphml: 6 nodes (1 switch), 12 channels, capacities 1 to 2, 1 half-duplex"
    assert line in done.stderr
    ignoring = command(f"solve coloured.graphml --ignore-attributes {words}")
    assert "ignored attribute of edges: colour" in ignoring.stderr
    results = [json.loads(each.stdout) for each in (done, ignoring)]
    assert [(each["steps"], each["certified"]) for each in results] == [(4, True)] * 2


def test_nodes_by_name(folder, command):
    words = "solve cluster.graphml broadcast --root R3 --fail-link S-R-5 --fail-node R1"
    assert "no link of node R-5 is left" in command(f"{words} --time-limit 20", 2).stderr
    shown = command(f"{words} --time-limit 20 --fail-node R-5").stdout
    assert "OAB: 1 step" in shown
    assert "without link S-R-5 and nodes R1, R-5" in shown
    wrong = command("solve cluster.graphml broadcast --root R9", 2)
    assert "root: no node 'R9'" in wrong.stderr


@pytest.mark.slow
def test_facts_of_every_topology_take_seconds(tmp_path):
    # In a process of its own: a search by nauty does not end on a signal of Python.
    program = (
        "from cchybrid.cli.app import run\n"
        "from cchybrid.library.topologies import FAMILIES\n"
        "for each in FAMILIES:\n"
        "    assert run(['network', each.example, '--json']) == 0\n"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    facts = {fact["name"]: fact for fact in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, done.stderr
    assert facts["dgx-a100-x2"]["automorphisms"] == 2 * 2 * 24**4
    assert all(fact["automorphisms"] for fact in facts.values() if fact["nodes"] <= 64)
    assert len(facts) > 40


@pytest.mark.slow
def test_every_command_that_reads_a_graph_takes_a_unit(folder, command, answer):
    graph = nx.Graph()
    graph.add_edge("R1", "R2", bandwidth=300)
    graph.add_edge("R2", "R3", bandwidth=23.7)
    nx.write_graphml(graph, folder / "nic.graphml")
    assert answer("network nic.graphml")["capacities"] == [79, 1000]
    for words in ("bound {} AAB", "solve {} AAB", "instance {} AAB -o i.json"):
        refused = command(words.format("nic.graphml"), 2)
        assert "say what a message per step is: --unit 23.7" in refused.stderr
    assert answer("network nic.graphml --unit 23.7")["capacities"] == [1, 12]
    command("bound nic.graphml AAB --unit 23.7")
    refused = command("bound ring-bi-4 AAB --unit 2", 2)
    assert "--unit: ring-bi-4 is no graph" in refused.stderr
    with pytest.warns(UserWarning, match="capacity 1 is bandwidth 23.7, and others are rounded"):
        found = cchybrid.instance(str(folder / "nic.graphml"), "AAB", unit=23.7)
    assert {channel.capacity for channel in found.network.channels} == {1, 12}
    with pytest.raises(InputError, match="unit: only graphs and their files have one"):
        cchybrid.network("ring-bi-4", unit=2)


def test_large_numbers_of_automorphisms_are_approximate(capsys):
    """18! is 6402373705728000, of which nauty's floating point keeps 15 digits."""
    for nodes, text in ((18, "about 6.40237e+15"), (15, "1307674368000")):
        assert run(["network", f"complete-{nodes}"]) == 0
        assert f"automorphisms: {text}\n" in capsys.readouterr().out


def test_the_modes_of_a_file_are_shown(tmp_path, command, answer):
    (tmp_path / "ring.txt").write_text("3 2\n0 T 1 2\n1 R 0 2\n2 N 0 1\n")
    shown = command("network ring.txt").stdout
    assert "  transmitters: 1 (0)\n  receivers: 1 (1)\n" in shown
    facts = answer("network ring.txt")
    assert (facts["transmitters"], facts["receivers"]) == (["0"], ["1"])
    assert "transmitters" not in command("network ring-bi-4").stdout


def test_parts_of_a_network_and_no_lines_for_rare_features(tmp_path, command):
    (tmp_path / "parts.edges").write_text("a b\nb c\nd e\n")
    shown = command("network parts.edges").stdout
    assert "diameter: none, as the network is not connected: it has 2 parts\n" in shown
    assert "groups" not in shown
    assert "ticks of a message" not in shown
    assert "diameter: some nodes are not reached" in command("network omega-8").stdout
