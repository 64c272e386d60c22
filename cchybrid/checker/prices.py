"""Prices of channels and ports, each for a range of steps, and what all steps offer at them.

The two channels of a half-duplex pair share one capacity, so they have one price.

In ticks a price is paid by a transfer that begins to use the channel or port within its range.
Something that is used for at least L ticks, by as many transfers at a time as its capacity, is
begun to be used by no more in any L ticks in a row, as all of them use it in the last of these.
So a range of R ticks offers the price at most ceil(R / L) times the capacity; L is the length of a
channel, and of a port the least length of the channels that it serves.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.reading import whole_rows

MAX_STEPS = 1 << 40
MAX_WORK = 30_000_000
"""Limits of steps, and of operations (microseconds each) to check evidence from any source."""

Hop = tuple[int, int]


class Interval(NamedTuple):
    """Steps in which every price is the same; ``last`` is ``None`` if there is no last step.

    ``hops`` has the price of every channel. In store-and-forward switching it includes the ports at
    both ends, and ``inject`` and ``accept`` are empty. What is missing in them has the price 0.
    ``free`` tells that nothing has a price.
    """

    first: int
    last: int | None
    hops: dict[Hop, int]
    inject: dict[int, int]
    accept: dict[int, int]
    free: bool = False


class Prices:
    """The prices of evidence.

    Parameters
    ----------
    evidence
        ``channels`` lists ``[a, b, first, last, price]``, ``inject`` and ``accept`` list
        ``[node, first, last, price]``: a non-negative integer for the steps from first to last,
        counted from 1. Without first and last a price is for all steps. Prices of the same channel
        or port and step are added.
    steps
        The number of steps; ``None`` for any number, then all prices are for all steps.

    Attributes
    ----------
    intervals
        The steps in order.
    offered
        The sum of capacity times price over all steps; of one step if ``steps`` is ``None``.
    max_offer
        The largest sum of capacity times price in one step.
    """

    def __init__(self, network: Network, evidence: Mapping[str, Any], steps: int | None) -> None:
        self.steps = steps
        rows = [*self._rows(network, evidence)]
        starts = {*range(1, len(network.rounds) + 1), *(first for _, _, _, first, _, _ in rows)}
        starts |= {last + 1 for _, _, _, _, last, _ in rows if last is not None}
        bounds = sorted(start for start in starts if steps is None or start <= steps)
        self.work = 0
        self.count((len(network.channels) + len(rows)) * len(bounds))
        self.offered = self.max_offer = 0
        self.intervals: list[Interval] = []
        for first, following in pairwise([*bounds, None]):
            last = steps if following is None else following - 1
            tables: tuple[dict[Any, int], ...] = ({}, {}, {})
            offer = 0
            for table, place, capacity, start, end, price in rows:
                if start <= first and (end is None or first <= end):
                    tables[table][place] = tables[table].get(place, 0) + price
                    offer += price * network.in_step(first, capacity)
            links, inject, accept = tables
            hops = {(a, b): links.get(network.link(a, b), 0) for a, b in network.channels}
            if network.hop_by_hop:
                for a, b in hops:
                    hops[a, b] += inject.get(a, 0) + accept.get(b, 0)
                inject, accept = {}, {}
            self.intervals.append(Interval(first, last, hops, inject, accept, not any(tables)))
            self.max_offer = max(self.max_offer, offer)
            self.offered += offer * (1 if last is None else last - first + 1)
        if network.times:
            self.offered = sum(_offer_in_ticks(network, *row) for row in rows)

    def count(self, work: int) -> None:
        """Add to the operations of the whole check; refuse too many."""
        self.work += work
        if self.work > MAX_WORK:
            raise TooLargeError("the evidence takes too many operations")

    def _rows(
        self, network: Network, evidence: Mapping[str, Any]
    ) -> Iterator[tuple[int, Any, int, int, int | None, int]]:
        """Yield per price its table, its place there, the capacity, the first and last step."""
        for table, key in enumerate(("channels", "inject", "accept")):
            for row in whole_rows(evidence.get(key, []), 2, 5):
                *ends, price = row
                first, last = 1, self.steps
                if len(row) > 3:
                    *ends, first, last = ends
                    free = not (network.periodic or (table and network.times))
                    if not 1 <= first <= last <= (self.steps or 0) * free:
                        raise EvidenceError("a price for a step that is not there")
                if table == 0 and tuple(ends) in network.channels:
                    a, b = ends
                    yield 0, network.link(a, b), network.channels[a, b], first, last, price
                elif table > 0 and len(ends) == 1 and ends[0] < network.nodes:
                    ports = (network.inject, network.accept)[table - 1]
                    yield table, ends[0], ports[ends[0]], first, last, price
                else:
                    raise EvidenceError("a price for something that is not there")


def _offer_in_ticks(
    network: Network,
    table: int,
    place: Any,
    capacity: int,
    first: int,
    last: int | None,
    price: int,
) -> int:
    """Return what a price offers over all ticks of its range; see the module."""
    hops = [place]
    if table == 1:
        hops = [(place, after) for after in network.successors[place]]
    elif table == 2:
        hops = [(before, place) for before in network.predecessors[place]]
    length = min((network.time(hop)[1] for hop in hops), default=1)
    return price * capacity * -(-((last or 0) - first + 1) // length)
