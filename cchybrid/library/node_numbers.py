"""Nodes by name or number, as users write them on the command line and in Python."""

import csv
import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from cchybrid.library.graph_names import as_integer
from cchybrid.library.node_lists import format_nodes, parse_nodes, parse_pairs
from cchybrid.model import Network
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text

Part = TypeVar("Part")
_MAX_COMPARED = 10_000
"""Names of nodes that an unknown one is compared with: some microseconds each."""


def node_number(node: Any, network: Network) -> int:
    """Return the number of a node given by name or by number; a name takes precedence.

    Where a name is a number or looks like a range, as in a graph whose nodes are 1 to 4 or 0-0 to
    3-1, numbers are names.

    Raises
    ------
    InputError
        There is no such node.

    Examples
    --------
    >>> network = Network.from_links("line", 2, [(0, 1)], node_names=("R1", "R2"))
    >>> node_number("R2", network), node_number(1, network)
    (1, 1)
    """
    if isinstance(node, bool):
        raise InputError(f"{node} is no node", hint="name a node, or give its number")
    node = as_integer(node)
    if network.node_names is not None:
        found = network.node_by_name.get(str(node).strip())
        if found is not None:
            return found
    number = _whole(node)
    if number is None or (number >= 0 and _a_name_is_a_number(network)):
        raise _unknown(str(node), network)
    if not 0 <= number < network.nodes:
        raise InputError(
            f"no node {number} in {network.name}", hint=f"use 0 to {network.nodes - 1}"
        )
    return number


def _whole(node: Any) -> int | None:
    if isinstance(node, str):
        text = node.strip()
        return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None
    try:
        return operator.index(node)
    except TypeError:
        return None


def _a_name_is_a_number(network: Network) -> bool:
    names = network.node_names or ()
    return any(re.fullmatch(r"-?[0-9]+([.-][0-9]+)?", name) for name in names)


def _unknown(text: str, network: Network) -> InputError:
    names = network.node_names
    if names is None:
        return InputError(
            f"no node {text.strip()[:40]!r} in {network.name}", hint=f"use 0 to {network.nodes - 1}"
        )
    near = difflib.get_close_matches(text.strip(), names[:_MAX_COMPARED], n=2, cutoff=0.6)
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    hint = f"did you mean {' or '.join(near)}?" if near else f"its nodes are {shown}"
    return InputError(f"no node {text.strip()[:40]!r} in {network.name}", hint=hint)


def node_numbers(nodes: Any, network: Network) -> tuple[int, ...]:
    """Return the numbers of several nodes, ascending and distinct.

    Parameters
    ----------
    nodes
        A list such as ``0-3,7`` or ``R1,R3`` as text, or names and numbers one by one. Names may
        contain commas and hyphens; ranges have numbers only.

    Raises
    ------
    InputError
        There is no such node, or the text can be read in several ways.
    """
    if isinstance(nodes, str):
        if network.node_names is None:
            return parse_nodes(nodes)
        found = _split(nodes, lambda part: _nodes_of(part, network), network)
        return tuple(sorted({node for some in found for node in some}))
    if not isinstance(nodes, Iterable):
        raise InputError(f"{nodes!r} is no list of nodes", hint="give a list such as [0, 3]")
    return tuple(sorted({node_number(node, network) for node in nodes}))


def _nodes_of(part: str, network: Network) -> tuple[int, ...] | None:
    """Return the nodes that one part of a list names: a name, a number, or a range."""
    if part.strip() in network.node_by_name:
        return (network.node_by_name[part.strip()],)
    if re.fullmatch(r"\s*[0-9]{1,7}\s*(-\s*[0-9]{1,7}\s*)?", part):
        return tuple(node_number(node, network) for node in parse_nodes(part))
    return None


def node_pairs(text: str, network: Network) -> list[tuple[int, int]]:
    """Return the pairs that a list such as ``R1>R2,0>3`` names, in order, with repetitions.

    Raises
    ------
    InputError
        The text is no such list, or can be read in several ways.
    """
    return _split(text, lambda part: _pair_of(part, network), network)


def read_pairs(path: str | Path, network: Network | None = None) -> list[tuple[int, int]]:
    """Read the pairs of a CSV file, one ``source,destination`` a line, as ``read_rows`` does."""
    pairs = [(a, b) for a, b in read_rows(path, ("source", "destination"), network)]
    if not pairs:
        raise InputError("no pairs", where=str(path), hint="write one source,destination a line")
    return pairs


