"""GraphML, read by NetworkX after a check for what NetworkX would drop in silence."""

from collections import Counter, defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cchybrid.library.graphs import EDGE_ATTRIBUTES, NODE_ATTRIBUTES
from cchybrid.model.errors import InputError, with_context

if TYPE_CHECKING:  # importing networkx takes long, and most commands read no graph file
    import networkx as nx

_ELEMENTS = {
    "graphml": ("", "key graph data desc"),
    "key": ("id for attr.name attr.type yfiles.type dynamic", "default desc"),
    "default": ("", ""),
    "graph": ("id edgedefault", "node edge data desc"),
    "node": ("id", "data desc port"),
    "edge": ("id source target directed sourceport targetport", "data desc"),
    "data": ("id key", ""),
}
"""The XML attributes and the elements within each element; ports and descriptions have any."""
_TRUTH = {"true": "true", "1": "true", "false": "false", "0": "false"}
"""The truth values of XML."""
_NUMBERS = ("int", "integer", "long", "float", "double")
"""The types of numbers that NetworkX reads."""


def read_graphml(text: str) -> "nx.Graph":
    """Return the graph of a GraphML text, with the defaults of its attributes.

    Raises
    ------
    InputError
        Several or nested graphs, elements and XML attributes without a meaning or with a value that
        they cannot have, an attribute, a key, a default or a node that is given twice, a key used
        at elements that it is not for, a default for all elements, an edge to a node that is not
        given: NetworkX would read another network.
    """
    import networkx as nx

    root = ElementTree.fromstring(text)
    if _kind(root) != "graphml":
        raise ValueError(f"the first element is {root.tag[:40]!r}, not <graphml>")
    graph_element = _check(root)
    for number, element in enumerate(root.iter()):
        # Ports only say where a line is attached; NetworkX would warn of each.
        for port in [child for child in element if _kind(child) == "port"]:
            element.remove(port)
        if _kind(element) == "edge":
            # NetworkX takes parallel edges of one id for one edge, and knows no word but "true".
            element.set("id", f"edge {number}")
            element.set("directed", _TRUTH.get(element.get("directed", ""), ""))
    # NetworkX does not read what belongs to the file.
    graph_element.extend(root.findall("{*}data"))
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


def _check(root: ElementTree.Element) -> ElementTree.Element:
    """Return the element of the graph, or refuse what NetworkX would read otherwise."""
    graphs = [element for element in root if _kind(element) == "graph"]
    if len(graphs) != 1:
        raise InputError(f"{len(graphs)} graphs in one file", hint="give a file with one graph")
    (graph,) = graphs
    if any(_kind(element) == "graph" for element in graph.iter() if element is not graph):
        raise InputError(
            "a graph within a node or an edge is not read",
            hint="give a file with one graph, all of whose nodes are its own",
        )
    _check_elements(root, "<graphml>")
    if graph.get("edgedefault") not in ("directed", "undirected"):
        raise InputError(
            f"edgedefault is {graph.get('edgedefault', 'missing')[:40]!r}",
            hint="write directed or undirected",
        )
    keys = _keys(root)
    for element in (root, graph, *graph):
        with with_context(_place(element)):
            _check_data(element, keys)
    count = Counter(element.get("id") for element in graph if _kind(element) == "node")
    _refuse_repeated(count, "node", "given")
    for edge in (element for element in graph if _kind(element) == "edge"):
        with with_context(_place(edge)):
            if edge.get("directed", "true") not in _TRUTH:
                raise InputError(
                    f"directed is {edge.attrib['directed'][:40]!r}", hint="write true or false"
                )
            for end in (edge.get("source"), edge.get("target")):
                if end not in count:
                    raise InputError(
                        f"there is no node {end!r}", hint="correct it, or add the node"
                    )
    return graph


