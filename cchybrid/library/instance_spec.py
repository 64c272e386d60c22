"""Instance specifications: the words by which users name an instance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from cchybrid.library.collectives import collective as build_collective
from cchybrid.library.formats import NetworkFile, read_network
from cchybrid.library.formats.graph_files import is_graph_file
from cchybrid.library.formats.network_json import is_network
from cchybrid.library.node_numbers import node_number, node_numbers
from cchybrid.library.rates import in_ticks, read_bytes
from cchybrid.library.records import CollectiveInfo, TopologyInfo
from cchybrid.library.roles import senders_and_receivers, shortened
from cchybrid.library.routing_tables import dependency_cycle, routing_table
from cchybrid.library.size_matrix import NAME, alltoallv, read_sizes
from cchybrid.library.topologies import fail
from cchybrid.library.topologies import network as build_network
from cchybrid.library.topologies.names import rates_of
from cchybrid.model import Collective, CommunicationModel, Instance, Network, RoutingTable
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import is_file, read_text
from cchybrid.model.times import read_tick

Nodes = Any
"""Nodes by name or number, one by one or as a text such as ``0-3,7`` or ``R1,R3``; or ``None``."""

Reader = Callable[[str | Path], NetworkFile]
"""The function that reads a network file, such as ``read_network``."""


class Names(Protocol):
    """The named networks and collectives, including those of plugins."""

    topologies: dict[str, TopologyInfo]
    collectives: dict[str, CollectiveInfo]

    def foreign_instance(self, text: str, name: str) -> Instance:
        """Return the instance of a file of another tool with this text, and this name."""


@dataclass(frozen=True)
class InstanceSpec:
    """The words by which a user names an instance; ``None``: as the file or the default has it.

    Parameters
    ----------
    topology
        A topology's name, a network file, or an instance file, also of another tool.
    collective
        A collective's name; ``None`` with an instance file.
    root, transmitters, receivers
        Roles in the collective: nodes by name or number; lists of them also as text: ``0-3,7``.
    routing, switching, ports
        As in the instance format; ``ports`` also as text: ``all``, ``2``, ``2,1`` (inject, accept).
    fail_links, fail_nodes
        Faults: ``3-7``, ``3>7``, and nodes by name or number.
    participants
        The nodes that take part in a collective, as senders and as receivers; others only forward.
    chunks
        Equal parts into which every message is cut.
    rounds
        Rounds per step: a list, or a text such as ``1,2,2``.
    size, tick
        The bytes of every message, such as ``1MiB``, where links have bandwidths: steps are ticks.
        The microseconds of a tick; without it the largest of which all times are multiples.
    size_matrix
        For alltoallv a CSV file or a matrix: the bytes from every participant to every other one,
        in messages of ``size`` bytes, or of the largest size of which all are multiples.
    """

    topology: str
    collective: str | None = None
    root: int | str | None = None
    transmitters: Nodes = None
    receivers: Nodes = None
    routing: Any = None
    switching: str | None = None
    ports: str | int | None = None
    fail_links: Sequence[str] = ()
    fail_nodes: Nodes = ()
    participants: Nodes = None
    chunks: int | None = None
    rounds: Any = None
    size: Any = None
    tick: Any = None
    size_matrix: Any = None


def no_note(text: str) -> None:
    """Ignore a line on an instance that was read."""


def noting(note: Callable[[str], None], **settings: Any) -> Reader:
    """Return ``read_network`` with these settings; ``note`` is called with each note of a file."""

    def read(path: str | Path) -> NetworkFile:
        file = read_network(path, **settings)
        for line in file.notes:
            note(line)
        return file

    return read


def resolve(
    spec: InstanceSpec,
    names: Names,
    read: Reader = read_network,
    note: Callable[[str], None] = no_note,
) -> Instance:
    """Return the instance that a specification names.

    ``note`` is called with a line on what the collective does not use of the file.
    """
    path = Path(spec.topology)
    if spec.collective is None:
        if _is_json(path) or is_file(path):
            if is_graph_file(path) or path.suffix.lower() == ".txt" or _is_network(path):
                raise _only_a_network(path)
            return with_model(_load_instance(path, spec, names), spec, note)
        raise InputError(
            f"no collective is named for {spec.topology}",
            where="COLLECTIVE",
            hint="write one after the topology, such as AAS; see: cchybrid collectives",
        )
    if _is_json(path) and not _is_network(path):
        raise InputError(
            f"{path} is an instance file and names its collective itself",
            where="COLLECTIVE",
            hint=f"leave {spec.collective} out",
        )
    return on_network(find_file(spec.topology, names, read), spec, names, note)


def on_network(
    file: NetworkFile, spec: InstanceSpec, names: Names, note: Callable[[str], None]
) -> Instance:
    """Return the instance of a specification on this network, with the modes of its nodes."""
    network = sized(file, spec, note)
    root = None if spec.root is None else _root(spec.root, network)
    with with_context("fail_nodes"):
        failed = node_numbers(spec.fail_nodes, network) if spec.fail_nodes else ()
    named = [
        _nodes_of(given, network, where, failed)
        for given, where in (
            (spec.transmitters, "transmitters"),
            (spec.receivers, "receivers"),
            (spec.participants, "participants"),
        )
    ]
    whole, network = network, fail(network, spec.fail_links, failed)
    if spec.participants is None and file.modes == (None, None):
        _check_cut_off(whole, network, failed, spec)
        alone = {*(whole.endpoints or range(whole.nodes))} - {*whole.terminals, *whole.switches}
        if alone:
            note(f"{whole.name}: {shortened(sorted(alone), whole)} have no links and take no part")
    if (spec.collective or "").lower() == NAME:
        return with_model(Instance(network, _alltoallv(spec, network, named)), spec, note)
    if spec.size_matrix is not None:
        raise InputError("sizes of pairs", where="size_matrix", hint=f"the collective is {NAME}")
    collective = build_collective(
        spec.collective or "",
        network,
        root=root,
        transmitters=named[0],
        receivers=named[1],
        participants=named[2],
        # Without modes all terminals take part that the faults leave.
        modes=(_without_failed(file.modes[0], failed), _without_failed(file.modes[1], failed)),
        patterns=names.collectives.values(),
    )
    note_unused_modes(file, collective, note, failed)
    return with_model(Instance(network, collective), spec, note)


def sized(file: NetworkFile, spec: InstanceSpec, note: Callable[[str], None]) -> Network:
    """Return the network of a file; with the times of its channels if the size is given."""
    network, rates = file.network, file.rates
    cut_only = spec.size_matrix is not None and spec.tick is None and rates is None
    if spec.size is None or cut_only:
        if spec.tick is not None:
            raise InputError("a tick without a size", where="tick", hint="add --size, or leave it")
        if any(file.latencies):
            note(f"{network.name}: latencies count only with a size: solve --size, or size=")
        return network
    if rates is None:
        raise InputError(
            f"the bandwidths of {network.name} are not known",
            where="size",
            hint="give links the attribute bandwidth in GB/s, or name a machine such as dgx-a100",
        )
    size = read_bytes(spec.size)
    timed, line = in_ticks(network, rates, size / (spec.chunks or 1), read_tick(spec.tick))
    assumed = "" if spec.switching else "; no --switching is named: wormhole"
    note(f"{network.name}: each message has {float(size):,.15g} bytes; {line}{assumed}")
    return timed


def _alltoallv(
    spec: InstanceSpec, network: Network, named: Sequence[tuple[int, ...] | None]
) -> Collective:
    if spec.size_matrix is None:
        raise InputError("no sizes", where="size_matrix", hint="name a CSV file of bytes per pair")
    for where, given in (("root", spec.root), ("transmitters", named[0]), ("receivers", named[1])):
        if given is not None:
            raise InputError(f"{NAME} has none", where=where, hint="use participants")
    nodes = network.terminals if named[2] is None else named[2]
    return alltoallv(read_sizes(spec.size_matrix), nodes, spec.size)


def _check_cut_off(
    whole: Network, network: Network, failed: Sequence[int], spec: InstanceSpec
) -> None:
    """Raise an ``InputError`` if faults leave a node without links, and so without a part."""
    lost = sorted({*whole.terminals} - {*network.terminals, *failed})
    if lost:
        name = network.node_name(lost[0])
        raise InputError(
            f"no link of node {name} is left, so it reaches no other",
            where="fail_links" if spec.fail_links else "fail_nodes",
            hint=f"let it fail as well (--fail-node {name}), or name the participants",
        )


def note_unused_modes(
    file: NetworkFile,
    collective: Collective,
    note: Callable[[str], None],
    failed: Sequence[int] = (),
) -> None:
    """Call ``note`` with a line if a collective has other senders or receivers than the modes."""
    if file.modes == (None, None):
        return
    modes = file.transmitters, file.receivers
    ends = senders_and_receivers(collective)
    # With equal sides, as of B and N alone, the modes say who takes part, in whatever role.
    if modes[0] == modes[1]:
        fits = {*ends[0], *ends[1]} <= {*modes[0]}
    else:
        fits = ends == tuple(_without_failed(nodes, failed) for nodes in modes)
    if fits:
        return
    sending, accepting = (shortened(nodes, file.network) for nodes in ends)
    note(
        f"{file.network.name}: the modes of the file are not those of {collective.name}, in "
        f"which {sending} send and {accepting} receive; MNB and MNS take the modes"
    )


def _nodes_of(
    given: Nodes, network: Network, where: str, failed: Sequence[int]
) -> tuple[int, ...] | None:
    with with_context(where):
        nodes = None if given is None else node_numbers(given, network)
        lost = [node for node in nodes or () if node in failed]
        if lost and where != "participants":  # the name of a group says who is left
            raise InputError(f"node {network.node_name(lost[0])} fails", hint="name others")
    return _without_failed(nodes, failed)


def _root(root: int | str, network: Network) -> int:
    if network.node_names is None and not isinstance(root, bool):
        number = int(root) if _is_number(str(root).strip()) and len(str(root)) < 10 else -1
        if number >= 0:
            return number  # refused as no terminal, with those that there are
    with with_context("root"):
        return node_number(root, network)


def _load_instance(path: Path, spec: InstanceSpec, names: Names) -> Instance:
    for name, value in (
        ("--root", spec.root),
        ("--transmitters", spec.transmitters),
        ("--receivers", spec.receivers),
        ("--participants", spec.participants),
        ("--fail-link", spec.fail_links or None),
        ("--fail-node", spec.fail_nodes or None),
        ("--size", spec.size),
        ("--tick", spec.tick),
        ("--size-matrix", spec.size_matrix),
    ):
        if value is not None:
            raise InputError(
                f"{path} names the messages already", where=name, hint="leave the option out"
            )
    if _is_json(path):
        return Instance.load(path)
    with with_context(path):
        return names.foreign_instance(read_text(path), path.stem)


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _is_network(path: Path) -> bool:
    with with_context(path):
        return _is_json(path) and is_network(read_text(path))


def _only_a_network(path: Path) -> InputError:
    return InputError(
        f"{path} holds a network only",
        where="COLLECTIVE",
        hint="write a collective after it, such as AAS; see: cchybrid collectives",
    )


def find_file(text: str, names: Names, read: Reader = read_network) -> NetworkFile:
    """Return the network of a file or a topology's name, with the modes of its nodes.

    Raises
    ------
    InputError
        If there is no such topology, or the file is no network.
    """
    path = Path(text)
    if path.suffix or path.name != text:  # names of topologies have no dot or slash
        return read(path)
    try:
        network = build_network(text, names.topologies.values())
    except InputError as error:
        if is_file(path):
            error.hint = f"there is a file {text}; give it an extension such as .edges"
        raise
    published = rates_of(network, names.topologies.values())
    return replace(NetworkFile.of(network), published=published)


def find_network(
    text: str, names: Names, note: Callable[[str], None], read: Reader = read_network
) -> Network:
    """Return the network alone of a file or a topology's name; see ``without_modes``."""
    return without_modes(find_file(text, names, read), note)


