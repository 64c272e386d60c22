"""GraphML that cchybrid reads again, DOT by its grammar, anynet by BookSim's parser."""

import re
import tempfile
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from cchybrid_plugins.exchange.export_graphs import export_anynet, export_dot, export_graphml
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Collective, Instance, Message, Network, Schedule
from tests.examples import examples
from tests.model.model_strategies import networks
from tests.plugins.exchange.schedules import schedule
from tests.random_instances import valid_schedules
from tests.refusals import refused


def on(network, switching: str = "wormhole") -> Schedule:
    """Return a schedule on a network, of one transfer."""
    first = network.channels[0]
    collective = Collective("one", (Message(first.source, (first.target,)),))
    instance = Instance(network, collective).with_model(switching=switching)
    return Schedule(instance, (((0, (first.source, first.target)),),))


@settings(max_examples=examples(60))
@given(networks().filter(lambda network: network.channels), st.data())
def test_graphml_of_random_networks_is_read_as_the_same(network, data):
    others = [node for node in range(network.nodes) if node not in network.endpoints]
    chosen = data.draw(st.sets(st.sampled_from(others))) if others else set()
    network = replace(
        network, name="n", channels=tuple(sorted(network.channels)),
        endpoints=network.endpoints if others else (), switches=tuple(sorted(chosen)),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "n.graphml").write_text(export_graphml(on(network)))
        assert cchybrid.network(Path(folder) / "n.graphml") == network


def test_graphml_keeps_names_or_refuses_them(tmp_path):
    def named(name: str) -> Network:
        return Network.from_links("n", 2, [(0, 1)], node_names=(name, "\\u202e"))

    odd = named("\u202e")
    (tmp_path / "n.graphml").write_text(export_graphml(on(odd)))
    assert cchybrid.network(tmp_path / "n.graphml") == odd
    for name in ("a\x01b", "a\rb", "a\ud800b"):
        with refused("n: XML lacks a character of the node a"):
            export_graphml(on(named(name)))


@settings(max_examples=examples(40))
@given(valid_schedules())
def test_graphml_of_random_networks(made):
    graph = nx.parse_graphml(export_graphml(made))
    network = made.instance.network
    assert {(int(a), int(b), d["capacity"]) for a, b, d in graph.edges(data=True)} == {
        tuple(channel) for channel in network.channels
    }
    found = Counter(
        (*ends, f"step {number}: message {message}")
        for number, step in enumerate(made.steps, 1)
        for message, path in step
        for ends in pairwise(map(str, path))
    )
    edges = [(a, b, data.get("description", "")) for a, b, data in graph.edges(data=True)]
    assert found == Counter((a, b, use) for a, b, uses in edges if uses for use in uses.split("; "))


STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTES = rf"\[\w+=(?:{STRING}|\w+)(?:, \w+=(?:{STRING}|\w+))*\]"


def test_dot_follows_its_grammar_and_shows_the_steps():
    network = cchybrid.network(
        nx.relabel_nodes(nx.path_graph(3), {0: 'the "first"', 1: "a\\b", 2: "last\nline"})
    )
    made = on(network)
    lines = export_dot(made).splitlines()
    assert re.fullmatch(rf"digraph {STRING} {{", lines[0])
    assert lines[-1] == "}"
    for line in lines[1:-1]:
        assert re.fullmatch(rf"  (graph|\d+( -> \d+)?) {ATTRIBUTES};", line), line
    assert any('0 -> 1 [label="1"' in line for line in lines)
    assert any('1 -> 0 [label=""' in line and "dotted" in line for line in lines)


def read_anynet(text: str):
    """Read a topology file by the rules of BookSim's parser: routers, nodes, directed links."""
    nodes, links, routers = {}, set(), set()
    for line in text.splitlines():
        words = line.split(" ")
        assert words[0] == "router"
        head = int(words[1])
        routers.add(head)
        for kind, number in zip(words[2::2], words[3::2], strict=True):
            if kind == "node":
                assert nodes.setdefault(int(number), head) == head
            else:
                assert kind == "router"
                links |= {(head, int(number)), (int(number), head)}  # BookSim adds the way back
                routers.add(int(number))
    assert sorted(nodes) == list(range(len(nodes)))
    assert sorted(routers) == list(range(len(routers)))
    return nodes, links


@pytest.mark.parametrize("name", ["mesh-3x3", "2-fat-ring-bi-3", "4-ary-2-tree", "dgx-2"])
def test_anynet_has_the_same_network(name):
    network = cchybrid.network(name)
    nodes, links = read_anynet(export_anynet(on(network)))
    assert links == {channel[:2] for channel in network.channels}
    assert tuple(nodes.values()) == network.terminals


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ring-uni-4", "channels of one direction"),
        ("dgx-1", "channels of a capacity (1, 2)"),
        (nx.Graph([(0, 1, {"duplex": "half"})]), "half-duplex"),
        (
            Network.from_links("wide", 3, [(0, 1), (1, 2), (2, 0)], endpoints=(0,)),
            "endpoints with several",
        ),
    ],
)
def test_what_booksim_has_not_is_one_line(name, reason):
    with refused(f"BookSim's anynet has no {reason}", "; use --to graphml"):
        export_anynet(on(cchybrid.network(name)))


def test_the_same_schedule_is_in_both_graphs():
    made = schedule("ring-bi-5", "alltoall", switching="wormhole")
    dot = dict(re.findall(r'(\d+ -> \d+) \[label="([\d,]*)"', export_dot(made)))
    graph = nx.parse_graphml(export_graphml(made))
    for a, b, data in graph.edges(data=True):
        assert dot[f"{a} -> {b}"] == data.get("label", "").replace(" ", ",")


def test_a_network_of_endpoints_alone_is_no_graph_file():
    network = Network.from_links("pair", 2, [(0, 1)], endpoints=(0, 1))
    with refused("pair: as a graph file, a network whose nodes are all endpoints would have"):
        export_graphml(on(network))
