"""The time-expanded relaxation: linear rows that every schedule of S steps satisfies.

Columns are nonnegative and have upper limits:

- ``("has", m, v, t)``: node v has message m after step t (0 or 1);
- ``("flow", m, u, a, b, t)``: transfers of message m over channel (a, b) in step t sent by
  node u; with store-and-forward switching or any routing u is -1 and all senders are counted;
- ``("gets", m, u, v, t)``: whether v receives m in step t (from u, or from any node if u is -1);
- ``("sends", m, v, t)``: transfers of message m that v sends in step t, and
  ``("starts", m, a, b, t)``: those of them over channel (a, b); only with wormhole switching, where
  senders are not distinguished.

Rows, each named by its key, read "sum of coefficient times column is at least the right side":

- ``("goal", m, v)``: destination v has message m in the end;
- ``("grow", m, v, t)``: a node has a message only if it had it before or receives it in this step;
- ``("pass", m, u, v, t)``: flow conservation at v: outflow and reception need inflow or injection;
- ``("hold", m, v, t)``: v sends only if it has the message, and at most what it can send;
- ``("own", m, u, a, b, t)``: the same for one channel: a node sends only messages that it holds;
- ``("sent", m, a, b, t)``: what a sent to b up to step t, it had before, as b receives a message
  once; with store-and-forward switching, or where senders are distinguished;
- ``("split", m, v, t)``: what v sends starts over one of its channels;
- ``("over", m, a, b, t)``: what starts over a channel is a part of the flow there;
- ``("once", m, u, v, t)``: v receives from u at most once in a step, and only if u had the message
  before;
- ``("channel", a, b, t)``: capacity; for a half-duplex pair, of both directions together;
- ``("inject", v, t)`` and ``("accept", v, t)``: the ports.

Every row holds for every valid schedule; a missing row would weaken the bound, but not make it
wrong. Steps are counted from 1.
"""

from collections.abc import Iterator
from itertools import product

from cchybrid.checker import Network
from cchybrid.proof.contradiction import Column, Key, Row, Rows
from cchybrid.proof.growth import sending_power

ANY_SENDER = -1
"""The sender in columns that count all senders of a message together."""


