"""Cut over time: messages enter a set of nodes neither before they get there nor too late.

In store-and-forward switching a transfer is one hop, so a message is at a node that is h hops from
its source after h steps at the earliest. An entry is a transfer over a channel into the set; the
messages with their source outside become known inside by entries and transfers inside. T steps are
enough only if all of this holds for the messages whose sources are at least r hops from the set,
for every r:

1. Until the end of a step, a channel into the set has carried as many messages as can have been at
   its first node before, at most its capacity in a step, and no message twice. A node outside
   injects, and one inside accepts, as many of them as its ports allow. No more messages have
   entered than are as near to the set as that.
2. A destination that is q hops inside, counted from the nearest node with a channel from outside,
   needs an entry q steps before the end. So the messages with such a destination enter until T - q.
3. Trace each node inside that holds a message back to one entry. With j steps left after an entry
   at node b, these are no more than the nodes within j hops of b over channels inside, and no more
   than growth allows: every one of them informs as many neighbours inside as it has ports and
   channels, without the one that informed it. A message with w destinations inside needs entries
   whose shares min(1, reach of b[j] / w) add up to at least 1.

Entries as early as possible have the largest shares, so the largest numbers of entries until the
end of each step (1) bound the sum of shares.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError

MAX_OPERATIONS = 20_000_000
"""Largest number of elementary operations of a check; it takes some seconds."""


class CutOverTime(NamedTuple):
    """The messages that need the most steps.

    Attributes
    ----------
    messages
        Their number.
    first
        The first step in which one of them can enter.
    behind
        The steps that the last of them needs after its entry (rule 2).
    spread
        Whether shares of entries decide (rule 3).
    steps
        The steps that they need.
    """

    messages: int
    first: int
    behind: int
    spread: bool
    steps: int


class _Group(NamedTuple):
    """Messages of one source with as many destinations inside, the farthest as far inside."""

    source: int
    behind: int
    width: int


def cut_over_time_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the messages into the set of nodes need at least."""
    return cut_over_time(network, evidence).steps


def cut_over_time(network: Network, evidence: Mapping[str, Any]) -> CutOverTime:
    """Return the messages into the set of nodes that need the most steps.

    Raises
    ------
    EvidenceError
        The switching is not store-and-forward, or a message cannot enter.
    """
    if not network.hop_by_hop:
        raise EvidenceError("a cut over time needs store-and-forward switching")
    return _Cut(network, network.node_set(evidence.get("nodes"))).hardest()