def without_modes(file: NetworkFile, note: Callable[[str], None]) -> Network:
    """Return the network of a file alone; ``note`` is called with a line if that leaves modes."""
    if file.modes != (None, None):
        sending, accepting = (
            shortened(nodes, file.network) or "none"
            for nodes in (file.transmitters, file.receivers)
        )
        note(
            f"{file.network.name}: the modes of the file, by which {sending} send and {accepting} "
            "receive, are no part of a network; they count where the file is named with a "
            "collective"
        )
    return file.network


def with_model(
    instance: Instance, spec: InstanceSpec, note: Callable[[str], None] = no_note
) -> Instance:
    """Return the instance with the model options of the specification applied.

    ``note`` is called with a line if the paths of a routing table do not exclude a deadlock.
    """
    table = routing_table(spec.routing, instance.network)
    routing = spec.routing if table is None else table
    model = read_model(instance.model, routing, spec.switching, spec.ports)
    if spec.rounds is not None:
        model = replace(model, rounds=_rounds(spec.rounds))
    if spec.chunks is not None:
        instance = instance.in_chunks(spec.chunks)
    found = instance.with_model_of(model)
    table, network = found.model.table, found.network
    if table and (cycle := dependency_cycle(table, network, found.collective)):
        paths = "the paths that its messages may take"
        note(f"{found.name}: deadlock is not excluded: {paths} have the cycle of channels {cycle}")
    return found


