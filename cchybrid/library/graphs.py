"""Networks from graphs of NetworkX; every attribute has a meaning, or is refused by name.

The attributes that have a meaning stand in one table in ``docs/formats.md``. Graph files are read
by NetworkX, and then by the same function as graphs in Python.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cchybrid.library.graph_names import node_names, to_ignore
from cchybrid.library.graph_positions import node_positions
from cchybrid.library.rates import common_divisor
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.text import shown_number

if TYPE_CHECKING:  # importing networkx takes long, and most commands read no graph
    import networkx as nx

NODE_ATTRIBUTES = (
    "endpoint", "terminal", "switch", "x", "y", "z", "pos", "position", "graphics", "label", "name",
)  # fmt: skip
"""Attributes of nodes that have a meaning."""
_ROLES = ("endpoint", "terminal", "switch")
EDGE_ATTRIBUTES = ("capacity", "bandwidth", "latency", "group", "duplex", "half_duplex")
"""Attributes of edges that have a meaning."""
_WITHOUT_EFFECT = {
    "node": {"id", "shape_type", "description", "url"},
    "edge": {"id", "key", "label", "name", "graphics", "description", "url"},
}
"""Attributes that the formats themselves write, or that only name and draw an edge."""

MAX_CAPACITY = (1 << 31) - 1
"""The largest capacity, after scaling and of parallel edges together."""
MAX_WITHOUT_UNIT = 64
"""The largest capacity of an edge if no unit is given: a step that carries more on one link is
rarely meant."""


EXACT = "exact"
"""The unit that divides all capacities or bandwidths, whatever a step then carries."""

_Units: TypeAlias = tuple[Fraction | None, Fraction | None]


class GraphNetwork(NamedTuple):
    """A network that was read from a graph, and notes on the reading, for people.

    ``unit_bandwidth`` is the bandwidth of a capacity of 1 in GB/s, ``None`` without bandwidths;
    ``unit_capacity`` what the graph has as capacity where that is 1, ``None`` with bandwidths.
    """

    network: Network
    notes: tuple[str, ...]
    unit_bandwidth: Fraction | None = None
    unit_capacity: Fraction | None = None
    latencies: tuple[Fraction, ...] = ()


def read_graph(
    graph: nx.Graph, name: str, *, ignore_attributes: bool | None = None, unit: Any = None
) -> GraphNetwork:
    """Return the network of a NetworkX graph.

    Parameters
    ----------
    graph
        A ``Graph``, ``DiGraph``, ``MultiGraph`` or ``MultiDiGraph``. An undirected edge is two
        channels, a directed one is one channel; parallel edges add their capacities. Nodes may be
        of any kind; they are numbered by their names if these are all whole numbers, otherwise by
        themselves if they are, otherwise in the order of the graph.
    name
        The name of the network.
    ignore_attributes
        Whether attributes without a meaning are only listed in the notes, not refused; ``None``:
        refused, and errors name neither this option nor ``unit``, which the user does not have.
    unit
        The capacity or bandwidth that becomes a capacity of 1; quotients are rounded down, of
        parallel edges together. By default whole capacities count as they are, and others by their
        greatest common divisor; ``exact``: so, also where a step carries several messages over the
        slowest edge, or more than 64 over any.

    Raises
    ------
    InputError
        No nodes, an unknown attribute, an attribute of no possible value, names that are not those
        of all nodes or not distinct, or, without ``unit``, a capacity above 64 or a divisor below
        the slowest edge; the error names the attribute, and the node or the edge.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_edge("a", "b", bandwidth=25)
    >>> graph.add_edge("b", "c", bandwidth=100)
    >>> network, notes, bandwidth, *_ = read_graph(graph, "line")
    >>> network.channels[0], network.channels[3], network.node_names
    (Channel(source=0, target=1, capacity=1), Channel(source=2, target=1, capacity=4), \
('a', 'b', 'c'))
    >>> notes
    ('capacity 1 is bandwidth 25',)
    >>> bandwidth
    Fraction(25, 1)
    """
    if not graph:
        raise InputError("no nodes", hint="give a graph with nodes and edges")
    notes = _ignored(graph, ignore_attributes)
    names, unused = node_names(graph, ignore_attributes)
    labels, shown = list(names), tuple(names.values())
    index: dict[Hashable, int] = {label: number for number, label in enumerate(labels)}
    exact = unit == EXACT
    with with_context("unit"):
        given = None if unit is None or exact else _positive(unit, "unit")
    links = _links(graph, index, given, exact=exact, has_options=ignore_attributes is not None)
    capacity, half_duplex, note, units = links
    data = [graph.nodes[label] for label in labels]
    endpoints, switches = _roles(labels, data)
    positions, missing = node_positions(labels, data)
    network = Network(
        name=name,
        nodes=len(labels),
        channels=tuple(Channel(a, b, size) for (a, b), size in sorted(capacity.items())),
        half_duplex=half_duplex,
        groups=_groups(graph, index),
        endpoints=endpoints,
        switches=switches,
        positions=positions,
        node_names=None if shown == tuple(map(str, range(len(shown)))) else shown,
    )
    late = _latencies(graph, index)
    latencies = tuple(late.get(channel[:2], Fraction(0)) for channel in network.channels)
    return GraphNetwork(network, (*note, *missing, *unused, *notes), *units, latencies)


def _ignored(graph: nx.Graph, ignore: bool | None) -> list[str]:
    """Return notes on the attributes without a meaning, or raise an error for the first one."""
    found: dict[str, set[str]] = {"graph": set(), "nodes": set(), "edges": set()}
    for key in map(str, graph.graph):
        # A graph may have attributes of any kind, but none that should have changed the network.
        if difflib.get_close_matches(key.lower(), (*EDGE_ATTRIBUTES, *_ROLES), cutoff=0.8):
            if not ignore:
                raise InputError(
                    f"the attribute {key[:40]!r} of the whole graph has no meaning here",
                    hint=f"give it to the nodes or edges{to_ignore(ignore)}",
                )
            found["graph"].add(key)
    for label, data in graph.nodes(data=True):
        for key in data:
            if key not in NODE_ATTRIBUTES and key not in _WITHOUT_EFFECT["node"]:
                if not ignore:
                    raise _unknown(str(key), f"node {label}", NODE_ATTRIBUTES, ignore)
                found["nodes"].add(str(key))
    for a, b, data in graph.edges(data=True):
        for key in data:
            if key not in EDGE_ATTRIBUTES and key not in _WITHOUT_EFFECT["edge"]:
                if not ignore:
                    raise _unknown(str(key), f"edge {a} {b}", EDGE_ATTRIBUTES, ignore)
                found["edges"].add(str(key))
    return [
        f"ignored attribute{'s' if len(keys) > 1 else ''} of {owner}: {', '.join(sorted(keys))}"
        for owner, keys in found.items()
        if keys
    ]


def _unknown(key: str, where: str, known: Sequence[str], ignore: bool | None) -> InputError:
    near = difflib.get_close_matches(key.lower(), known, n=2, cutoff=0.6)
    if key.lower() in ("weight", "cost", "width"):
        near = ["capacity", "bandwidth"]
    guess = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    return InputError(
        f"the attribute {key[:40]!r} has no meaning here",
        where=where,
        hint=f"{guess}{to_ignore(ignore)}",
    )


def _links(
    graph: nx.Graph,
    index: Mapping[Hashable, int],
    unit: Fraction | None,
    *,
    exact: bool,
    has_options: bool,
) -> tuple[Mapping[tuple[int, int], int], tuple[tuple[int, int], ...], list[str], _Units]:
    """Return the capacity of every channel, the half-duplex pairs, and what ``_scaled`` says."""
    edges: list[tuple[Hashable, Hashable, Mapping[str, Any]]] = list(graph.edges(data=True))
    for a, b, _ in edges:
        if index[a] == index[b]:
            raise InputError(f"node {a} is linked to itself", hint="drop that edge")
    numbers, key = _numbers(edges)
    together: dict[tuple[int, int], Fraction] = {}
    half: dict[tuple[int, int], bool] = {}
    for (a, b, data), number in zip(edges, numbers, strict=True):
        with with_context(f"edge {a} {b}"):
            shared = _is_half_duplex(data)
            x, y = index[a], index[b]
            for channel in [(x, y)] if graph.is_directed() else [(x, y), (y, x)]:
                together[channel] = together.get(channel, Fraction(0)) + number
                if half.setdefault(channel, shared) != shared:
                    raise InputError(
                        "a parallel edge is half duplex, another is not",
                        hint="give both the same duplex",
                    )
    names = {number: label for label, number in index.items()}
    places = {(a, b): f"edge {names[a]} {names[b]}" for a, b in together}
    default = slowest = Fraction(1)
    if key == "bandwidth" or any(number.denominator > 1 for number in numbers):
        default, slowest = common_divisor(numbers), min(numbers)
    capacity, note = _scaled(together, places, key, unit or default)
    for channel, size in [] if exact else capacity.items():
        finer = default < slowest == together[channel]
        if unit is None and (size > MAX_WITHOUT_UNIT or finer):
            meaning = f"capacity 1 is {_said(key)} {_shown(default)}"
            smallest = _shown(min(together.values()))
            link = "this link, the slowest" if finer else "this link"
            raise InputError(
                f"a step would carry {size} messages over {link}, as {meaning}",
                where=places[channel],
                hint=f"say what a message per step is: --unit {smallest} (in Python unit=), or "
                f"--unit {_shown(default)} for such steps"
                if has_options
                else f"write multiples of {smallest}, at most {MAX_WITHOUT_UNIT} times as much",
            )
    for a, b in half:
        if half[a, b] and not half.get((b, a)):
            raise InputError(
                "a half-duplex link needs both directions, both half duplex",
                where=places[a, b],
                hint=f"add the edge {names[b]} {names[a]} with the same duplex",
            )
        if half[a, b] and capacity[a, b] != capacity[b, a]:
            raise InputError(
                "the two directions of a half-duplex link differ in capacity",
                where=places[a, b],
                hint="give both the capacity that they share",
            )
    units = (unit or default, None) if key == "bandwidth" else (None, unit or default)
    pairs = tuple(sorted((a, b) for a, b in half if half[a, b] and a < b))
    return capacity, pairs, note, units


def _groups(
    graph: nx.Graph, index: Mapping[Hashable, int]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the channels of each group, by the attribute of directed edges."""
    found: dict[str, dict[tuple[int, int], None]] = {}
    for a, b, data in graph.edges(data=True):
        if "group" in data and str(data["group"]).strip():
            if not graph.is_directed():
                raise InputError(
                    "a group of an edge of both directions",
                    where=f"edge {a} {b}",
                    hint="write a directed graph, with a group for each direction",
                )
            found.setdefault(str(data["group"]), {})[index[a], index[b]] = None
    return tuple(tuple(sorted(group)) for _, group in sorted(found.items()))


