"""Roles in named collectives: who takes part, who is the root, who sends and who receives."""

from collections.abc import Iterable, Sequence
from typing import Any

from cchybrid.library.node_lists import format_nodes
from cchybrid.library.node_numbers import format_node_names
from cchybrid.library.records import Roles
from cchybrid.model import Collective, Message, Network, Reduction
from cchybrid.model.errors import InputError


def roles_of(
    network: Network,
    root: int | None,
    transmitters: Sequence[int] | None,
    receivers: Sequence[int] | None,
    argument: str,
    root_sends: bool = False,
) -> Roles:
    """Return the roles of a collective; see ``cchybrid.library.collectives.collective``.

    With ``root_sends`` the only receiver is not the root by default.

    Raises
    ------
    InputError
        A node that is no terminal, a root that takes no part, or fewer than two participants.
    """
    terminals = set(network.terminals)
    for role, nodes in (("transmitter", transmitters), ("receiver", receivers)):
        if nodes is not None and not nodes:
            raise InputError(f"no {role}s", hint="name at least one")
        _check_terminals(role, nodes or (), network)
    sending = terminals if transmitters is None else set(transmitters)
    receiving = terminals if receivers is None else set(receivers)
    participants = tuple(sorted(sending | receiving))
    if len(participants) < 2:
        raise InputError(
            f"too few participants ({len(participants)})",
            hint="let at least two linked terminals take part",
        )
    if root is None:
        sides = (sending,) if root_sends else (sending, receiving)
        alone = [nodes for nodes in sides if len(nodes) == 1]
        root = min(alone[0]) if alone else participants[0]
    _check_terminals("root", (root,), network)
    if root not in participants:
        raise _no_participant(root, participants, network)
    senders, accepting = tuple(sorted(sending)), tuple(sorted(receiving))
    return Roles(participants, root, senders, accepting, argument, network)


def group_of(
    network: Network,
    participants: Sequence[int],
    transmitters: Sequence[int] | None,
    receivers: Sequence[int] | None,
) -> tuple[int, ...]:
    """Return the participants in ascending order, each a terminal."""
    if transmitters is not None or receivers is not None:
        raise InputError(
            "participants, and transmitters or receivers",
            hint="give participants alone, or who sends and who receives",
        )
    _check_terminals("participant", participants, network)
    group = tuple(sorted(set(participants)))
    if len(group) < 2:
        raise InputError(f"too few participants ({len(group)})", hint="name at least two terminals")
    return group


def senders_and_receivers(collective: Collective) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the nodes that send messages and the nodes that receive them, ascending."""
    found: tuple[set[int], set[int]] = (set(), set())
    for message in collective.messages:
        if isinstance(message, Message):
            ends: Any = (message.source,), message.destinations
        elif isinstance(message, Reduction):
            ends = message.sources, (message.destination,)
        else:
            ends = message.members, message.members
        for nodes, more in zip(found, ends, strict=True):
            nodes.update(more)
    return tuple(sorted(found[0])), tuple(sorted(found[1]))


def _check_terminals(role: str, nodes: Iterable[int], network: Network) -> None:
    terminals = set(network.terminals)
    for node in nodes:
        if node not in terminals:
            raise InputError(
                f"{role} {_name(node, network)} is no terminal",
                hint=f"use one of {shortened(network.terminals, network)}",
            )


def _no_participant(node: int, participants: Sequence[int], network: Network | None) -> InputError:
    name = str(node) if network is None else _name(node, network)
    return InputError(
        f"node {name} takes no part", hint=f"use some of {shortened(participants, network)}"
    )


def _name(node: int, network: Network) -> str:
    return network.node_name(node) if 0 <= node < network.nodes else str(node)


def check_participants(nodes: Iterable[int], roles: Roles) -> None:
    """Raise an ``InputError`` for a node that takes no part."""
    known = set(roles.participants)
    for node in nodes:
        if node not in known:
            raise _no_participant(node, roles.participants, roles.network)


def shortened(nodes: Sequence[int], network: Network | None) -> str:
    """Return a list of nodes as ``listed``, cut off after about 60 characters."""
    text = listed(nodes, network)
    return text if len(text) <= 60 else text[:57].rpartition(",")[0] + ",..."


def listed(nodes: Sequence[int], network: Network | None) -> str:
    """Return a list of nodes by their names as users write it, such as ``0-3,7``."""
    return format_nodes(nodes) if network is None else format_node_names(nodes, network)
