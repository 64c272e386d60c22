"""Input that NetworkX leaves out, or reads as another network, counts or is refused."""

import warnings
from pathlib import Path

import networkx as nx
import pytest

from cchybrid.library.formats import read_network
from tests.refusals import refused

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
CAPACITY = '<key id="k" for="{}" attr.name="capacity" attr.type="int">{}</key>'
BOOLEAN = '<key id="k" for="node" attr.name="switch" attr.type="boolean"/>'
UNDIRECTED = 'edgedefault="undirected"'
EDGE = CAPACITY.format("edge", "")
ENDS = '<edge source="0" target="1"{}/>'
GML = "graph [\n{}\nnode [ id 0 ]\nnode [ id 1 ]\n{}\nedge [ source 0 target 1 ]\n]\n{}"


def capacities(path: Path, text: str) -> dict[tuple[int, int], int]:
    """Return the capacity of every channel of a file."""
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {channel[:2]: channel[2] for channel in read_network(path).network.channels}


def graphml(edges: str, keys: str = "", after: str = "", nodes: str = "", default: str = "") -> str:
    nodes = nodes or '<node id="0"/><node id="1"/><node id="2"/>'
    return (
        f'<graphml xmlns="{NAMESPACE}" xmlns:x="http://x">{keys}'
        f"<graph {default or UNDIRECTED}>{nodes}{edges}</graph>{after}</graphml>"
    )


def data(text: str, more: str = "") -> str:
    return f'<edge source="0" target="1"><data key="k"{more}>{text}</data></edge>'


@pytest.mark.parametrize(
    "edges",
    [
        2 * ENDS.format(' id="e"'),
        ENDS.format(' id="e"') + '<edge id="e" source="1" target="0"/>',
        ENDS.format("") + ENDS.format(' id="0"'),
        ENDS.format(' id="0"') + ENDS.format(""),
        2 * data("0").replace('"k"', '"key"'),
    ],
)
def test_parallel_edges_of_one_id_add_their_capacities(edges, tmp_path):
    key = '<key id="key" for="edge" attr.name="key" attr.type="int"/>'
    found = capacities(tmp_path / "n.graphml", graphml(edges, key))
    assert found == {(0, 1): 2, (1, 0): 2}


