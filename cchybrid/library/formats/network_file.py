"""What a network file holds: a network, and who transmits and receives."""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.model import Network


@dataclass(frozen=True)
class NetworkFile:
    """A network read from a file; the collective is named elsewhere.

    Parameters
    ----------
    network
        The network.
    transmitters, receivers
        The nodes that may send and that may receive, ascending. Formats that do not say who name
        all terminals.
    """

    network: Network
    transmitters: tuple[int, ...]
    receivers: tuple[int, ...]

    @classmethod
    def of(cls, network: Network) -> NetworkFile:
        """Return the file of a network whose terminals all send and receive."""
        return cls(network, network.terminals, network.terminals)
