"""Blocks: rows of a time-expanded relaxation between blocks of nodes, which contradict each other.

Every node is in one block. A block has a message once one of its nodes has it. For each message
and each block without its source, only some transfers are counted: if the block has the message
before the last step, one that brings it there first; otherwise those of the last step to all its
destinations in the block, since no node inside can send it. The route of such a transfer is
counted from the block in which it begins until it first enters that block. So a message that
comes in the last step uses a channel into the block per destination, and one that comes before,
a single one; and a block can send in a step only what it has before, however often.

Columns are nonnegative and have upper limits:

- ``("has", m, q, t)``: block q has message m after step t, before the last one (0 or 1);
- ``("served", m, q)``: all destinations of message m in block q have it in the end (0 or 1);
- ``("sends", m, p, q, t)``: counted transfers of message m from block p to block q in step t;
- ``("flow", m, q, a, b, t)``: how often counted transfers of message m to block q use channels
  from block a to block b in step t.

Rows, each named by its key, read "sum of coefficient times column is at least the right side":

- ``("goal", m, q)``: a block with destinations is served;
- ``("last", m, q)``: it is served only if it had the message, or all destinations receive it in
  the last step;
- ``("grow", m, q, t)``: a block has a message only if it had it, or receives it in this step;
- ``("pass", m, q, v, t)``: what leaves block v on the way to block q entered v or begins in it;
- ``("hold", m, p, q, t)``: a block sends only what it had before the step;
- ``("channel", a, b, t)``: the capacity of all channels from block a to block b.

Every row holds for every valid schedule; a missing row would weaken the bound, but not make it
wrong. Steps are counted from 1, and blocks from 0.
"""

from collections import Counter
from collections.abc import Iterator

from cchybrid.checker import Network
from cchybrid.proof.contradiction import Column, Key, Row, Rows


class BlockRelaxation(Rows):
    """The rows of one instance, one division into blocks and one number of steps.

    Parameters
    ----------
    block_of
        The block of every node, numbered from 0.
    """

    def __init__(self, network: Network, block_of: list[int], steps: int) -> None:
        self.network = network
        self.steps = steps
        self.blocks = max(block_of) + 1
        self._capacity: Counter[tuple[int, int]] = Counter()
        for (a, b), capacity in network.channels.items():
            if block_of[a] != block_of[b]:
                self._capacity[block_of[a], block_of[b]] += capacity
        self._channels_of: list[list[tuple[int, int]]] = [[] for _ in range(self.blocks)]
        for a, b in self._capacity:
            self._channels_of[a].append((a, b))
            self._channels_of[b].append((a, b))
        self._source = [block_of[source] for source, _ in network.messages]
        self._served = [
            Counter(block_of[node] for node in destinations) for _, destinations in network.messages
        ]

    @property
    def flows(self) -> int:
        """The maximum number of ``flow`` columns, a measure of the size."""
        goals = sum(map(len, self._served))
        return goals * len(self._capacity) * self.steps

    def _receives(self, m: int, q: int) -> bool:
        """Return whether a block gets the message from others."""
        return q != self._source[m] and (self.network.hop_by_hop or q in self._served[m])

    def _holds(self, m: int, p: int) -> bool:
        return p == self._source[m] or self._receives(m, p)

    def _times(self, m: int, q: int, t: int) -> int:
        """Return the largest number of counted transfers to a block in a step."""
        return 1 if t < self.steps else self._served[m][q]

    def _passes(self, q: int, a: int, b: int) -> bool:
        """Return whether the way to block q may lead from block a to block b."""
        return a != q and (b == q or not self.network.hop_by_hop)

    def all_keys(self) -> Iterator[Key]:
        """Yield the keys of all rows."""
        steps = range(1, self.steps + 1)
        for m in range(len(self.network.messages)):
            for q in filter(lambda q: self._receives(m, q), range(self.blocks)):
                if self._served[m][q]:
                    yield "goal", m, q
                    yield "last", m, q
                yield from (("grow", m, q, t) for t in steps[:-1])
                for t in steps if self._served[m][q] else steps[:-1]:
                    for v in range(self.blocks):
                        if v != q:
                            yield "pass", m, q, v, t
                            if self._holds(m, v):
                                yield "hold", m, v, q, t
        for a, b in self._capacity:
            yield from (("channel", a, b, t) for t in steps)

    def max_value(self, column: Column) -> int:
        """Return the upper limit of a column."""
        if column[0] == "flow":
            return self._capacity[column[3], column[4]]
        return self._times(column[1], column[3], column[4]) if column[0] == "sends" else 1

    def _entries(self, m: int, q: int, t: int) -> dict[Column, int]:
        return {("flow", m, q, a, b, t): 1 for a, b in self._channels_of[q] if b == q}

    def _goal_row(self, m: int, q: int) -> Row:
        return {("served", m, q): 1}, 1

    def _last_row(self, m: int, q: int) -> Row:
        times = self._served[m][q]
        terms = self._entries(m, q, self.steps)
        terms["served", m, q] = -times
        if self.steps > 1:
            terms["has", m, q, self.steps - 1] = times
        return terms, 0

    def _grow_row(self, m: int, q: int, t: int) -> Row:
        terms = self._entries(m, q, t)
        terms["has", m, q, t] = -1
        if t > 1:
            terms["has", m, q, t - 1] = 1
        return terms, 0

    def _pass_row(self, m: int, q: int, v: int, t: int) -> Row:
        terms: dict[Column, int] = {}
        for a, b in self._channels_of[v]:
            if self._passes(q, a, b):
                terms["flow", m, q, a, b, t] = 1 if b == v else -1
        if self._holds(m, v):
            terms["sends", m, v, q, t] = 1
        return terms, 0

    def _hold_row(self, m: int, p: int, q: int, t: int) -> Row:
        times = self._times(m, q, t)
        terms: dict[Column, int] = {("sends", m, p, q, t): -1}
        if p == self._source[m]:
            return terms, -times
        if t > 1:
            terms["has", m, p, t - 1] = times
        return terms, 0

    def _channel_row(self, a: int, b: int, t: int) -> Row:
        terms: dict[Column, int] = {
            ("flow", m, q, a, b, t): -1
            for m, served in enumerate(self._served)
            for q in ([b] if self.network.hop_by_hop else served)
            if self._receives(m, q) and self._passes(q, a, b)
        }
        return terms, -self.network.in_step(t, self._capacity[a, b])