def _latencies(
    graph: nx.Graph, index: Mapping[Hashable, int]
) -> Mapping[tuple[int, int], Fraction]:
    """Return the microseconds of each channel that has a latency; parallel edges have the same."""
    found: dict[tuple[int, int], Fraction] = {}
    for a, b, data in graph.edges(data=True):
        with with_context(f"edge {a} {b}"):
            given = data.get("latency", 0)
            zero = str(given).strip() in ("0", "0.0")
            late = Fraction(0) if zero else _positive(given, "latency")
            x, y = index[a], index[b]
            for channel in [(x, y)] if graph.is_directed() else [(x, y), (y, x)]:
                if found.setdefault(channel, late) != late:
                    raise InputError("parallel edges differ in latency", hint="give both the same")
    return found if any(found.values()) else {}


def _numbers(
    edges: Sequence[tuple[Hashable, Hashable, Mapping[str, Any]]],
) -> tuple[list[Fraction], str]:
    """Return the capacity or bandwidth of every edge, and which of the two it is."""
    keys = {key for *_, data in edges for key in ("capacity", "bandwidth") if key in data}
    key = "bandwidth" if "bandwidth" in keys else "capacity"
    numbers = []
    for a, b, data in edges:
        with with_context(f"edge {a} {b}"):
            if "bandwidth" in data and "capacity" in keys:
                raise InputError("capacity and bandwidth in one graph", hint="use one of the two")
            if key == "bandwidth" and key not in data:
                raise InputError(
                    "no bandwidth here, but on other edges", hint="give every edge one"
                )
            numbers.append(_positive(data[key], key) if key in data else Fraction(1))
    return numbers, key


