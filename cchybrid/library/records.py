"""The typed records of named networks and collectives, as plugins register them."""

from collections.abc import Callable
from dataclasses import dataclass

from cchybrid.library.rates import Rates
from cchybrid.model import Collective, Network


def unknown(network: Network) -> None:
    """Return ``None``: the rates of a network are not known."""


API = 2
"""The version of the plugin interface; plugins written for another version are refused."""


@dataclass(frozen=True)
class TopologyInfo:
    """A family of networks that users name, such as ``mesh-4x8``.

    Parameters
    ----------
    name
        The family: ``mesh``.
    usage
        How users write a member: ``mesh-AxB[xC...]``.
    pattern
        Regular expression that a whole lower-case name must match: ``mesh-(\\d+(?:x\\d+)+)``.
    build
        Called with the pattern's groups (strings) in order; returns the network, whose name is
        set by the caller. Raises ``InputError`` for invalid parameters.
    summary
        One line, shown by ``cchybrid topologies``.
    example
        A name that works: ``mesh-4x4``.
    rates
        Returns the bandwidths and latencies of a network of the family, or ``None``.
    api
        The version of the plugin interface that the family was written for.
    """

    name: str
    usage: str
    pattern: str
    build: Callable[..., Network]
    summary: str
    example: str
    api: int = API
    rates: Callable[[Network], Rates | None] = unknown


@dataclass(frozen=True)
class Roles:
    """The nodes that take part in a collective.

    Parameters
    ----------
    participants
        The nodes that the collective is about, ascending.
    root
        One of the participants.
    transmitters, receivers
        Subsets of the participants; all of them unless the user or the file says otherwise.
    argument
        The text that the user wrote after the collective's name and a colon, or "".
    network
        The network, by which nodes that the argument names are found; ``None``: they are numbers.
    """

    participants: tuple[int, ...]
    root: int
    transmitters: tuple[int, ...]
    receivers: tuple[int, ...]
    argument: str = ""
    network: Network | None = None


@dataclass(frozen=True)
class CollectiveInfo:
    """A collective that users name, such as ``AAB``.

    Parameters
    ----------
    name
        The name by which it is shown, whatever ``build`` calls it.
    usage
        How users write it: with ``[:NODES]`` at its end the argument lists the receivers.
    build
        Returns the collective of a ``Roles``.
    summary
        One line, shown by ``cchybrid collectives``.
    aliases
        Further names, such as ``allgather``.
    api
        The version of the plugin interface that the collective was written for.
    roles
        Those out of ``root``, ``transmitters`` and ``receivers`` that ``build`` uses; others are
        refused where a user names them. Participants may always be named.
    """

    name: str
    usage: str
    build: Callable[[Roles], Collective]
    summary: str
    aliases: tuple[str, ...] = ()
    api: int = API
    roles: tuple[str, ...] = ()
