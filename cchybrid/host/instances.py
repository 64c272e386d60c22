"""Networks, collectives and instances from names, files, graphs, matrices and lists."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from cchybrid.host.arguments import read_flag
from cchybrid.library.formats import NetworkFile
from cchybrid.library.formats.graph_files import is_graph_file
from cchybrid.library.graphs import EXACT, read_graph
from cchybrid.library.instance_spec import (
    InstanceSpec,
    find_file,
    note_unused_modes,
    noting,
    on_network,
    resolve,
    sized,
    with_model,
    without_modes,
)
from cchybrid.library.node_numbers import node_number
from cchybrid.library.topologies import fail
from cchybrid.model import Collective, Instance, Message, Network, Reduction
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.text import described
from cchybrid.plugin.registry import load_registry

_NETWORKS = (
    "a name such as mesh-4x4, a file, a networkx graph, a matrix, or a list of pairs of nodes"
)


def network(
    source: Any, *, name: str | None = None, ignore_attributes: bool = False, unit: Any = None
) -> Network:
    """Return a network by name, or of a file, a graph, a matrix or a list of channels.

    Parameters
    ----------
    source
        A name such as ``mesh-4x8``, also of families from plugins; a network file; a networkx
        graph, whose attributes are those of graph files (``docs/formats.md``); an adjacency
        matrix of capacities as NumPy array or SciPy sparse matrix; a list of directed channels
        ``(from, to)`` or ``(from, to, capacity)``; or a ``Network``.
    name
        The name of the network.
    ignore_attributes
        Whether unknown attributes of a graph are ignored, with a warning, not refused.
    unit
        Of a graph or its file, the capacity or bandwidth that becomes a capacity of 1, that is, a
        message per step; quotients are rounded down. Needed for capacities above 64.

    Modes of nodes in a file (who sends, who receives) are no part of a network: a warning says so.
    ``cchybrid.instance`` and ``cchybrid.collective`` use those of a file that they get.

    Raises
    ------
    InputError
        If the source is wrong; one line says what, where, and how to correct it.

    Examples
    --------
    >>> import networkx as nx
    >>> import cchybrid
    >>> graph = nx.Graph([("R1", "R2"), ("R2", "R3")])
    >>> found = cchybrid.network(graph, name="line")
    >>> found.nodes, len(found.channels), found.node_names
    (3, 4, ('R1', 'R2', 'R3'))
    >>> cchybrid.network("mesh-4x8").nodes
    32
    """
    ignore_attributes = read_flag(ignore_attributes, "ignore_attributes")
    found = without_modes(_network_file(source, ignore_attributes, unit), _warn)
    return found if name is None or name == found.name else replace(found, name=_text(name, "name"))


def _network_file(source: Any, ignore_attributes: bool | None, unit: Any = None) -> NetworkFile:
    """Return the network that a user names, with the modes of its nodes."""
    if not isinstance(source, (str, Path)):
        found = _network(source, ignore_attributes, unit)
        return found if isinstance(found, NetworkFile) else NetworkFile.of(found)
    if unit not in (None, EXACT) and not is_graph_file(source):
        raise _no_unit()
    read = noting(_warn, ignore_attributes=ignore_attributes, unit=unit)
    return read(source) if isinstance(source, Path) else find_file(source, load_registry(), read)


def _network(source: Any, ignore_attributes: bool | None, unit: Any) -> Network | NetworkFile:
    """Return the network of what is neither a name nor a file; of a graph with its rates."""
    is_graph = hasattr(source, "is_directed") and hasattr(source, "adj")
    if unit not in (None, EXACT) and not is_graph:
        raise _no_unit()
    if isinstance(source, Network):
        return source
    if is_graph:
        title = str(source.graph.get("name") or "graph")
        found = read_graph(source, title, ignore_attributes=ignore_attributes, unit=unit)
        for line in found.notes:
            _warn(line)
        every = found.network.terminals
        return NetworkFile(found.network, every, every, (), *found[2:])
    if hasattr(source, "shape") and hasattr(source, "dtype"):
        from cchybrid.library.matrices import read_bandwidths, read_matrix

        if unit == EXACT:
            return _network(read_bandwidths(source), ignore_attributes, unit)
        return read_matrix(source, "matrix")
    if isinstance(source, (list, tuple, set, frozenset)) and source:
        from cchybrid.library.matrices import read_channels

        return read_channels(source, "list")
    raise InputError(
        f"{described(source)} is no network", where="network", hint=f"give {_NETWORKS}"
    )


def _no_unit() -> InputError:
    return InputError("only graphs and their files have one", where="unit", hint="leave it out")


def _warn(note: str) -> None:
    # The place that is shown is the caller's, outside of this package.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame) == __name__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(note, stacklevel=level)


def _package(frame: FrameType) -> str:
    """Return the name of the package whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{described(value)} is no name", where=where, hint="give a text")
    return value


