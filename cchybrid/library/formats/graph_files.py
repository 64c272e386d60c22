"""Network files: the graph formats that NetworkX reads, JSON, and the thesis's text format.

The attributes of graph files are those of ``cchybrid.library.graphs``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cchybrid.library.formats.gml import read_gml
from cchybrid.library.formats.graphml import read_graphml
from cchybrid.library.formats.network_file import NetworkFile
from cchybrid.library.formats.network_json import read_network_json
from cchybrid.library.formats.seed_text import read_seed_text
from cchybrid.library.graphs import EXACT, read_graph
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text

if TYPE_CHECKING:  # importing networkx takes long, and most commands read no graph file
    import networkx as nx


def read_network(
    path: str | Path, *, ignore_attributes: bool | None = None, unit: Any = None
) -> NetworkFile:
    """Read a network file; its extension determines the format.

    ``.json`` (see ``network_json``); ``.graphml``; ``.gml``; ``.edgelist`` or ``.edges`` (a line
    ``a b``, ``a b CAPACITY`` or ``a b {'capacity': 2}``); ``.adjlist`` (a line ``a b c ...``: a is
    linked to b, c, ...); ``.txt`` (see ``seed_text``). Edge and adjacency lists are undirected:
    every link is listed either once, or in both directions.

    Parameters
    ----------
    ignore_attributes
        Whether unknown attributes of a graph file are only noted, not refused; ``None`` as in
        ``read_graph``.
    unit
        What a capacity of 1 is, in a graph file, as in ``read_graph``.

    Raises
    ------
    InputError
        The file cannot be read, or breaks its format; the error names the file.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    with with_context(path):
        if unit not in (None, EXACT) and not is_graph_file(path):
            raise InputError("this is no graph file", where="unit", hint="leave it out")
        if suffix == ".txt":
            return read_seed_text(read_text(path), path.stem)
        if suffix == ".json":
            return read_network_json(read_text(path))
        if suffix not in _READERS:
            known = ", ".join((".json", ".txt", *_READERS))
            raise InputError(f"no network format has the extension {suffix!r}", hint=f"use {known}")
        graph = _parse(read_text(path), suffix)
        found = read_graph(graph, path.stem, ignore_attributes=ignore_attributes, unit=unit)
        every = found.network.terminals
        return NetworkFile(found.network, every, every, *found[1:])


def is_graph_file(path: str | Path) -> bool:
    """Return whether a file's extension is that of a graph format."""
    return Path(path).suffix.lower() in _READERS


def _parse(text: str, suffix: str) -> nx.Graph:
    label, read = _READERS[suffix]
    try:
        graph = read(text)
    except InputError:
        raise
    except Exception as error:  # the parsers raise errors of many types for a broken file
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise InputError(f"not valid {label}: {reason}", hint="correct the file") from None
    if not graph:
        raise InputError(f"no nodes in this {label}", hint="give a file with a network")
    return graph


def _read_edge_list(text: str) -> nx.Graph:
    import networkx as nx

    graph = nx.MultiDiGraph()
    for number, row in _rows(text):
        with with_context(f"line {number}"):
            graph.add_edges_from([_edge(row)])
    return _undirected(graph)


def _edge(row: str) -> tuple[str, str, Mapping[str, Any]]:
    """Return the two nodes and the attributes of a line of an edge list."""
    tail, head, text, *_ = *row.split(None, 2), "", ""
    if head in ("", "->", "--"):
        raise InputError(
            f"{row[:40]!r} does not name two nodes", hint="write two nodes with a space between"
        )
    if not text.startswith("{"):
        return tail, head, {"capacity": text} if text else {}
    try:
        written = ast.parse(text, mode="eval").body
        data = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        written = None
    if not isinstance(written, ast.Dict):
        raise InputError(
            f"{text[:40]!r} is no dictionary of attributes", hint="write such as {'capacity': 2}"
        )
    for key, times in Counter(ast.literal_eval(key) for key in written.keys if key).items():
        if times > 1:
            raise InputError(
                f"the attribute {str(key)[:40]!r} is given {times} times", hint="keep one value"
            )
    return tail, head, data


def _read_adjacency_list(text: str) -> nx.Graph:
    import networkx as nx

    rows = _rows(text)
    for number, row in rows:
        if re.search(r"[{}]", row):  # NetworkX would read names of nodes
            raise InputError(
                "an adjacency list has no attributes",
                where=f"line {number}",
                hint="write an edge list (.edgelist), or leave them out",
            )
    lines = (row for _, row in rows)
    return _undirected(nx.parse_adjlist(lines, create_using=nx.MultiDiGraph))


def _rows(text: str) -> list[tuple[int, str]]:
    """Return line number and content of every line that is not empty or a comment."""
    rows = ((n, line.partition("#")[0].strip()) for n, line in enumerate(text.split("\n"), 1))
    return [(number, row) for number, row in rows if row]


def _undirected(graph: nx.MultiDiGraph) -> nx.Graph:
    """Return the graph as undirected, unless all links are listed in both directions."""
    import networkx as nx

    count = Counter(graph.edges())
    one_direction = [(a, b) for a, b in count if (b, a) not in count]
    both_directions = [(a, b) for a, b in count if (b, a) in count and a != b]
    if one_direction and both_directions:
        (a, b), (c, d) = both_directions[0], one_direction[0]
        raise InputError(
            f"the link {a} {b} is listed in both directions, {c} {d} in one",
            hint="write every link once, or every link in both directions",
        )
    if both_directions and not any(data for *_, data in graph.edges(data=True)):
        for a, b in count:
            if count[a, b] != count[b, a]:
                raise InputError(
                    f"the link {a} {b} is listed {count[a, b]} times, {b} {a} {count[b, a]} times",
                    hint="write every link once, or as often in both directions",
                )
    return graph if both_directions else nx.MultiGraph(graph)


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    ".graphml": ("GraphML", read_graphml),
    ".gml": ("GML", read_gml),
    ".edgelist": ("edge list", _read_edge_list),
    ".edges": ("edge list", _read_edge_list),
    ".adjlist": ("adjacency list", _read_adjacency_list),
}