GRAPHML_REFUSALS = [
    (graphml("", BOOLEAN, nodes='<node id="0"><data key="k">yes</data></node>'),
     "node 0: switch is 'yes'; write true or false"),
    (graphml(data("3<b>4</b>"), EDGE),
     "edge 0 1: the attribute 'capacity' has elements inside; write its value as plain text"),
    (graphml(data("<x:b/>"), EDGE.replace("capacity", "capcity")),
     "edge 0 1: the attribute 'capcity' has no meaning here; did you mean capacity?"),
    (graphml(data("3"), EDGE + EDGE.replace("capacity", "label")),
     "key k is declared 2 times; give every key an id of its own"),
    (graphml(data("3"), CAPACITY.format("node", "")),
     "edge 0 1: key k is for 'node' elements; declare a key for=\"edge\""),
    (graphml('<data key="k">3</data>' + ENDS.format(""), EDGE),
     "<graph>: key k is for 'edge' elements"),
    (graphml(ENDS.format(""), EDGE, '<data key="k">3</data>'),
     "<graphml>: key k is for 'edge' elements"),
    (graphml(ENDS.format(""), CAPACITY.format("graphml", ""), '<data key="k">3</data>'),
     "the attribute 'capacity' of the whole graph has no meaning here"),
    (graphml(ENDS.format(""), CAPACITY.format("edge", 2 * "<default>2</default>")),
     "key k: the attribute 'capacity' of 'edge' elements has 2 defaults; keep one"),
    (graphml(ENDS.format(""), CAPACITY.format("edge", "<default>2</default>")
             + CAPACITY.format("edge", "<default>3</default>").replace('"k"', '"l"')),
     "key l: the attribute 'capacity' of 'edge' elements has 2 defaults"),
    (graphml(ENDS.format(""), CAPACITY.format("edge", "<default>2<b/></default>")),
     "key k: the element 'b' has no meaning in <default>"),
    (graphml(ENDS.format("") + '<edge xmlns="" source="1" target="2"/>'),
     "<graph>: the element 'edge' has no meaning in <graph>; correct its name or namespace"),
    (graphml('<x:edge source="1" target="2"/>'), "the element '{http://x}edge' has no meaning"),
    (graphml(data("3", ' xmlns=""'), EDGE), "edge 0 1: the element 'data' has no meaning in"),
    (graphml("", nodes='<node id="0"><edge source="0" target="0"/></node>'),
     "node 0: the element 'edge' has no meaning in <node>"),
    (graphml(ENDS.format(""), after='<edge source="0" target="2"/>'),
     "<graphml>: the element 'edge' has no meaning in <graphml>"),
    (graphml(data("3"), EDGE.replace("for=", "For=")),
     "key k: the XML attribute 'For' has no meaning in GraphML"),
    (graphml(ENDS.format(' directed="1"')), "directed=true edge found in undirected graph"),
    (graphml(ENDS.format(' directed="TRUE"')), "directed is 'TRUE'; write true or false"),
    (graphml(ENDS.format(""), default='edgedefault="Directed"'), "edgedefault is 'Directed'"),
    (graphml(ENDS.format(""), default=" "), "edgedefault is 'missing'"),
    (graphml(ENDS.format(""), CAPACITY.format("all", "<default>3</default>")),
     "key k: a default for 'all' elements"),
    (graphml(data("1").replace("</edge>", '<data key="k">5</data></edge>'), EDGE),
     "edge 0 1: the attribute 'capacity' is given 2 times"),
    (graphml(data("1").replace("</edge>", '<data key="l">5</data></edge>'),
             EDGE + EDGE.replace('"k"', '"l"')),
     "edge 0 1: the attribute 'capacity' is given 2 times"),
    ("<html/>", "not valid GraphML: the first element is 'html', not <graphml>"),
]  # fmt: skip
DIRECTIONS = ("directed false", "Directed 1", 'directed "false"', "directed 0.0", "directed -1")
GML_REFUSALS = [
    (GML.format("directed 0 directed 0", "", ""), "line 2: the key 'directed' is given twice"),
    (GML.format("directed 1\ndirected 0", "", ""), "line 3: the key 'directed' is given twice"),
    *((GML.format(key, "", ""), "write directed 1 or directed 0") for key in DIRECTIONS),
    (GML.format("multigraph 2", "", ""), "line 2: multigraph 2; write multigraph 1 or"),
    (GML.format("", "", "directed 1"), "line 8: directed beside the graph; write it inside"),
    (GML.format("", "EDGE [ source 0 target 1 ]", ""), "line 5: a list 'EDGE'; write edge ["),
    (GML.format("", "", "graph2 [ node [ id 0 ] ]"),
     "line 8: a list 'graph2' beside the graph; give a file with one graph"),
    (GML.format("", "edge [ source 0 target 1 capacity 2 capacity 3 ]", ""),
     "line 5: the key 'capacity' is given twice; keep one"),
    (GML.format("", "node [ id ]", ""), "line 5: the key 'id' has no value"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        *(("n.graphml", *row) for row in GRAPHML_REFUSALS),
        *(("n.gml", *row) for row in GML_REFUSALS),
    ],
)
def test_what_a_format_does_not_mean_is_refused(name, text, message, tmp_path):
    with refused(f"{tmp_path / name}: ", message, "; "):
        capacities(tmp_path / name, text)


