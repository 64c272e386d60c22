"""Networks from the formats that NetworkX reads."""

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest

from cchybrid.library.formats import NetworkFile, read_network
from cchybrid.library.graphs import read_graph
from cchybrid.library.topologies import network
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError
from tests.refusals import refused

WRITERS = {
    ".graphml": nx.write_graphml, ".gml": nx.write_gml, ".edgelist": nx.write_edgelist,
    ".edges": nx.write_edgelist, ".adjlist": nx.write_adjlist,
}  # fmt: skip


GML = 'graph [ {} node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 ] ]'
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d" for="graph" attr.name="duplexx" attr.type="string"/>
  <graph edgedefault="undirected">{}</graph>
</graphml>"""
AB = '<node id="a"/><node id="b"/>'


def read(tmp_path: Path, name: str, text: str) -> Network:
    path = tmp_path / name
    path.write_text(text)
    return read_network(path).network


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_undirected_graph_that_networkx_wrote(tmp_path, suffix):
    path = tmp_path / f"Torus{suffix.upper()}"
    WRITERS[suffix](nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4, True)), path)
    file = read_network(path)
    assert file.network.name == "Torus"
    assert file.network.channels == network("torus-4x4").channels
    assert file.transmitters == file.receivers == tuple(range(16))


def written(graph: nx.Graph, path: Path) -> NetworkFile:
    WRITERS[path.suffix](graph, path)
    return read_network(path)


@pytest.mark.parametrize("suffix", [".graphml", ".gml"])
def test_directions_capacities_endpoints_and_positions(tmp_path, suffix):
    graph = nx.MultiDiGraph()
    graph.add_node("b", x=1, y=2.5, endpoint=1)
    graph.add_node("a", x=0.5, y=-1, endpoint=0)
    graph.add_node("c", x=7, y=0)
    graph.add_edges_from([("b", "a"), ("b", "a"), ("a", "c", {"capacity": 3}), ("c", "b")])
    file = written(graph, tmp_path / f"n{suffix}")
    assert file.network == Network(
        name="n", nodes=3, channels=(Channel(0, 1, 2), Channel(1, 2, 3), Channel(2, 0)),
        endpoints=(0,), positions=((1, 2.5), (0.5, -1), (7, 0)), node_names=("b", "a", "c"),
    )  # fmt: skip
    assert file.transmitters == (0,)


@pytest.mark.parametrize("suffix", [".graphml", ".gml"])
def test_every_attribute_is_read_from_files(tmp_path, suffix):
    graph = nx.Graph()
    for place, (name, kind) in enumerate((("s", "switch"), ("a", "endpoint"), ("b", "terminal"))):
        graph.add_node(name, **{kind: 1}, x=place, y=0, z=1)
    graph.add_edge("s", "a", bandwidth=2.5, duplex="half")
    graph.add_edge("s", "b", bandwidth=5.0, duplex="full")
    file = written(graph, tmp_path / f"n{suffix}")
    assert file.network == Network(
        name="n", nodes=3,
        channels=(Channel(0, 1, 1), Channel(0, 2, 2), Channel(1, 0, 1), Channel(2, 0, 2)),
        half_duplex=((0, 1),), endpoints=(1, 2), switches=(0,),
        positions=((0, 0, 1), (1, 0, 1), (2, 0, 1)), node_names=("s", "a", "b"),
    )  # fmt: skip
    assert file.notes == ("capacity 1 is bandwidth 2.5",)


def test_positions_only_if_every_node_has_one(tmp_path):
    node = "node [ id {} graphics [ x {} y 2.0 ] ] "
    text = "graph [ " + node.format(0, 1) + "{} edge [ source 0 target 1 ] ]"
    both = read(tmp_path, "n.gml", text.format(node.format(1, 3)))
    assert both.positions == ((1, 2), (3, 2))
    assert read(tmp_path, "n.gml", text.format("node [ id 1 ]")).positions is None


@pytest.mark.parametrize(
    ("text", "channels"),
    [
        ("0 1\n0 1 # twice\n\n", {(0, 1, 2), (1, 0, 2)}),
        ("1 2\n0 1 2\n", {(0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1)}),
        ("0 1 {'capacity': 4}", {(0, 1, 4), (1, 0, 4)}),
        ("0 1 3\n1 2 {'capacity': 4}", {(0, 1, 3), (1, 0, 3), (1, 2, 4), (2, 1, 4)}),
    ],
)
def test_edge_lists(tmp_path, text, channels):
    assert set(map(tuple, read(tmp_path, "n.edges", text).channels)) == channels


def test_adjacency_lists_may_name_every_link_from_both_ends(tmp_path):
    ring = read(tmp_path, "n.adjlist", "# ring\n0 1 2\n1 0 2\n  \n2 0 1\n")
    assert ring.channels == network("ring-bi-3").channels


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("n.foo", "", "no network format has the extension '.foo'; use .json, .txt, .graphml"),
        ("n.json", "{}", 'the key is missing; give a file with "format": "cchybrid-network/1"'),
        ("n.json", '{"format": "cchybrid-instance/1"}', "holds a whole instance, not a network"),
        ("n.txt", "2 1\n0 Q 1", "line 2: 'Q' is no mode"),
        ("n.gml", "garbage", "not valid GML: "),
        ("n.gml", "graph [ ]", "no nodes in this GML"),
        ("n.gml", "graph [ node [ id 0 ] edge [ source 0 target 5 ] ]", "not valid GML: "),
        ("n.graphml", "<html>", "not valid GraphML: "),
        ("n.edges", "", "no nodes in this edge list"),
        ("n.edges", "0 1\n0,2", "line 2: '0,2' does not name two nodes; write two nodes with"),
        ("n.edges", "0 1\n1 -> 2", "line 2: '1 -> 2' does not name two nodes; write two"),
        ("n.edges", "0 -- 1", "'0 -- 1' does not name two nodes; write two nodes with a space"),
        ("n.edges", "0 1 2.5.5", "edge 0 1: the capacity '2.5.5' is no number above 0"),
        ("n.edges", "0 1 {'capcity': 2}", "'capcity' has no meaning here; did you mean capacity?"),
        ("n.edges", "0 0", "node 0 is linked to itself; drop that edge"),
        ("n.edges", "0 1\n1 0\n2 1",
         "the link 0 1 is listed in both directions, 2 1 in one; write"),
        ("n.edges", "0 1\n1 0\n0 1", "the link 0 1 is listed 2 times, 1 0 1 times; write"),
        ("n.edges", "0 1 {'capacity': True}", "the capacity 'True' is no number above 0"),
        ("n.edges", "0 1\n0 2 {", "line 2: '{' is no dictionary of attributes"),
        ("n.edges", "0 1 2 3", "edge 0 1: the capacity '2 3' is no number above 0"),
        ("n.adjlist", "0 1\n1 2 {'capacity': 2}", "line 2: an adjacency list has no attributes"),
        ("n.gml", GML.format('duplex "half"'), "the attribute 'duplex' of the whole graph has no"),
        ("n.graphml", GRAPHML.format('<node id="a" switch="true"/>'), "node a: the XML attribute"),
        ("n.graphml", GRAPHML.format(f'{AB}<edge source="a" target="b" capacity="5"/>'),
         "edge a b: the XML attribute 'capacity' has no meaning in GraphML; declare a key"),
        ("n.graphml", GRAPHML.format(f'{AB}<edge source="a" target="zz"/>'),
         "edge a zz: there is no node 'zz'"),
        ("n.graphml", GRAPHML.format(f'{AB}<node id="a"/>'), "node a is given 2 times"),
        ("n.graphml", GRAPHML.format(f"{AB}</graph><graph>{AB}"), "2 graphs in one file"),
        ("n.graphml",
         GRAPHML.format(f'<node id="x"><graph edgedefault="directed">{AB}</graph></node>'),
         "a graph within a node or an edge is not read"),
        ("n.graphml",
         GRAPHML.format(f'<data key="d">half</data>{AB}<edge source="a" target="b"/>'),
         "the attribute 'duplexx' of the whole graph has no meaning here"),
    ],
)  # fmt: skip
def test_refusals(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with refused(f"{path}: ", message, "; "):
        read_network(path)


def test_a_file_that_is_missing_or_no_text(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_network(tmp_path / "missing.gml")
    (tmp_path / "n.gml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file; give a UTF-8 text file"):
        read_network(tmp_path / "n.gml")


def test_every_attribute_of_an_edge_list(tmp_path):
    lines = "a b {'bandwidth': 10, 'half_duplex': True}\nb c {'bandwidth': 30, 'latency': 0.7}\n"
    found = read(tmp_path, "n.edges", lines)
    assert found.channels == ((0, 1, 1), (1, 0, 1), (1, 2, 3), (2, 1, 3))
    assert (found.half_duplex, found.node_names) == (((0, 1),), ("a", "b", "c"))


def test_attributes_of_the_whole_graph_are_ignored_on_demand_and_named(tmp_path):
    path = tmp_path / "n.gml"
    path.write_text(GML.format('duplex "half" comment "of the laboratory"'))
    file = read_network(path, ignore_attributes=True)
    assert file.notes == ("ignored attribute of graph: duplex",)
    assert len(file.network.channels) == 2
    assert not file.network.half_duplex


def test_ports_of_graphml_change_nothing_and_warn_of_nothing(tmp_path, recwarn):
    ports = '<node id="a"><port name="p"><port name="q"/></port></node><node id="b"/>'
    edge = '<edge source="a" target="b" sourceport="p"/>'
    assert len(read(tmp_path, "n.graphml", GRAPHML.format(ports + edge)).channels) == 2
    assert not recwarn.list


LABELS = {
    ".gml": ("node [ id {} {} ] ", 'label "{}"', "graph [ {} edge [ source 7 target 8 ] ]"),
    ".graphml": (
        '<node id="{}">{}</node>', '<data key="l">{}</data>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="l" for="node" attr.name="label" attr.type="string"/>'
        '<graph edgedefault="undirected">{}<edge source="7" target="8"/></graph></graphml>'
    ),
    ".yed.graphml": (
        '<node id="{}"><data key="d"><y:ShapeNode>{}</y:ShapeNode></data></node>',
        "<y:NodeLabel>{}</y:NodeLabel>",
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
        ' xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key id="d" for="node" yfiles.type="nodegraphics"/>'
        '<graph edgedefault="undirected">{}<edge source="7" target="8"/></graph></graphml>'
    ),
}  # fmt: skip


def labelled(path: Path, labels: list[str | None], ids: Sequence[int] = (7, 8, 9)) -> Path:
    """Write a graph of nodes with these ids, a label or none each, and the edge 7 - 8."""
    node, label, graph = LABELS["".join(path.suffixes)]
    rows = ["" if text is None else label.format(text) for text in labels]
    path.write_text(graph.format("".join(map(node.format, ids, rows))))
    return path


@pytest.mark.parametrize("suffix", LABELS)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["1", "2", None], "node 9: no label here, but at other nodes; give all nodes different"),
        (["1", "2", ""], "node 9: no label here, but at other nodes"),
        (["1", "2", "1"], "node 9: the label '1' is also that of node 7"),
    ],
)
def test_labels_are_those_of_all_nodes_and_distinct(suffix, labels, message, tmp_path):
    path = labelled(tmp_path / f"n{suffix}", labels)
    with refused(f"{path}: {message}", "; to ignore it: --ignore-attributes"):
        read_network(path, ignore_attributes=False)
    file = read_network(path, ignore_attributes=True)
    assert file.network.node_names == ("7", "8", "9")
    assert file.notes == (f"ignored attribute of nodes: label ({message.split(';')[0]})",)


@pytest.mark.parametrize("suffix", LABELS)
@pytest.mark.parametrize("empty", ["", None])
def test_without_any_label_ids_are_names(suffix, empty, tmp_path):
    file = read_network(labelled(tmp_path / f"n{suffix}", [empty, empty]))
    assert (file.network.node_names, file.notes) == (("7", "8"), ())


@pytest.mark.parametrize(
    ("labels", "names", "ends"),
    [
        (["2", "0", "1"], None, (0, 2)),
        (["30", "-1", "5"], ("-1", "5", "30"), (0, 2)),
        (["x", "0", "1"], ("x", "0", "1"), (0, 1)),
        # More digits than 64 bits hold, and than Python reads as an integer.
        (["2000000000000000003", "9" * 25, "-1"], ("-1", "2000000000000000003", "9" * 25), (1, 2)),
        (["1" + "0" * 5000, "5", "7"], ("5", "7", "1" + "0" * 5000), (0, 2)),
    ],
    ids=range(5),
)
def test_nodes_are_numbered_by_labels_that_are_whole_numbers_in_all_formats(
    labels, names, ends, tmp_path
):
    found = [read_network(labelled(tmp_path / f"n{suffix}", labels)).network for suffix in LABELS]
    graph = nx.Graph([(7, 8)])
    graph.add_node(9)
    nx.set_node_attributes(graph, dict(zip((7, 8, 9), labels, strict=True)), "label")
    for each in (*found, read_graph(graph, "n").network):
        assert (each.node_names, each.channels) == (names, ((*ends, 1), (*ends[::-1], 1)))


@pytest.mark.parametrize(("text", "name"), [("3", "3"), ("3.0", "3"), ("9007199254740993", "")])
def test_labels_of_type_double_are_whole_numbers_where_they_are(text, name, tmp_path):
    # As igraph and R write all numbers.
    (tmp_path / "n.graphml").write_text(
        '<graphml><key id="l" for="node" attr.name="name" attr.type="double"/>'
        '<graph edgedefault="undirected"><node id="n0"><data key="l">'
        f'{text}</data></node><node id="n1"><data key="l">1</data></node>'
        '<edge source="n0" target="n1"/></graph></graphml>'
    )
    if name:
        assert read_network(tmp_path / "n.graphml").network.node_names == ("1", name)
    else:
        with pytest.raises(InputError, match="may be rounded"):
            read_network(tmp_path / "n.graphml")


@pytest.mark.parametrize("suffix", LABELS)
def test_beside_words_ids_that_are_whole_numbers_count(suffix, tmp_path):
    path = labelled(tmp_path / f"n{suffix}", ["c", "b"], (8, 7))
    assert read_network(path).network.node_names == ("b", "c")