class _Cut:
    """The channels into a set, the groups of messages that enter, and the distances."""

    def __init__(self, network: Network, inside: set[int]) -> None:
        self.network, self.inside = network, inside
        self.into = [
            (a, b, size)
            for (a, b), size in network.channels.items()
            if a not in inside and b in inside
        ]
        out: Counter[int] = Counter()
        onto: Counter[int] = Counter()
        for a, b, size in self.into:
            out[a] += size
            onto[b] += size
        self.rate = min(
            sum(min(network.inject[a], size) for a, size in out.items()),
            sum(min(network.accept[b], size) for b, size in onto.items()),
        )
        """Most entries in a step."""
        self.operations = 0
        senders = sorted({a for a, _, _ in self.into})
        receivers = sorted({b for _, b, _ in self.into})
        self.count((len(senders) + len(receivers)) * len(network.channels))
        self.hops_to = {a: network.hops_to(a) for a in senders}
        self.release: dict[int, int] = {}
        """Per node outside the first step in which a message of it can enter."""
        for hops in self.hops_to.values():
            for node, far in hops.items():
                self.release[node] = min(far + 1, self.release.get(node, far + 1))
        self.groups = self._groups(receivers)
        sources = {group.source for group in self.groups}
        self.farthest = max(
            (far for hops in self.hops_to.values() for v, far in hops.items() if v in sources),
            default=0,
        )
        goals = {
            node
            for source, destinations in network.messages
            if source not in inside
            for node in inside.intersection(destinations)
        }
        power = [self._links(node, informed_inside=True) for node in inside]
        sent = [0, *accumulate(sorted(power, reverse=True))]
        self.reach = {b: self._reach(b, goals, sent) for b in receivers}

    def count(self, operations: int) -> None:
        """Add to the operations of this check; refuse too many."""
        self.operations += operations
        if self.operations > MAX_OPERATIONS:
            raise TooLargeError("the cut over time takes too many operations")

    def _groups(self, receivers: list[int]) -> Counter[_Group]:
        network, inside = self.network, self.inside
        depth = self._hops_inside(receivers)
        groups: Counter[_Group] = Counter()
        for source, destinations in network.messages:
            goals = inside.intersection(destinations)
            if source in inside or not goals:
                continue
            if source not in self.release or any(goal not in depth for goal in goals):
                raise EvidenceError("a message that cannot enter the set")
            behind = max(depth[goal] for goal in goals)
            groups[_Group(source, behind, len(goals))] += 1
            self.count(len(goals))
        return groups

    def _hops_inside(self, starts: list[int]) -> dict[int, int]:
        """Return the hops from the nearest start, over channels between nodes inside."""
        hops = dict.fromkeys(starts, 0)
        queue = deque(starts)
        while queue:
            node = queue.popleft()
            for other in self.network.successors[node]:
                if other in self.inside and other not in hops:
                    hops[other] = hops[node] + 1
                    queue.append(other)
        return hops

    def _links(self, node: int, informed_inside: bool) -> int:
        """Return how many nodes inside a node informs in a step at most."""
        after = self.inside.intersection(self.network.successors[node])
        before = self.inside.intersection(self.network.predecessors[node])
        spared = informed_inside and bool(before) and before <= after
        return min(self.network.inject[node], len(after) - spared)

    def _reach(self, start: int, goals: set[int], sent: list[int]) -> list[int]:
        """Return at how many destinations an entry at a node counts after 0, 1, 2, ... steps."""
        hops = self._hops_inside([start])
        near, near_goals = Counter(hops.values()), Counter(hops[v] for v in goals if v in hops)
        first = self._links(start, informed_inside=False)
        nodes = within = 1
        reached = near_goals[0]
        reach = [min(nodes, reached)]
        step = 0
        while True:
            step += 1
            within += near[step]
            reached += near_goals[step]
            grown = min(within, nodes + first + sent[nodes - 1])
            if grown == nodes and not near[step]:
                return reach
            nodes = grown
            reach.append(min(nodes, reached))

    def hardest(self) -> CutOverTime:
        """Return the messages that need the most steps, after all selections of them."""
        best = CutOverTime(0, 1, 0, False, 0)
        for behind, width in self._selections():
            sources: Counter[int] = Counter()
            for group, number in self.groups.items():
                if group.behind >= behind and group.width >= width:
                    sources[group.source] += number
            self.count(len(self.groups))
            for release in sorted({self.release[source] for source in sources}):
                chosen = Counter({v: n for v, n in sources.items() if self.release[v] >= release})
                steps = self._steps(chosen, behind, width, best.steps)
                if steps > best.steps:
                    best = CutOverTime(chosen.total(), release, behind, width > 0, steps)
        return best

    def _selections(self) -> Iterator[tuple[int, int]]:
        """Yield per selection the hops behind the cut, or the number of destinations."""
        for behind in sorted({group.behind for group in self.groups}):
            yield behind, 0
        for width in sorted({group.width for group in self.groups}):
            if width > 1:
                yield 0, width

    def _steps(self, chosen: Counter[int], behind: int, width: int, known: int) -> int:
        """Return the fewest steps, at least ``known``, that are enough for these messages.

        ``chosen`` is the number of messages by source.
        """
        messages, steps = chosen.total(), known
        if not self.rate:
            raise EvidenceError("messages have to cross a cut without capacity")
        # Once all messages are everywhere outside, the channels or ports are full until the end.
        if not width and self.farthest - (-messages // self.rate) + behind <= known:
            return known
        entries = _Entries(self, chosen)
        while True:
            while len(entries.distinct) <= steps:
                entries.add_step()
            if width:
                enough = self._shares(entries, steps, width) >= messages * width
            else:
                enough = steps >= behind and entries.distinct[steps - behind] >= messages
            if enough:
                return steps
            if steps > messages + 3 * self.network.nodes:
                raise EvidenceError("messages that cannot all enter the set")
            steps += 1

    def _shares(self, entries: _Entries, steps: int, width: int) -> int:
        """Return ``width`` times the largest sum of the shares of all entries."""
        best = [0] * max(map(len, self.reach.values()))
        by_node = 0
        for node, reach in self.reach.items():
            by_node += _weighted(entries.at[node], reach, steps, width)
            for place in range(len(best)):
                best[place] = max(best[place], reach[min(place, len(reach) - 1)])
        self.count(2 * sum(map(len, self.reach.values())))
        return min(by_node, _weighted(entries.all, best, steps, width))


def _weighted(entries: list[int], reach: list[int], steps: int, width: int) -> int:
    """Return the sum of min(width, reach) over entries, given their number until each step."""
    total = before = 0
    for left, nodes in enumerate(reach[: steps + 1]):
        total += (min(width, nodes) - before) * entries[steps - left]
        before = min(width, nodes)
    return total


class _Entries:
    """The largest numbers of entries of some messages until the end of step 0, 1, 2, ...

    Attributes
    ----------
    at
        Per node inside, its entries.
    all
        All entries.
    distinct
        The messages that have entered.
    """

    def __init__(self, cut: _Cut, chosen: Counter[int]) -> None:
        self.cut = cut
        self.arrivals: dict[int, Counter[int]] = {a: Counter() for a in cut.hops_to}
        self.releases: Counter[int] = Counter()
        for source, number in chosen.items():
            self.releases[cut.release[source]] += number
            for a, hops in cut.hops_to.items():
                if source in hops:
                    self.arrivals[a][hops[source]] += number
        cut.count(len(cut.hops_to) * len(chosen))
        self.here = dict.fromkeys(cut.hops_to, 0)
        self.released = 0
        self.carried = [0] * len(cut.into)
        self.sent = dict.fromkeys(cut.hops_to, 0)
        self.at = {node: [0] for node in cut.reach}
        self.all, self.distinct = [0], [0]

    def add_step(self) -> None:
        """Count one more step."""
        network, step = self.cut.network, len(self.distinct)
        self.cut.count(len(self.carried))
        for a in self.here:
            self.here[a] += self.arrivals[a][step - 1]
        self.released += self.releases[step]
        sent, received = dict.fromkeys(self.sent, 0), dict.fromkeys(self.at, 0)
        for place, (a, b, size) in enumerate(self.cut.into):
            self.carried[place] = min(self.carried[place] + size, self.here[a])
            sent[a] += self.carried[place]
            received[b] += self.carried[place]
        for a, number in sent.items():
            self.sent[a] = min(self.sent[a] + network.inject[a], number)
        for b, number in received.items():
            accepted = self.at[b][-1] + network.accept[b]
            self.at[b].append(min(accepted, number, self.released))
        entered = min(sum(self.sent.values()), sum(column[-1] for column in self.at.values()))
        self.all.append(entered)
        self.distinct.append(min(self.distinct[-1] + self.cut.rate, self.released, entered))