class Relaxation(Rows):
    """The rows of one instance and one number of steps, generated on request."""

    def __init__(self, network: Network, steps: int) -> None:
        self.network = network
        self.steps = steps
        self.per_sender = not network.hop_by_hop and network.extra_hops is not None
        """Whether columns distinguish senders, because allowed paths depend on the sender."""
        self.merges_senders = not network.hop_by_hop and not self.per_sender
        """Whether flows count all senders of a message, and ``sends`` counts what each of them
        adds."""
        self._served_by: dict[tuple[int, int, int], frozenset[int]] = {}
        self._commodities_of: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._hops_from: dict[int, dict[int, int]] = {}
        self._goals = [frozenset(destinations) for _, destinations in network.messages]
        self._holders = [self._find_holders(message) for message in range(len(network.messages))]

    @property
    def flows(self) -> int:
        """The maximum number of ``flow`` columns, a measure of the size."""
        senders = sum(len(self.senders(message)) for message in range(len(self.network.messages)))
        return senders * len(self.network.channels) * self.steps

    # Holders and senders

    def holders(self, message: int) -> list[int]:
        """Return the nodes that may hold the message, the source first."""
        return self._holders[message]

    def receivers(self, message: int) -> list[int]:
        """Return the nodes that may receive the message: all holders except the source."""
        return self._holders[message][1:]

    def _find_holders(self, message: int) -> list[int]:
        source, destinations = self.network.messages[message]
        others = range(self.network.nodes) if self.network.hop_by_hop else destinations
        return [source, *(node for node in others if node != source)]

    def senders(self, message: int) -> list[int]:
        """Return the senders that columns distinguish: the holders, or only ``ANY_SENDER``."""
        return self.holders(message) if self.per_sender else [ANY_SENDER]

    def passes(self, message: int, sender: int, a: int, b: int) -> bool:
        """Return whether the message may pass channel (a, b) on its way from the sender."""
        network = self.network
        source, goals = network.messages[message][0], self._goals[message]
        if network.hop_by_hop:
            return b != source
        if not self.per_sender:
            may_begin = a == source or a in goals
            return (a not in network.endpoints or may_begin) and (
                b not in network.endpoints or b in goals
            )
        return not goals.isdisjoint(self._served(sender, a, b))

    def _served(self, sender: int, a: int, b: int) -> frozenset[int]:
        """Return the nodes that allowed paths from the sender through a channel can lead to."""
        key = (sender, a, b)
        if key not in self._served_by:
            self._served_by[key] = frozenset(self._find_served(sender, a, b))
        return self._served_by[key]

    def _find_served(self, sender: int, a: int, b: int) -> Iterator[int]:
        network = self.network
        hops = self._distances(sender)
        if b == sender or a not in hops or (a != sender and a in network.endpoints):
            return
        assert network.extra_hops is not None
        ahead = {b: 0} if b in network.endpoints else self._distances(b)
        for node, more in ahead.items():
            if (
                node != sender
                and node in hops
                and hops[a] + 1 + more <= hops[node] + network.extra_hops
            ):
                yield node

    def _distances(self, node: int) -> dict[int, int]:
        if node not in self._hops_from:
            self._hops_from[node] = self.network.hops(node)
        return self._hops_from[node]

    def _commodities(self, a: int, b: int) -> list[tuple[int, int]]:
        """Return the messages and senders that may use a channel."""
        if (a, b) not in self._commodities_of:
            self._commodities_of[a, b] = [
                (message, sender)
                for message in range(len(self.network.messages))
                for sender in self.senders(message)
                if self.passes(message, sender, a, b)
            ]
        return self._commodities_of[a, b]

    # Rows

    def all_keys(self) -> Iterator[Key]:
        """Yield the keys of all rows."""
        network, steps = self.network, range(1, self.steps + 1)
        for message, (source, destinations) in enumerate(network.messages):
            yield from (("goal", message, node) for node in destinations)
            receivers = self.receivers(message)
            for t in steps:
                yield from (("grow", message, node, t) for node in receivers)
                yield from (("hold", message, node, t) for node in self.holders(message))
                for sender in self.senders(message):
                    if not network.hop_by_hop:
                        for node in range(network.nodes):
                            if node != sender:
                                yield "pass", message, sender, node, t
                    if self.per_sender and sender != source:
                        for node in receivers:
                            if node != sender:
                                yield "once", message, sender, node, t
                    if not self.merges_senders:
                        for a, b in network.channels:
                            if self.passes(message, sender, a, b) and (
                                self.per_sender or a != source
                            ):
                                yield "own", message, sender, a, b, t
                if self.merges_senders:
                    yield from self._starting_keys(message, t)
        for t in steps:
            for a, b in network.channels:
                if (b, a) not in network.half_duplex:
                    yield "channel", a, b, t
            for node in range(network.nodes):
                yield "inject", node, t
                yield "accept", node, t

    def round_keys(self) -> Iterator[Key]:
        """Yield the keys of the rows for evidence about rounds, where senders are not merged.

        The rows ``once``, and hop by hop ``hold`` and ``own``, follow from ``sent``; the others of
        these kinds hold for one round.
        """
        yield from (key for key in self.all_keys() if key[0] not in ("hold", "own", "once"))
        yield from self.sent_keys()

    def sent_keys(self) -> Iterator[Key]:
        """Yield the keys of the rows ``sent``; none where merged senders pass a node at once."""
        known = self.network.hop_by_hop or self.per_sender
        for message in range(len(self.network.messages)) if known else ():
            pairs = [*product(self.holders(message), self.receivers(message))]
            if self.network.hop_by_hop:
                pairs = [*self.network.channels]
            for (a, b), t in product(pairs, range(1, self.steps + 1)):
                if a != b and (self.per_sender or self.passes(message, ANY_SENDER, a, b)):
                    yield "sent", message, a, b, t

    def _starting_keys(self, message: int, t: int) -> Iterator[Key]:
        """Yield the keys of the rows on what starts over each channel."""
        for node in self.holders(message):
            yield "split", message, node, t
            for b in self._first_hops(message, node):
                yield "own", message, ANY_SENDER, node, b, t
                yield "over", message, node, b, t

    def _first_hops(self, message: int, node: int) -> list[int]:
        return [
            b for b in self.network.successors[node] if self.passes(message, ANY_SENDER, node, b)
        ]

    def max_value(self, column: Column) -> int:
        """Return the upper limit of a column."""
        if column[0] == "flow" and not self.network.hop_by_hop:
            return self.network.channels[column[3], column[4]]
        if column[0] == "starts":
            return self.network.channels[column[2], column[3]]
        return self.network.inject[column[2]] if column[0] == "sends" else 1

    def _goal_row(self, m: int, v: int) -> Row:
        return {("has", m, v, self.steps): 1}, 1

    def _grow_row(self, m: int, v: int, t: int) -> Row:
        terms: dict[Column, int] = {("has", m, v, t): -1}
        if t > 1:
            terms["has", m, v, t - 1] = 1
        if self.network.hop_by_hop:
            for a in self.network.predecessors[v]:
                terms["flow", m, ANY_SENDER, a, v, t] = 1
        else:
            for u in self.senders(m):
                if u != v:
                    terms["gets", m, u, v, t] = 1
        return terms, 0

    def _pass_row(self, m: int, u: int, v: int, t: int) -> Row:
        terms: dict[Column, int] = {}
        for a in self.network.predecessors[v]:
            if self.passes(m, u, a, v):
                terms["flow", m, u, a, v, t] = 1
        for b in self.network.successors[v]:
            if self.passes(m, u, v, b):
                terms["flow", m, u, v, b, t] = -1
        if v in self.receivers(m):
            terms["gets", m, u, v, t] = -1
        if u == ANY_SENDER and v in self.holders(m):
            terms["sends", m, v, t] = 1
        return terms, 0

    def _hold_row(self, m: int, v: int, t: int) -> Row:
        power = sending_power(self.network, v, self.network.messages[m][0])
        terms: dict[Column, int] = {}
        if self.per_sender or self.network.hop_by_hop:
            u = v if self.per_sender else ANY_SENDER
            for b in self.network.successors[v]:
                if self.passes(m, u, v, b):
                    terms["flow", m, u, v, b, t] = -1
        else:
            terms["sends", m, v, t] = -1
        return self._if_has(terms, power, m, v, t)

    def _own_row(self, m: int, u: int, a: int, b: int, t: int) -> Row:
        if self.merges_senders:
            terms: dict[Column, int] = {("starts", m, a, b, t): -1}
            return self._if_has(terms, self.network.channels[a, b], m, a, t)
        max_value = 1 if self.network.hop_by_hop else self.network.channels[a, b]
        return self._if_has(
            {("flow", m, u, a, b, t): -1}, max_value, m, u if self.per_sender else a, t
        )

    def _sent_row(self, m: int, a: int, b: int, t: int) -> Row:
        column = ("gets", m, a, b) if self.per_sender else ("flow", m, ANY_SENDER, a, b)
        terms: dict[Column, int] = {(*column, before): -1 for before in range(1, t + 1)}
        return self._if_has(terms, 1, m, a, t)

    def _split_row(self, m: int, v: int, t: int) -> Row:
        terms: dict[Column, int] = {("sends", m, v, t): -1}
        terms.update({("starts", m, v, b, t): 1 for b in self._first_hops(m, v)})
        return terms, 0

    def _over_row(self, m: int, a: int, b: int, t: int) -> Row:
        return {("flow", m, ANY_SENDER, a, b, t): 1, ("starts", m, a, b, t): -1}, 0

    def _once_row(self, m: int, u: int, v: int, t: int) -> Row:
        return self._if_has({("gets", m, u, v, t): -1}, 1, m, u, t)

    def _if_has(self, terms: dict[Column, int], times: int, m: int, v: int, t: int) -> Row:
        """Add ``times`` times "v has the message before step t" to a row."""
        if v == self.network.messages[m][0]:
            return terms, -times
        if t > 1:
            terms["has", m, v, t - 1] = times
        return terms, 0

    def _channel_row(self, a: int, b: int, t: int) -> Row:
        network = self.network
        both = {(a, b), (b, a)} & network.half_duplex
        hops = [(a, b), (b, a)] if both else [(a, b)]
        terms: dict[Column, int] = {
            ("flow", m, u, *hop, t): -1 for hop in hops for m, u in self._commodities(*hop)
        }
        return terms, -network.in_step(t, network.channels[a, b])

    def _inject_row(self, v: int, t: int) -> Row:
        terms: dict[Column, int] = {}
        for m in range(len(self.network.messages)):
            if v in self.holders(m):
                # The outgoing terms of "hold", each -1, without "has".
                terms.update(self._hold_row(m, v, t)[0])
                terms.pop(("has", m, v, t - 1), None)
        return terms, -self.network.in_step(t, self.network.inject[v])

    def _accept_row(self, v: int, t: int) -> Row:
        terms: dict[Column, int] = {}
        for m in range(len(self.network.messages)):
            if v in self.receivers(m):
                # The incoming terms of "grow", each -1, without "has".
                terms.update({c: -1 for c in self._grow_row(m, v, t)[0] if c[0] != "has"})
        return terms, -self.network.in_step(t, self.network.accept[v])