def collective(
    pattern: Any,
    network: Any,
    *,
    root: Any = None,
    transmitters: Any = None,
    receivers: Any = None,
    participants: Any = None,
    name: str | None = None,
    kind: str = "deliver",
) -> Collective:
    """Return a collective on a network, by name or as a list of messages.

    Parameters
    ----------
    pattern
        A name such as ``AAS`` or ``alltoall``; or a list of pairs ``(source, destination)`` or
        ``(source, [destinations])`` of nodes by name or number; or a list of ``Message`` or
        ``Reduction``, which hold numbers.
    network
        A network, or anything that ``cchybrid.network`` takes.
    root, transmitters, receivers
        Roles in a named collective: nodes by name or number; by default those of a file's modes.
    name
        The name of the collective; by default that of the pattern, or ``messages``.
    kind
        ``deliver``, or ``combine`` for reductions: then pairs are ``(source, destination)`` or
        ``([sources], destination)``.

    Raises
    ------
    InputError
        If a name, a node or a message is wrong.

    Examples
    --------
    >>> from cchybrid.host.instances import collective
    >>> collective("broadcast", "ring-bi-4", root=2).messages
    (Message(source=2, destinations=(0, 1, 3)),)
    >>> collective([(0, 1), (3, [1, 2])], "ring-bi-4").messages
    (Message(source=0, destinations=(1,)), Message(source=3, destinations=(1, 2)))
    """
    file = _network_file(network, ignore_attributes=None)
    spec = InstanceSpec(
        topology="",
        root=root,
        transmitters=transmitters,
        receivers=receivers,
        participants=participants,
    )
    if isinstance(pattern, str):
        spec = replace(spec, collective=pattern)
        found = on_network(file, spec, load_registry(), _warn).collective
    else:
        found = _messages(pattern, file, spec, kind)
    if kind != "deliver" and found.kind != kind:
        raise InputError(f"{found.name} is of kind {found.kind}", where="kind", hint="leave it out")
    return found if name is None else replace(found, name=_text(name, "name"))


def _messages(items: Any, file: NetworkFile, spec: InstanceSpec, kind: str) -> Collective:
    """Return the collective of listed messages on a network whose specification has no roles."""
    for role in ("root", "transmitters", "receivers", "participants"):
        if getattr(spec, role) is not None:
            raise InputError(
                "a list of messages names the nodes already", where=role, hint="leave it out"
            )
    found = _listed(items, file.network, kind)
    note_unused_modes(file, found, _warn)
    return found


def _listed(items: Any, network: Network, kind: str) -> Collective:
    if isinstance(items, Collective):
        return items
    if kind not in ("deliver", "combine"):
        raise InputError(f"unknown kind {kind!r}", where="kind", hint="use deliver or combine")
    hint = "give a name such as AAS, or a list of pairs (source, destination)"
    if not isinstance(items, (list, tuple, set, frozenset)):
        raise InputError(f"{described(items)} is no collective", where="collective", hint=hint)
    messages: list[Any] = []
    for index, item in enumerate(items):
        with with_context(f"message {index}"):
            messages.append(_message(item, network, kind))
    return Collective("messages", tuple(messages))


def _message(item: Any, network: Network, kind: str) -> Message | Reduction:
    by_number = replace(network, node_names=None) if isinstance(item, _RECORDS) else network
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise InputError(
            f"{str(item)[:40]!r} is no pair",
            hint="write (source, destination), nodes of the network",
        )
    first, second = item
    if isinstance(item, Reduction) or (kind == "combine" and not isinstance(item, Message)):
        return Reduction(_many(first, by_number), node_number(second, by_number))
    return Message(node_number(first, by_number), _many(second, by_number))


_RECORDS = (Message, Reduction)


def _many(nodes: Any, network: Network) -> tuple[int, ...]:
    """Return one node, or the nodes of a list; a tuple may be a list, or the name of one node."""
    if isinstance(nodes, (list, set, frozenset)) or (
        isinstance(nodes, tuple) and str(nodes) not in network.node_by_name
    ):
        return tuple(node_number(node, network) for node in nodes)
    return (node_number(nodes, network),)


