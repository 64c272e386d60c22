"""Names of the nodes of a graph, and the order in which they are numbered."""

import re
from collections.abc import Hashable
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from cchybrid.model.errors import InputError

if TYPE_CHECKING:  # importing networkx takes long, and most commands read no graph
    import networkx as nx


def to_ignore(ignore: bool | None) -> str:
    """Return the hint at attributes of graphs that are refused; none if there is no option."""
    if ignore is None:
        return ""
    return "; to ignore it: --ignore-attributes, in Python ignore_attributes=True"


MAX_EXACT = 2**53
"""From here on not every whole number is one of 64 bits with fractions (IEEE 754)."""


def node_names(graph: "nx.Graph", ignore: bool | None) -> tuple[dict[Hashable, str], list[str]]:
    """Return the name of every node, in the order of their numbers, and notes on unused names.

    A name is the attribute ``label`` or ``name``, or else the node itself. Whole numbers determine
    the order: of the names, or else of the nodes; without, it is that of the graph.

    Raises
    ------
    InputError
        Without ``ignore``: not all nodes have the attribute, its texts are not distinct, or the two
        attributes differ.
    """
    ids = {node: _text(node) for node in graph}
    names, notes = ids, []
    for key in ("label", "name"):
        given = {node: data.get(key) for node, data in graph.nodes(data=True)}
        texts = {node: _text(value) for node, value in given.items()}
        if not any(map(str.strip, texts.values())):
            continue
        first: dict[str, Hashable] = {}
        for node, text in texts.items():
            problem = ""
            if not text.strip():
                problem = f"no {key} here, but at other nodes"
            elif first.setdefault(text, node) is not node:
                problem = f"the {key} {text[:40]!r} is also that of node {first[text]}"
            elif names is not ids and text != names[node]:
                problem = f"the name {text[:40]!r} contradicts the label {names[node][:40]!r}"
            if problem and not ignore:
                hint = f"give all nodes different names, as label or as name{to_ignore(ignore)}"
                raise InputError(problem, where=f"node {node}", hint=hint)
            if problem:
                notes.append(f"ignored attribute of nodes: {key} (node {node}: {problem})")
                break
        else:
            names = texts
    for texts in names, ids:
        if all(re.fullmatch(r"-?[0-9]+", text) for text in texts.values()):
            order = {node: Decimal(text) for node, text in texts.items()}
            return {node: names[node] for node in sorted(order, key=order.__getitem__)}, notes
    return names, notes


def as_integer(value: Any) -> Any:
    """Return a whole number of a type with fractions, such as 3.0, as an integer.

    Anything else is returned unchanged.

    Raises
    ------
    InputError
        For a number so large that its type does not hold every whole number.
    """
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else value
    if not isinstance(value, Real) or isinstance(value, Integral) or value % 1 != 0:
        return value
    if abs(float(value)) >= MAX_EXACT:
        raise InputError(
            f"{value} may be rounded: its type does not hold every whole number of this size",
            hint="give the names of nodes as whole numbers or as texts",
        )
    return int(float(value))


def _text(value: Any) -> str:
    """Return a name as text; an empty one for ``None``, NaN, and NA of pandas."""
    try:
        missing = value is None or bool(value != value)
    except (TypeError, ValueError):  # NA has no truth value
        missing = True
    return "" if missing else str(as_integer(value))