def read_model(
    model: CommunicationModel, routing: Any, switching: str | None, ports: str | int | None
) -> CommunicationModel:
    """Return a model with the options of ``InstanceSpec`` applied that are not ``None``."""
    record = model.to_json()
    if isinstance(routing, RoutingTable):
        record["routing"] = routing.to_json()
    elif routing is not None:
        text = str(routing).lower()
        record["routing"] = int(text) if _is_number(text) else text
    if switching is not None:
        record["switching"] = switching.lower()
    if ports is not None:
        record["ports"] = _ports(str(ports).lower())
    found = CommunicationModel.from_json(record)
    if routing is not None and found.switching == "store-and-forward":
        raise InputError(
            "no routing in store-and-forward switching, where every hop is a path of its own",
            where="routing",
            hint="leave it out",
        )
    return found


def _ports(text: str) -> Any:
    sides = text.split(",")
    if text == "all":
        return "all"
    if len(sides) > 2 or not all(_is_number(side.strip()) for side in sides):
        raise InputError(
            f"{text[:40]!r} is no number of ports",
            where="ports",
            hint="use all, K, or INJECT,ACCEPT",
        )
    numbers = [int(side) for side in sides]
    return numbers[0] if len(numbers) == 1 else {"inject": numbers[0], "accept": numbers[1]}


def _rounds(value: Any) -> tuple[int, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if isinstance(parts, (list, tuple)) and not isinstance(value, str):
        return tuple(parts)
    if not isinstance(value, str) or not all(_is_number(part.strip()) for part in parts):
        raise InputError(
            f"{str(value)[:40]!r} are no rounds per step",
            where="rounds",
            hint="write whole numbers such as 1,2,2; the last one holds for all further steps",
        )
    return tuple(map(int, parts))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _without_failed(nodes: Sequence[int] | None, failed: Sequence[int]) -> tuple[int, ...] | None:
    return None if nodes is None else tuple(node for node in nodes if node not in failed)
