"""The content of a network file: a network, its transmitters and its receivers."""

from dataclasses import dataclass
from fractions import Fraction

from cchybrid.library.rates import Rates
from cchybrid.model import Network


@dataclass(frozen=True)
class NetworkFile:
    """A network read from a file; the collective is named elsewhere.

    Parameters
    ----------
    network
        The network.
    transmitters, receivers
        The nodes that may send, and those that may receive, ascending. Where the format has no
        such roles: all terminals.
    notes
        Lines for people on the reading: the factor of the capacities, ignored attributes.
    unit_bandwidth
        The bandwidth of a capacity of 1 in GB/s, if the file has bandwidths.
    unit_capacity
        What a graph file without bandwidths has where the capacity is 1.
    latencies
        The latency of each channel in microseconds, if the file has latencies.
    published
        The bandwidths and latencies of a network by name, which count with a size only.
    """

    network: Network
    transmitters: tuple[int, ...]
    receivers: tuple[int, ...]
    notes: tuple[str, ...] = ()
    unit_bandwidth: Fraction | None = None
    unit_capacity: Fraction | None = None
    latencies: tuple[Fraction, ...] = ()
    published: Rates | None = None

    @classmethod
    def of(cls, network: Network, rates: Rates | None = None) -> "NetworkFile":
        """Return the file of a network whose terminals all send and receive."""
        known = (None, None, ()) if rates is None else (rates.unit, None, rates.latencies)
        return cls(network, network.terminals, network.terminals, (), *known)

    @property
    def rates(self) -> Rates | None:
        """The bandwidths and latencies, if they are known."""
        if self.unit_bandwidth is None:
            return self.published
        return Rates(self.unit_bandwidth, self.latencies)

    @property
    def modes(self) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
        """The transmitters and the receivers, ``None`` for those that are all terminals."""
        every = self.network.terminals
        sending = None if self.transmitters == every else self.transmitters
        return sending, None if self.receivers == every else self.receivers
