"""GML, read by NetworkX after a check for what NetworkX would drop in silence."""

import difflib
import re
from typing import TYPE_CHECKING

from cchybrid.library.graphs import EDGE_ATTRIBUTES, NODE_ATTRIBUTES
from cchybrid.model.errors import InputError, with_context

if TYPE_CHECKING:  # importing networkx takes long, and most commands read no graph file
    import networkx as nx

_STRING_OR_COMMENT = re.compile(r'"[^"]*"|#.*')
_WORD = re.compile(
    r'"[^"]*"|[\[\]]|[A-Za-z]\w*|[-+]?(?:\d*\.\d+|\d+\.\d*|INF)(?:[Ee][-+]?\d+)?|[-+]?\d+', re.ASCII
)
"""The words of GML as NetworkX splits them."""
_ONCE = {
    *NODE_ATTRIBUTES, *EDGE_ATTRIBUTES, "id", "source", "target", "key", "directed", "multigraph",
} - {"pos", "position"}  # fmt: skip
"""Keys of one value; NetworkX writes the values of a list under a key of several."""


def read_gml(text: str) -> "nx.Graph":
    """Return the graph of a GML text.

    Raises
    ------
    InputError
        A key of one value is given twice, a key of the graph is misspelt, lists beside the graph.
    """
    import networkx as nx

    # NetworkX takes comments and strings of several lines for others.
    text = _STRING_OR_COMMENT.sub(_on_one_line, text)
    _check(text)
    return nx.parse_gml(text, label="id")  # labels are optional, and read as in other graphs


def _on_one_line(match: re.Match[str]) -> str:
    if match[0][0] == "#":
        return ""
    return " ".join(match[0].splitlines()) + "\n" * match[0].count("\n")


def _check(text: str) -> None:
    seen: list[set[str]] = [set()]
    """The keys of every list that is open, the whole file first."""
    key = ""
    for number, line in enumerate(text.split("\n"), 1):
        for word in _WORD.findall(line):
            with with_context(f"line {number}"):
                if word == "]":
                    if key:
                        raise InputError(f"the key {key[:40]!r} has no value", hint="write one")
                    seen = seen[:-1] or [set()]  # NetworkX refuses one without its opening
                elif not key:
                    key = word
                    if key in seen[-1] and key in _ONCE:
                        raise InputError(f"the key {key!r} is given twice", hint="keep one")
                    seen[-1].add(key)
                else:
                    _check_key(key, word, len(seen))
                    if word == "[":
                        seen.append(set())
                    key = ""


def _check_key(key: str, value: str, depth: int) -> None:
    """Refuse a list beside the graph, and keys of the graph that are to be others."""
    if depth == 1 and value == "[" and key != "graph":
        raise InputError(
            f"a list {key[:40]!r} beside the graph",
            hint="give a file with one graph, graph [ ... ]",
        )
    if depth == 1 and difflib.get_close_matches(key.lower(), ("directed", "multigraph"), 1, 0.8):
        raise InputError(f"{key[:40]} beside the graph", hint="write it inside graph [ ... ]")
    names = ("node", "edge") if value == "[" else ("directed", "multigraph")
    for name in difflib.get_close_matches(key.lower(), names, 1, 0.8) if depth == 2 else ():
        if value != "[" and (key != name or value not in ("0", "1")):
            raise InputError(f"{key[:40]} {value[:40]}", hint=f"write {name} 1 or {name} 0")
        if key != name:
            raise InputError(f"a list {key[:40]!r}", hint=f"write {name} [ ... ]")
