"""Fat networks: every node of a network becomes a switch with several terminals."""

import math
from collections.abc import Iterable

from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies.names import resolve
from cchybrid.library.topologies.sizes import check_size, whole
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError

_SCALE = 2.0
_RADIUS = 0.43
"""Drawing: the factor of the switches' coordinates, and the radius of their terminals' circles."""


def fat(terminals: int, slim: Network) -> Network:
    """Return the network in which every node of ``slim`` is a switch with ``terminals`` terminals.

    With F terminals at each of n switches, the terminals are the nodes 0 to Fn - 1, terminal i
    at switch i // F, and node x of the slim network becomes the switch Fn + x. A terminal is
    linked to its switch in both directions and to nothing else, so it has one port. Source:
    Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", doctoral
    thesis, Brno (2010), section 8.5. Switches have F links more than the node they replace; the
    diameter grows by 2.

    Parameters
    ----------
    terminals
        At least 1, at each switch.
    slim
        A network without endpoints.

    Raises
    ------
    InputError
        No terminals, a network that has terminals of its own, or too many nodes or channels.
    """
    if terminals < 1:
        raise InputError(
            "there would be no terminals at the switches", hint=f"use 1-fat-{slim.name}"
        )
    if slim.endpoints:
        raise InputError(
            f"{slim.name} has switches and terminals of its own, so its nodes cannot all become "
            "switches",
            hint=f"use {slim.name}, or a network whose nodes are all terminals",
        )
    if slim.times or slim.groups:
        raise InputError(
            f"{slim.name}: its channels have times or groups, those to terminals would have none",
            hint="write a network file with all channels",
        )
    ends = terminals * slim.nodes
    check_size(ends + slim.nodes, 2 * ends + len(slim.channels))
    channels = [Channel(end, ends + end // terminals) for end in range(ends)]
    for node in range(slim.nodes):
        channels += [
            Channel(ends + node, end) for end in range(node * terminals, (node + 1) * terminals)
        ]
        channels += [
            Channel(ends + node, ends + target, slim.channels[index].capacity)
            for target in slim.successors[node]
            for index in [slim.channel_index[node, target]]
        ]
    return Network(
        f"{terminals}-fat-{slim.name}",
        ends + slim.nodes,
        tuple(channels),
        half_duplex=tuple((ends + a, ends + b) for a, b in slim.half_duplex),
        endpoints=tuple(range(ends)),
        positions=_positions(terminals, slim),
    )


def _positions(terminals: int, slim: Network) -> tuple[tuple[float, ...], ...] | None:
    if slim.positions is None:
        return None
    switches = [tuple(round(_SCALE * c, 4) for c in place) for place in slim.positions]
    # Rotated off the axes, along which most links run.
    angles = [2 * math.pi * (index + 0.5) / terminals + 0.2 for index in range(terminals)]
    ends = [
        (
            round(place[0] + _RADIUS * math.cos(angle), 4),
            round(place[1] + _RADIUS * math.sin(angle), 4),
            *place[2:],
        )
        for place in switches
        for angle in angles
    ]
    return (*ends, *switches)


def families(slim: Iterable[TopologyInfo]) -> tuple[TopologyInfo, ...]:
    """Return the family of the fat versions of all networks that the given families name."""
    slim = tuple(slim)
    return (
        TopologyInfo(
            name="fat",
            usage="F-fat-X",
            pattern=r"(\d+)-fat-(.+)",
            build=lambda terminals, name: fat(whole(terminals), resolve(name, slim)),
            summary="any network X, its nodes made switches with F terminals each",
            example="2-fat-hypercube-8",
        ),
    )
