"""Cut: the messages that must enter a set of nodes, over its capacity per step.

A message that enters late reaches few nodes inside, so the last entries count only in part:

1. An entry is a transfer that takes a channel into the set and ends inside. (For the limit by
   injection ports, it is one that begins outside and ends inside.)
2. A message with its source outside is informed inside only by entries, and by transfers between
   nodes inside that are none. Trace each node inside that holds it back to one entry: j steps
   after an entry, at most reach[j] nodes are traced to it, where reach[0] = 1, and the next value
   adds what the reach[j] strongest senders inside can send in a step.
3. A message with w destinations inside therefore needs entries whose shares min(1, reach[j] / w)
   add up to at least 1, where j is the number of steps left after the entry.
4. A step has at most ``rate`` entries. So T steps are enough for k messages with at least w
   destinations inside only if ``rate`` times the sum of min(1, reach[j] / w) over j from 0 to
   T - 1 is at least k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import Any, Literal, NamedTuple

from cchybrid.checker.instance import EvidenceError, Network

Messages = list[tuple[int, tuple[int, ...]]]


class CutLimit(NamedTuple):
    """One of the limits of a cut: ``steps`` are needed for ``messages`` at ``rate`` per step."""

    kind: Literal["channels", "inject", "accept"]
    messages: int
    rate: int
    steps: int


def cut_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the messages into the set of nodes need at least."""
    return max(limit.steps for limit in cut_limits(network, evidence))


def cut_limits(network: Network, evidence: Mapping[str, Any]) -> list[CutLimit]:
    """Return what limits the entries per step, and the steps that follow from each limit.

    These are the crossing channels, the injection ports outside and the acceptance ports inside.
    With ``"both": true`` the messages that leave are counted too, and half-duplex pairs once.
    """
    inside = network.node_set(evidence.get("nodes"))
    outside = set(range(network.nodes)) - inside
    both = evidence.get("both", False)
    if not isinstance(both, bool):
        raise EvidenceError('"both" is neither true nor false')
    entering = _crossing(network, inside)
    carried = network.capacity_into(inside)
    if both:
        leaving = _crossing(network, outside)
        shared = sum(
            network.channels[a, b] for a, b in network.half_duplex if (a in inside) != (b in inside)
        )
        rate = carried + network.capacity_into(outside) - shared
        steps = fewest_steps(
            _widths(entering, inside) + _widths(leaving, outside),
            rate,
            farther(
                _reach_within(network, entering, inside), _reach_within(network, leaving, outside)
            ),
        )
        return [CutLimit("channels", len(entering) + len(leaving), rate, steps)]
    senders, receivers = outside, inside
    if not network.hop_by_hop:
        senders = {v for s, d in entering for v in (s, *d) if v not in inside}
        receivers = {v for _, d in entering for v in d if v in inside}
    widths = _widths(entering, inside)
    within = _reach_within(network, entering, inside)
    anyhow = within if network.hop_by_hop else reach_of([network.inject[v] for v in receivers])
    limits: list[tuple[Literal["channels", "inject", "accept"], int, list[int]]] = [
        ("channels", carried, within),
        ("inject", sum(network.inject[v] for v in senders), anyhow),
        ("accept", sum(network.accept[v] for v in receivers), within),
    ]
    return [
        CutLimit(kind, len(entering), rate, fewest_steps(widths, rate, reach))
        for kind, rate, reach in limits
    ]


def reach_of(power: Collection[int]) -> list[int]:
    """Return how many nodes a message can be at 0, 1, 2, ... steps after it is at one, at most.

    ``power`` is how many each of the nodes can inform in a step. The last value stays.
    """
    sent = [0, *accumulate(sorted(power, reverse=True))]
    reach = [1]
    while reach[-1] < len(power) and sent[reach[-1]] > 0:
        reach.append(min(len(power), reach[-1] + sent[reach[-1]]))
    return reach


def farther(one: list[int], other: list[int]) -> list[int]:
    """Return the larger value at each number of steps; each last value stays."""
    pairs = zip_longest(one, other, fillvalue=0)
    return list(accumulate((max(pair) for pair in pairs), max))


def fewest_steps(widths: Mapping[int, int], rate: int, reach: Sequence[int]) -> int:
    """Return the number of steps that the entries need at least.

    Parameters
    ----------
    widths
        Number of messages by their number of destinations inside.
    rate
        Most entries in a step.
    reach
        Most nodes that follow from an entry with 0, 1, 2, ... steps left; the last value stays.
    """
    if widths and rate == 0:
        raise EvidenceError("messages have to cross a cut without capacity")
    best = messages = 0
    for width in sorted(widths, reverse=True):
        messages += widths[width]
        need, steps = messages * width, 0
        gains = [rate * min(width, nodes) for nodes in reach]
        while need > 0 and steps < len(gains) - 1:
            need -= gains[steps]
            steps += 1
        best = max(best, steps + max(0, -(-need // gains[-1])))
    return best


def _crossing(network: Network, inside: set[int]) -> Messages:
    return [
        (source, destinations)
        for source, destinations in network.messages
        if source not in inside and not inside.isdisjoint(destinations)
    ]


def _widths(entering: Messages, inside: set[int]) -> Counter[int]:
    return Counter(len(inside.intersection(destinations)) for _, destinations in entering)


def _reach_within(network: Network, entering: Messages, inside: set[int]) -> list[int]:
    """Return the reach of an entry over channels between nodes inside."""
    power = []
    for node in inside if network.hop_by_hop else inside & {v for _, d in entering for v in d}:
        links = [network.channels[node, v] for v in network.successors[node] if v in inside]
        # Store-and-forward has no use for a second copy on the same channel.
        power.append(min(network.inject[node], len(links) if network.hop_by_hop else sum(links)))
    return reach_of(power)
