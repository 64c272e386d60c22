"""Networks with failed links and nodes."""

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import compress

from cchybrid.library.node_numbers import link_ends
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def fail(network: Network, links: Iterable[str] = (), nodes: Iterable[int] = ()) -> Network:
    """Return the network without the failed links and nodes.

    Parameters
    ----------
    network
        The network before the faults.
    links
        Failed links. ``3-7`` fails in both directions; where there is no channel from 7 to 3, only
        from 3 to 7. ``3>7`` fails from 3 to 7 alone. In a network with one-way links, ``3-7`` is
        refused where there are channels in both directions, as they may be two links. A link fails
        with all its parallel links.
    nodes
        Failed nodes. They keep their numbers and lose all channels, so they are no terminals;
        endpoints that fail are still named as endpoints.

    Raises
    ------
    InputError
        A link or node that does not exist, or a link that is not written as above.
    """
    # Dictionaries as ordered sets: repeated faults count and are named once.
    gone: dict[tuple[int, int], None] = {}
    faults: dict[str, None] = {}
    for text in links:
        a, b, both = _read_link(text, network)
        gone |= dict.fromkeys(_link_channels(network, a, b, both))
        faults[_link_name(a, b, both, network)] = None
    failed = dict.fromkeys(nodes)
    for node in failed:
        if not 0 <= node < network.nodes:
            raise InputError(
                f"no node {node} in {network.name}", hint=f"use 0 to {network.nodes - 1}"
            )
    gone |= {(a, b): None for a, b, _ in network.channels if a in failed or b in failed}
    return _without(network, gone, list(faults), [network.node_name(node) for node in failed])


def without_link(network: Network, a: int, b: int, both: bool) -> Network:
    """Return the network without the channel from ``a`` to ``b``, or without ``both`` directions.

    Raises
    ------
    InputError
        There is no such channel.
    """
    return _without(
        network, _link_channels(network, a, b, both), [_link_name(a, b, both, network)], []
    )


def _without(
    network: Network, gone: Collection[tuple[int, int]], links: list[str], nodes: list[str]
) -> Network:
    parts = [
        f"{word}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        for word, names in (("link", links), ("node", nodes))
        if names
    ]
    kept = [channel[:2] not in gone for channel in network.channels]
    return replace(
        network,
        name=" without ".join([network.name, *([" and ".join(parts)] if parts else [])]),
        channels=tuple(compress(network.channels, kept)),
        times=tuple(compress(network.times, kept)),
        groups=tuple(
            left
            for group in network.groups
            if (left := tuple(channel for channel in group if channel not in gone))
        ),
        # The remaining channel of a failed pair keeps the whole capacity.
        half_duplex=tuple(
            (a, b) for a, b in network.half_duplex if (a, b) not in gone and (b, a) not in gone
        ),
    )


def _link_name(a: int, b: int, both: bool, network: Network) -> str:
    first, second = map(network.node_name, (min(a, b), max(a, b)) if both else (a, b))
    return f"{first}-{second}" if both else f"{first}>{second}"


def _read_link(text: str, network: Network) -> tuple[int, int, bool]:
    if network.node_names is not None:
        a, b, both = link_ends(text, network)
        return a, b, both and _is_bidirectional(a, b, network)
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*(-|->|>)\s*([0-9]{1,9})\s*", text)
    if not match:
        raise InputError(
            f"{text!r} is no link", hint="write A-B, or A>B for one direction, such as 0-1"
        )
    a, b = int(match[1]), int(match[3])
    return a, b, match[2] == "-" and _is_bidirectional(a, b, network)


def _is_bidirectional(a: int, b: int, network: Network) -> bool:
    """Return whether a link is a channel each way."""
    channels = network.channel_index
    if all(pair[::-1] in channels for pair in channels):
        return True
    if (a, b) in channels and (b, a) in channels:
        first, second = network.node_name(a), network.node_name(b)
        raise InputError(
            f"{first}-{second} may be one link or two, as {network.name} has one-way links",
            hint=f"name the channels that fail: {first}>{second}, {second}>{first}",
        )
    return False


def _link_channels(network: Network, a: int, b: int, both: bool) -> list[tuple[int, int]]:
    """Return the channels of a link, all of which must exist."""
    channels = [(a, b), (b, a)] if both else [(a, b)]
    for source, target in channels:
        if (source, target) in network.channel_index:
            continue
        if not 0 <= source < network.nodes:
            hint = f"its nodes are 0 to {network.nodes - 1}"
        elif network.successors[source]:
            near = network.successors[source]
            shown = ", ".join(map(network.node_name, near[:8])) + (", ..." if len(near) > 8 else "")
            hint = f"node {network.node_name(source)} is linked to {shown}"
        else:
            hint = f"node {network.node_name(source)} is linked to no other"
        first, second = (
            network.node_name(node) if 0 <= node < network.nodes else str(node)
            for node in (source, target)
        )
        raise InputError(
            f"no link {first}-{second} in {network.name}"
            if both
            else f"no channel from {first} to {second} in {network.name}",
            hint=hint,
        )
    return channels