def test_a_file_of_yed_is_read(tmp_path):
    node = (
        '<node id="{0}"><data key="d5"/><data key="d6"><y:ShapeNode><y:Geometry x="{0}" y="2"/>'
        '<y:NodeLabel>R{0}</y:NodeLabel></y:ShapeNode></data><data key="d7"><y:U/></data></node>'
    )
    line = '<data key="d10"><y:PolyLineEdge><y:Arrows source="none"/></y:PolyLineEdge></data>'
    (tmp_path / "n.graphml").write_text(
        f'<graphml xmlns="{NAMESPACE}" xmlns:y="http://www.yworks.com/xml/graphml">'
        '<key attr.name="Description" attr.type="string" for="graph" id="d0"/>'
        '<key for="port" id="d1" yfiles.type="portgraphics"/>'
        '<key attr.name="description" attr.type="string" for="node" id="d5"/>'
        '<key for="node" id="d6" yfiles.type="nodegraphics"/>'
        '<key for="node" id="d7" yfiles.type="nodeuserdata"/>'
        '<key for="graphml" id="d8" yfiles.type="resources"/>'
        '<key for="edge" id="d10" yfiles.type="edgegraphics"/>'
        '<key attr.name="capacity" attr.type="int" for="edge" id="d11">'
        '<default xml:space="preserve"><![CDATA[2]]></default></key>'
        '<graph edgedefault="directed" id="G"><data key="d0" xml:space="preserve"/>'
        f'{node.format(4)}{node.format(7)}<edge id="e0" source="4" target="7">{line}</edge>'
        '</graph><data key="d8"><y:Resources><y:a/></y:Resources></data></graphml>'
    )
    network = read_network(tmp_path / "n.graphml").network
    assert network.channels == ((0, 1, 2),)
    assert network.node_names == ("R4", "R7")
    assert network.positions == ((4, 2), (7, 2))


def test_attributes_of_several_types_that_networkx_writes(tmp_path):
    graph = nx.MultiGraph(edge_default={"capacity": 3}, name="n")
    graph.add_edges_from([(0, 1, {"capacity": 2}), (0, 1, {"capacity": 2.0}), (0, 1)])
    nx.write_graphml(graph, tmp_path / "n.graphml")
    assert read_network(tmp_path / "n.graphml").network.channels[0].capacity == 7


def test_lists_and_other_blocks_of_gml_are_read(tmp_path):
    graph = nx.Graph(node_default={}, levels=[1, 2], comment="edge [ directed 1 directed 1")
    graph.add_node("a", pos=[0, 1])
    graph.add_node("b", pos=[2, 1])
    graph.add_edge("a", "b", capacity=2)
    nx.write_gml(graph, tmp_path / "n.gml")
    text = (tmp_path / "n.gml").read_text().replace("graph [", 'graph [ rootcluster [ vertex "0" ]')
    assert capacities(tmp_path / "n.gml", f'Creator "yFiles"\n{text}') == {(0, 1): 2, (1, 0): 2}
    assert read_network(tmp_path / "n.gml").network.positions == ((0, 1), (2, 1))


@pytest.mark.parametrize(
    "row", ["{'capacity': 2, 'capacity': 5}", "{\"capacity\": 5, 'capacity': 5}"]
)
def test_a_key_of_an_edge_list_is_given_once(row, tmp_path):
    with refused("line 2: the attribute 'capacity' is given 2 times; keep one"):
        capacities(tmp_path / "n.edges", f"0 2\n0 1 {row}\n")


@pytest.mark.parametrize(("value", "channels"), [("0", 2), ("false", 2), ("true", 1), ("1", 1)])
def test_truth_values_of_xml(value, channels, tmp_path):
    default = UNDIRECTED if channels == 2 else 'edgedefault="directed"'
    text = graphml(ENDS.format(f' directed="{value}"'), default=default)
    assert len(capacities(tmp_path / "a.graphml", text)) == channels


def test_the_defaults_of_graphml_count(tmp_path):
    text = graphml(ENDS.format(""), CAPACITY.format("edge", "<default>3</default>"))
    assert capacities(tmp_path / "n.graphml", text) == {(0, 1): 3, (1, 0): 3}
