"""GraphML, read by NetworkX after a check for what NetworkX would drop in silence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cchybrid.model.errors import InputError

if TYPE_CHECKING:  # importing networkx takes long, and most commands read no graph file
    import networkx as nx

_XML_ATTRIBUTES = {
    "node": {"id"},
    "edge": {"id", "source", "target", "directed", "sourceport", "targetport"},
}
"""The XML attributes of GraphML's elements; everything else is a ``data`` element."""
_TRUTH = {"true": "true", "1": "true", "false": "false", "0": "false"}
"""The truth values of XML."""


def read_graphml(text: str) -> nx.Graph:
    """Return the graph of a GraphML text, with the defaults of its attributes.

    Raises
    ------
    InputError
        Several or nested graphs, XML attributes without a meaning or with a value that they cannot
        have, an attribute or a node that is given twice, a default for all elements, an edge to a
        node that is not given: NetworkX would read another network.
    """
    import networkx as nx

    root = ElementTree.fromstring(text)
    _check(root)
    for element in root.iter():
        # Ports only say where a line is attached; NetworkX would warn of each.
        for port in [child for child in element if _kind(child) == "port"]:
            element.remove(port)
        # NetworkX knows no other word than "true".
        if _kind(element) == "edge" and element.get("directed") in _TRUTH:
            element.set("directed", _TRUTH[element.attrib["directed"]])
    text = ElementTree.tostring(root, encoding="unicode")
    graph = nx.parse_graphml(text, force_multigraph=True)
    # NetworkX keeps the defaults of attributes apart.
    for data in (data for *_, data in graph.edges(data=True)):
        data.update({**graph.graph.get("edge_default", {}), **data})
    for _, data in graph.nodes(data=True):
        data.update({**graph.graph.get("node_default", {}), **data})
    return graph


def _kind(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _check(root: ElementTree.Element) -> None:
    graphs = [element for element in root if _kind(element) == "graph"]
    if len(graphs) > 1:
        raise InputError(f"{len(graphs)} graphs in one file", hint="give a file with one graph")
    named: dict[str | None, str | None] = {}
    for key in (element for element in root if _kind(element) == "key"):
        named[key.get("id")] = key.get("attr.name")
        kind = key.get("for", "all")
        if kind not in ("node", "edge") and any(_kind(each) == "default" for each in key):
            raise InputError(
                f"a default for {kind!r} elements",
                where=f"key {key.get('id')}",
                hint='declare a key for="node" and one for="edge"',
            )
    for graph in graphs:
        if graph.get("edgedefault") not in ("directed", "undirected"):
            raise InputError(
                f"edgedefault is {graph.get('edgedefault', 'missing')[:40]!r}",
                hint="write directed or undirected",
            )
        if any(_kind(element) == "graph" for element in graph.iter() if element is not graph):
            raise InputError(
                "a graph within a node or an edge is not read",
                hint="give a file with one graph, all of whose nodes are its own",
            )
        nodes = [element for element in graph if _kind(element) == "node"]
        edges = [element for element in graph if _kind(element) == "edge"]
        for element in (*nodes, *edges):
            _check_attributes(element)
            _check_data(element, named)
        count = Counter(node.get("id") for node in nodes)
        for label, times in count.items():
            if times > 1:
                raise InputError(
                    f"node {label} is given {times} times", hint="give every node an id of its own"
                )
        for edge in edges:
            for end in (edge.get("source"), edge.get("target")):
                if end not in count:
                    raise InputError(
                        f"there is no node {end!r}",
                        where=_place(edge),
                        hint="correct it, or add the node",
                    )


def _check_attributes(element: ElementTree.Element) -> None:
    kind = _kind(element)
    for key in element.attrib:
        # Attributes of other namespaces and of parsers do not describe the graph.
        if key not in _XML_ATTRIBUTES[kind] and key[0] != "{" and not key.startswith("parse."):
            raise InputError(
                f"the XML attribute {key[:40]!r} has no meaning in GraphML",
                where=_place(element),
                hint=f'declare a key with attr.name="{key[:40]}", and write <data key="...">',
            )
    directed = element.get("directed", "true")
    if directed not in _TRUTH:
        raise InputError(
            f"directed is {directed[:40]!r}", where=_place(element), hint="write true or false"
        )


def _check_data(element: ElementTree.Element, named: dict[str | None, str | None]) -> None:
    keys = [each.get("key") for each in element if _kind(each) == "data"]
    for name, times in Counter(named.get(key, key) for key in keys).items():
        if times > 1:
            raise InputError(
                f"the attribute {str(name)[:40]!r} is given {times} times",
                where=_place(element),
                hint="keep one value",
            )


def _place(element: ElementTree.Element) -> str:
    if _kind(element) == "node":
        return f"node {element.get('id')}"
    return f"edge {element.get('source')} {element.get('target')}"
