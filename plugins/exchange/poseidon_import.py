"""Poseidon files (T-CREST): a platform and a communication specification, or a schedule.

The instance has time slots, the same channels, one local port a tile, and a message for each packet
of a period.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.grids import mesh, torus
from cchybrid.model import Channel, Instance, Message, Network
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest

from .message_table import MAX_MESSAGES, at_nodes, collective_for
from .placement import nodes_by_number
from .poseidon_tables import MODEL, TABLES, Size, read_tables, refuse_phits
from .xml_tree import Element, parse_xml

_TOPOLOGY = ("type topoType routerDepth linkDepth", "link")
_CHANNELS = ("type comType phits bandwidth reconfig", "channel")
_PLATFORM = {
    "file": ("", "platform topology communication channels"),
    "platform": ("width height", "topology"), "topology": _TOPOLOGY, "graph": _TOPOLOGY,
    "link": ("source sink depth", ""), "communication": _CHANNELS, "channels": _CHANNELS,
    "channel": ("from to bandwidth phits response repsonse response-delay", ""),
}  # fmt: skip
"""By element its attributes and inner elements; Poseidon writes repsonse, too, and ignores both."""
_FORMER = {"topology": ("width height", "graph")}
_DECLARATION = re.compile(r"^\s*<\?[^>]{0,200}\?>")


def recognises_poseidon(text: str) -> bool:
    """Return whether a text may be a Poseidon specification, or a schedule."""
    return re.search(r"<(platform|topology|schedule)\s[^>]{0,400}\bwidth\s*=", text) is not None


def read_poseidon(text: str, request: ImportRequest) -> Imported:
    """Return a platform and its communication as an instance, or a schedule.

    Raises
    ------
    InputError
        The file is neither, or has what the model lacks.
    """
    # The files have no single root, and often a damaged declaration.
    root = parse_xml(f"<file>{_DECLARATION.sub('', text, count=1)}</file>")
    schedule = _only(root, "schedule")
    if schedule is not None:
        root.refuse_unknown(TABLES)
        return read_tables(schedule, request)
    platform = _only(root, "platform", "topology")
    communication = _only(root, "communication", "channels")
    if platform is None or communication is None:
        what = "no platform, or no communication"
        raise InputError(what, where="the file", hint="give both elements")
    root.refuse_unknown(_PLATFORM | (_FORMER if platform.name == "topology" else {}))
    size = Size.of(platform)
    stated = _network(platform, size)
    network = request.network or stated
    index = nodes_by_number(range(size.tiles), request.network)
    packets = enumerate(_messages(communication, size))
    messages = {packet: at_nodes(message, index) for packet, message in packets}
    collective, numbers = collective_for(request, messages, network.terminals)
    broken = []
    if len(numbers) < len(collective.messages):
        text = f"{counted(len(numbers), 'packet')} for {len(collective.messages)} messages of "
        broken.append(BrokenRule("missing-demand", "communication", text + collective.name))
    fact = f"{size.width} x {size.height} tiles, {len(messages)} packets a period"
    return Imported(
        Instance(network, collective, MODEL), None, tuple(broken),
        limits=("the file holds no schedule",), facts=(fact,),
    )  # fmt: skip


def _only(parent: Element, *names: str) -> Element | None:
    """Return the only inner element of one of these names, ``None`` if there is none."""
    found = [*parent.named(*names)]
    for other in found[1:]:
        raise other.error(f"another <{other.name}>", "keep one of them")
    return found[0] if found else None


def _kind(element: Element, key: str, *known: str) -> str:
    """Return the kind of a network or of communication; only some list their inner elements."""
    found = (element.attributes.get("type", element.attributes.get(key)) or "custom").lower()
    if found not in known:
        raise element.error(f"{element.name} {found[:40]!r}", f"use {', '.join(known)}")
    for each in element.inner if found not in ("custom", "arbitrary") else ():
        raise each.error(f"<{each.name}> has no meaning in {found}", "remove it")
    return found


def _network(platform: Element, size: Size) -> Network:
    inner = _only(platform, "topology", "graph")
    if inner is None:
        raise platform.error("no topology", "add the element, with a type")
    router, link_depth = inner.number("routerDepth", 1), inner.number("linkDepth", 0)
    _refuse_depth(inner, router, link_depth)
    kind = _kind(inner, "topoType", "mesh", "bitorus", "custom")
    if kind != "custom":
        return mesh(size[::-1]) if kind == "mesh" else _bitorus(size.height, size.width)
    links: list[tuple[int, int]] = []
    for link in inner.named("link"):
        _refuse_depth(link, router, link.number("depth", link_depth))
        ends = size.tile(link, "source"), size.tile(link, "sink")
        links.append(ends)
        if ends[0] == ends[1] or links.count(ends) > len(size.ports(*ends)):
            what = f"tiles {size.name(ends[0])} and {size.name(ends[1])} have no further link"
            raise link.error(what, "join neighbours, or the two ends of a row or column, once")
    if not links:
        raise inner.error("no links", "list them")
    positions = layouts.grid(size[::-1])
    name = f"custom-{size.height}x{size.width}"
    return Network.from_arcs(name, size.tiles, links, positions=positions)


def _refuse_depth(element: Element, router: int, link: int) -> None:
    """Raise an ``InputError`` unless a hop takes one slot."""
    if min(router, link) < 0 or router + link != 1:
        raise element.error(
            f"a hop of {router} + {link} slots (routerDepth, linkDepth)", "use 1 + 0"
        )


def _bitorus(height: int, width: int) -> Network:
    """Return a torus in which the two tiles of a row or column of two have two links."""
    found = torus((height, width))
    if 2 not in (height, width):
        return found
    extents = ((a, b, width if (a - b) % width else height) for a, b, _ in found.channels)
    channels = tuple(Channel(a, b, 2 if extent == 2 else 1) for a, b, extent in extents)
    return replace(found, name=f"bitorus-{height}x{width}", channels=channels)


def _messages(communication: Element, size: Size) -> Iterator[Message]:
    """Yield a message for each packet of a period."""
    phits, bandwidth = communication.number("phits", 1), communication.number("bandwidth", 1)
    if "reconfig" in communication.attributes:
        raise communication.error("packets of a configuration master", "list them as channels")
    if _kind(communication, "comType", "all2all", "custom", "arbitrary") == "all2all":
        pairs = permutations(range(size.tiles), 2)
        channels = ((communication, a, b) for a, b in pairs)
    else:
        listed = communication.named("channel")
        channels = ((each, size.tile(each, "from"), size.tile(each, "to")) for each in listed)
    total = 0
    for element, a, b in channels:
        packets = element.number("bandwidth", bandwidth)
        refuse_phits(element, element.number("phits", phits))
        total += max(0, packets)
        if packets < 1 or a == b or total > MAX_MESSAGES:
            raise element.error(
                f"{packets} packets from tile {a} to {b}",
                f"use at least one, between two tiles; no more than {MAX_MESSAGES:,} in all",
            )
        yield from (Message(a, (b,)) for _ in range(packets))
