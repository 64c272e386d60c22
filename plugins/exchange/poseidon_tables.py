"""Poseidon's schedules (T-CREST): what the adapter and the router of each tile do in each slot.

Tiles are numbered row by row, and written (column,row). In the slot in which a packet starts, the
adapter of its tile has its route: a port for each hop, and L for the adapter at the end. From then
on, a slot per tile, routers connect the input port of the packet to an output port. In the slot
after the last one the adapter of its destination has its source as ``rx``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from cchybrid.model import CommunicationModel, Instance, Message, Network, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest, Place

from .message_table import MAX_MESSAGES, at_nodes, collective_for
from .msccl_import import judged_on_used
from .placement import nodes_by_number
from .xml_tree import Element

MAX_TILES = 1024
MODEL = CommunicationModel("tdm", inject=1, accept=1)
_TILE = re.compile(r"\s*\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)\s*", re.ASCII)
_PORTS = {"N": (0, -1, "S"), "S": (0, 1, "N"), "E": (1, 0, "W"), "W": (-1, 0, "E")}
"""By output port the step in columns and rows, and the input port of the next tile."""

TABLES = {
    "file": ("", "schedule"), "schedule": ("length width height", "tile"),
    "tile": ("id", "latency timeslot"), "latency": ("", "destination"),
    "destination": ("id slotwaittime channellatency chan-id chan-bw config-ch pkt-len rate", ""),
    "timeslot": ("value", "na router"), "na": ("rx tx route chan-id config-ch pkt-id", ""),
    "router": ("", "output"), "output": ("id input", ""),
}  # fmt: skip
"""By element of a schedule its attributes and inner elements."""

Tables = dict[tuple[int, int, str], str]
"""By tile, slot and output port the input port; by tile, slot and ``rx`` the source."""


class Size(NamedTuple):
    """Columns and rows of tiles."""

    width: int
    height: int

    @classmethod
    def of(cls, element: Element) -> "Size":
        """Return the size that an element states."""
        found = cls(element.number("width"), element.number("height"))
        if min(found) < 1 or not 2 <= found.tiles <= MAX_TILES:
            raise element.error(f"{found.width} x {found.height} tiles", f"use 2 to {MAX_TILES}")
        return found

    @property
    def tiles(self) -> int:
        """The number of tiles."""
        return self.width * self.height

    def tile(self, element: Element, key: str) -> int:
        """Return the number of the tile that an attribute names."""
        text = element.attributes.get(key, "")
        found = _TILE.fullmatch(text)
        if found is None or int(found[1]) >= self.width or int(found[2]) >= self.height:
            last = self.name(self.tiles - 1)
            raise element.error(f"{key}={text[:40]!r} is no tile", f"use (x,y) up to {last}")
        return int(found[2]) * self.width + int(found[1])

    def name(self, tile: int) -> str:
        """Return how files write a tile."""
        return f"({tile % self.width},{tile // self.width})"

    def behind(self, tile: int, port: str) -> tuple[int, bool]:
        """Return the tile behind an output port, and whether a border is between them."""
        x, y = tile % self.width + _PORTS[port][0], tile // self.width + _PORTS[port][1]
        found = y % self.height * self.width + x % self.width
        return found, not (0 <= x < self.width and 0 <= y < self.height)

    def ports(self, tile: int, other: int) -> list[str]:
        """Return the output ports that lead from a tile to another one, over a border last."""
        found = [(*self.behind(tile, port), port) for port in _PORTS]
        return [port for there, _, port in sorted(found) if there == other]


class Packet(NamedTuple):
    """A packet: where and when it starts, its destination, its route."""

    tile: int
    slot: int
    goal: int
    route: str

    def entries(self, size: Size) -> list[tuple[int, str, str]]:
        """Return tile, output port and input port of each router, at the end the ``rx``."""
        tile, entered, found = self.tile, "L", list[tuple[int, str, str]]()
        for port in self.route:
            found.append((tile, port, entered))
            if port != "L":
                tile, entered = size.behind(tile, port)[0], _PORTS[port][2]
        return [*found, (tile, "rx", size.name(self.tile))]


def _tables(packets: Iterable[Packet], size: Size, length: int) -> Tables:
    """Return the tables for packets, with all inputs of an output that several use."""
    tables = Tables()
    for packet in packets:
        for slot, (tile, port, value) in enumerate(packet.entries(size), packet.slot):
            key = tile, slot % length, port
            tables[key] = f"{tables[key]} and {value}" if key in tables else value
    return tables


def read_tables(root: Element, request: ImportRequest) -> Imported:
    """Return the schedule of a file of Poseidon: the routes of its adapters.

    The inputs of routers and ``rx`` follow from these, and are not read; Poseidon does not write
    those of what arrives in the next period. A port that two packets use at once is a broken rule.

    Raises
    ------
    InputError
        An attribute cannot be read, or packets take several slots.
    """
    size, length = Size.of(root), root.number("length")
    if not 0 < length <= MAX_MESSAGES:
        raise root.error(f"a period of {length} slots", f"use 1 to {MAX_MESSAGES:,}")
    packets = [*_packets(root, size, length)]
    tables = _tables(packets, size, length)
    broken = tuple(
        BrokenRule("port-overload", f"tile {size.name(tile)}, timeslot {slot}", f"{port} is {both}")
        for (tile, slot, port), both in sorted(tables.items())
        if " and " in both
    )
    network, facts = request.network, [f"{len(packets)} packets, {length} slots a period"]
    if network is None:
        links = sorted({(tile, port) for tile, _, port in tables if port in _PORTS})
        arcs = [(tile, size.behind(tile, port)[0]) for tile, port in links]
        network = Network.from_arcs(f"custom-{size.height}x{size.width}", size.tiles, arcs)
        facts.append(judged_on_used(network))
    index = nodes_by_number(range(size.tiles), request.network)
    messages = {n: at_nodes(Message(p.tile, (p.goal,)), index) for n, p in enumerate(packets)}
    collective, numbers = collective_for(request, messages, network.terminals)
    steps: list[list[Transfer]] = [[] for _ in range(length)]
    places: dict[Place, str] = {}
    for number, packet in enumerate(packets):
        step = steps[packet.slot]
        places[packet.slot, len(step)] = f"tile {size.name(packet.tile)}, timeslot {packet.slot}"
        path = tuple(index[tile] for tile, *_ in packet.entries(size)[:-1])
        step.append(Transfer(numbers[number], path))
    schedule = Schedule(Instance(network, collective, MODEL), tuple(map(tuple, steps)))
    limits = ("inputs of routers and rx are not compared with the routes",)
    return Imported(schedule.instance, schedule, broken, places, None, limits, tuple(facts))


def _packets(root: Element, size: Size, length: int) -> Iterator[Packet]:
    """Yield the packets of a schedule."""
    for each in root.named("tile"):
        tile = size.tile(each, "id")
        for served in (goal for part in each.named("latency") for goal in part.inner):
            refuse_phits(served, served.number("pkt-len", 1))
        for row in each.named("timeslot"):
            slot = row.number("value")
            if not 0 <= slot < length:
                raise row.error(f"timeslot {slot}", f"use 0 to {length - 1}")
            for adapter in row.named("na"):
                goal, route = size.tile(adapter, "tx"), adapter.attributes.get("route", "")
                if (goal != tile) != bool(re.fullmatch("[NESW]{1,9999}L", route)):
                    raise adapter.error(f"route={route[:40]!r}", "write ports NESW, at the end L")
                if goal != tile:
                    yield Packet(tile, slot, goal, route)


def refuse_phits(element: Element, phits: int) -> None:
    """Raise an ``InputError`` for packets that are not as long as a slot."""
    if phits != 1:
        raise element.error(f"packets of {phits} phits, a slot each", "use 1 phit")


def export_poseidon(schedule: Schedule) -> str:
    """Return the schedule as the XML that Poseidon writes, without figures of latency.

    Raises
    ------
    InputError
        It has no time slots, more than one port, or a network that is no grid of tiles.
    """
    instance, length = schedule.instance, len(schedule.steps)
    if instance.model != MODEL:
        what, hint = "no time slots, or not one port a tile", "solve with --switching tdm --ports 1"
        raise InputError(what, where=instance.name, hint=hint)
    if max(instance.collective.flat[1]) > 1:
        what, hint = "messages with several destinations", "packets have one: use alltoall or pairs"
        raise InputError(what, where=instance.name, hint=hint)
    size, packets, adapters = _grid(instance.network), list[Packet](), dict[tuple[int, int], str]()
    uses, sent = Counter[tuple[int, ...]](), Counter[tuple[int, int]]()
    channels: dict[tuple[int, int], int] = {}
    for start, step in enumerate(schedule.steps):
        for _, path in step:
            route, pair = "", (path[0], path[-1])
            for slot, hop in enumerate(pairwise(path), start):
                route += size.ports(*hop)[uses[*hop, slot % length]]
                uses[*hop, slot % length] += 1
            packets.append(Packet(path[0], start, path[-1], f"{route}L"))
            channel = channels.setdefault(pair, len(channels))
            adapters[path[0], start] = (
                f'tx="{size.name(path[-1])}" route="{route}L" chan-id="{channel}" '
                f'config-ch="false" pkt-id="{sent[pair]}"'
            )
            sent[pair] += 1
    tables = _tables(packets, size, length)
    lines = [f'<schedule length="{length}" width="{size.width}" height="{size.height}">']
    for tile in range(size.tiles):
        own = size.name(tile)
        lines.append(f'<tile id="{own}">')
        for slot in range(length):
            rx, tx = tables.get((tile, slot, "rx"), own), adapters.get((tile, slot), f'tx="{own}"')
            inputs = [(port, tables.get((tile, slot, port), "D")) for port in "NSEWL"]
            lines += [f'<timeslot value="{slot}"><na rx="{rx}" {tx} />', "<router>"]
            lines += [f'<output id="{port}" input="{entered}" />' for port, entered in inputs]
            lines.append("</router></timeslot>")
        lines.append("</tile>")
    return "\n".join([*lines, "</schedule>\n"])


def _grid(network: Network) -> Size:
    """Return the size of the grid that a network is, the one of its name first."""
    heights = [h for h in range(1, network.nodes + 1) if network.nodes % h == 0]
    sizes = [Size(network.nodes // h, h) for h in heights]
    for size in sorted(sizes, key=lambda s: not network.name.endswith(f"-{s.height}x{s.width}")):
        if all(capacity <= len(size.ports(a, b)) for a, b, capacity in network.channels):
            return size
    what = "nodes that are, row by row, no tiles of a grid"
    raise InputError(what, where=network.name, hint="use a mesh or a torus of two dimensions")