def _scaled(
    numbers: Mapping[tuple[int, int], Fraction],
    places: Mapping[tuple[int, int], str],
    key: str,
    unit: Fraction,
) -> tuple[dict[tuple[int, int], int], list[str]]:
    """Return the capacity of every channel as an integer, and a note on what 1 is in the graph."""
    sizes = {channel: int(number / unit) for channel, number in numbers.items()}
    meaning = f"capacity 1 is {_said(key)} {_shown(unit)}"
    for channel, size in sizes.items():
        if not size:
            raise InputError(
                f"{_shown(numbers[channel])} is less than a capacity of 1",
                where=places[channel],
                hint=f"use a unit of at most {_shown(min(numbers.values()))}",
            )
        if size > MAX_CAPACITY:
            raise InputError(
                f"the capacity as a whole number is {shown_number(size)}",
                where=places[channel],
                hint=f"round the numbers, so that it is at most {MAX_CAPACITY}",
            )
    if any(numbers[channel] != size * unit for channel, size in sizes.items()):
        return sizes, [f"{meaning}, and others are rounded down"]
    return sizes, [] if unit == 1 else [meaning]


def _said(key: str) -> str:
    """Return how notes call the capacity or bandwidth that a graph has."""
    return key if key == "bandwidth" else f"written {key}"


