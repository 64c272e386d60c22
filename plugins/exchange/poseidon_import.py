"""Poseidon files (T-CREST): a platform and a communication specification, no schedule.

The instance has time slots, the same channels, one local port a tile, and a message for each packet
of a period.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.grids import mesh, torus
from cchybrid.model import Channel, CommunicationModel, Instance, Message, Network
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest

from .message_table import MAX_MESSAGES, at_nodes, collective_for
from .placement import nodes_by_number
from .xml_tree import Element, parse_xml

MAX_TILES = 4096

_DECLARATION = re.compile(r"^\s*<\?[^>]{0,200}\?>")
_TILE = re.compile(r"\s*\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)\s*", re.ASCII)


def recognises_poseidon(text: str) -> bool:
    """Return whether a text may be a Poseidon specification."""
    if "<algo" in text:
        return False
    sized = re.search(r"<(platform|topology)\s[^>]{0,400}\bwidth\s*=", text) is not None
    return sized or "<schedule length" in text


def read_poseidon(text: str, request: ImportRequest) -> Imported:
    """Return a platform and its communication as an instance.

    Raises
    ------
    InputError
        The file is none, or is one of Poseidon's schedules.
    """
    # The files have no single root, and often a damaged declaration.
    root = parse_xml(f"<poseidon>{_DECLARATION.sub('', text, count=1)}</poseidon>")
    if any(root.named("schedule")):
        raise InputError(
            "the tables of routers are not read", where="schedule",
            hint="give the platform and communication",
        )  # fmt: skip
    size = _only(root, "platform", "topology")
    communication = _only(root, "communication", "channels")
    if size is None or communication is None:
        raise InputError(
            "no platform, or no communication", where="the file", hint="give both elements"
        )
    width, height = size.number("width"), size.number("height")
    if not (width > 0 and height > 0 and 2 <= width * height <= MAX_TILES):
        raise size.error(f"{width} x {height} tiles", f"use 2 to {MAX_TILES}")
    network = request.network or _network(size, width, height)
    index = nodes_by_number(range(width * height), request.network)
    messages = {
        packet: at_nodes(message, index)
        for packet, message in enumerate(_messages(communication, width, height))
    }
    collective, numbers = collective_for(request, messages, network.terminals)
    broken = []
    if len(numbers) < len(collective.messages):
        text = f"{counted(len(numbers), 'packet')} for {len(collective.messages)} messages of "
        broken.append(BrokenRule("missing-demand", "communication", text + collective.name))
    model = CommunicationModel("tdm", inject=1, accept=1)
    facts = [f"{width} x {height} tiles, {len(messages)} packets a period"]
    limits = ["the file holds no schedule"]
    phits = communication.number("phits", 1)
    if phits != 1:
        limits.append(f"packets of {phits} phits count as one message")
    return Imported(
        Instance(network, collective, model), broken=tuple(broken),
        limits=tuple(limits), facts=tuple(facts),
    )  # fmt: skip


def _only(parent: Element, *names: str) -> Element | None:
    """Return the only inner element of one of these names, ``None`` if there is none."""
    found = [*parent.named(*names)]
    for other in found[1:]:
        raise other.error(f"another <{other.name}>", "keep one of them")
    return found[0] if found else None


def _refuse_inner(element: Element, name: str, kind: str) -> None:
    """Refuse elements that have no meaning beside a kind."""
    for each in element.named(name):
        raise each.error(f"<{name}> has no meaning in {kind}", "remove it")


def _kind(element: Element, *keys: str) -> str:
    return next((element.attributes[k] for k in keys if k in element.attributes), "").lower()


def _network(size: Element, width: int, height: int) -> Network:
    inner = _only(size, "topology", "graph") or size
    kind = _kind(inner, "type", "topoType") or "custom"
    if kind in ("mesh", "bitorus"):
        _refuse_inner(inner, "link", kind)
        return mesh((height, width)) if kind == "mesh" else _bitorus(height, width)
    if kind != "custom":
        raise inner.error(f"topology {kind[:40]!r}", "mesh, bitorus or custom")
    links = []
    for link in inner.named("link"):
        ends = [_tile(link, key, width, height) for key in ("source", "sink")]
        if ends[0] != ends[1]:
            links.append((ends[0], ends[1]))
    if not links:
        raise inner.error("no links", "list them")
    positions = layouts.grid((height, width))
    name = f"custom-{height}x{width}"
    return Network.from_arcs(name, width * height, links, positions=positions)


def _bitorus(height: int, width: int) -> Network:
    """Return a torus in which the two tiles of a row or column of two have two links."""
    found = torus((height, width))
    if 2 not in (height, width):
        return found
    extents = ((a, b, width if (a - b) % width else height) for a, b, _ in found.channels)
    channels = tuple(Channel(a, b, 2 if extent == 2 else 1) for a, b, extent in extents)
    return replace(found, name=f"bitorus-{height}x{width}", channels=channels)


def _tile(element: Element, key: str, width: int, height: int) -> int:
    text = element.attributes.get(key, "")
    found = _TILE.fullmatch(text)
    if found is None or int(found[1]) >= width or int(found[2]) >= height:
        raise element.error(
            f"{key}={text[:40]!r} is no tile", f"use (x,y) up to ({width - 1},{height - 1})"
        )
    return int(found[2]) * width + int(found[1])


def _messages(communication: Element, width: int, height: int) -> Iterator[Message]:
    """Yield a message for each packet of a period."""
    tiles = width * height
    if _kind(communication, "type", "comType") == "all2all":
        _refuse_inner(communication, "channel", "all2all")
        if tiles * (tiles - 1) > MAX_MESSAGES:
            raise InputError(f"more than {MAX_MESSAGES:,} messages", hint="audit a smaller file")
        yield from (Message(a, (b,)) for a in range(tiles) for b in range(tiles) if a != b)
        return
    total = 0
    for channel in communication.named("channel"):
        ends = [_tile(channel, key, width, height) for key in ("from", "to")]
        packets = channel.number("bandwidth", 1)
        total += max(0, packets)
        if packets < 1 or ends[0] == ends[1] or total > MAX_MESSAGES:
            raise channel.error(
                f"{packets} packets from tile {ends[0]} to {ends[1]}",
                "use at least one, between two tiles",
            )
        yield from (Message(ends[0], (ends[1],)) for _ in range(packets))