def _check_elements(element: ElementTree.Element, place: str) -> None:
    """Refuse elements and XML attributes that have no meaning where they are."""
    kind = _kind(element)
    attributes, children = map(str.split, _ELEMENTS[kind])
    for key in element.attrib if kind != "graphml" else ():
        # Attributes of other namespaces and of parsers do not describe the graph.
        if key not in attributes and key[0] != "{" and not key.startswith("parse."):
            raise InputError(
                f"the XML attribute {key[:40]!r} has no meaning in GraphML",
                where=place,
                hint=f'declare a key with attr.name="{key[:40]}", and write <data key="...">',
            )
    space = element.tag[: -len(kind)]
    for child in element if kind != "data" else ():
        if not child.tag.startswith(space) or child.tag[len(space) :] not in children:
            raise InputError(
                f"the element {child.tag.removeprefix(space)[:40]!r} has no meaning in <{kind}>",
                where=place,
                hint="correct its name or namespace, or drop it",
            )
        if _kind(child) in _ELEMENTS:
            _check_elements(child, place if _kind(child) in ("data", "default") else _place(child))


def _refuse_repeated(ids: Counter[str | None], kind: str, verb: str) -> None:
    for name, times in ids.items():
        if times > 1:
            what = f"{kind} {name} is {verb} {times} times"
            raise InputError(what, hint=f"give every {kind} an id of its own")


def _keys(root: ElementTree.Element) -> dict[str | None, ElementTree.Element]:
    """Return the keys by their ids."""
    keys = [element for element in root if _kind(element) == "key"]
    _refuse_repeated(Counter(key.get("id") for key in keys), "key", "declared")
    defaults: defaultdict[tuple[str | None, str], set[str | None]] = defaultdict(set)
    for key in keys:
        kind = key.get("for", "all")
        found = [child.text for child in key if _kind(child) == "default"]
        with with_context(_place(key)):
            for child in key:
                _check_value(key, child)
            if found and kind not in ("node", "edge"):
                raise InputError(
                    f"a default for {kind!r} elements",
                    hint='declare a key for="node" and one for="edge"',
                )
            defaults[_name(key), kind].update(found)
            if len(defaults[_name(key), kind]) > 1 or len(found) > 1:
                raise InputError(
                    f"the attribute {str(_name(key))[:40]!r} of {kind!r} elements has 2 defaults",
                    hint="keep one",
                )
    return {key.get("id"): key for key in keys}


def _name(key: ElementTree.Element) -> str | None:
    return key.get("yfiles.type", key.get("attr.name"))


def _check_data(element: ElementTree.Element, keys: dict[str | None, ElementTree.Element]) -> None:
    """Refuse data whose key is for others or given twice, or that have no plain value."""
    kind = _kind(element)
    names: Counter[str | None] = Counter()
    for data in (child for child in element if _kind(child) == "data"):
        key = keys.get(data.get("key"))
        if key is None:
            raise InputError(
                f"there is no key {data.get('key')!r}", hint="declare it, or correct it"
            )
        if key.get("for", "all") not in ("all", kind):
            raise InputError(
                f"key {data.get('key')} is for {key.get('for')!r} elements",
                hint=f'declare a key for="{kind}"',
            )
        name = _name(key)
        names[name] += 1
        if names[name] > 1:
            raise InputError(
                f"the attribute {str(name)[:40]!r} is given {names[name]} times",
                hint="keep one value",
            )
        if len(data) and "yfiles.type" not in key.attrib:
            if name in (*NODE_ATTRIBUTES, *EDGE_ATTRIBUTES):
                raise InputError(
                    f"the attribute {name!r} has elements inside",
                    hint="write its value as plain text",
                )
            # NetworkX would drop the attribute; empty, it counts by its name.
            data[:] = []
            data.text = None
        _check_value(key, data)


def _check_value(key: ElementTree.Element, data: ElementTree.Element) -> None:
    """Refuse a truth value that is none, and a number that Python reads, but XML does not."""
    text = data.text or ""
    if key.get("attr.type") == "boolean" and text and text.lower() not in _TRUTH:
        raise InputError(f"{_name(key)} is {text[:40]!r}", hint="write true or false")
    if key.get("attr.type") in _NUMBERS and ("_" in text or not text.isascii()):
        raise InputError(
            f"{text.strip()[:40]!r} is no {key.get('attr.type')}",
            hint="write it in the digits 0 to 9",
        )


def _place(element: ElementTree.Element) -> str:
    kind = _kind(element)
    if kind == "edge":
        return f"edge {element.get('source')} {element.get('target')}"
    if kind in ("node", "key"):
        return f"{kind} {element.get('id')}"
    return f"<{kind}>"