def _shown(number: Fraction) -> str:
    decimal = f"{float(number):.12g}"
    return decimal if Fraction(decimal) == number else str(number)


def _positive(value: Any, key: str) -> Fraction:
    """Return a number above 0, of any numeric type or as a text, by the decimals that it shows."""
    text = str(value).strip()
    number = Fraction(0)
    # Truth values, of Python and of NumPy, do not match.
    if re.fullmatch(r"[0-9]{1,40}(/[0-9]{1,40}|\.[0-9]{0,40})?([eE][-+]?[0-9]{1,2})?", text):
        with suppress(ValueError, ZeroDivisionError):
            number = Fraction(text)
    if number <= 0:
        raise InputError(
            f"the {key} {text[:40]!r} is no number above 0",
            hint="use a number above 0, such as 2 or 0.5",
        )
    return number


def _truth(data: Mapping[str, Any], key: str) -> bool | None:
    """Return the truth value of an attribute; ``None`` if there is none."""
    if key not in data:
        return None
    # GML has no truth values; 1 and 0, or words, are used instead.
    text = str(data[key]).strip().lower()
    if text in ("true", "yes", "1", "1.0"):
        return True
    if text in ("false", "no", "0", "0.0"):
        return False
    raise InputError(
        f"{key} is {str(data[key])[:40]!r}, which is no truth value", hint="use true or false"
    )


def _is_half_duplex(data: Mapping[str, Any]) -> bool:
    marked = _truth(data, "half_duplex")
    if "duplex" not in data:
        return bool(marked)
    word = str(data["duplex"]).strip().lower()
    if word not in ("half", "full"):
        raise InputError(f"duplex is {str(data['duplex'])[:40]!r}", hint="use half or full")
    if marked is not None and marked != (word == "half"):
        raise InputError("duplex and half_duplex contradict each other", hint="keep one of the two")
    return word == "half"


def _roles(
    labels: Sequence[Hashable], data: Sequence[Mapping[str, Any]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the endpoints and the switches; no endpoints if every node is one."""
    endpoints, switches, others = [], [], []
    for node, (label, each) in enumerate(zip(labels, data, strict=True)):
        with with_context(f"node {label}"):
            stated = [_truth(each, key) for key in ("endpoint", "terminal")]
            if set(stated) == {True, False}:
                raise InputError(
                    "endpoint and terminal contradict each other", hint="keep one of them"
                )
            switch = _truth(each, "switch")
            if True in stated and switch:
                raise InputError("an endpoint cannot be a switch", hint="keep one of the two")
        if True in stated:
            endpoints.append(node)
        if switch:
            switches.append(node)
        elif stated[1] is False:
            others.append(label)
    if others and not endpoints:
        raise InputError(
            "it is no terminal, and no node of the graph is one",
            where=f"node {others[0]}",
            hint="mark the terminals by true, or this node as a switch",
        )
    return tuple(endpoints) if len(endpoints) < len(labels) else (), tuple(switches)