def instance(
    network: Any,
    collective: Any = None,
    *,
    root: Any = None,
    transmitters: Any = None,
    receivers: Any = None,
    routing: Any = None,
    switching: str | None = None,
    ports: Any = None,
    fail_links: Sequence[str] = (),
    fail_nodes: Sequence[Any] = (),
    participants: Any = None,
    chunks: int | None = None,
    rounds: Any = None,
    size: Any = None,
    tick: Any = None,
    size_matrix: Any = None,
    ignore_attributes: bool = False,
    unit: Any = None,
    name: str | None = None,
) -> Instance:
    """Return the instance of a network, a collective and a communication model.

    Parameters
    ----------
    network
        Anything that ``cchybrid.network`` takes; or an instance file, then without a collective.
    collective
        A name or a list of messages, as ``cchybrid.collective`` takes it, or a ``Collective``.
    root, transmitters, receivers
        Roles in a named collective: nodes by name or number.
    routing
        ``minimal``, ``any``, a number of extra hops, ``xy``, ``yx`` or ``e-cube``; a file with a
        table of next hops, its rows, or a ``RoutingTable``.
    switching
        ``wormhole`` or ``store-and-forward``.
    ports
        ``all``, a number per node, or ``(inject, accept)``.
    fail_links, fail_nodes
        Links ``A-B`` (``A>B``: one direction) and nodes without which the network is used.
    participants
        The nodes that take part in a named collective; all others only forward.
    chunks
        Equal parts into which every message is cut.
    rounds
        Rounds per step, such as ``[1, 2, 2]``; the last number holds for all further steps.
    size, tick
        The bytes of every message, such as ``1MiB``: steps become ticks, by the bandwidths of the
        links. The microseconds of a tick, to which times are rounded up; by default all are exact.
    size_matrix
        For ``alltoallv`` a CSV file or a matrix: the bytes from every node to every other one.
    ignore_attributes
        Whether unknown attributes of a graph are ignored, with a warning, not refused.
    unit
        What a capacity of 1 is, as ``cchybrid.network`` takes it.
    name
        The name of the instance.

    Raises
    ------
    InputError
        If a name or a number is wrong; one line says what, where, and how to correct it.

    Examples
    --------
    >>> import networkx as nx
    >>> import cchybrid
    >>> cchybrid.instance("spidergon-8", "AAS").name
    'spidergon-8 AAS'
    >>> graph = nx.Graph([("R1", "R2"), ("R2", "R3")], name="line")
    >>> cchybrid.instance(graph, "broadcast", root="R3").collective.messages
    (Message(source=2, destinations=(0, 1)),)
    """
    ignore_attributes = read_flag(ignore_attributes, "ignore_attributes")
    for where, flag in (("routing", routing), ("ports", ports)):
        if isinstance(flag, bool):
            raise InputError(f"{flag} makes no sense", where=where, hint="leave it out")
    if switching is not None and not isinstance(switching, str):
        raise InputError(
            f"{described(switching)} makes no sense", where="switching", hint="give a text"
        )
    if hasattr(fail_nodes, "tolist"):  # an array of NumPy
        fail_nodes = fail_nodes.tolist()
    for where, faults in (("fail_links", fail_links), ("fail_nodes", fail_nodes)):
        if not isinstance(faults, (list, tuple, set, frozenset)):
            raise InputError(f"{faults!r} is no list", where=where, hint="give a list, such as []")
    if not all(isinstance(link, str) for link in fail_links):
        raise InputError("a link is no text", where="fail_links", hint="write A-B or A>B")
    if isinstance(ports, (tuple, list)):
        ports = ",".join(map(str, ports))
    spec = InstanceSpec(
        topology=str(network) if isinstance(network, (str, Path)) else "",
        collective=collective if isinstance(collective, str) else None,
        root=root,
        transmitters=transmitters,
        receivers=receivers,
        routing=routing,
        switching=switching,
        ports=ports,
        fail_links=tuple(fail_links),
        fail_nodes=tuple(fail_nodes),
        participants=participants,
        chunks=chunks,
        rounds=rounds,
        size=size,
        tick=tick,
        size_matrix=size_matrix,
    )
    unit = EXACT if unit is None and size is not None else unit
    if isinstance(collective, str) or (collective is None and spec.topology):
        found = _by_name(network, spec, ignore_attributes, unit)
    elif collective is None:
        raise InputError(
            "no collective", where="collective", hint="give one, such as AAS or alltoall"
        )
    else:
        found = _by_messages(network, collective, spec, ignore_attributes, unit)
    return found if name is None else replace(found, name=_text(name, "name"))


def given_instance(value: Any, collective: Any, **settings: Any) -> Instance:
    """Return an instance that is given as such, or as a network and a collective."""
    if not isinstance(value, Instance):
        return instance(value, collective, **settings)
    if collective is not None:
        raise InputError("the instance has one already", where="collective", hint="leave it out")
    return value


def _by_name(network: Any, spec: InstanceSpec, ignore_attributes: bool, unit: Any) -> Instance:
    registry = load_registry()
    if spec.topology:
        if unit not in (None, EXACT) and not is_graph_file(network):
            raise _no_unit()
        read = noting(_warn, ignore_attributes=ignore_attributes, unit=unit)
        return resolve(spec, registry, read, _warn)
    return on_network(_network_file(network, ignore_attributes, unit), spec, registry, _warn)


def _by_messages(
    network: Any, messages: Any, spec: InstanceSpec, ignore_attributes: bool, unit: Any
) -> Instance:
    file = _network_file(network, ignore_attributes, unit)
    whole, found = sized(file, spec, _warn), _messages(messages, file, spec, "deliver")
    with with_context("fail_nodes"):
        failed = [node_number(node, whole) for node in spec.fail_nodes]
    there = fail(whole, spec.fail_links, failed)
    return with_model(Instance(there, found), spec, _warn)
