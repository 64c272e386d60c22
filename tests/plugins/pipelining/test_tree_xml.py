"""The XML of trees has the same trees as the throughput file, from the roots on."""

import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from cchybrid_plugins.pipelining.tree_xml import tree_xml
from typer.testing import CliRunner

import cchybrid
from cchybrid.cli.app import app


@pytest.mark.parametrize(
    ("network", "collective"),
    [("dgx-1", "allgather"), ("mesh-3x3", "reduce-scatter"), ("dgx-a100", "allgather")],
)
def test_the_trees_span_and_share_the_channels_fairly(network, collective):
    result = cchybrid.throughput(network, collective)
    root = ET.fromstring(tree_xml(result.record))
    assert int(root.get("nchunkspernode")) == result.record["chunks"]
    ranks = set(result.instance.network.terminals)
    carried, load, heights = Counter(), Counter(), []
    indices = defaultdict(list)
    for tree in root:
        first, depth = int(tree.get("root")), {int(tree.get("root")): 0}
        for send in tree:
            path = tuple(map(int, send.get("path").split(",")))
            assert path[0] == int(send.get("src")) in depth
            assert path[-1] == int(send.get("dst")) not in depth
            depth[path[-1]] = depth[path[0]] + 1
            for ends in pairwise(path):
                load[ends] += int(tree.get("nchunks"))
        assert set(depth) == ranks
        assert max(depth.values()) == int(tree.get("height"))
        heights.append(max(depth.values()))
        carried[first] += int(tree.get("nchunks"))
        indices[first].append(int(tree.get("index")))
    assert set(carried.values()) == {result.record["chunks"]}
    assert max(heights) == result.height
    assert all(found == list(range(len(found))) for found in indices.values())
    network = result.instance.network
    if collective == "reduce-scatter":
        network = network.reversed()
    for source, target, capacity in network.channels:
        assert load[source, target] <= result.record["rounds"] * capacity


def test_the_command_writes_it(tmp_path):
    words = ["throughput", "ring-bi-4", "allgather", "-o", str(tmp_path / "t.xml")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert (tmp_path / "t.xml").read_text().startswith("<Algo nchunkspernode=")
