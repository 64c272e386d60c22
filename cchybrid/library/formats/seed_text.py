"""The text format for networks of Jaroš's thesis (Brno 2010), section 6.1 and figure 6.1.

``#`` begins a comment. The first row holds the number of nodes and the largest number of outgoing
links of a node; every further row describes one node: its index, its mode, and the neighbours that
its outgoing links lead to. The mode is ``T`` (transmitter), ``R`` (receiver), ``B`` (both) or
``N`` (neither: a switch). A neighbour that is listed twice has two parallel links, here
a channel of capacity 2.
"""

import re
from collections.abc import Iterator, Sequence

from cchybrid.library.formats.network_file import NetworkFile
from cchybrid.library.node_lists import format_nodes
from cchybrid.model import Network
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.network import MAX_NODES
from cchybrid.model.text import one_line

_MAX_DEGREE = 65_536
_EDGES = "an edge list is a .edges file"
_HEADER = """\
# {name}
# number of nodes and maximal number of outgoing links per node
{nodes} {degree}
# node, mode (T transmitter, R receiver, B both, N neither), neighbours by outgoing link
"""


def read_seed_text(text: str, name: str) -> NetworkFile:
    """Read a network in the text format.

    Parameters
    ----------
    text
        The file's text. Rows of nodes may come in any order, each node once.
    name
        The name of the network.

    Raises
    ------
    InputError
        The text breaks the format; the error names the line.
    """
    rows = _rows(text)
    line, words = next(rows, (1, []))
    with with_context(f"line {line}"):
        if len(words) != 2:
            raise InputError(
                "the first row does not hold two numbers",
                hint="write the number of nodes and the maximal number of links per node",
            )
        count, degree = map(_number, words)
        if not 1 <= count <= MAX_NODES:
            raise InputError(f"{count} nodes", hint=f"use 1 to {MAX_NODES}")
    lines: dict[int, int] = {}
    modes: dict[int, str] = {}
    arcs: list[tuple[int, int]] = []
    for line, words in rows:
        with with_context(f"line {line}"):
            node, mode, targets = _read_row(words, count)
            if node in lines:
                raise InputError(
                    f"node {node} has a row already, line {lines[node]}", hint="keep one of them"
                )
            if len(targets) > degree:
                raise InputError(
                    f"node {node} has {len(targets)} outgoing links, the first row allows {degree}",
                    hint="correct the row or the maximum",
                )
        lines[node], modes[node] = line, mode
        arcs += ((node, target) for target in targets)
    if len(lines) < count:
        missing = [node for node in range(count) if node not in lines]
        shown = format_nodes(missing[:100])
        raise InputError(
            f"no row for node{'s' if len(missing) > 1 else ''} {shown[:60]}",
            hint="write one row for every node, or correct the number of nodes",
        )
    return NetworkFile(
        network=Network.from_arcs(name, count, arcs),
        transmitters=tuple(node for node in range(count) if modes[node] in "TB"),
        receivers=tuple(node for node in range(count) if modes[node] in "RB"),
    )


def write_seed_text(file: NetworkFile) -> str:
    """Return a network in the text format; positions are lost.

    Raises
    ------
    InputError
        The format cannot represent the network: it has half-duplex links, times of channels, or
        endpoints that a path could pass if they were not endpoints.
    """
    network = file.network
    _check_writable(network)
    targets: list[list[int]] = [[] for _ in range(network.nodes)]
    for source, target, capacity in network.channels:
        if len(targets[source]) + capacity > _MAX_DEGREE:
            raise InputError(
                f"node {source} has more than {_MAX_DEGREE} outgoing links",
                where=network.name,
                hint="save it as JSON",
            )
        targets[source] += [target] * capacity
    sending, receiving = set(file.transmitters), set(file.receivers)
    letters = {(True, True): "B", (True, False): "T", (False, True): "R", (False, False): "N"}
    header = _HEADER.format(
        name=one_line(network.name), nodes=network.nodes, degree=max(map(len, targets))
    )
    rows = (
        " ".join([str(node), letters[node in sending, node in receiving], *map(str, near)])
        for node, near in enumerate(targets)
    )
    return header + "\n".join(rows) + "\n"


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and words of every row that is not empty or a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if words:
            yield number, words


def _read_row(words: Sequence[str], count: int) -> tuple[int, str, list[int]]:
    if len(words) < 2 or words[1].upper() not in ("T", "R", "B", "N"):
        raise InputError(
            "the mode is missing" if len(words) < 2 else f"{words[1][:40]!r} is no mode",
            hint=f"write the node, then T, R, B or N, then its neighbours ({_EDGES})",
        )
    node, *targets = (_node(word, count) for word in (words[0], *words[2:]))
    if node in targets:
        raise InputError(f"node {node} is linked to itself", hint="drop that link")
    return node, words[1].upper(), targets


def _node(word: str, count: int) -> int:
    node = _number(word)
    if node >= count:
        raise InputError(f"there is no node {node}", hint=f"use 0 to {count - 1}")
    return node


def _number(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", word):
        raise InputError(f"{word[:40]!r} is no number", hint=f"write a number there ({_EDGES})")
    return int(word)


def _check_writable(network: Network) -> None:
    json = "save it as JSON"
    lacking = ("half-duplex links", network.half_duplex), ("times", network.times)
    for what, parts in (*lacking, ("groups of channels", network.groups)):
        if parts:
            raise InputError(f"the text format holds no {what}", where=network.name, hint=json)
    into: list[set[int]] = [set() for _ in range(network.nodes)]
    for channel in network.channels:
        into[channel.target].add(channel.source)
    for node in network.endpoints:
        # A node whose only neighbour is the same in both directions is on no simple path.
        onward = network.successors[node]
        if into[node] and onward and len(into[node].union(onward)) > 1:
            raise InputError(
                f"the text format cannot express that no path passes node {node}",
                where=network.name,
                hint=json,
            )
