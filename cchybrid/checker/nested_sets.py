"""Nested sets: a message enters a set of nodes by few channels, and then spreads to those inside.

The sets do not contain the source of the message, and two of them are disjoint or nested. For a
set A with a destination, T(A) is a lower bound on the number of steps from the first step in which
a node of A receives the message, which counts, to the last one in which a destination in A does.
The bound is T(V) of the set V of all nodes but the source.

1. The parts of A are the sets directly inside A, and every other node of A that may hold the
   message. T is 1 for a destination, and 0 for another node (store-and-forward only).
2. A part is reached in the first step in which a node of it receives the message. The path of that
   transfer either takes a channel into A, or it begins in another part B that was reached in an
   earlier step and takes a channel from B to a node of A outside B. So after a step in which k
   parts are reached, the next one reaches at most as many more as the channels into A carry, and
   those from B to the rest of A for the k strongest parts B, each limited by the injection ports
   in B. The same holds with the ports outside A, and all channels out of B. The first step has
   k = 0.
3. If at most k parts are reached in the first j steps, one of the k + 1 parts with the largest T is
   reached after them, so T(A) is at least j plus the (k+1)-th largest T.
4. In store-and-forward switching a transfer is one hop: a channel carries a message once, ports
   limit each sender by itself, and a part B without a channel from outside A is not reached in the
   first step, so T(A) is at least 1 + T(B).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.reading import only, whole_rows

MAX_CROSSINGS = 10_000_000
"""Largest number of pairs of a set and a node or a channel; it takes seconds."""


def nested_set_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the message in the evidence needs at least.

    ``sets`` has a row per set: the number of the set around it, then the nodes that are in the set
    and in no set inside it. Sets are numbered from 1, outer ones first; 0 is the set of all nodes
    but the source, which also has the nodes that are not listed.
    """
    only(evidence, "kind", "message", "sets")
    source, destinations = network.message(evidence.get("message"))
    around, place = _read_sets(network, source, evidence.get("sets"))
    if len(around) * (network.nodes + len(network.channels)) > MAX_CROSSINGS:
        raise TooLargeError("too many nodes and channels beside the sets")
    holders = set(range(network.nodes)) if network.hop_by_hop else {source, *destinations}
    # The parts of every set: nodes first, then sets, by the nodes inside, with the T of each.
    parts: list[list[tuple[set[int], int]]] = [[] for _ in around]
    members: list[set[int]] = [set() for _ in around]
    for node in range(network.nodes):
        if node != source:
            members[place[node]].add(node)
            if node in holders:
                parts[place[node]].append(({node}, int(node in destinations)))
    longest = 0
    for number in reversed(range(len(around))):
        longest = _longest(network, holders, members[number], parts[number])
        if number:
            members[around[number]] |= members[number]
            parts[around[number]].append((members[number], longest))
    return longest


def _read_sets(network: Network, source: int, rows: Any) -> tuple[list[int], list[int]]:
    """Return the number of the set around each set, and around each node."""
    around, place = [0], [0] * network.nodes
    for number, (outer, *nodes) in enumerate(whole_rows(rows, 1, network.nodes), 1):
        if outer >= number:
            raise EvidenceError("a set inside another one that does not precede it")
        around.append(outer)
        for node in nodes:
            if node >= network.nodes or node == source:
                raise EvidenceError("a set with the source, or with a node that does not exist")
            if place[node]:
                raise EvidenceError("a node is listed twice")
            place[node] = number
    return around, place


def _longest(
    network: Network, holders: set[int], inside: set[int], parts: list[tuple[set[int], int]]
) -> int:
    """Return the T of a set of nodes, given its parts and theirs."""
    longest = sorted((steps for _, steps in parts if steps), reverse=True)
    if not longest:
        raise EvidenceError("a set without a destination")
    part_of = {node: number for number, (nodes, _) in enumerate(parts) for node in nodes}
    into: Counter[int] = Counter()
    beside: list[Counter[int]] = [Counter() for _ in parts]
    out = [0] * len(parts)
    from_afar = set()
    for (a, b), size in network.channels.items():
        carried = 1 if network.hop_by_hop else size
        if a not in inside and b in inside:
            into[a] += carried
            from_afar.add(part_of.get(b))
        elif a in part_of and part_of[a] != part_of.get(b):
            out[part_of[a]] += carried
            if b in inside:
                beside[part_of[a]][a] += carried
    ports = [sum(network.inject[node] for node in nodes & holders) for nodes, _ in parts]
    outside = sum(network.inject[node] for node in holders - inside)
    inner = _largest_sums([min(p, _sent(network, c)) for p, c in zip(ports, beside, strict=True)])
    outer = _largest_sums([min(p, c) for p, c in zip(ports, out, strict=True)])
    steps = later = reached = 0
    while reached < len(longest):
        steps = max(steps, later + longest[reached])
        new = min(_sent(network, into) + inner[reached], outside + outer[reached])
        if new == 0:
            raise EvidenceError("the informed set does not grow")
        reached, later = reached + new, later + 1
    if network.hop_by_hop:
        late = [steps for number, (_, steps) in enumerate(parts) if number not in from_afar]
        steps = max(steps, 1 + max(late, default=0))
    return steps


def _sent(network: Network, channels: Mapping[int, int]) -> int:
    """Return how many transfers take such channels in a step, given their number per sender."""
    if network.hop_by_hop:
        return sum(min(network.inject[node], size) for node, size in channels.items())
    return sum(channels.values())


def _largest_sums(values: Sequence[int]) -> list[int]:
    """Return the sums of the 0, 1, 2, ... largest values."""
    return [0, *accumulate(sorted(values, reverse=True))]