def read_rows(
    path: str | Path, columns: tuple[str, ...], network: Network | None
) -> Iterator[tuple[int, ...]]:
    """Yield the rows of nodes of a CSV file.

    Nodes are given by name or number, without a network by number. Empty lines and lines that
    begin with ``#`` are ignored, and the first other line may be the header of the columns.

    Raises
    ------
    InputError
        The file cannot be read, or a line is no row, or may be a comment or the header, but also
        the row of nodes with such names; the error names the file and the line.
    """
    hint, is_first = f"write {','.join(columns)}", True
    with with_context(path):
        for number, line in enumerate(read_text(path).splitlines(), 1):
            content = line.strip()
            with with_context(f"line {number}"):
                if content[:1] in ("", "#"):
                    first, comma, _ = content.partition(",")
                    if network and comma and first.strip() in network.node_by_name:
                        raise _ambiguous(content)
                    continue
                try:
                    fields = [field.strip() for field in next(csv.reader([content], strict=True))]
                except csv.Error as error:
                    raise InputError(f"no CSV: {error}", hint=hint) from None
                if is_first and (*map(str.lower, fields),) == columns:
                    if network and {*fields} <= {*network.node_by_name}:
                        raise _ambiguous(content)
                elif len(fields) != len(columns):
                    what = "pair" if len(columns) == 2 else "row"
                    raise InputError(f"{content[:40]!r} is no {what}", hint=hint)
                elif network is None:
                    yield from parse_pairs(">".join(fields))
                else:
                    yield tuple(node_number(field, network) for field in fields)
            is_first = False


def _pair_of(part: str, network: Network) -> tuple[int, int] | None:
    found = _ends(part, ">", network)
    if len(found) > 1:
        raise _ambiguous(part)
    return found[0] if found else None


def _ends(text: str, mark: str, network: Network) -> list[tuple[int, int]]:
    """Return every pair of nodes that a text with a mark between two nodes can mean."""
    found = []
    for match in re.finditer(f"(?={re.escape(mark)})", text):
        first, second = text[: match.start()], text[match.start() + len(mark) :]
        firsts = {first, first.removesuffix("-")} if mark == ">" else {first}  # A->B is A>B, too
        for side in firsts:
            with suppress(InputError):
                found.append((node_number(side, network), node_number(second, network)))
    return list(dict.fromkeys(found))


def link_ends(text: str, network: Network) -> tuple[int, int, bool]:
    """Return the ends of a link written ``A-B`` or ``A>B``, and whether it has both directions.

    Raises
    ------
    InputError
        The text is no link between two nodes, or can be read in several ways.
    """
    found = {(*ends, False) for ends in _ends(text, ">", network)}
    found |= {(*ends, True) for ends in _ends(text, "-", network)}
    if len(found) > 1:
        raise _ambiguous(text)
    if not found:
        raise InputError(
            f"{text!r} is no link between nodes of {network.name}",
            hint="write A-B, or A>B for one direction, such as"
            f" {network.node_name(0)}-{network.node_name(network.nodes - 1)}",
        )
    return found.pop()


def _split(text: str, read: Callable[[str], Part | None], network: Network) -> list[Part]:
    """Return the parts of a list with commas between them, where parts may contain commas."""
    pieces = text.split(",")
    longest = max(map(len, network.node_names or ("",)))
    # Per number of pieces from the end: up to two readings of them.
    readings: list[list[list[Part]]] = [[[]]]
    for start in range(len(pieces) - 1, -1, -1):
        here: list[list[Part]] = []
        for end in range(start + 1, len(pieces) + 1):
            part = ",".join(pieces[start:end])
            if len(part) > 2 * longest + 24:  # longer than any pair of names
                break
            rest = readings[len(pieces) - end]
            value = read(part) if rest else None
            if value is not None:
                here += ([value, *others] for others in rest)
        readings.append(here[:2])
    if not readings[-1]:
        for piece in pieces:
            if read(piece) is None:
                ends = re.split(r"-?>", piece)
                for node in ends:
                    node_number(node, network)
        raise InputError(f"{text[:40]!r} is no such list", hint="write a comma between the parts")
    if len(readings[-1]) > 1:
        raise _ambiguous(text)
    return readings[-1][0]


def _ambiguous(text: str) -> InputError:
    return InputError(
        f"{text[:40]!r} can be read in two ways", hint="give the nodes by number, or rename them"
    )


def format_node_names(nodes: Iterable[int], network: Network) -> str:
    """Return nodes as text: ``0-3,7`` by number, or ``R1,R3`` by name."""
    if network.node_names is None:
        return format_nodes(nodes)
    return ",".join(network.node_name(node) for node in sorted(set(nodes)))
